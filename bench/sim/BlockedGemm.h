//===- BlockedGemm.h - a blocked matmul as a looped program ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes c = lhsT^T rhs as one program of the matrix engine: loops over blocks in
// any order, operands double buffered in SBUF, sums accumulated in PSUM, evicted
// by the vector engine and stored from a ring. The way the published kernels do
// it, so that their times can be compared, and an example of the instruction
// set's rings.
//
//   GemmPlan plan;                       // 512^3 in bf16, one block
//   plan.m = plan.n = plan.k = 4096;
//   plan.order = "MNK";
//   plan.tilesK = 4, plan.tilesM = 4, plan.tilesN = 2;
//   llvm::Expected<Program> program = blockedGemm(machine, plan);
//
// Buffers: lhsT [K, M], rhs [K, N], c [M, N] (out), in this order.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_BENCH_SIM_BLOCKEDGEMM_H
#define FACET_BENCH_SIM_BLOCKEDGEMM_H

#include "facet/Isa/Program.h"

#include "llvm/Support/Error.h"

namespace facet::bench {

struct GemmPlan {
  /// Sizes of the product; each a multiple of its block.
  int64_t m = 512, n = 512, k = 512;
  DType type = DType::BF16;   ///< of the operands
  DType result = DType::BF16; ///< of c
  /// Loops over blocks, outermost first: a permutation of M, N, K.
  std::string order = "MNK";
  /// Tiles in a block: of tensor.rows (K), tensor.columns (M) and
  /// tensor.moving_max (N) elements, or of the whole axis if that is shorter.
  int64_t tilesK = 1, tilesM = 1, tilesN = 1;
  /// Brings the stationary operand one column of tiles at a time, which needs less
  /// of SBUF than a whole block and pays when each is used by few tiles of N.
  bool lhsByTile = false;
  /// Tiles of the result in SBUF on their way out.
  uint32_t outDepth = 8;
};

/// The program, which keeps all rules of checkProgram, or what is wrong with the
/// plan ("the block order 'MMK' is no permutation of MNK").
llvm::Expected<Program> blockedGemm(const Machine &machine,
                                    const GemmPlan &plan);

} // namespace facet::bench

#endif // FACET_BENCH_SIM_BLOCKEDGEMM_H
