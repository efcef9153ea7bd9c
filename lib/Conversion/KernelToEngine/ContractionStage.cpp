//===- ContractionStage.cpp - a contraction on the tensor engine ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One operand is stationary ("rows": its elements become the partitions of PSUM), the
// other streams ("columns"). A block of up to four tiles of 128 x 512 sums keeps half
// of PSUM while the other half is emptied; for each step of 128 along k every tile
// takes one matmul:
//
//   for stripes of the resident operand          its groups along k stay in SBUF
//     for stripes of the other                   its groups pass through a ring
//       for k: load_weights, matmul, …
//       for tiles: the map behind it, rounded, to HBM
//
// The resident operand is loaded once, the other once per stripe. Loading, multiplying
// and what follows are on different engines and overlap by the depth of the rings.
//
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "TileBody.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

bool engine::suitsTensorEngine(Contraction &contraction) {
  unsigned numParallel = contraction.reduce.getNumParallel();
  if (numParallel == 0)
    return false; // one number: a product of two vectors
  return llvm::none_of(contraction.both, [&](unsigned iterator) {
    return contraction.inResult(iterator) + 1 == numParallel;
  });
}

namespace {

/// One operand: where its elements are by the iterators of the stage.
struct Operand {
  Home home;
  Type type; ///< as the array sees it
  unsigned iterator = 0;
  bool hasIterator = false;
  int64_t stride = 0, kStride = 0;
  SmallVector<int64_t> kOuterStrides;
  int64_t extent = 1;
  /// Elements of one tile and tiles of one stripe.
  int64_t tile = 1, tiles = 1;
  /// Slots in its ring, and in the order of k the groups of one stripe.
  int64_t depth = 0;
  RingOp ring;

  int64_t stripe() const { return tile * tiles; }
  /// k lies densely in memory: rows of the transfer would be columns of the tile.
  bool transposed() const { return kStride == 1 && stride != 1 && extent > 1; }
};

/// What one group along k is multiplied from and into.
struct Block {
  const Span &rows, &columns;
  Value rowSlot, columnSlot;
  ArrayRef<Value> sums;
};

class ContractionStage {
public:
  ContractionStage(Lowering &lowering, Contraction contraction)
      : lowering(lowering), machine(lowering.machine), contraction(contraction),
        result(contraction.epilogue
                   ? cast<StructuredOpInterface>(
                         contraction.epilogue->map.getOperation())
                   : contraction.op()) {}
  LogicalResult run();

private:
  LogicalResult describe();
  LogicalResult plan();
  void emitBatch(unsigned next);
  void emitStripes();
  void emitBlock(const Span &rows, const Span &columns,
                 ArrayRef<Value> resident);
  void load(Operand &operand, const Span &span, int64_t group);
  SmallVector<Value> openGroups(Operand &operand);
  void multiplyOuter(unsigned next, const Span &rows, const Span &columns,
                     ArrayRef<Value> resident, ArrayRef<Value> sums);
  void multiplyGroup(int64_t group, const Block &block);
  void multiplyTile(int64_t rowTile, const Linear &step, int64_t depth,
                    const Block &block, bool first, bool last);
  void matmul(Value sums, Value moving, bool first, bool last);
  void finishTile(const Span &rows, const Span &columns);

  /// Steps along k, and those of one group.
  int64_t steps() const { return llvm::divideCeil(k, machine.tensor.rows); }
  int64_t groups() const { return llvm::divideCeil(steps(), groupSteps); }
  int64_t stepsOf(int64_t group) const {
    return std::min(groupSteps, steps() - group * groupSteps);
  }
  int64_t depthOf(int64_t step) const {
    return std::min(machine.tensor.rows, k - step * machine.tensor.rows);
  }
  int64_t tilesIn(const Operand &operand, const Span &span) const {
    return llvm::divideCeil(span.size, operand.tile);
  }

  Lowering &lowering;
  const Machine &machine;
  Contraction contraction;
  StructuredOpInterface result;

