//===- ContractionProducts.cpp - matmuls and their order ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each step along k every tile of rows is loaded as weights once, and every tile
// of columns streams past it:
//
//   for steps of a group        plan.unroll of them written out
//     for tiles of rows         load_weights
//       for tiles of columns    matmul into the tile's sums
//
// Pairs of steps of 8-bit types are taken at once where the array has rows for two.
// The last group goes tile by tile instead, so that the first tile is emptied while
// the others are still summed.
//
//===----------------------------------------------------------------------===//

#include "ContractionStage.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

/// Zeros are multiplied while the first transfers are on their way, so that the array's
/// clock is on its way up when they come.
void ContractionStage::warmUp() {
  if (!plan.getWarmUp())
    return;
  int64_t depth = machine.tensor.rows;
  int64_t width = std::max(rows.tile, columns.tile);
  RingOp ring = lowering.ring(
      "zeros", 1,
      lowering.tileType({depth, width}, rows.factor.type, Memory::Sbuf));
  lowering.issue(QueueKind::Vector, "fill", {{"dst", lowering.acquire(ring)}},
                 {lowering.number("value", 0)});
  lowering.commit(ring);
  Value zeros = lowering.wait(ring), slot = lowering.acquire(sums);
  lowering.issue(QueueKind::Tensor, "load_weights",
                 {{"weights", lowering.view(zeros, 0, {depth, rows.tile})}});
  auto loop =
      ForOp::create(lowering.builder, lowering.location, plan.getWarmUp());
  {
    OpBuilder::InsertionGuard guard(lowering.builder);
    lowering.builder.setInsertionPointToEnd(loop.getBody());
    lowering.issue(QueueKind::Tensor, "matmul",
                   {{"dst", lowering.view(slot, 0, {rows.tile, columns.tile})},
                    {"moving", lowering.view(zeros, 0, {depth, columns.tile})}},
                   {lowering.flag("start"), lowering.flag("stop")});
  }
  lowering.commit(sums);
  lowering.release(ring);
  lowering.wait(sums);
  lowering.release(sums);
}

