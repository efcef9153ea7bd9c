//===- ContractionResults.cpp - sums on their way out ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The map behind a sum works tile by tile; sums that are only rounded are copied by
// vector, by scalar or by both, and several tiles leave in one transfer:
//
//   4 tiles, scalar_tiles = 1, store_tiles = 3
//     scalar copies tile 0, vector tiles 1 to 3; scalar stores 0, then 1 to 3, or
//     gpsimd stores those
//
// Where the array takes its time over a block, one engine and one tile at a time are
// enough, and the last tile is stored soonest. Where k is short, emptying PSUM and
// triggering transfers is what takes longest.
//
//===----------------------------------------------------------------------===//

#include "ContractionStage.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

void ContractionStage::finishBlock(ArrayRef<SumTile> tiles) {
  if (!body)
    return copyTiles(tiles);
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    computeTile(tile, runOf(i, tiles));
    store(exits.front().ring, tile);
  }
}

void ContractionStage::computeTile(const SumTile &tile, TileBody::Run run) {
  RingOp ring = inParts() ? totals : sums;
  Value slot = lowering.view(lowering.wait(ring), 0,
                             {tile.rows.size, tile.columns.size});
  llvm::SmallDenseMap<unsigned, Value> given = {
      {contraction.epilogue->sumsInput, slot}};
  body->emit(tile.rows, tile.columns, at, given, exits.front().ring,
             /*otherwise=*/0, run);
  lowering.release(ring);
}

void ContractionStage::copyTiles(ArrayRef<SumTile> tiles) {
  /// Tiles that one transfer takes from a slot.
  struct Batch {
    const Exit *exit = nullptr;
    Value slot;
    SmallVector<SumTile> tiles;
  };
  bool both = exits.size() > 1;
  size_t onScalar =
      both ? std::min<size_t>(plan.getScalarTiles(), tiles.size()) : 0;
  SmallVector<Batch> done;
  Batch open[2];
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    unsigned number = i < onScalar;
    Batch &batch = open[number];
    if (!batch.exit) {
      batch.exit = &exits[number];
      batch.slot = lowering.acquire(RingOp(batch.exit->ring));
    }
    int64_t width = pack() * columns.tile;
    SmallVector<int64_t> shape = {tile.rows.size,
                                  isBatched() ? tile.batchSize * columns.tile
                                              : tile.columns.size};
    lowering.copy(
        batch.exit->queue,
        lowering.view(batch.slot, int64_t(batch.tiles.size()) * width, shape),
        lowering.view(lowering.wait(sumsOf(int64_t(i))), 0, shape));
    lowering.release(sumsOf(int64_t(i)));
    batch.tiles.push_back(tile);
    bool isLast = i + 1 == tiles.size() || i + 1 == onScalar;
    if (!isLast && int64_t(batch.tiles.size()) < plan.getStoreTiles())
      continue;
    lowering.commit(RingOp(batch.exit->ring));
    // Scalar does its own copies before it waits for vector's.
    if (both)
      done.push_back(batch);
    else
      store(batch.exit->ring, batch.tiles);
    batch = Batch();
  }
  for (const Batch &batch : done)
    store(batch.exit->ring, batch.tiles,
          plan.getGpsimdStores() && batch.exit->queue == QueueKind::Vector
              ? QueueKind::Gpsimd
              : QueueKind::Scalar);
}

/// Stores the tiles of the next slot of `ring`; neighbours that are alike leave in one
/// transfer.
void ContractionStage::store(RingOp ring, ArrayRef<SumTile> tiles,
                             QueueKind queue) {
  Home home = lowering.homeOfResult(result);
  int64_t rowStride = rows.iterator ? home.strides[*rows.iterator] : 0;
  int64_t columnStride = columns.iterator ? home.strides[*columns.iterator] : 1;
  Value slot = lowering.wait(ring);
  auto transfer = [&](const Linear &to, ArrayRef<int64_t> shape, int64_t perRow,
                      ArrayRef<int64_t> steps, int64_t from) {
    lowering.issue(
        queue, "dma_copy",
        {{"dst", lowering.hbmView(home.buffer, to, shape, perRow, steps)},
         {"src", lowering.view(slot, from, shape, {columns.tile, 1})}},
        {lowering.builder.getNamedAttr("ring",
                                       lowering.builder.getI32IntegerAttr(2))});
  };
  int64_t place = 0;
  while (!tiles.empty()) {
    const SumTile &first = tiles.front();
    // Products of a batch lie one behind the other, in the slot as well.
    if (isBatched()) {
      int64_t count = 0;
      for (const SumTile &tile : tiles)
        count += tile.batchSize;
      int64_t stride = home.strides[batch.back()];
      Linear base = home.constant + first.batch * stride;
      for (unsigned i : batch)
        base += at[i] * home.strides[i];
      transfer(base, {rows.tile, count, columns.tile}, rowStride,
               {stride, columnStride}, 0);
      break;
    }
    auto follows = [&](size_t i, int64_t down, int64_t right) {
      return tiles[i].row == first.row + int64_t(i) * down &&
             tiles[i].column == first.column + int64_t(i) * right &&
             tiles[i].rows.size == first.rows.size &&
             tiles[i].columns.size == first.columns.size;
    };
    bool down = tiles.size() > 1 && follows(1, 1, 0);
    size_t count = 1;
    while (count < tiles.size() && follows(count, down, !down))
      ++count;
    Linear base = home.constant;
    for (unsigned i : batch)
      base += at[i] * home.strides[i];
    base += first.rows.start * rowStride;
    base += first.columns.start * columnStride;
    int64_t apart = down ? rows.tile * rowStride : columns.tile * columnStride;
    SmallVector<int64_t> shape = {first.rows.size, int64_t(count),
                                  first.columns.size};
    transfer(base, shape, rowStride, {apart, columnStride},
             place * columns.tile);
    place += int64_t(count);
    tiles = tiles.drop_front(count);
  }
  lowering.release(ring);
}