  Operand rows, columns;
  Operand *resident = nullptr, *streamed = nullptr;
  SmallVector<unsigned> batch;  ///< iterators of the result
  SmallVector<int64_t> extents; ///< of the result's iterators
  int64_t k = 1;
  SmallVector<int64_t> kOuter; ///< extents of the other iterators summed over
  int64_t groupSteps = 1;
  bool keeps = false; ///< the resident operand stays for several stripes
  RingOp sums, out;
  std::optional<TileBody> body;

  // Of what is being emitted.
  SmallVector<Linear> at; ///< by iterator of the result
  SmallVector<Linear> kOuterAt;
  /// Counters of loops along k that are open, and their trips.
  SmallVector<std::pair<Value, int64_t>> kLoops;
};

} // namespace

//===----------------------------------------------------------------------===//
// Who is what
//===----------------------------------------------------------------------===//

LogicalResult ContractionStage::describe() {
  StructuredOpInterface sum = contraction.op();
  unsigned numParallel = sum.getNumParallel();
  // Iterators of the reduce as iterators of the result.
  SmallVector<unsigned> toResult;
  for (unsigned i = 0; i < numParallel; ++i)
    toResult.push_back(contraction.inResult(i));
  FailureOr<SmallVector<int64_t>> all = lowering.extentsOf(sum);
  if (failed(all))
    return failure();
  extents.resize(numParallel);
  for (unsigned i = 0; i < numParallel; ++i)
    extents[toResult[i]] = (*all)[i];

  auto isLast = [&](unsigned i) { return toResult[i] + 1 == numParallel; };
  bool lastInA = llvm::any_of(contraction.onlyA, isLast);
  bool lastInB = llvm::any_of(contraction.onlyB, isLast);
  // With nothing in the last place, what there is alone goes to the columns.
  bool columnsAreA = lastInA || (!lastInB && contraction.onlyB.empty());
  if (numParallel && !lastInA && !lastInB &&
      llvm::any_of(contraction.both, isLast))
    return sum->emitError(
        "both factors depend on the last index of the result; "
        "the tensor engine needs one of its own there: give "
        "the result's axes another order, or compile for a "
        "CPU");
  auto &columnIterators = columnsAreA ? contraction.onlyA : contraction.onlyB;
  auto &rowIterators = columnsAreA ? contraction.onlyB : contraction.onlyA;
  columns.type = columnsAreA ? contraction.aType : contraction.bType;
  rows.type = columnsAreA ? contraction.bType : contraction.aType;
  unsigned columnInput = columnsAreA ? contraction.a : contraction.b;
  unsigned rowInput = columnsAreA ? contraction.b : contraction.a;

  // k: the longest of the iterators summed over is cut into steps.
  unsigned inner = contraction.k.back();
  for (unsigned i : contraction.k)
    if ((*all)[i] > (*all)[inner])
      inner = i;
  k = (*all)[inner];

  auto fill = [&](Operand &operand, unsigned input, ArrayRef<unsigned> own,
                  int64_t tile) -> LogicalResult {
    FailureOr<Home> home = lowering.homeOf(sum, input);
    if (failed(home))
      return failure();
    operand.home = *home;
    operand.home.strides.assign(numParallel, 0);
    for (unsigned i = 0; i < numParallel; ++i)
      operand.home.strides[toResult[i]] = home->strides[i];
    operand.kStride = home->strides[inner];
    for (unsigned i : contraction.k)
      if (i != inner)
        operand.kOuterStrides.push_back(home->strides[i]);
    operand.hasIterator = !own.empty();
    if (operand.hasIterator) {
      // The one in the result's last place, else the longest.
      unsigned chosen = own.back();
      for (unsigned i : own)
        if (isLast(i) || (!isLast(chosen) && (*all)[i] > (*all)[chosen]))
          chosen = i;
      operand.iterator = toResult[chosen];
      operand.extent = (*all)[chosen];
      operand.stride = home->strides[chosen];
    }
    operand.tile = std::min(operand.extent, tile);
    return success();
  };
  if (failed(fill(rows, rowInput, rowIterators, machine.tensor.columns)) ||
      failed(fill(columns, columnInput, columnIterators,
                  std::min<int64_t>(machine.tensor.movingMax,
                                    machine.psum.bankBytes / 4))))
    return failure();
  for (unsigned i : contraction.k)
    if (i != inner)
      kOuter.push_back((*all)[i]);
  for (unsigned i = 0; i < numParallel; ++i)
    if (!(rows.hasIterator && rows.iterator == i) &&
        !(columns.hasIterator && columns.iterator == i))
      batch.push_back(i);
  at.assign(numParallel, Linear());
  kOuterAt.assign(kOuter.size(), Linear());
  return success();
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

LogicalResult ContractionStage::plan() {
  int64_t rowTiles = llvm::divideCeil(rows.extent, rows.tile);
  int64_t columnTiles = llvm::divideCeil(columns.extent, columns.tile);
  // Half of PSUM for the block that is summed, half for the one that is emptied.
  int64_t blockTiles = std::max<int64_t>(1, machine.psum.banks / 2);
  rows.tiles = std::min(blockTiles, rowTiles);
  columns.tiles =
      std::min(std::max<int64_t>(1, blockTiles / rows.tiles), columnTiles);

  // Bytes that pass when one or the other operand is loaded only once.
  auto bytes = [&](const Operand &operand) {
    return operand.extent * k * dtypeBytes(*dtypeOf(operand.type));
  };
  int64_t rowStripes = llvm::divideCeil(rows.extent, rows.stripe());
  int64_t columnStripes = llvm::divideCeil(columns.extent, columns.stripe());
  bool rowsStay = bytes(rows) + bytes(columns) * rowStripes <
                  bytes(columns) + bytes(rows) * columnStripes;
  resident = rowsStay ? &rows : &columns;
  streamed = rowsStay ? &columns : &rows;
  keeps = kOuter.empty() && (rowsStay ? columnStripes : rowStripes) > 1;

  // Eight groups along k: few enough to hold open at once (each takes a ring
  // register), short enough that the first product need not wait for long.
  constexpr int64_t parts = 8;
  groupSteps = llvm::divideCeil(steps(), parts);
  auto slotBytes = [&](const Operand &operand) {
    return groupSteps * operand.stripe() * dtypeBytes(*dtypeOf(operand.type));
  };
  // The rest is for tiles of the epilogue.
  int64_t budget = machine.sbuf.partitionBytes * 7 / 8;
  resident->depth = 2 * groups();
  streamed->depth = groups() + std::min<int64_t>(groups(), 4);
  auto needed = [&] {
    return resident->depth * slotBytes(*resident) +
           streamed->depth * slotBytes(*streamed);
  };
  while (needed() > budget && streamed->depth > 4)
    --streamed->depth;
  while (needed() > budget && resident->depth > groups() + 1)
    --resident->depth;
  while (needed() > budget && streamed->depth > 2)
    --streamed->depth;
  if (needed() > budget)
    keeps = false; // both pass, in groups that fit
  if (!keeps) {
    resident->depth = streamed->depth = 4;
    while (needed() > budget && groupSteps > 1)
      groupSteps = llvm::divideCeil(groupSteps, 2);
  }
  for (Operand *operand : {&rows, &columns}) {
    Type type = operand->type;
    operand->ring =
        lowering.ring(operand == &rows ? "rows" : "columns", operand->depth,
                      lowering.tileType({std::min(k, machine.tensor.rows),
                                         groupSteps, operand->stripe()},
                                        type, Memory::Sbuf));
  }
  Type f32 = lowering.builder.getF32Type();
  sums = lowering.ring(
      "sums", std::min<int64_t>(machine.psum.banks, 2 * blockTiles),
      lowering.tileType({rows.tile, columns.tile}, f32, Memory::Psum));
  Type element = lowering.storedType(
      cast<RankedTensorType>(result->getResult(0).getType()).getElementType());
  out = lowering.ring(
      "out", 4,
      lowering.tileType({rows.tile, columns.tile}, element, Memory::Sbuf));
  if (!contraction.epilogue)
    return success();
  body.emplace(lowering, result,
               rows.hasIterator ? std::optional(rows.iterator) : std::nullopt,
               columns.hasIterator ? std::optional(columns.iterator)
                                   : std::nullopt,
               rows.tile, columns.tile,
               std::max<int64_t>(3, 2 * rows.tiles * columns.tiles));
  body->give(contraction.epilogue->sumsInput);
  return body->prepare();
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

void ContractionStage::load(Operand &operand, const Span &span, int64_t group) {
  Value slot = lowering.acquire(operand.ring);
  int64_t rowsOfArray = machine.tensor.rows, stripe = operand.stripe();
  Linear base = operand.home.constant;
  for (auto [i, stride] : llvm::enumerate(operand.home.strides))
    if (!operand.hasIterator || operand.iterator != i)
      base += at[i] * stride;
  for (auto [outer, stride] : llvm::zip_equal(kOuterAt, operand.kOuterStrides))
    base += outer * stride;
  base += span.start * operand.stride;
  int64_t firstStep = group * groupSteps, count = stepsOf(group);
  base += Linear(firstStep * rowsOfArray * operand.kStride);

  // What stays is loaded by another queue and another DMA ring than what passes, so
  // that the first groups of both arrive together. Results are stored by scalar: its
  // transfers begin sooner, and the last of them ends the program.
  bool apart = keeps && &operand == resident;
  QueueKind queue = apart ? QueueKind::Gpsimd : QueueKind::Sync;
  NamedAttribute ring = lowering.builder.getNamedAttr(
      "ring", lowering.builder.getI32IntegerAttr(apart ? 1 : 0));
  bool sameType = operand.home.elementType == operand.type;
  int64_t bits = operand.type.getIntOrFloatBitWidth();
  bool transposes =
      operand.transposed() && sameType && (bits == 16 || bits == 32);
  auto copy = [&](Linear from, int64_t step, int64_t depth, int64_t times) {
    if (transposes) {
      for (int64_t i = 0; i < times; ++i)
        lowering.issue(
            queue, "dma_transpose",
            {{"dst",
              lowering.view(slot, (step + i) * stripe, {depth, span.size})},
             {"src",
              lowering.hbmView(operand.home.buffer,
                               from + Linear(i * rowsOfArray * operand.kStride),
                               {span.size, depth}, operand.stride,
                               {operand.kStride})}},
            {ring});
      return;
    }
    lowering.issue(
        queue, "dma_copy",
        {{"dst", lowering.view(slot, step * stripe, {depth, times, span.size},
                               {stripe, 1})},
         {"src", lowering.hbmView(operand.home.buffer, from,
                                  {depth, times, span.size}, operand.kStride,
                                  {rowsOfArray * operand.kStride,
                                   span.size == 1 ? 1 : operand.stride})}},
        {ring});
  };
  // All whole steps at once, then the one that is left.
  int64_t rest = depthOf(firstStep + count - 1);
  int64_t whole = rest == rowsOfArray ? count : count - 1;
  if (whole)
    copy(base, 0, rowsOfArray, whole);
  if (whole != count)
    copy(base + Linear(whole * rowsOfArray * operand.kStride), whole, rest, 1);
  lowering.commit(operand.ring);
}

SmallVector<Value> ContractionStage::openGroups(Operand &operand) {
  SmallVector<Value> slots;
  for (int64_t group = 0; group < groups(); ++group)
    slots.push_back(lowering.wait(operand.ring));
  return slots;
}

//===----------------------------------------------------------------------===//
// Multiplying
//===----------------------------------------------------------------------===//

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
                                            step * rows.stripe() +
                                                Linear(rowTile * rows.tile),
                                            {depth, height})}});
  for (int64_t j = 0; j < columnTiles; ++j) {
    int64_t width =
        std::min(columns.tile, block.columns.size - j * columns.tile);
    Value moving = lowering.view(
        block.columnSlot, step * columns.stripe() + Linear(j * columns.tile),
        {depth, width});
    matmul(lowering.view(block.sums[rowTile * columnTiles + j], 0,
                         {height, width}),
           moving, first, last);
  }
}

