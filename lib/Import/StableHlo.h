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

/// A softmax that JAX wrote as ops: e / sum(e) with e = exp(s - max(s)).
struct SoftmaxOps {
  mlir::Value scores;
  unsigned axis;
};

/// The softmax that `op` is the last step of, if it is one.
std::optional<SoftmaxOps> matchSoftmax(mlir::Operation &op);

/// What `op` makes of `operands`; nothing, with an error, when it is outside the subset.
std::optional<Value> makeStableHlo(mlir::Operation &op,
                                   llvm::ArrayRef<Value> operands,
                                   KernelText &kernel);

} // namespace facet::import

#endif // FACET_LIB_IMPORT_STABLEHLO_H
