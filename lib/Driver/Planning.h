//===- Planning.h - kernels get their plans -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_PLANNING_H
#define FACET_LIB_DRIVER_PLANNING_H

#include "Sources.h"
#include "facet/Driver/CommandLine.h"
#include "facet/Machine/Machine.h"
#include "facet/Target/Target.h"

namespace facet {

/// Targets with the machines that they plan for.
struct LoadedTargets {
  llvm::SmallVector<TargetRef> targets;
  std::vector<std::shared_ptr<const Machine>> machines;
  llvm::SmallVector<TargetOnMachine> list;
  llvm::SmallVector<llvm::StringRef> names() const {
    llvm::SmallVector<llvm::StringRef> result;
    for (const TargetRef &target : targets)
      result.push_back(target->name);
    return result;
  }
};

/// Loads the machines of `targets`; fails with an error. `line` may take instructions
/// from them: --subnormals=keep.
mlir::FailureOr<LoadedTargets> loadTargets(llvm::ArrayRef<TargetRef> targets,
                                           const CommandLine &line,
                                           Diagnostics &diagnostics);

/// Warns of schedules that no kernel or target of this run, or of any, can take.
/// `chosen` are the names of its targets or of its machine.
void checkSchedules(const Sources &sources,
                    llvm::ArrayRef<llvm::StringRef> chosen,
                    Diagnostics &diagnostics);

/// The plan of `kernel`, as the schedules of `sources` override it; null when it was
/// refused, with the reason told.
kernel::PlanAttrInterface planKernel(kernel::FuncOp kernel,
                                     const TargetOnMachine &on,
                                     const Sources &sources,
                                     Diagnostics &diagnostics);

/// Remarks, under -Wperf-stored, at each `let` that `plan` stores.
void tellStored(kernel::PlanAttrInterface plan, kernel::FuncOp kernel,
                const Machine *machine, Diagnostics &diagnostics);

/// The same as planKernel, but silent, on a matrix engine and for a kernel that
/// simplifyForEngine made.
kernel::PlanAttrInterface planForEngine(kernel::FuncOp kernel,
                                        const Machine &machine,
                                        const Sources &sources,
                                        Diagnostics &diagnostics);

/// planForEngine, and what tellStored says of it.
kernel::PlanAttrInterface planForEngineAloud(kernel::FuncOp kernel,
                                             const Machine &machine,
                                             const Sources &sources,
                                             Diagnostics &diagnostics);

} // namespace facet

#endif // FACET_LIB_DRIVER_PLANNING_H
