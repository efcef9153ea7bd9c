//===- CostModel.h - how long a stage takes -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_CPU_COSTMODEL_H
#define FACET_LIB_PLANNER_CPU_COSTMODEL_H

#include "facet/Machine/Machine.h"
#include "facet/Planner/Cpu/Contraction.h"

namespace facet::cpu {

/// Cycles to pack one element of a (which transposes) and of b (which copies), both
/// from the last-level cache. Measured, f32, AVX-512 on a Zen 5 core.
constexpr double packCyclesA = 0.5, packCyclesB = 1. / 3;
/// Share of the multiply-adds' time that is lost, relative to packed operands, when an a
/// whose rows do not run along k is read where it is. Measured alike. One whose rows do
/// is as fast where it is: eight streams that the prefetchers follow (f32, Zen 4).
constexpr double unpackedLossA = 1. / 16;
/// Packing pays from so many rows on where the caches do not hold b as it is: each
/// row of tiles meets its pages again. 128·4096·4096 was 4 % faster where b is,
/// 197·3072·768 as fast, 256·2048·2048 2 % slower (f32, Zen 4).
constexpr double rowsThatPackingPays = 200;

/// Which calls a plan is for.
struct Calls {
  /// A size that is `most` at most; empty: any call.
  llvm::StringRef size;
  int64_t most = 0;

  Calls() = default;
  Calls(llvm::StringRef size, int64_t most) : size(size), most(most) {}
  /// Those of `variant`.
  explicit Calls(VariantAttr variant) {
    for (GuardAttr guard : variant.getGuards())
      *this = {guard.getSize(), guard.getMost()};
  }
};

/// The size that is the number of rows, where it is open; empty otherwise.
llvm::StringRef openRows(const Contraction &contraction);

/// A contraction as the model sees it. Sizes that are open count as `openSize`.
struct Problem {
  static constexpr int64_t openSize = 1024;

  /// Of the innermost iterator of m and n, along which blocks are cut, and of all
  /// of k; absent when open.
  std::optional<int64_t> m, n, k;
  /// Of the axis of k that blocks cut; the product of the others, 1 when open.
  std::optional<int64_t> outerK;
  int64_t innerK = 1;
  bool hasSeveralK = false;
  /// How often that is done: batch and outer m and n; open ones count once.
  double repeats = 1;
  Dot dot = Dot::F32;
  int64_t lanes = 1;
  int64_t bytes = 4; ///< of an element of the panels
  /// Elements of k that one step of the dot product takes.
  int64_t group = 1;
  /// Whether a and b can be read where they are.
  bool aInPlace = false, bInPlace = false;
  /// Whether a's neighbours in memory are neighbours in k.
  bool aAlongK = false;
  /// Whether all sizes are known.
  bool isClosed = true;

  Problem(const Contraction &contraction, const Machine &machine, Dot dot,
          const Calls &calls = {});
  double sizeM() const { return double(m.value_or(openSize)); }
  double sizeN() const { return double(n.value_or(openSize)); }
  double sizeK() const { return double(k.value_or(openSize)); }
};

/// Cycles of one core.
struct Cost {
  double multiply = 0; ///< the micro-kernels, what they wait for included
  double packA = 0, packB = 0;
  double partial = 0; ///< sums stored and loaded between blocks of k
  double total() const { return multiply + packA + packB + partial; }
  double blocksOfK = 1;
};

/// Cycles lost where an operand is read where it is.
double unpackedCyclesA(const Problem &problem, const Machine &machine);
double unpackedCyclesB(const Problem &problem, const Machine &machine);

Cost costOf(const Problem &problem, ContractionAttr plan,
            const Machine &machine);

/// Cycles of one step of a tile: its multiply-adds, its loads, or the latency of
/// one sum's chain, whichever is longest.
double stepCycles(double rows, double vectors, Dot dot, const Machine &machine);

/// Whether a multiply-add is a multiply and an add: floats without a fused one, and
/// pairs of 16 bits.
bool isTwoInstructions(Dot dot, const Machine &machine);

/// Multiply-adds of one element per cycle.
double multiplyRate(int64_t lanes, const Machine &machine);

} // namespace facet::cpu

#endif // FACET_LIB_PLANNER_CPU_COSTMODEL_H
