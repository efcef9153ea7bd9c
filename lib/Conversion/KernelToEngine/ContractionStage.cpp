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
  if (isBatched()) {
    operand.batchStride = operand.home.strides[batch.back()];
    operand.slotBatch = operand.batchStride ? plan.getBatchBlock() : 1;
  }
  operand.slotSteps = plan.getWhole() && side == plan.getOuter()
                          ? problem.steps(machine)
                          : std::max(*llvm::max_element(groupSteps),
                                     *llvm::max_element(plan.getGroups(
                                         problem.depth, machine.tensor.rows,
                                         /*isEnd=*/true)));
  SmallVector<int64_t> shape = {std::min(problem.depth, machine.tensor.rows),
                                operand.slotSteps, block};
  if (operand.slotBatch > 1)
    shape.insert(shape.begin() + 1, operand.slotBatch);
  operand.ring = lowering.ring(
      &operand == &rows ? "rows" : "columns", plan.getSlots(side),
      lowering.tileType(shape, operand.factor.type, Memory::Sbuf));
  return success();
}

LogicalResult ContractionStage::prepare() {
  Side stationary = plan.getStationary();
  for (unsigned i : problem.batch)
    batch.push_back(contraction.inResult(i));
  if (failed(lowering.extentsOf(contraction.op())) ||
      failed(
          describe(rows, stationary, plan.getRowTile(), plan.getRowBlock())) ||
      failed(describe(columns, plan.getMoving(), plan.getColumnTile(),
                      plan.getColumnBlock())))
    return failure();
  outer = plan.getOuter() == stationary ? &rows : &columns;
  inner = outer == &rows ? &columns : &rows;
  at.assign(contraction.op().getNumParallel(), Linear());
  kOuterAt.assign(problem.outer.size(), Linear());

  Type f32 = lowering.builder.getF32Type();
  Type element = storedType(
      cast<RankedTensorType>(result->getResult(0).getType()).getElementType());
  int64_t together = isCopied() ? plan.getStoreTiles() : 1;
  auto addExits = [&](SmallVector<Exit> &to, StringRef name, auto slots) {
    auto add = [&](QueueKind queue, bool helps) {
      TileType tile = lowering.tileType(
          {rows.tile, together * pack() * columns.tile}, element, Memory::Sbuf);
      to.push_back({queue, lowering.ring(name, slots(helps), tile)});
    };
    if (!isCopied() || !inParts())
      add(plan.getEvict(), false);
    if (scalarHelps())
      add(QueueKind::Scalar, true);
  };
  addExits(exits, "out", [&](bool) { return plan.getResultSlots(); });
  // Each slot of what is kept is filled once.
  int64_t before = (inner->factor.extent - 1) / inner->block;
  SmallVector<Parcel> parcels =
      parcelsOf(plan.getRowTiles() * plan.getColumnTiles());
  if (plan.getKeepsResults() && before)
    addExits(keptExits, "kept", [&](bool helps) {
      return before * llvm::count_if(parcels, [&](const Parcel &parcel) {
               return parcel.helps == helps;
             });
    });
  // Each engine that empties PSUM has a ring of its own, so that neither waits for
  // the other.
  auto sumsRing = [&](int64_t slots) {
    return lowering.ring("sums", slots,
                         lowering.tileType({rows.tile, pack() * columns.tile},
                                           f32, Memory::Psum));
  };
  int64_t scalarSlots = 0;
  if (scalarHelps()) {
    int64_t tiles = isBatched() ? llvm::divideCeil(plan.getBatchBlock(), pack())
                                : plan.getRowTiles() * plan.getColumnTiles();
    scalarSlots = std::max(plan.getScalarTiles(),
                           plan.getSumSlots() * plan.getScalarTiles() / tiles);
    scalarSums = sumsRing(scalarSlots);
  }
  sums = sumsRing(plan.getSumSlots() - scalarSlots);
  if (inParts())
    prepareParts();
  if (isCopied())
    return success();
  // Inputs of the map are loaded ahead for a block.
  int64_t ahead = 2 * plan.getRowTiles() * plan.getColumnTiles();
  body.emplace(lowering, result, rows.iterator, columns.iterator, rows.tile,
               columns.tile, std::max<int64_t>(3, ahead));
  body->give(contraction.epilogue->sumsInput,
             inParts() ? QueueKind::Vector : plan.getEvict());
  if (plan.getColumnTiles() == 1 && plan.getRowTiles() > 1)
    body->shareRows();
  if (failed(body->prepare()))
    return failure();
  hasStart = inParts() && body->splitStart(contraction.epilogue->sumsInput);
  return success();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

SmallVector<SumTile> ContractionStage::tilesOf(const Span &rowSpan,
                                               const Span &columnSpan) const {
  SmallVector<SumTile> tiles;
  for (int64_t i = 0; i < tilesIn(rows, rowSpan); ++i)
    for (int64_t j = 0; j < tilesIn(columns, columnSpan); ++j)
      tiles.push_back(
          {i,
           j,
           {rowSpan.start + Linear(i * rows.tile),
            std::min(rows.tile, rowSpan.size - i * rows.tile)},
           {columnSpan.start + Linear(j * columns.tile),
            std::min(columns.tile, columnSpan.size - j * columns.tile)}});
  return tiles;
}

void ContractionStage::emitBlock(const Span &rowSpan, const Span &columnSpan,
                                 ArrayRef<Value> kept) {
  SmallVector<Value> sumTiles;
  SmallVector<SumTile> tiles = tilesOf(rowSpan, columnSpan);
  if (isBatched()) {
    tiles.clear();
    for (int64_t b = 0; b < batchSize; b += pack())
      tiles.push_back(
          {0, 0, rowSpan, columnSpan, b, std::min(pack(), batchSize - b)});
  }
  // What the map reads beside the sums is loaded before the block's operands, so
  // that the loads of the next block need not wait for the map.
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    if (body)
      body->load(tile.rows, tile.columns, at, runOf(i, tiles));
    if (!inParts())
      sumTiles.push_back(lowering.acquire(sumsOf(sumTiles.size())));
  }
  if (inParts())
    beginTotals(tiles);
  multiplyOuter(0, rowSpan, columnSpan, kept, sumTiles);
  bool looped = llvm::any_of(problem.outerExtents,
                             [](int64_t trips) { return trips > 1; });
  for (size_t i = 0; looped && i < sumTiles.size(); ++i)
    lowering.commit(sumsOf(i));
  if (isEnd && !keptExits.empty())
    storeKept(rowSpan, columnSpan);
  if (inParts())
    finishTotals(tiles);
  else
    finishBlock(tiles);
}

