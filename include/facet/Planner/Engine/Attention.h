//===- Attention.h - a softmax between two contractions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_PLANNER_ENGINE_ATTENTION_H
#define FACET_PLANNER_ENGINE_ATTENTION_H

#include "facet/Planner/Engine/Conditions.h"
#include "facet/Planner/Engine/Contraction.h"
#include "facet/Planner/Engine/KeyBlocks.h"

#include "llvm/ADT/SetVector.h"

namespace facet::engine {

/// softmax over `keys` of scale times a contraction, contracted over `keys` again.
/// Iterators without other mention are those of `exponentials`; its last is the key.
struct Attention {
  Contraction scores, values;
  kernel::MapOp exponentials;
  /// Equal ones: of several maxima, the first is the softmax's own. So are sums.
  llvm::SmallVector<kernel::ReduceOp> maxima, sums;
  /// What the maxima read.
  mlir::Value scoresTensor;
  /// Of the scores inside the exponential; positive.
  double scale = 1;
  /// What else makes scores of the sums, or none; input `sumsInput` of it are they.
  kernel::MapOp transform;
  unsigned sumsInput = 0;
  /// The part of the filter that is known without data.
  AffineFilter filter;
  /// The rest of it: guard atoms of the first maximum.
  llvm::SmallVector<int64_t> conditions;
  /// The inputs of scores that are constant over keys, and over rows; the one of
  /// values that is no weight.
  unsigned queryInput = 0, keyInput = 0, valueInput = 0;
  /// One index of the queries; the other iterators that are neither rows nor keys.
  unsigned rows = 0;
  llvm::SmallVector<unsigned> outer;
  unsigned keys() { return exponentials.getNumParallel() - 1; }
  /// Iterators of scores and values for each iterator; the ones that are beside:
  /// summed over in scores, the column of the result in values.
  llvm::SmallVector<unsigned> inScores, inValues;
  unsigned depth = 0, column = 0;
  llvm::SmallVector<int64_t> extents;
  int64_t depthExtent = 1, columnExtent = 1;
  /// Everything that the stage computes.
  llvm::SmallSetVector<mlir::Operation *, 8> members;

  /// The op whose result leaves the stage: the rounding behind the sums, or they.
  kernel::StructuredOpInterface result() {
    return values.epilogue ? llvm::cast<kernel::StructuredOpInterface>(
                                 values.epilogue->map.getOperation())
                           : values.op();
  }
  /// Scores are made by instructions of their own, not by the exponential's.
  bool computesScores() const { return transform || !conditions.empty(); }
  /// True when somebody else reads what a maximum or sum gives.
  bool leaves(kernel::ReduceOp op) const;
  /// Its filter in the plane of rows and keys.
  llvm::SmallVector<HalfPlane> plane();
  /// What both factors of a contraction are for the array.
  mlir::Type queryType() const {
    return queryInput == scores.a ? scores.aType : scores.bType;
  }
  mlir::Type keyType() const {
    return keyInput == scores.a ? scores.aType : scores.bType;
  }
  mlir::Type valueType() const {
    return valueInput == values.a ? values.aType : values.bType;
  }
  mlir::Type weightType() const {
    return valueInput == values.a ? values.bType : values.aType;
  }
  /// All ops whose results leave the stage.
  llvm::SmallVector<kernel::StructuredOpInterface> results();
};

/// The attention whose last contraction is `values`, or nullopt: it is none, or
/// `machine` (null: any) does not multiply its types.
std::optional<Attention> matchAttention(kernel::ReduceOp values,
                                        const Machine *machine = nullptr);

/// Its rows in tiles of the array, with the blocks of keys they meet: at most a bank of
/// PSUM wide, starting at multiples of the array's rows.
llvm::SmallVector<RowBand> attentionBands(Attention &attention,
                                          const Machine &machine);

/// How many heads of queries, keys and values SBUF holds at once: 1 or 2.
int64_t headsHeld(Attention &attention, const Machine &machine);

/// Why `machine` cannot have it in one stage; empty when it can: one head fits the
/// memories, and it can be told which blocks of keys each block of rows meets.
std::string attentionMisfit(Attention &attention, const Machine &machine);
inline bool attentionFits(Attention &attention, const Machine &machine) {
  return attentionMisfit(attention, machine).empty();
}

} // namespace facet::engine

#endif // FACET_PLANNER_ENGINE_ATTENTION_H
