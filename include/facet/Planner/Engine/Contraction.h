//===- Contraction.h - sums of products, recognised -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_PLANNER_ENGINE_CONTRACTION_H
#define FACET_PLANNER_ENGINE_CONTRACTION_H

#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "facet/Dialect/Kernel/IR/Operations.h"
#include "facet/Machine/Machine.h"

#include <utility>

namespace facet::engine {

/// The least and the greatest of some integers.
using Integers = std::pair<int64_t, int64_t>;

/// The values of an integer type of up to 32 bits.
Integers valuesOf(mlir::IntegerType type);

/// How many products of two such integers f32 sums exactly in any order: none of the
/// sums on the way is beyond 2^24.
///
///   u8 · i8    2^24 / (255 · 128) = 514
int64_t exactTerms(Integers a, Integers b);

/// sum over k of input a times input b, each of one element type.
struct Contraction {
  kernel::ReduceOp reduce;
  unsigned a = 0, b = 0;
  /// What the array multiplies: both operands as this type. The DMA converts.
  mlir::Type aType, bType;
  /// Of integers, which the array multiplies as bf16: so many products are summed
  /// exactly before the sum becomes an i32. 0: the factors are floats.
  int64_t exactTerms = 0;
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