void ContractionStage::emitBlocks() {
  bool rowsAreOuter = outer == &rows, stays = plan.getStays();
  lowering.forTiles(outer->factor.extent, outer->block, [&](Span outerSpan) {
    SmallVector<Value> kept;
    if (stays)
      kept = loadWhatStays(outerSpan);
    auto block = [&](Span innerSpan) {
      emitBlock(rowsAreOuter ? outerSpan : innerSpan,
                rowsAreOuter ? innerSpan : outerSpan, kept);
    };
    int64_t extent = inner->factor.extent;
    int64_t last = plan.getEndDepth() ? (extent - 1) % inner->block + 1 : 0;
    lowering.forTiles(extent - last, inner->block, block);
    if (last) {
      isEnd = true;
      groupSteps = plan.getGroups(problem.depth, machine.tensor.rows, isEnd);
      block({extent - last, last});
    }
    for (size_t i = 0; i < kept.size(); ++i)
      lowering.release(outer->ring);
  });
}

void ContractionStage::emitBatch(unsigned next) {
  if (next == batch.size())
    return emitBlocks();
  bool isLast = next + 1 == batch.size();
  int64_t together = isLast ? plan.getBatchBlock() : 1;
  lowering.forTiles(problem.batchExtents[next], together, [&](Span some) {
    at[batch[next]] = some.start;
    batchSize = some.size;
    emitBatch(next + 1);
  });
}

LogicalResult ContractionStage::run() {
  if (failed(prepare()))
    return failure();
  warmUp();
  emitBatch(0);
  return success();
}

LogicalResult engine::emitContraction(Lowering &lowering,
                                      const Contraction &contraction,
                                      ContractionAttr plan) {
  // verifyPlan has seen that every size is fixed.
  return ContractionStage(lowering, *Problem::of(contraction), plan).run();
}