void ContractionStage::multiplyGroup(int64_t group, const Block &block) {
  // Steps written out: enough that the loop's way back costs less than a hundredth.
  constexpr int64_t unrolled = 16;
  int64_t count = stepsOf(group), firstStep = group * groupSteps;
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
  if (next < kOuter.size()) {
    if (kOuter[next] == 1)
      return multiplyOuter(next + 1, rowSpan, columnSpan, kept, sumTiles);
    auto loop =
        ForOp::create(lowering.builder, lowering.location, kOuter[next]);
    OpBuilder::InsertionGuard guard(lowering.builder);
    lowering.builder.setInsertionPointToEnd(loop.getBody());
    Linear counter;
    counter.terms.push_back({loop.getCounter(), 1});
    kOuterAt[next] = counter;
    kLoops.push_back({loop.getCounter(), kOuter[next]});
    multiplyOuter(next + 1, rowSpan, columnSpan, kept, sumTiles);
    kLoops.pop_back();
    kOuterAt[next] = Linear();
    return;
  }
  const Span &streamedSpan = streamed == &rows ? rowSpan : columnSpan;
  const Span &residentSpan = resident == &rows ? rowSpan : columnSpan;
  for (int64_t group = 0; group < groups(); ++group) {
    if (!keeps)
      load(*resident, residentSpan, group);
    load(*streamed, streamedSpan, group);
    Value keptSlot = keeps ? kept[group] : lowering.wait(resident->ring);
    Value slot = lowering.wait(streamed->ring);
    multiplyGroup(group,
                  {rowSpan, columnSpan, resident == &rows ? keptSlot : slot,
                   resident == &rows ? slot : keptSlot, sumTiles});
    if (!keeps)
      lowering.release(resident->ring);
    lowering.release(streamed->ring);
  }
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
    lowering.issue(
        QueueKind::Vector, "copy",
        {{"dst", lowering.view(slot, 0, {rowSpan.size, columnSpan.size})},
         {"src", tile}});
    lowering.commit(out);
  }
  lowering.release(sums);
  Home home = lowering.homeOfResult(result);
  Linear base = home.constant;
  for (unsigned i : batch)
    base += at[i] * home.strides[i];
  int64_t rowStride = rows.hasIterator ? home.strides[rows.iterator] : 0;
  int64_t columnStride =
      columns.hasIterator ? home.strides[columns.iterator] : 1;
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
  bool looped = llvm::any_of(kOuter, [](int64_t trips) { return trips > 1; });
  for (size_t i = 0; looped && i < sumTiles.size(); ++i)
    lowering.commit(sums);
  for (auto &[tileRows, tileColumns] : tiles)
    finishTile(tileRows, tileColumns);
}

void ContractionStage::emitStripes() {
  lowering.forTiles(resident->extent, resident->stripe(), [&](Span stays) {
    SmallVector<Value> kept;
    if (keeps) {
      for (int64_t group = 0; group < groups(); ++group)
        load(*resident, stays, group);
      kept = openGroups(*resident);
    }
    lowering.forTiles(streamed->extent, streamed->stripe(), [&](Span passes) {
      bool rowsStay = resident == &rows;
      emitBlock(rowsStay ? stays : passes, rowsStay ? passes : stays, kept);
    });
    for (size_t i = 0; i < kept.size(); ++i)
      lowering.release(resident->ring);
  });
}

void ContractionStage::emitBatch(unsigned next) {
  if (next == batch.size())
    return emitStripes();
  lowering.forTiles(extents[batch[next]], 1, [&](Span one) {
    at[batch[next]] = one.start;
    emitBatch(next + 1);
  });
}

LogicalResult ContractionStage::run() {
  if (failed(describe()) || failed(plan()))
    return failure();
  emitBatch(0);
  return success();
}

LogicalResult engine::emitContraction(Lowering &lowering,
                                      Contraction contraction) {
  return ContractionStage(lowering, contraction).run();
}
