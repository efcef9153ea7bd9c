//===- VerifyLowered.h - what the CPU road may leave -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_CONVERSION_VERIFYLOWERED_H
#define FACET_CONVERSION_VERIFYLOWERED_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace facet {

/// Fails, with a message at the op, when a function of `module` still holds an op that
/// would not become the instructions the road chose: see VerifyLowered.cpp.
mlir::LogicalResult verifyLowered(mlir::ModuleOp module);

/// The same as a pass, for facet-opt.
std::unique_ptr<mlir::Pass> createVerifyLoweredPass();

} // namespace facet

#endif // FACET_CONVERSION_VERIFYLOWERED_H
