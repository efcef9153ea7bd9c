//===- StableHlo.h - StableHLO as JAX prints it ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_IMPORT_STABLEHLO_H
#define FACET_LIB_IMPORT_STABLEHLO_H

#include "KernelText.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Operation.h"

namespace facet::import {

/// Registers readers of StableHLO's own syntax: dialects `stablehlo` and `chlo` of ops
/// without definitions, with the attributes that StableHloOps.cpp asks for.
void registerStableHlo(mlir::DialectRegistry &registry);

bool isStableHlo(mlir::Operation &op);

/// What `op` makes of `operands`; nothing, with an error, when it is outside the subset.
std::optional<Value> makeStableHlo(mlir::Operation &op,
                                   llvm::ArrayRef<Value> operands,
                                   KernelText &kernel);

} // namespace facet::import

#endif // FACET_LIB_IMPORT_STABLEHLO_H
