//===- Target.h - what a target is, and the list of them ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A target is one planner, one conversion and one pipeline. Each has a function
// that describes it and one line in lib/Pipelines/Targets.cpp; driver, help and
// completion know nothing else of it.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_TARGET_TARGET_H
#define FACET_TARGET_TARGET_H

#include "facet/Target/EmitInterface.h"
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
  /// Turns every `kernel.func` of the module, which has its plan for `machine`, into
  /// functions of upstream dialects, the emitted interface included: what
  /// `--emit=mlir` prints. Diagnostics go to the module's context.
  llvm::LogicalResult (*lower)(mlir::ModuleOp module, const Machine *machine,
                               const InterfaceOptions &options);
  /// Turns what `lower` makes into the LLVM dialect.
  llvm::LogicalResult (*convertToLLVM)(mlir::ModuleOp module);
  /// The machine it plans for, a name for loadMachine; empty: none.
  llvm::StringLiteral machine = "";
  /// The CPU to generate code for, as LLVM names it; empty: the baseline of the
  /// triple, with little optimisation.
  llvm::StringLiteral cpu = "";
  /// The architecture it is for, as the first part of a triple, and the features
  /// of LLVM, with commas, that a host must have to run it; empty: any.
  llvm::StringLiteral arch = "";
  llvm::StringLiteral features = "";
};

/// All targets, in the order of `facet targets`.
llvm::ArrayRef<Target> targets();

/// The target of that name, or null.
const Target *findTarget(llvm::StringRef name);

} // namespace facet

#endif // FACET_TARGET_TARGET_H
