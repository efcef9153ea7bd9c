//===- Recipe.h - the instruction for an op of a body ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOENGINE_RECIPE_H
#define FACET_LIB_CONVERSION_KERNELTOENGINE_RECIPE_H

#include "facet/Dialect/Kernel/IR/Kernel.h"

#include <optional>

namespace facet::engine {

/// How an op of a body is computed on tiles. `name` is the operation of the vector
/// engine (Unary, Binary), the function of the scalar engine (Function), or an
/// operation on integers that gpsimd alone has (Integer).
struct Recipe {
  enum Kind {
    Alias,
    Copy,
    Unary,
    Binary,
    Function,
    Select,
    Size,
    Index,
    Integer
  };
  Kind kind;
  llvm::StringRef name;
  /// Copy: clamps to the largest finite value.
  bool saturate = false;
};

/// The recipe of an op, or nullopt: there is no instruction for it.
std::optional<Recipe> recipeOf(mlir::Operation *op);

/// Operands and results that are compared or computed with as integers. Where one of
/// them is no value of f32 (IntegerRange.h), gpsimd computes it.
llvm::SmallVector<mlir::Value> integersOf(mlir::Operation *op);

} // namespace facet::engine

#endif // FACET_LIB_CONVERSION_KERNELTOENGINE_RECIPE_H
