//===- ContractionIntegers.cpp - sums of integers, part by part -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PSUM sums in f32, exactly up to 2^24. A sum of products of integers that may become
// larger is made in parts of k that stay below, each of which leaves PSUM as an i32:
//
//   i8 · i8, k = 4096, sum_depth = 1024
//     for 4 parts of k
//       tensor   a block of tiles, 1024 of k each; the last part tile after tile
//       scalar   copies them out, f32 to i32, which is exact
//       gpsimd   total += part in i32, which wraps as the language does
//     vector   what follows the totals
//
// Scalar alone copies: what vector does behind the totals takes longer than PSUM can
// hold sums back. The last part is added tile by tile where the tile is finished, so that
// vector begins with the first while the array is at the last.
//
// What the map behind only adds to the sums is what gpsimd begins with: there is time for
// it before, and none after.
//
// Parts are steps of k counted from its beginning, whatever is loaded at once: a group
// may hold several of them, or a part of one.
//
//===----------------------------------------------------------------------===//

#include "ContractionStage.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

void ContractionStage::prepareParts() {
  TileType tile = lowering.tileType(
      {rows.tile, columns.tile}, lowering.builder.getI32Type(), Memory::Sbuf);
  int64_t tiles = plan.getRowTiles() * plan.getColumnTiles();
  // A block is summed while what follows the last one is still at work, for which
  // gpsimd leaves parts alone.
  totals = lowering.ring("totals", 2 * tiles, tile);
  parts = lowering.ring("part", 3 * tiles, tile);
}

void ContractionStage::beginTotals(ArrayRef<SumTile> tiles) {
  totalTiles.clear();
  for (const SumTile &tile : tiles)
    totalTiles.push_back(lowering.view(lowering.acquire(totals), 0,
                                       {tile.rows.size, tile.columns.size}));
  hasTotals = isPending = false;
  if (hasStart) {
    for (auto [i, tile] : llvm::enumerate(tiles))
      body->emitStart(tile.rows, tile.columns, at, totalTiles[i],
                      runOf(i, tiles));
    hasTotals = true;
    return;
  }
  if (llvm::any_of(problem.outerExtents,
                   [](int64_t trips) { return trips > 1; }))
    clearTotals();
}

/// Where the first part is one of a loop's.
void ContractionStage::clearTotals() {
  for (Value total : totalTiles)
    lowering.issue(QueueKind::Gpsimd, "fill", {{"dst", total}},
                   {lowering.builder.getNamedAttr(
                       "value", lowering.builder.getI32IntegerAttr(0))});
  hasTotals = true;
}

/// Tile `tile` of a part is summed.
void ContractionStage::takePart(int64_t tile) {
  ArrayRef<int64_t> shape =
      cast<TileType>(totalTiles[tile].getType()).getShape();
  lowering.commit(sums);
  lowering.copy(plan.getEvict(),
                lowering.view(lowering.acquire(parts), 0, shape),
                lowering.view(lowering.wait(sums), 0, shape));
  lowering.release(sums);
  lowering.commit(parts);
}

void ContractionStage::addPart(int64_t tile) {
  Value total = totalTiles[tile];
  Value part = lowering.view(lowering.wait(parts), 0,
                             cast<TileType>(total.getType()).getShape());
  if (hasTotals)
    lowering.issue(QueueKind::Gpsimd, "tensor_tensor",
                   {{"dst", total}, {"a", total}, {"b", part}},
                   {lowering.word("op", "add")});
  else
    lowering.issue(QueueKind::Gpsimd, "copy", {{"dst", total}, {"src", part}});
  lowering.release(parts);
}

/// The last part, where it was left, and what follows the totals.
void ContractionStage::finishTotals(ArrayRef<SumTile> tiles) {
  bool computes = body && !body->yieldsStartedSum();
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    if (isPending)
      addPart(int64_t(i));
    lowering.commit(totals);
    if (computes)
      computeTile(tile, runOf(i, tiles));
    store(computes ? exits.front().ring : totals, tile);
  }
}

