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
  /// The mnemonic of the plan attribute its planner makes, which schedules on this
  /// target print and parse; empty when there is nothing to plan.
  llvm::StringLiteral plan;
  /// Makes a plan for every `kernel.func` of the module that has none; null when
  /// there is nothing to plan.
  llvm::LogicalResult (*planKernels)(mlir::ModuleOp module);
  /// Turns every `kernel.func` of the module into functions of upstream dialects,
  /// the emitted interface included: what `--emit=mlir` prints. Diagnostics go to
  /// the module's context.
  llvm::LogicalResult (*lower)(mlir::ModuleOp module,
                               const InterfaceOptions &options);
  /// Turns what `lower` makes into the LLVM dialect.
  llvm::LogicalResult (*convertToLLVM)(mlir::ModuleOp module);
};

/// All targets, in the order of `facet targets`.
llvm::ArrayRef<Target> targets();

/// The target of that name, or null.
const Target *findTarget(llvm::StringRef name);

} // namespace facet

#endif // FACET_TARGET_TARGET_H
