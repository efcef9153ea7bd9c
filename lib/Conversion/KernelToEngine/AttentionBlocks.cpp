//===- AttentionBlocks.cpp - the steps of one block of keys ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of the array's tile are queries, columns keys, until the weights are turned:
//
//   product      sums[i, j] = queries[d, i] * keys[d, j]             tensor
//   maximum      top[i] = max(top[i], sums[i, j])                    vector
//   exponential  weights[i, j] = exp(scale * sums[i, j] + shift[i])  scalar
//   turn         moved[j, i] = weights[i, j]                         tensor, vector
//   multiply     sums[i, d] += moved[j, i] * values[j, d]            tensor
//
//===----------------------------------------------------------------------===//

#include "AttentionStage.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

void AttentionStage::product(Value sumsTile, const Tile &rows,
                             const BlockKind &kind, const Linear &start) {
  int64_t count = steps(queries);
  for (int64_t step = 0; step < count; ++step) {
    int64_t depth = depthOf(queries, step);
    Linear row = rows.start, key = start * chunk();
    row += Linear(step * queries.columns);
    key += Linear(step * keys.columns);
    lowering.issue(
        QueueKind::Tensor, "load_weights",
        {{"weights", lowering.view(queries.slot, row, {depth, rows.size()})}});
    SmallVector<NamedAttribute> fields;
    if (step == 0)
      fields.push_back(lowering.flag("start"));
    if (step + 1 == count)
      fields.push_back(lowering.flag("stop"));
    lowering.issue(
        QueueKind::Tensor, "matmul",
        {{"dst", sumsTile},
         {"moving", lowering.view(keys.slot, key, {depth, kind.width})}},
        fields);
  }
}

/// Masked scores stay in a slot of `chosen`, to become weights.
void AttentionStage::maximum(Value top, Value scoresTile, const Tile &rows,
                             const BlockKind &kind, const Linear &start) {
  Value source =
      kind.masked ? choose(scoresTile, rows, kind, start) : scoresTile;
  SmallVector<NamedAttribute> fields = {
      lowering.word("op", "max"),
      lowering.builder.getNamedAttr("axes",
                                    lowering.builder.getI32IntegerAttr(1))};
  if (!kind.first)
    fields.push_back(lowering.flag("carry"));
  lowering.issue(QueueKind::Vector, "reduce", {{"dst", top}, {"src", source}},
                 fields);
  if (kind.masked)
    lowering.commit(chosen);
}

void AttentionStage::exponential(Value scoresTile, Value shift, Value total,
                                 const Tile &rows, const BlockKind &kind) {
  Value tile =
      lowering.view(lowering.acquire(weights), 0, {rows.size(), kind.width});
  SmallVector<NamedAttribute> fields = {
      lowering.word("func", "exp"), lowering.word("acc_op", "add"),
      lowering.number("imm_scale", attention.scale)};
  if (!kind.first)
    fields.push_back(lowering.flag("carry"));
  lowering.issue(
      QueueKind::Scalar, "activate",
      {{"dst", tile}, {"src", scoresTile}, {"bias", shift}, {"acc", total}},
      fields);
  lowering.commit(weights);
}

/// Keys come to the partitions: they are summed over next.
void AttentionStage::turn(const Tile &rows, const BlockKind &kind) {
  Value source = lowering.wait(weights);
  Value sumsTile = lowering.acquire(turned);
  SmallVector<NamedAttribute> fields;
  if (weightType.isF32())
    fields.push_back(lowering.flag("for_transpose"));
  int64_t full = rowTile();
  int64_t count = llvm::divideCeil(kind.width, chunk());
  auto widthOf = [&](int64_t i) {
    return std::min(chunk(), kind.width - i * chunk());
  };
  for (int64_t i = 0; i < count; ++i) {
    lowering.issue(QueueKind::Tensor, "load_weights",
                   {{"weights", lowering.view(source, i * chunk(),
                                              {rows.size(), widthOf(i)})}},
                   fields);
    lowering.issue(QueueKind::Tensor, "transpose",
                   {{"dst", lowering.view(sumsTile, i * full,
                                          {widthOf(i), rows.size()})}});
  }
  lowering.commit(turned);
  lowering.release(weights);
  RingOp into = movedOf(kind);
  QueueKind copier = copierOf(into);
  Value from = lowering.wait(turned), to = lowering.acquire(into);
  auto copy = [&](int64_t first, int64_t depth, int64_t times) {
    SmallVector<int64_t> shape = {depth, times, rows.size()};
    lowering.issue(
        copier, "copy",
        {{"dst", lowering.view(to, first * full, shape, {full, 1})},
         {"src", lowering.view(from, first * full, shape, {full, 1})}});
  };
  int64_t whole = widthOf(count - 1) == chunk() ? count : count - 1;
  if (whole)
    copy(0, chunk(), whole);
  if (whole != count)
    copy(whole, widthOf(count - 1), 1);
  lowering.commit(into);
  lowering.release(turned);
}

void AttentionStage::multiply(Value sumsTile, const Tile &rows,
                              const BlockKind &kind, const Linear &start) {
  RingOp ring = movedOf(kind);
  Value source = lowering.wait(ring);
  bool sorted = kind.masked && !conditional();
  Value factors = conditional() ? soundSlot
                  : sorted      ? lowering.wait(sound)
                                : values.slot;
  int64_t count = llvm::divideCeil(kind.width, chunk());
  for (int64_t i = 0; i < count; ++i) {
    int64_t depth = std::min(chunk(), kind.width - i * chunk());
    Linear value = sorted ? Linear() : start * values.columns;
    value += Linear(i * values.columns);
    lowering.issue(QueueKind::Tensor, "load_weights",
                   {{"weights", lowering.view(source, i * rowTile(),
                                              {depth, rows.size()})}});
    SmallVector<NamedAttribute> fields;
    if (kind.first && i == 0)
      fields.push_back(lowering.flag("start"));
    if (kind.last && !kind.masked && !conditional() && i + 1 == count)
      fields.push_back(lowering.flag("stop"));
    lowering.issue(
        QueueKind::Tensor, "matmul",
        {{"dst", lowering.view(sumsTile, 0, {rows.size(), values.columns})},
         {"moving", lowering.view(factors, value, {depth, values.columns})}},
        fields);
  }
  if (sorted)
    lowering.release(sound);
  if (sorted || conditional())
    addFaults(sumsTile, source, rows, kind, start);
  lowering.release(ring);
}
