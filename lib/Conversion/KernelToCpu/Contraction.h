//===- Contraction.h - sums of products, recognised -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOCPU_CONTRACTION_H
#define FACET_LIB_CONVERSION_KERNELTOCPU_CONTRACTION_H

#include "facet/Dialect/Cpu/IR/Cpu.h"
#include "facet/Dialect/Kernel/IR/Kernel.h"

#include <optional>

namespace facet::cpu {

/// `Σ_k a[.., m, k] · b[.., k, n]`, where a and b may be any expressions of their
/// own indices (a conversion, a dequantisation), and the map that follows.
struct Contraction {
  kernel::ReduceOp reduce;
  /// Factors of the body's product, by what they depend on: those with n are b's.
  llvm::SmallVector<mlir::Value> a, b;
  /// Iterators of `reduce`, by position. Batch ones index both operands.
  llvm::SmallVector<unsigned> batch, m, n, k;
  Dot dot = Dot::F32;
  /// A map that reads the sums at the element it computes, and nobody else does:
  /// computed on the sums in registers.
  kernel::MapOp epilogue;
  unsigned epilogueInput = 0;
  /// epilogue iterator of each parallel iterator of `reduce`.
  llvm::SmallVector<unsigned> epilogueIterator;
};

/// How a contraction is computed; ContractionStage.cpp draws the loops.
struct ContractionPlan {
  int64_t rows = 0, vectors = 0, lanes = 0; ///< of the micro-kernel
  int64_t rowBlock = 0, columnBlock = 0;    ///< MC, NC
  bool packA = true, packB = true;
  unsigned aSlot = 0, bSlot = 0; ///< of the panels in the workspace
};

/// The contraction that `reduce` is; nullopt when it is none: another kind of
/// reduction, a filter, guards, or a product that does not fall in two.
std::optional<Contraction> matchContraction(kernel::ReduceOp reduce);

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_CONTRACTION_H
