//===- Function.h - a kernel from one function on tensors -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_IMPORT_FUNCTION_H
#define FACET_LIB_IMPORT_FUNCTION_H

#include "LinalgBody.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace facet::import {

/// An axis of a tensor.
using Axis = std::pair<mlir::Value, unsigned>;

/// One function on its way: what its values are, op by op, and the text so far.
class Function {
public:
  explicit Function(mlir::func::FuncOp function) : function(function) {}
  /// The kernel as text; nothing, with an error at the op, outside the subset.
  std::optional<std::string> kernel();

private:
  llvm::LogicalResult checkSignature();
  /// Finds which `?` are one size (Linalg.cpp).
  llvm::LogicalResult unify();
  std::vector<std::string> axesOf(mlir::Value value);
  llvm::LogicalResult define(mlir::Operation &op);
  /// Linalg.cpp.
  llvm::LogicalResult structured(mlir::linalg::LinalgOp op);
  llvm::LogicalResult stableHlo(mlir::Operation &op);
  llvm::LogicalResult inlined(mlir::func::CallOp call);
  llvm::LogicalResult defineAll(mlir::Block &block);
  std::optional<Value> constant(mlir::Operation &op, mlir::Attribute attribute);
  llvm::LogicalResult set(mlir::Operation &op, Value value);

  mlir::func::FuncOp function;
  KernelText text;
  llvm::EquivalenceClasses<Axis> classes;
  llvm::DenseMap<mlir::Value, Value> values;
  llvm::DenseMap<Axis, std::string> names; ///< by the leader of a class
  unsigned calls = 0;                      ///< around what is being defined
};

/// Of a tensor; null for another value.
inline mlir::ShapedType shapeOf(mlir::Value value) {
  return mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
}

/// The operand's axis of each axis of the result, -1 for a new one, of a reshape that puts
/// in or leaves out axes of 1.
std::optional<std::vector<int>> unitReshape(mlir::Operation &op);

} // namespace facet::import

#endif // FACET_LIB_IMPORT_FUNCTION_H
