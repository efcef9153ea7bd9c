//===- Conditions.h - what a filter says, in two parts --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_PLANNER_ENGINE_CONDITIONS_H
#define FACET_PLANNER_ENGINE_CONDITIONS_H

#include "facet/Planner/Engine/AffineFilter.h"

namespace facet::engine {

/// A guard atom that is no inequality of iterators: it reads data, or says "or".
struct Condition {
  kernel::StructuredOpInterface op;
  int64_t atom = 0;
  /// For each iterator of `op`, the one of those that conditions are compared by.
  llvm::SmallVector<unsigned> iterators;
};

/// A filter: all inequalities hold, and all other conditions.
struct Conditions {
  AffineFilter inequalities;
  llvm::SmallVector<Condition> others;
};

/// The guard atoms `atoms` of `op`. `iterators` renames: the iterator that iterator i
/// of `op` is among `numIterators`.
Conditions conditionsOf(kernel::StructuredOpInterface op,
                        llvm::ArrayRef<int64_t> atoms,
                        llvm::ArrayRef<unsigned> iterators,
                        unsigned numIterators);

/// True when both are written the same way, of the same tensors; two that only mean
/// the same may be told apart.
bool sameConditions(const Conditions &a, const Conditions &b);

} // namespace facet::engine

#endif // FACET_PLANNER_ENGINE_CONDITIONS_H
