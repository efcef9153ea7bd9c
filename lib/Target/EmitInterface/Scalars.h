//===- Scalars.h - what can be computed once per call ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_TARGET_EMITINTERFACE_SCALARS_H
#define FACET_LIB_TARGET_EMITINTERFACE_SCALARS_H

#include "Function.h"
#include "llvm/ADT/DenseMap.h"

namespace facet::interface {

/// Computes scalars of a kernel's regions in the function of a call: those that
/// follow from sizes, constants and scalar arguments alone.
class Scalars {
public:
  Scalars(Function &f, kernel::FuncOp kernel) : f(f), kernel(kernel) {}

  /// Binds a block argument of a region to the element of a rank-0 tensor.
  /// Whether that works shows when the value is asked for.
  void bind(mlir::BlockArgument element, mlir::Value tensor) {
    tensors[element] = tensor;
  }

  /// True when `value` depends on nothing but what a call knows.
  bool isKnown(mlir::Value value);
  /// The value in the function; isKnown must hold. Never traps: division by a
  /// size of 0 gives 0, as on every road.
  mlir::Value compute(mlir::Value value);

  /// The operation because of which isKnown said no, for a message.
  mlir::Operation *obstacle = nullptr;

private:
  mlir::Value elementOf(mlir::Value tensor);
  bool isElementKnown(mlir::Value tensor);
  mlir::Value computeOp(mlir::Operation *op);

  Function &f;
  kernel::FuncOp kernel;
  llvm::DenseMap<mlir::Value, mlir::Value> tensors;
  llvm::DenseMap<mlir::Value, mlir::Value> computed;
};

/// Refuses a call that breaks a promise. Fails when a promise needs what cannot
/// be computed at a call, and there is no options.computeKernel.
mlir::LogicalResult checkPromises(Function &f, kernel::FuncOp kernel,
                                  const InterfaceOptions &options);

/// Per parameter, whether the call reads its elements, as far as conditions that
/// name no index decide it: an i1, true where nothing is known.
llvm::SmallVector<mlir::Value> findNeeds(Function &f, kernel::FuncOp kernel);

} // namespace facet::interface

#endif // FACET_LIB_TARGET_EMITINTERFACE_SCALARS_H
