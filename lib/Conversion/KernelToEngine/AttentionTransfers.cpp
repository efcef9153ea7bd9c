//===- AttentionTransfers.cpp - heads to SBUF, results to HBM --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queries and keys lie with the axis that their product sums over on the partitions,
// values with the keys. Where memory has them the other way the DMA transposes; values
// would take one transfer for each 128 keys, so the array transposes those:
//
//   v[d, j] -> raw_values[d, j] -> array, PSUM -> values[j mod 128, j / 128, d]
//
//===----------------------------------------------------------------------===//

#include "AttentionStage.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

Linear AttentionStage::baseOf(const Home &home, ArrayRef<unsigned> iterators) {
  Linear base = home.constant;
  for (unsigned i : outer)
    base += at[i] * home.strides[iterators[i]];
  return base;
}

/// Rows that lie densely in memory become columns on chip: those are transposed.
void AttentionStage::load(Panel &panel) {
  Value slot = lowering.acquire(panel.ring);
  Linear base = baseOf(panel.home, panel.iterators);
  int64_t bits = panel.type.getIntOrFloatBitWidth();
  bool transposes = panel.rowStride == 1 && panel.columnStride != 1 &&
                    panel.columns > 1 && panel.home.elementType == panel.type &&
                    (bits == 16 || bits == 32);
  auto copy = [&](int64_t step, int64_t depth, int64_t times) {
    Linear from = base;
    from += Linear(step * chunk() * panel.rowStride);
    Value to = lowering.view(slot, step * panel.columns,
                             {depth, times, panel.columns});
    lowering.issue(
        QueueKind::Sync, "dma_copy",
        {{"dst", to},
         {"src",
          lowering.hbmView(panel.home.buffer, from,
                           {depth, times, panel.columns}, panel.rowStride,
                           {chunk() * panel.rowStride,
                            panel.columns == 1 ? 1 : panel.columnStride})}});
  };
  int64_t count = steps(panel), rest = depthOf(panel, count - 1);
  if (transposes) {
    for (int64_t step = 0; step < count; ++step) {
      int64_t depth = depthOf(panel, step);
      Linear from = base;
      from += Linear(step * chunk());
      lowering.issue(QueueKind::Sync, "dma_transpose",
                     {{"dst", lowering.view(slot, step * panel.columns,
                                            {depth, panel.columns})},
                      {"src", lowering.hbmView(panel.home.buffer, from,
                                               {panel.columns, depth},
                                               panel.columnStride, {1})}});
    }
  } else {
    int64_t whole = rest == chunk() ? count : count - 1;
    if (whole)
      copy(0, chunk(), whole);
    if (whole != count)
      copy(whole, rest, 1);
  }
  lowering.commit(panel.ring);
}

bool AttentionStage::turnsValues() const {
  int64_t bits = values.type.getIntOrFloatBitWidth();
  int64_t group = steps(values) * rowTile();
  return values.rowStride == 1 && values.columnStride != 1 &&
         steps(values) > 1 && values.home.elementType == values.type &&
         values.type == weightType && (bits == 16 || bits == 32) &&
         values.columns <= std::min(chunk(), group);
}

/// In slots of the ring that weights take on their way.
void AttentionStage::turnValues() {
  Value raw = lowering.wait(rawValues.ring);
  Value to = lowering.acquire(values.ring);
  int64_t width = values.columns, rest = values.rows % chunk();
  TileType slot = turned.getType().getTile();
  int64_t group = std::max<int64_t>(1, slot.getRowElements() / width);
  auto turnGroup = [&](const Linear &first, int64_t count, int64_t depth) {
    Value tile = lowering.acquire(turned);
    SmallVector<NamedAttribute> fields;
    if (weightType.isF32())
      fields.push_back(lowering.flag("for_transpose"));
    for (int64_t i = 0; i < count; ++i) {
      Linear key = first * chunk();
      key += Linear(i * chunk());
      lowering.issue(QueueKind::Tensor, "load_weights",
                     {{"weights", lowering.view(raw, key, {width, depth})}},
                     fields);
      lowering.issue(QueueKind::Tensor, "transpose",
                     {{"dst", lowering.view(tile, i * width, {depth, width})}});
    }
    lowering.commit(turned);
    SmallVector<int64_t> shape = {depth, count, width};
    lowering.issue(
        attention.computesScores() ? QueueKind::Scalar : QueueKind::Vector,
        "copy",
        {{"dst", lowering.view(to, first * width, shape)},
         {"src", lowering.view(lowering.wait(turned), 0, shape, {width, 1})}});
    lowering.release(turned);
  };
  lowering.forTiles(values.rows / chunk(), group, [&](Span span) {
    turnGroup(span.start, span.size, chunk());
  });
  if (rest)
    turnGroup(values.rows / chunk(), 1, rest);
  lowering.commit(values.ring);
  lowering.release(rawValues.ring);
  values.slot = lowering.wait(values.ring);
  if (conditional())
    sortAllValues();
}

void AttentionStage::store(Value tile, const Tile &rows) {
  StructuredOpInterface result = attention.result();
  Home home = lowering.homeOfResult(result);
  Contraction &sum = attention.values;
  SmallVector<unsigned> iterators;
  for (unsigned i : attention.inValues)
    iterators.push_back(i < attention.extents.size() ? sum.inResult(i) : 0);
  Linear base = baseOf(home, iterators);
  int64_t rowStride = home.strides[iterators[attention.rows]];
  int64_t columnStride = home.strides[sum.inResult(attention.column)];
  base += rows.start * rowStride;
  NamedAttribute ring = lowering.builder.getNamedAttr(
      "ring", lowering.builder.getI32IntegerAttr(2));
  // Sync would hold the loads of the next head, or of the next scores, back.
  bool loads = !outer.empty() || attention.computesScores();
  QueueKind queue = loads ? QueueKind::Scalar : QueueKind::Sync;
  int64_t width = values.columns;
  int64_t bits = home.elementType.getIntOrFloatBitWidth();
  if (rowStride == 1 && columnStride != 1 && (bits == 16 || bits == 32)) {
    lowering.issue(
        queue, "dma_transpose",
        {{"dst", lowering.hbmView(home.buffer, base, {width, rows.size()},
                                  columnStride, {1})},
         {"src", tile}},
        {ring});
    return;
  }
  lowering.issue(
      queue, "dma_copy",
      {{"dst", lowering.hbmView(home.buffer, base, {rows.size(), width},
                                rowStride, {width == 1 ? 1 : columnStride})},
       {"src", tile}},
      {ring});
}

/// One number per row, for another stage.
void AttentionStage::storeColumn(RingOp ring, kernel::ReduceOp op,
                                 const Tile &rows) {
  auto reduce = cast<StructuredOpInterface>(op.getOperation());
  Home home = lowering.homeOfResult(reduce);
  SmallVector<unsigned> iterators =
      llvm::to_vector(llvm::seq<unsigned>(attention.extents.size()));
  Linear base = baseOf(home, iterators);
  int64_t rowStride = home.strides[attention.rows];
  base += rows.start * rowStride;
  Value tile = lowering.view(lowering.wait(ring), 0, {rows.size(), 1});
  lowering.issue(QueueKind::Gpsimd, "dma_copy",
                 {{"dst", lowering.hbmView(home.buffer, base, {rows.size(), 1},
                                           rowStride, {1})},
                  {"src", tile}});
  lowering.release(ring);
}
