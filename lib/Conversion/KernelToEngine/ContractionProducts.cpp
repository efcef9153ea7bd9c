//===- ContractionProducts.cpp - matmuls and their order ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each step along k every tile of rows is loaded as weights once, and every tile
// of columns streams past it:
//
//   for steps of a group        written out in runs of plan.unroll
//     for tiles of rows         load_weights
//       for tiles of columns    matmul into the tile's sums
//
// The last group goes tile by tile instead, so that the first tile is emptied while
// the others are still summed.
//
//===----------------------------------------------------------------------===//

#include "ContractionStage.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

/// The first product overwrites, the last one closes: where that depends on counters
/// of loops along k, one instruction for each case.
void ContractionStage::matmul(Value sumsTile, Value moving, bool first,
                              bool last) {
  // Sums of the counters, and of what is left of their trips: 0 at the first and at
  // the last step.
  AffineExpr done = lowering.builder.getAffineConstantExpr(0), left = done;
  SmallVector<Value> counters;
  for (auto [counter, trips] : kLoops) {
    AffineExpr dim = lowering.builder.getAffineDimExpr(counters.size());
    done = done + dim;
    left = left + (trips - 1) - dim;
    counters.push_back(counter);
  }
  bool looped = !counters.empty();
  auto emit = [&](bool start, bool stop, ArrayRef<AffineExpr> zero,
                  ArrayRef<AffineExpr> positive) {
    SmallVector<NamedAttribute> fields;
    if (start)
      fields.push_back(lowering.flag("start"));
    if (stop)
      fields.push_back(lowering.flag("stop"));
    IssueOp op =
        lowering.issue(QueueKind::Tensor, "matmul",
                       {{"dst", sumsTile}, {"moving", moving}}, fields);
    SmallVector<AffineExpr> constraints(zero);
    SmallVector<bool> equal(zero.size(), true);
    for (AffineExpr expr : positive) {
      constraints.push_back(expr - 1);
      equal.push_back(false);
    }
    if (constraints.empty())
      return;
    op.setConditionAttr(IntegerSetAttr::get(
        IntegerSet::get(counters.size(), 0, constraints, equal)));
    op.getCountersMutable().assign(counters);
  };
  if (!looped || (!first && !last))
    return emit(first && !looped, last && !looped, {}, {});
  if (first && last) {
    emit(true, true, {done, left}, {});
    emit(true, false, {done}, {left});
    emit(false, true, {left}, {done});
    emit(false, false, {}, {done, left});
  } else if (first) {
    emit(true, false, {done}, {});
    emit(false, false, {}, {done});
  } else {
    emit(false, true, {left}, {});
    emit(false, false, {}, {left});
  }
}

void ContractionStage::multiplyTile(int64_t rowTile, const Linear &step,
                                    int64_t depth, const Block &block,
                                    bool first, bool last) {
  int64_t columnTiles = tilesIn(columns, block.columns);
  int64_t height = std::min(rows.tile, block.rows.size - rowTile * rows.tile);
  lowering.issue(QueueKind::Tensor, "load_weights",
                 {{"weights", lowering.view(block.rowSlot,
                                            step * rows.block +
                                                Linear(rowTile * rows.tile),
                                            {depth, height})}});
  for (int64_t j = 0; j < columnTiles; ++j) {
    int64_t width =
        std::min(columns.tile, block.columns.size - j * columns.tile);
    Value moving = lowering.view(
        block.columnSlot, step * columns.block + Linear(j * columns.tile),
        {depth, width});
    matmul(lowering.view(block.sums[rowTile * columnTiles + j], 0,
                         {height, width}),
           moving, first, last);
  }
}

void ContractionStage::multiplyGroup(int64_t group, const Block &block) {
  int64_t unrolled = plan.getUnroll();
  int64_t count = stepsOf(group), firstStep = group * groupSteps();
  int64_t rowTiles = tilesIn(rows, block.rows);
  bool firstGroup = group == 0, lastGroup = group + 1 == groups();
  int64_t whole = count > unrolled ? (count - 1) / unrolled : 0;
  if (whole > 0) {
    auto loop = ForOp::create(lowering.builder, lowering.location, whole);
    OpBuilder::InsertionGuard guard(lowering.builder);
    lowering.builder.setInsertionPointToEnd(loop.getBody());
    // What follows the loop ends the sum, so only its beginning matters here.
    kLoops.push_back({loop.getCounter(), whole});
    for (int64_t i = 0; i < unrolled; ++i) {
      Linear step(i);
      step.terms.push_back({loop.getCounter(), unrolled});
      for (int64_t tile = 0; tile < rowTiles; ++tile)
        multiplyTile(tile, step, machine.tensor.rows, block,
                     firstGroup && i == 0, false);
    }
    kLoops.pop_back();
  }
  auto multiply = [&](int64_t tile, int64_t i) {
    multiplyTile(tile, i, depthOf(firstStep + i), block, firstGroup && i == 0,
                 lastGroup && i + 1 == count);
  };
  // In the last group tile after tile is finished, so that the first is emptied
  // while the others are still summed.
  bool closes = lastGroup && kLoops.empty();
  if (closes)
    for (int64_t tile = 0; tile < rowTiles; ++tile) {
      for (int64_t i = whole * unrolled; i < count; ++i)
        multiply(tile, i);
      for (int64_t j = 0; j < tilesIn(columns, block.columns); ++j)
        lowering.commit(sums);
    }
  else
    for (int64_t i = whole * unrolled; i < count; ++i)
      for (int64_t tile = 0; tile < rowTiles; ++tile)
        multiply(tile, i);
}

void ContractionStage::multiplyOuter(unsigned next, const Span &rowSpan,
                                     const Span &columnSpan,
                                     ArrayRef<Value> kept,
                                     ArrayRef<Value> sumTiles) {
  if (next < problem.outer.size()) {
    int64_t trips = problem.outerExtents[next];
    if (trips == 1)
      return multiplyOuter(next + 1, rowSpan, columnSpan, kept, sumTiles);
    auto loop = ForOp::create(lowering.builder, lowering.location, trips);
    OpBuilder::InsertionGuard guard(lowering.builder);
    lowering.builder.setInsertionPointToEnd(loop.getBody());
    Linear counter;
    counter.terms.push_back({loop.getCounter(), 1});
    kOuterAt[next] = counter;
    kLoops.push_back({loop.getCounter(), trips});
    multiplyOuter(next + 1, rowSpan, columnSpan, kept, sumTiles);
    kLoops.pop_back();
    kOuterAt[next] = Linear();
    return;
  }
  const Span &innerSpan = inner == &rows ? rowSpan : columnSpan;
  const Span &outerSpan = outer == &rows ? rowSpan : columnSpan;
  bool stays = plan.getStays();
  for (int64_t group = 0; group < groups(); ++group) {
    if (!stays)
      load(*outer, outerSpan, group);
    load(*inner, innerSpan, group);
    Value outerSlot = stays ? kept[group] : lowering.wait(outer->ring);
    Value innerSlot = lowering.wait(inner->ring);
    multiplyGroup(group,
                  {rowSpan, columnSpan, outer == &rows ? outerSlot : innerSlot,
                   outer == &rows ? innerSlot : outerSlot, sumTiles});
    if (!stays)
      lowering.release(outer->ring);
    lowering.release(inner->ring);
  }
}
