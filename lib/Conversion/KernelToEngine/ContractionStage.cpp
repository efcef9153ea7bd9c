//===- ContractionStage.cpp - a contraction on the tensor engine ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One factor is stationary ("rows": its elements become the partitions of PSUM), the
// other streams ("columns"). The plan says how large a block of sums is, which factor
// the outer loop runs over and whether its block stays:
//
//   for blocks of the outer factor               its groups along k stay in SBUF
//     for blocks of the inner one                its groups pass through a ring
//       for groups of k: load, load_weights, matmul, …
//       for tiles: the map behind it, rounded, to HBM
//
// Loading, multiplying and what follows are on different engines and overlap by the
// depth of the rings.
//
//===----------------------------------------------------------------------===//

#include "ContractionStage.h"
#include "Stages.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

//===----------------------------------------------------------------------===//
// Factors and rings
//===----------------------------------------------------------------------===//

LogicalResult ContractionStage::describe(Operand &operand, Side side,
                                         int64_t tile, int64_t block) {
  operand.side = side;
  operand.factor = problem.factor(side);
  operand.tile = tile;
  operand.block = block;
  FailureOr<Home> home =
      lowering.homeOf(contraction.op(), operand.factor.input);
  if (failed(home))
    return failure();
  operand.home = *home;
  unsigned numParallel = contraction.op().getNumParallel();
  operand.home.strides.assign(numParallel, 0);
  for (unsigned i = 0; i < numParallel; ++i)
    operand.home.strides[contraction.inResult(i)] = home->strides[i];
  operand.kStride = home->strides[problem.k];
  for (unsigned i : problem.outer)
    operand.kOuterStrides.push_back(home->strides[i]);
  if (std::optional<unsigned> iterator = operand.factor.iterator) {
    operand.iterator = contraction.inResult(*iterator);
    operand.stride = home->strides[*iterator];
  }
  operand.ring = lowering.ring(
      &operand == &rows ? "rows" : "columns", plan.getSlots(side),
      lowering.tileType(
          {std::min(problem.depth, machine.tensor.rows), groupSteps(), block},
          operand.factor.type, Memory::Sbuf));
  return success();
}