/// `count` steps of one part from step `step` of k on, which lies at `at` in the slots.
void ContractionStage::multiplySteps(const Linear &at, int64_t step,
                                     int64_t count, bool opens, bool closes,
                                     Block block) {
  int64_t numTiles = int64_t(totalTiles.size());
  if (opens) {
    partSums.clear();
    for (int64_t i = 0; i < numTiles; ++i)
      partSums.push_back(lowering.acquire(sums));
  }
  block.sums = partSums;
  int64_t rowTiles = tilesIn(rows, block.rows),
          columnTiles = tilesIn(columns, block.columns);
  int64_t unroll = plan.getUnroll();
  bool isLast =
      closes && step + count == problem.steps(machine) && kLoops.empty();
  // A sum begins and ends in its part, whatever loops there are around it.
  auto around = std::exchange(kLoops, {});
  int64_t whole = std::min(count, problem.depth / machine.tensor.rows - step);
  int64_t trips = whole / unroll;
  if (trips < 2)
    trips = 0;
  auto multiply = [&](int64_t firstTile, int64_t endTile) {
    auto once = [&](const Linear &from, int64_t i) {
      Pass pass{0, 1, depthOf(step + i)};
      for (int64_t tile = firstTile; tile < endTile; ++tile)
        multiplyTile(tile, from, pass, block, opens && i == 0,
                     closes && i + 1 == count);
    };
    if (trips) {
      auto loop = ForOp::create(lowering.builder, lowering.location, trips);
      OpBuilder::InsertionGuard guard(lowering.builder);
      lowering.builder.setInsertionPointToEnd(loop.getBody());
      kLoops.push_back({loop.getCounter(), trips});
      Linear counter;
      counter.terms.push_back({loop.getCounter(), unroll});
      for (int64_t i = 0; i < unroll; ++i)
        // The last of the loop is the last of the part when nothing follows it.
        once(at + counter + Linear(i),
             i + 1 == unroll && trips * unroll == count ? count - 1 : i);
      kLoops.pop_back();
    }
    for (int64_t i = trips * unroll; i < count; ++i)
      once(at + Linear(i), i);
  };
  // Tile after tile, so that the first is finished while the last is summed.
  for (int64_t tile = 0; isLast && tile < rowTiles; ++tile) {
    multiply(tile, tile + 1);
    for (int64_t j = 0; j < columnTiles; ++j)
      takePart(tile * columnTiles + j);
  }
  isPending = isLast;
  if (!isLast) {
    multiply(0, rowTiles);
    for (int64_t tile = 0; closes && tile < numTiles; ++tile)
      takePart(tile);
    for (int64_t tile = 0; closes && tile < numTiles; ++tile)
      addPart(tile);
    hasTotals |= closes;
  }
  kLoops = std::move(around);
}

void ContractionStage::multiplyParts(int64_t group, const Block &block) {
  int64_t perPart = plan.getSumDepth() / machine.tensor.rows;
  int64_t first = firstStepOf(group), end = first + stepsOf(group);
  int64_t all = problem.steps(machine);
  int64_t whole = problem.depth / machine.tensor.rows;
  for (int64_t step = first; step < end;) {
    bool opens = step % perPart == 0;
    // The last part stands by itself.
    int64_t trips = 0;
    if (opens)
      trips = (std::min({end, whole, all - 1}) - step) / perPart;
    if (trips >= 2) {
      if (!hasTotals)
        clearTotals();
      auto loop = ForOp::create(lowering.builder, lowering.location, trips);
      OpBuilder::InsertionGuard guard(lowering.builder);
      lowering.builder.setInsertionPointToEnd(loop.getBody());
      Linear at(step - first);
      at.terms.push_back({loop.getCounter(), perPart});
      multiplySteps(at, step, perPart, true, true, block);
      step += trips * perPart;
      continue;
    }
    int64_t next = std::min((step / perPart + 1) * perPart, end);
    multiplySteps(step - first, step, next - step, opens,
                  next % perPart == 0 || next == all, block);
    step = next;
  }
}
