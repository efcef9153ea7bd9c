//===- DeriveOp.h - new statements over the iterators of one --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOENGINE_DERIVEOP_H
#define FACET_LIB_CONVERSION_KERNELTOENGINE_DERIVEOP_H

#include "facet/Dialect/Kernel/IR/StructuredParts.h"

#include "llvm/ADT/SmallBitVector.h"

namespace facet::engine {

/// What values of a body, or of the guards, are computed from.
struct Slice {
  llvm::SmallBitVector inputs, iterators;
  llvm::SetVector<mlir::Operation *> ops; ///< in no order
};

/// The slice of `value`, a value of `block`, which belongs to `op`; nullopt when it reads
/// an input under a guard, or through an index unless `gathers`: then the input that the
/// index is an element of is part of the slice.
std::optional<Slice> sliceOf(kernel::StructuredOpInterface op,
                             mlir::Block *block, mlir::Value value,
                             bool gathers = false);

/// Makes a map, or with `numSummed` a sum over the last ones, over `iterators` of `op`,
/// in front of `builder`'s place, where `op` is or at `loc`. Subscripts of `inputs` are by the iterators of `op`.
/// `emit` gets the elements, builds at `builder`, and returns what is yielded.
mlir::Value
deriveOp(mlir::OpBuilder &builder, kernel::StructuredOpInterface op,
         mlir::StringAttr name, llvm::ArrayRef<unsigned> iterators,
         unsigned numSummed,
         llvm::ArrayRef<kernel::StructuredParts::Input> inputs,
         mlir::Type element,
         llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value>)> emit,
         std::optional<mlir::Location> loc = std::nullopt);

} // namespace facet::engine

#endif // FACET_LIB_CONVERSION_KERNELTOENGINE_DERIVEOP_H
