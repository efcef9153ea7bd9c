//===- Problem.h - a contraction as the tensor engine sees it -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_PLANNER_ENGINE_PROBLEM_H
#define FACET_PLANNER_ENGINE_PROBLEM_H

#include "facet/Dialect/Engine/IR/Engine.h"
#include "facet/Planner/Engine/Contraction.h"

namespace facet::engine {

/// One factor of a contraction: what is cut into tiles, and how it lies.
struct Factor {
  unsigned input = 0; ///< of the reduce
  mlir::Type type;    ///< as the array sees it
  mlir::Type stored;  ///< as memory holds it
  /// The iterator of the reduce that tiles are cut along; none: a row of one.
  std::optional<unsigned> iterator;
  int64_t extent = 1;
  /// Neighbours along `iterator` are neighbours in memory.
  bool isDense = false;
  /// k lies densely in memory: rows of a transfer would be columns of a tile.
  bool kIsDense = false;

  int64_t bytes() const { return dtypeBytes(*dtypeOf(type)); }
  /// The DMA can turn it around on the way: it moves elements as they are, of two or
  /// four bytes.
  bool canTranspose() const {
    int64_t bits = stored.getIntOrFloatBitWidth();
    return kIsDense && stored == type && (bits == 16 || bits == 32);
  }
};

/// A contraction with its sizes: which iterators the tensor engine works along, and
/// which loops stand around it. Extents of 0 count as 1.
struct Problem {
  Contraction contraction;
  Factor a, b;
  /// The iterator summed over that is cut into steps: the longest.
  unsigned k = 0;
  int64_t depth = 1;
  /// The others summed over, and their extents.
  llvm::SmallVector<unsigned> outer;
  llvm::SmallVector<int64_t> outerExtents;
  /// Parallel iterators of the reduce that no tile is cut along, and their extents.
  llvm::SmallVector<unsigned> batch;
  llvm::SmallVector<int64_t> batchExtents;
  /// The factor with the iterator that is last in the result.
  Side last = Side::B;

  /// Fails when a size is not fixed to one number.
  static llvm::FailureOr<Problem> of(const Contraction &contraction);

  const Factor &factor(Side side) const { return side == Side::A ? a : b; }
  /// The outer factor of `plan` has one block and there is no batch: it comes once.
  bool outerComesOnce(ContractionAttr plan) const {
    int64_t block = plan.getOuter() == plan.getStationary()
                        ? plan.getRowBlock()
                        : plan.getColumnBlock();
    return batch.empty() && factor(plan.getOuter()).extent <= block;
  }
  /// Products that one sum has.
  int64_t terms() const;
  /// Elements of k that PSUM may sum at once, whole steps of the array, where integers
  /// would not stay exact over all of k; else 0.
  int64_t sumDepth(const Machine &machine) const {
    int64_t exact = contraction.exactTerms;
    return exact == 0 || terms() <= exact
               ? 0
               : exact / machine.tensor.rows * machine.tensor.rows;
  }
  /// Steps of `machine`'s array along k.
  int64_t steps(const Machine &machine) const {
    return (depth + machine.tensor.rows - 1) / machine.tensor.rows;
  }
};

/// Whether the array can make the sums: one factor alone must depend on the last
/// index of the result.
bool suitsTensorEngine(const Contraction &contraction);

} // namespace facet::engine

#endif // FACET_PLANNER_ENGINE_PROBLEM_H
