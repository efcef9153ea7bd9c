//===- Stream.h - a softmax between two contractions, recognised ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_PLANNER_CPU_STREAM_H
#define FACET_PLANNER_CPU_STREAM_H

#include "facet/Planner/Cpu/Contraction.h"

namespace facet::cpu {

/// `Σ_j softmax_j(f(Σ_d q[i, d] · k[j, d])) · v[j, n]`, by what depends on what. All
/// ops are at points of the softmax: i and j and what both operands share.
struct Stream {
  using Place = llvm::SmallVector<std::optional<unsigned>>;

  Contraction scores; ///< its last n is the key j
  kernel::SoftmaxOp softmax;
  Contraction values; ///< its k is the key; filtered as the softmax is
  /// From the scores to the softmax, in order, and what rounds its weights.
  llvm::SmallVector<kernel::MapOp> maps;
  /// max_j and Σ_j exp(.. − max), where the kernel also asks for them.
  kernel::ReduceOp max, sum;

  /// Iterators of the softmax: those that both k and v share with q, outer ones of
  /// q alone, the row i that is cut into blocks, and the key j.
  llvm::SmallVector<unsigned> batch, outerRows;
  unsigned row = 0, key = 0;
  /// Per op, the iterator of the softmax that each of its iterators is; none for d
  /// and n.
  llvm::DenseMap<mlir::Operation *, Place> places;

  /// The ops in order, without an epilogue of the values.
  llvm::SmallVector<mlir::Operation *> ops() const;
  bool isFiltered() const {
    kernel::SoftmaxOp op = softmax;
    return !op.getFilter().empty();
  }
};

/// The stream that `softmax` is the middle of; nullopt, and why, when its weights
/// must be stored.
std::optional<Stream> matchStream(kernel::SoftmaxOp softmax,
                                  std::string &reason);

} // namespace facet::cpu

#endif // FACET_PLANNER_CPU_STREAM_H
