//===- Target.h - what a target is, and the list of them ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A target is one planner, one conversion and one pipeline. Each has a function
// that describes it and one line in lib/Pipelines/Targets.cpp; driver, help and
// completion know nothing else of it.
//
// An object is made for a list of targets: one of any kind, or several levels of one
// architecture, of which each call takes the highest that its CPU has.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_TARGET_TARGET_H
#define FACET_TARGET_TARGET_H

#include "facet/Target/EmitInterface.h"
#include "facet/Target/Levels.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace facet {

struct Target {
  /// What `--target=` takes.
  llvm::StringLiteral name;
  /// One line for `facet targets`.
  llvm::StringLiteral description;
  /// The planner: how to compute `kernel` on `machine`, which is null for a target
  /// that is no machine. The attribute knows the words of schedules on this target.
  kernel::PlanAttrInterface (*plan)(kernel::FuncOp kernel,
                                    const Machine *machine);
  /// Computes `kernel`, which has its plan for `machine`: adds NAME.impl and
  /// NAME.workspace, in upstream dialects, beside it (Conversion/KernelToLoops.h).
  /// Diagnostics go to the module's context.
  llvm::LogicalResult (*convert)(kernel::FuncOp kernel, const Machine *machine);
  /// Turns a module of such functions into the LLVM dialect.
  llvm::LogicalResult (*convertToLLVM)(mlir::ModuleOp module);
  /// The machine it plans for, a name for loadMachine; empty: none.
  llvm::StringLiteral machine = "";
  /// The level of CPUs that can run it; null: any machine, and little optimisation.
  const Level *level = nullptr;
};

/// A target and its machine, null where it has none.
struct TargetOnMachine {
  const Target *target;
  const Machine *machine;
};

/// Gives the plan of a kernel on one target, or null with an error.
using PlanFunction = llvm::function_ref<kernel::PlanAttrInterface(
    kernel::FuncOp kernel, const TargetOnMachine &target)>;

/// Turns every `kernel.func` of the module into functions of upstream dialects, the
/// emitted interface included: what `--emit=mlir` prints. Several targets are levels,
/// lowest first. Sets the plan and the levels of `options`.
llvm::LogicalResult lowerKernels(mlir::ModuleOp module,
                                 llvm::ArrayRef<TargetOnMachine> targets,
                                 PlanFunction plan, InterfaceOptions options);

/// All targets, in the order of `facet targets`.
llvm::ArrayRef<Target> targets();

/// The target of that name, or null.
const Target *findTarget(llvm::StringRef name);

} // namespace facet

#endif // FACET_TARGET_TARGET_H