/// The first product overwrites, the last one closes: where that depends on counters
/// of loops along k, one instruction for each case.
void ContractionStage::matmul(Value sumsTile, Value moving,
                              ArrayRef<NamedAttribute> common, bool first,
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
    SmallVector<NamedAttribute> fields(common);
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

/// `unit` is a tile of rows, or a product of the batch.
void ContractionStage::multiplyTile(int64_t unit, const Linear &step,
                                    const Pass &pass, const Block &block,
                                    bool first, bool last) {
  int64_t columnTiles = tilesIn(columns, block.columns);
  int64_t product = isBatched() ? unit : 0, rowTile = isBatched() ? 0 : unit;
  int64_t height = std::min(rows.tile, block.rows.size - rowTile * rows.tile);
  // Two steps lie side by side in a slot, the array takes them together.
  bool isDouble = pass.steps == 2;
  SmallVector<NamedAttribute> fields;
  if (isDouble)
    fields.push_back(lowering.flag("double_row"));
  auto part = [&](Value slot, const Operand &operand, int64_t firstStep,
                  int64_t at, int64_t size) {
    int64_t mine = operand.slotBatch == 1 ? 0 : product * operand.slotSteps;
    Linear from =
        (step + Linear(firstStep + mine)) * operand.block + Linear(at);
    return isDouble ? lowering.view(slot, from, {pass.depth, 2, size},
                                    {operand.block, 1})
                    : lowering.view(slot, from, {pass.depth, size});
  };
  lowering.issue(QueueKind::Tensor, "load_weights",
                 {{"weights", part(block.rowSlot, rows, block.rowStep,
                                   rowTile * rows.tile, height)}},
                 fields);
  for (int64_t j = 0; j < columnTiles; ++j) {
    int64_t width =
        std::min(columns.tile, block.columns.size - j * columns.tile);
    Value sumsTile =
        isBatched()
            ? lowering.view(block.sums[product / pack()],
                            product % pack() * columns.tile, {height, width})
            : lowering.view(block.sums[rowTile * columnTiles + j], 0,
                            {height, width});
    matmul(sumsTile,
           part(block.columnSlot, columns, block.columnStep, j * columns.tile,
                width),
           fields, first, last);
  }
}

SmallVector<ContractionStage::Pass>
ContractionStage::passesOf(int64_t group) const {
  int64_t count = stepsOf(group), firstStep = firstStepOf(group);
  SmallVector<Pass> passes;
  for (int64_t i = 0; i < count;) {
    int64_t depth = depthOf(firstStep + i);
    bool two = plan.getDoubleRow() && i + 1 < count &&
               depthOf(firstStep + i + 1) == depth;
    passes.push_back({i, two ? 2 : 1, depth});
    i += two ? 2 : 1;
  }
  return passes;
}

void ContractionStage::multiplyGroup(int64_t group, const Block &block) {
  if (inParts())
    return multiplyParts(group, block);
  SmallVector<Pass> passes = passesOf(group);
  int64_t unroll = plan.getUnroll(), count = passes.size();
  int64_t units = isBatched() ? batchSize : tilesIn(rows, block.rows);
  bool firstGroup = group == 0, lastGroup = group + 1 == groups();
  // Those that are alike go into a loop.
  int64_t alike = llvm::count_if(passes, [&](const Pass &pass) {
    return pass.steps == passes[0].steps && pass.depth == passes[0].depth;
  });
  int64_t trips = alike / unroll;
  if (trips < 2)
    trips = 0;
  auto multiply = [&](ArrayRef<int64_t> tiles) {
    auto once = [&](int64_t i, const Linear &step, bool ends) {
      for (int64_t tile : tiles)
        multiplyTile(tile, step, passes[i], block, firstGroup && i == 0,
                     lastGroup && ends);
    };
    if (trips) {
      auto loop = ForOp::create(lowering.builder, lowering.location, trips);
      OpBuilder::InsertionGuard guard(lowering.builder);
      lowering.builder.setInsertionPointToEnd(loop.getBody());
      kLoops.push_back({loop.getCounter(), trips});
      for (int64_t i = 0; i < unroll; ++i) {
        Linear step(passes[i].step);
        step.terms.push_back({loop.getCounter(), unroll * passes[0].steps});
        once(i, step, i + 1 == unroll && trips * unroll == count);
      }
      kLoops.pop_back();
    }
    for (int64_t i = trips * unroll; i < count; ++i)
      once(i, passes[i].step, i + 1 == count);
  };
  // In the last group tile after tile is finished, so that the first is emptied
  // while the others are still summed.
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, units));
  if (!lastGroup || !kLoops.empty())
    return multiply(all);
  for (int64_t tile : all) {
    multiply(tile);
    if (isBatched() && tile % pack() + 1 != pack() && tile + 1 != units)
      continue;
    int64_t columnTiles = tilesIn(columns, block.columns);
    for (int64_t j = 0; j < columnTiles; ++j)
      lowering.commit(
          sumsOf(isBatched() ? tile / pack() : tile * columnTiles + j));
  }
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
    int64_t firstStep = firstStepOf(group);
    if (!stays)
      load(*outer, outerSpan, firstStep, stepsOf(group));
    load(*inner, innerSpan, firstStep, stepsOf(group));
    Value outerSlot =
        stays ? kept[plan.getWhole() ? 0 : group] : lowering.wait(outer->ring);
    Value innerSlot = lowering.wait(inner->ring);
    int64_t outerStep = plan.getWhole() ? firstStep : 0;
    bool rowsAreOuter = outer == &rows;
    multiplyGroup(group,
                  {rowSpan, columnSpan, rowsAreOuter ? outerSlot : innerSlot,
                   rowsAreOuter ? innerSlot : outerSlot,
                   rowsAreOuter ? outerStep : 0, rowsAreOuter ? 0 : outerStep,
                   sumTiles});
    if (!stays)
      lowering.release(outer->ring);
    lowering.release(inner->ring);
  }
}
