//===- ChooseBlocks.cpp - blocks, order and rings of one contraction ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of sums takes half of PSUM, so that the other half is emptied meanwhile.
// Of the two factors, the outer one stays in SBUF for a row of blocks when SBUF holds
// all of its k beside enough of the other:
//
//   bf16 4096 x 4096 x 4096, trn2     blocks of 512 x 512, b stays in 8 parts of k,
//                                     a passes through 12 slots
//
//===----------------------------------------------------------------------===//

#include "ChooseBlocks.h"
#include "VerifyPlan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using llvm::divideCeil;

ContractionAttr engine::chooseBlocks(const Problem &problem,
                                     const Machine &machine) {
  Side stationary = problem.last == Side::A ? Side::B : Side::A;
  const Factor &rows = problem.factor(stationary);
  const Factor &columns = problem.factor(problem.last);
  int64_t rowTile = std::min(rows.extent, machine.tensor.columns);
  int64_t columnTile = std::min(columns.extent, widestTile(machine));
  // Half of PSUM for the block that is summed, half for the one that is emptied.
  int64_t blockTiles = std::max<int64_t>(1, machine.psum.banks / 2);
  int64_t rowTiles =
      std::min<int64_t>(blockTiles, divideCeil(rows.extent, rowTile));
  int64_t columnTiles =
      std::min<int64_t>(std::max<int64_t>(1, blockTiles / rowTiles),
                        divideCeil(columns.extent, columnTile));
  int64_t rowBlock = rowTile * rowTiles, columnBlock = columnTile * columnTiles;

  // Bytes that pass when one or the other factor is loaded only once.
  auto bytes = [&](const Factor &factor) {
    return factor.extent * problem.depth * factor.bytes();
  };
  int64_t rowBlocks = divideCeil(rows.extent, rowBlock);
  int64_t columnBlocks = divideCeil(columns.extent, columnBlock);
  bool rowsAreOuter = bytes(rows) + bytes(columns) * rowBlocks <
                      bytes(columns) + bytes(rows) * columnBlocks;
  bool stays =
      problem.outer.empty() && (rowsAreOuter ? columnBlocks : rowBlocks) > 1;

  // Eight groups along k: few enough to hold open at once (each takes a ring
  // register), short enough that the first product need not wait for long.
  constexpr int64_t parts = 8;
  int64_t steps = problem.steps(machine);
  int64_t groupSteps = divideCeil(steps, parts);
  int64_t groups = divideCeil(steps, groupSteps);
  int64_t rowBytes = rowBlock * rows.bytes(),
          columnBytes = columnBlock * columns.bytes();
  int64_t outerBytes = rowsAreOuter ? rowBytes : columnBytes;
  int64_t innerBytes = rowsAreOuter ? columnBytes : rowBytes;
  // The rest is for tiles of the epilogue.
  int64_t budget = machine.sbuf.partitionBytes * 7 / 8;
  int64_t outerSlots = 2 * groups;
  int64_t innerSlots = groups + std::min<int64_t>(groups, 4);
  auto isTooLarge = [&] {
    return groupSteps * (outerSlots * outerBytes + innerSlots * innerBytes) >
           budget;
  };
  while (isTooLarge() && innerSlots > 4)
    --innerSlots;
  while (isTooLarge() && outerSlots > groups + 1)
    --outerSlots;
  while (isTooLarge() && innerSlots > 2)
    --innerSlots;
  if (isTooLarge())
    stays = false; // both pass, in groups that fit
  if (!stays) {
    outerSlots = innerSlots = 4;
    while (isTooLarge() && groupSteps > 1)
      groupSteps = divideCeil(groupSteps, 2);
  }

  Side outer = rowsAreOuter ? stationary : problem.last;
  auto loadOf = [](const Factor &factor) {
    return factor.canTranspose() ? Load::Transpose : Load::Copy;
  };
  // Steps written out: enough that the loop's way back costs less than a hundredth.
  constexpr int64_t unroll = 16;
  constexpr int64_t resultSlots = 4;
  MLIRContext *context = rows.type.getContext();
  return ContractionAttr::get(
      context, stationary, outer, stays, rowTile, columnTile, rowBlock,
      columnBlock, groupSteps * machine.tensor.rows,
      outer == Side::A ? outerSlots : innerSlots,
      outer == Side::A ? innerSlots : outerSlots,
      std::min<int64_t>(machine.psum.banks, 2 * blockTiles), resultSlots,
      unroll, loadOf(problem.a), loadOf(problem.b), QueueKind::Vector);
}
