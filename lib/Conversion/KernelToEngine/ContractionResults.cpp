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
    if (!keeps())
      store(exits.front().ring, tile);
  }
}

void ContractionStage::computeTile(const SumTile &tile, TileBody::Run run) {
  RingOp ring = inParts() ? totals : sums;
  Value slot = lowering.view(lowering.wait(ring), 0,
                             {tile.rows.size, tile.columns.size});
  llvm::SmallDenseMap<unsigned, Value> given = {
      {contraction.epilogue->sumsInput, slot}};
  body->emit(tile.rows, tile.columns, at, given, exitsNow().front().ring,
             /*otherwise=*/0, run);
  lowering.release(ring);
}

SmallVector<ContractionStage::Parcel>
ContractionStage::parcelsOf(size_t tiles) const {
  size_t onScalar =
      scalarHelps() ? std::min<size_t>(plan.getScalarTiles(), tiles) : 0;
  size_t most = isCopied() ? plan.getStoreTiles() : 1;
  SmallVector<Parcel> parcels;
  for (size_t i = 0; i < tiles; i += parcels.back().size) {
    bool helps = i < onScalar;
    size_t left = (helps ? onScalar : tiles) - i;
    parcels.push_back({helps, i, std::min(most, left)});
  }
  return parcels;
}

void ContractionStage::copyTiles(ArrayRef<SumTile> tiles) {
  ArrayRef<Exit> exits = exitsNow();
  bool both = exits.size() > 1;
  auto send = [&](const Parcel &parcel) {
    const Exit &exit = exits[parcel.helps];
    QueueKind queue = QueueKind::Scalar;
    if (exit.queue == QueueKind::Vector && plan.getGpsimdStores())
      queue = QueueKind::Gpsimd;
    else if (exit.queue == QueueKind::Vector && isEnd && plan.getKeepsResults())
      queue = QueueKind::Sync;
    store(exit.ring, tiles.slice(parcel.first, parcel.size), queue);
  };
  SmallVector<Parcel> parcels = parcelsOf(tiles.size());
  for (const Parcel &parcel : parcels) {
    const Exit &exit = exits[parcel.helps];
    Value slot = lowering.acquire(RingOp(exit.ring));
    for (size_t i = 0; i < parcel.size; ++i) {
      size_t number = parcel.first + i;
      const SumTile &tile = tiles[number];
      SmallVector<int64_t> shape = {tile.rows.size,
                                    isBatched() ? tile.batchSize * columns.tile
                                                : tile.columns.size};
      RingOp from = sumsOf(int64_t(number));
      lowering.copy(
          exit.queue,
          lowering.view(slot, int64_t(i) * pack() * columns.tile, shape),
          lowering.view(lowering.wait(from), 0, shape));
      lowering.release(from);
    }
    lowering.commit(RingOp(exit.ring));
    // Scalar does its own copies before it waits for vector's.
    if (!both && !keeps())
      send(parcel);
  }
  if (both && !keeps())
    llvm::for_each(parcels, send);
}

/// Stores the blocks before the last, behind all loads in the same DMA ring.
void ContractionStage::storeKept(const Span &rowSpan, const Span &columnSpan) {
  const Span &end = inner == &rows ? rowSpan : columnSpan;
  lowering.forTiles(inner->factor.extent - end.size, inner->block,
                    [&](Span span) {
                      SmallVector<SumTile> tiles =
                          tilesOf(inner == &rows ? span : rowSpan,
                                  inner == &rows ? columnSpan : span);
                      for (const Parcel &parcel : parcelsOf(tiles.size()))
                        store(keptExits[parcel.helps].ring,
                              ArrayRef(tiles).slice(parcel.first, parcel.size),
                              QueueKind::Sync, /*dmaRing=*/0);
                    });
}

/// Stores the tiles of the next slot of `ring`; neighbours that are alike leave in one
/// transfer.
void ContractionStage::store(RingOp ring, ArrayRef<SumTile> tiles,
                             QueueKind queue, int dmaRing) {
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
        {lowering.builder.getNamedAttr(
            "ring", lowering.builder.getI32IntegerAttr(dmaRing))});
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
