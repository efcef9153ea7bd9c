//===- FilterBounds.h - what a filter says of a block of points -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOCPU_FILTERBOUNDS_H
#define FACET_LIB_CONVERSION_KERNELTOCPU_FILTERBOUNDS_H

#include "../KernelToLoops/OwnPoint.h"

namespace facet::cpu {

/// Integers from `low` to `high`, both included; one Value for both: a number.
struct Interval {
  mlir::Value low, high;
  bool isPoint() const { return low == high; }
};

/// Over all points of a block: whether a condition may hold at some, and must at all.
struct Verdict {
  loops::Num may, must;
};

/// What the filter of `op` says of the points whose iterators lie in `block`: never
/// "no" where a point exists, never "all" where one does not. Anything but sums,
/// products with numbers and comparisons of indices, sizes and elements that are the
/// same in all of the block is "perhaps".
Verdict filterOver(loops::Frame &frame, kernel::StructuredOpInterface op,
                   llvm::ArrayRef<int64_t> filter,
                   llvm::ArrayRef<Interval> block);

/// Units of one iterator, counted from the first of a block.
struct Live {
  loops::Num begin, end;       ///< that may hold a point
  loops::Num allBegin, allEnd; ///< among them, whose points all live
};

/// Which units of `unit` values of `iterator` live, of `count` values from `first` on,
/// where the others lie in `block`. A unit that is not whole is none whose points all
/// live.
Live liveUnits(loops::Frame &frame, kernel::StructuredOpInterface op,
               llvm::ArrayRef<int64_t> filter,
               llvm::SmallVector<Interval> block, unsigned iterator,
               loops::Num first, loops::Num count, int64_t unit);

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_FILTERBOUNDS_H
