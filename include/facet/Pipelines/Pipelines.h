//===- Pipelines.h - the named roads ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_PIPELINES_PIPELINES_H
#define FACET_PIPELINES_PIPELINES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace facet {

/// Everything a module holds after conversion (func, scf, cf, arith, llvm) to the
/// LLVM dialect; kernels, which have their functions by then, are dropped.
std::unique_ptr<mlir::Pass> createLowerToLLVMPass();

/// The same, run at once. A failure has given its message.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module);

/// The dialects that the reference road makes and their translation to LLVM IR.
void registerReferenceDialects(mlir::DialectRegistry &registry);

} // namespace facet

#endif // FACET_PIPELINES_PIPELINES_H