LogicalResult ContractionStage::prepare() {
  Side stationary = plan.getStationary();
  if (failed(lowering.extentsOf(contraction.op())) ||
      failed(
          describe(rows, stationary, plan.getRowTile(), plan.getRowBlock())) ||
      failed(describe(columns, plan.getMoving(), plan.getColumnTile(),
                      plan.getColumnBlock())))
    return failure();
  outer = plan.getOuter() == stationary ? &rows : &columns;
  inner = outer == &rows ? &columns : &rows;
  for (unsigned i : problem.batch)
    batch.push_back(contraction.inResult(i));
  at.assign(contraction.op().getNumParallel(), Linear());
  kOuterAt.assign(problem.outer.size(), Linear());

  Type f32 = lowering.builder.getF32Type();
  sums = lowering.ring(
      "sums", plan.getSumSlots(),
      lowering.tileType({rows.tile, columns.tile}, f32, Memory::Psum));
  Type element = lowering.storedType(
      cast<RankedTensorType>(result->getResult(0).getType()).getElementType());
  out = lowering.ring(
      "out", plan.getResultSlots(),
      lowering.tileType({rows.tile, columns.tile}, element, Memory::Sbuf));
  if (!contraction.epilogue)
    return success();
  // Inputs of the map are loaded ahead for a block.
  int64_t ahead = 2 * plan.getRowTiles() * plan.getColumnTiles();
  body.emplace(lowering, result, rows.iterator, columns.iterator, rows.tile,
               columns.tile, std::max<int64_t>(3, ahead));
  body->give(contraction.epilogue->sumsInput, plan.getEvict());
  return body->prepare();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void ContractionStage::finishTile(const Span &rowSpan, const Span &columnSpan) {
  Value tile =
      lowering.view(lowering.wait(sums), 0, {rowSpan.size, columnSpan.size});
  if (body) {
    llvm::SmallDenseMap<unsigned, Value> given = {
        {contraction.epilogue->sumsInput, tile}};
    body->emit(rowSpan, columnSpan, at, given, out);
  } else {
    Value slot = lowering.acquire(out);
    lowering.copy(plan.getEvict(),
                  lowering.view(slot, 0, {rowSpan.size, columnSpan.size}),
                  tile);
    lowering.commit(out);
  }
  lowering.release(sums);
  Home home = lowering.homeOfResult(result);
  Linear base = home.constant;
  for (unsigned i : batch)
    base += at[i] * home.strides[i];
  int64_t rowStride = rows.iterator ? home.strides[*rows.iterator] : 0;
  int64_t columnStride = columns.iterator ? home.strides[*columns.iterator] : 1;
  base += rowSpan.start * rowStride;
  base += columnSpan.start * columnStride;
  Value done =
      lowering.view(lowering.wait(out), 0, {rowSpan.size, columnSpan.size});
  lowering.issue(QueueKind::Scalar, "dma_copy",
                 {{"dst", lowering.hbmView(home.buffer, base,
                                           {rowSpan.size, columnSpan.size},
                                           rowStride, {columnStride})},
                  {"src", done}},
                 {lowering.builder.getNamedAttr(
                     "ring", lowering.builder.getI32IntegerAttr(2))});
  lowering.release(out);
}

void ContractionStage::emitBlock(const Span &rowSpan, const Span &columnSpan,
                                 ArrayRef<Value> kept) {
  SmallVector<Value> sumTiles;
  SmallVector<std::pair<Span, Span>> tiles;
  for (int64_t i = 0; i < tilesIn(rows, rowSpan); ++i)
    for (int64_t j = 0; j < tilesIn(columns, columnSpan); ++j)
      tiles.push_back(
          {{rowSpan.start + Linear(i * rows.tile),
            std::min(rows.tile, rowSpan.size - i * rows.tile)},
           {columnSpan.start + Linear(j * columns.tile),
            std::min(columns.tile, columnSpan.size - j * columns.tile)}});
  // What the map reads beside the sums is loaded before the block's operands, so
  // that the loads of the next block need not wait for the map.
  for (auto &[tileRows, tileColumns] : tiles) {
    if (body)
      body->load(tileRows, tileColumns, at);
    sumTiles.push_back(lowering.acquire(sums));
  }
  multiplyOuter(0, rowSpan, columnSpan, kept, sumTiles);
  bool looped = llvm::any_of(problem.outerExtents,
                             [](int64_t trips) { return trips > 1; });
  for (size_t i = 0; looped && i < sumTiles.size(); ++i)
    lowering.commit(sums);
  for (auto &[tileRows, tileColumns] : tiles)
    finishTile(tileRows, tileColumns);
}

void ContractionStage::emitBlocks() {
  bool rowsAreOuter = outer == &rows, stays = plan.getStays();
  lowering.forTiles(outer->factor.extent, outer->block, [&](Span outerSpan) {
    SmallVector<Value> kept;
    if (stays) {
      for (int64_t group = 0; group < groups(); ++group)
        load(*outer, outerSpan, group);
      kept = openGroups(*outer);
    }
    lowering.forTiles(inner->factor.extent, inner->block, [&](Span innerSpan) {
      emitBlock(rowsAreOuter ? outerSpan : innerSpan,
                rowsAreOuter ? innerSpan : outerSpan, kept);
    });
    for (size_t i = 0; i < kept.size(); ++i)
      lowering.release(outer->ring);
  });
}

void ContractionStage::emitBatch(unsigned next) {
  if (next == batch.size())
    return emitBlocks();
  lowering.forTiles(problem.batchExtents[next], 1, [&](Span one) {
    at[batch[next]] = one.start;
    emitBatch(next + 1);
  });
}

LogicalResult ContractionStage::run() {
  if (failed(prepare()))
    return failure();
  emitBatch(0);
  return success();
}

LogicalResult engine::emitContraction(Lowering &lowering,
                                      const Contraction &contraction,
                                      ContractionAttr plan) {
  // verifyPlan has seen that every size is fixed.
  return ContractionStage(lowering, *Problem::of(contraction), plan).run();
}
