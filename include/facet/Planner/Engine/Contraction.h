//===- Contraction.h - sums of products, recognised -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_PLANNER_ENGINE_CONTRACTION_H
#define FACET_PLANNER_ENGINE_CONTRACTION_H

#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "facet/Dialect/Kernel/IR/Operations.h"
#include "facet/Machine/Machine.h"

namespace facet::engine {

/// sum over k of input a times input b, each of one element type.
struct Contraction {
  kernel::ReduceOp reduce;
  unsigned a = 0, b = 0;
  /// What the array multiplies: both operands as this type. The DMA converts.
  mlir::Type aType, bType;
  /// Iterators of the reduce: of a alone, of b alone, of both, summed over.
  llvm::SmallVector<unsigned> onlyA, onlyB, both, k;

  /// The map that alone reads the sums, computed on them while they are in PSUM.
  std::optional<kernel::Epilogue> epilogue;

  /// Nothing is computed on the sums: they are stored as they are, or rounded.
  bool isOnlyRounded() const;

  /// The iterator of the result (the epilogue's, else its own) for a parallel one.
  unsigned inResult(unsigned iterator) const {
    return epilogue ? epilogue->iterators[iterator] : iterator;
  }
  kernel::StructuredOpInterface op() const {
    kernel::ReduceOp sum = reduce;
    return llvm::cast<kernel::StructuredOpInterface>(sum.getOperation());
  }
};

/// The contraction that a reduce is, or nullopt: it is something else, or its types
/// are none that the array of `machine` (null: of any) multiplies. With `filtered` it
/// may have a filter, which is the caller's to keep.
std::optional<Contraction> matchContraction(kernel::ReduceOp reduce,
                                            const Machine *machine = nullptr,
                                            bool filtered = false);

} // namespace facet::engine

#endif // FACET_PLANNER_ENGINE_CONTRACTION_H
