//===- AffineFilter.h - filters that are inequalities of iterators --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_PLANNER_ENGINE_AFFINEFILTER_H
#define FACET_PLANNER_ENGINE_AFFINEFILTER_H

#include "facet/Dialect/Kernel/IR/Kernel.h"

namespace facet::engine {

/// Σ coefficients[i]·iterator i + constant >= 0.
struct Inequality {
  llvm::SmallVector<int64_t> coefficients;
  int64_t constant = 0;
  bool operator==(const Inequality &other) const {
    return constant == other.constant && coefficients == other.coefficients;
  }
};

/// All of them hold. Sorted and without repeats, so that equal filters compare equal.
using AffineFilter = llvm::SmallVector<Inequality>;

/// The guard atoms `atoms` of `op` as inequalities of its iterators, or nullopt when
/// one of them is something else. `iterators` renames: the iterator that iterator i of
/// `op` is among `numIterators`.
std::optional<AffineFilter> affineFilter(kernel::StructuredOpInterface op,
                                         llvm::ArrayRef<int64_t> atoms,
                                         llvm::ArrayRef<unsigned> iterators,
                                         unsigned numIterators);

} // namespace facet::engine

#endif // FACET_PLANNER_ENGINE_AFFINEFILTER_H
