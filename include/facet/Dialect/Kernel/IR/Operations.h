//===- Operations.h - structured ops in words and counts ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_KERNEL_IR_OPERATIONS_H
#define FACET_DIALECT_KERNEL_IR_OPERATIONS_H

#include "facet/Dialect/Kernel/IR/Kernel.h"

#include <optional>
#include <string>

namespace facet::kernel {

/// `f32[M, N]`, the first result with its extents as the text writes them.
std::string describeType(StructuredOpInterface op);
/// `sum over k for m, n`
std::string describeIterators(StructuredOpInterface op);

/// Additions, multiplications and function calls on values (not on subscripts) that
/// a person would count at one point of `op`.
unsigned operationsPerPoint(StructuredOpInterface op);

/// The statement that `op` belongs to: its own name, else that of the next op that
/// has one; empty when none follows.
llvm::StringRef statementOf(StructuredOpInterface op);

/// The extent of an iterator that is a number or a size with one value.
std::optional<int64_t> knownExtent(StructuredOpInterface op, unsigned iterator);

/// A map that reads the sums of a reduction, each at the element it computes, and
/// that nobody else reads.
struct Epilogue {
  MapOp map;
  unsigned sumsInput = 0; ///< the input that is the sums
  /// Iterator of `map` for each parallel iterator of the reduction.
  llvm::SmallVector<unsigned> iterators;
};

/// The epilogue that the sums of `reduce` have, as far as their indices go. It may
/// read them under a guard; whether it may run that early is the planner's to say.
std::optional<Epilogue> matchEpilogue(ReduceOp reduce);

} // namespace facet::kernel

#endif // FACET_DIALECT_KERNEL_IR_OPERATIONS_H
