//===- AttentionScores.cpp - scores that are more than products ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map between the products and the softmax (a cap, a bias, slopes of positions), and
// conditions that ask for data, are computed for each block, once, on their way to the
// maximum; what they give stays in SBUF until the exponential reads it.
//
//   mapped[i, j]     = the map's body, of sums in PSUM and of what it loads
//   condition[i, j]  = 1 where the other conditions hold, else 0
//   chosen[i, j]     = condition ? mapped : -inf, and its maximum per row
//   exists[j, i]     = 2^100 * condition[i, j], turned by the array
//
// With conditions a row may have no key at all. Its maximum is -inf and its sum 0; how
// many keys exist is counted beside the sums, and one over 0 becomes 0 for none. What
// a row of existing scores of -inf gives is still NaN.
//
// Numbers that are the same for all points of a head are loaded once.
//
//===----------------------------------------------------------------------===//

#include "AttentionStage.h"

#include <limits>

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

/// The square of it is infinite in f32.
static constexpr double large = 0x1p100;

LogicalResult AttentionStage::prepareScores() {
  int64_t width = std::min(block(), keys.columns);
  auto prepare = [&](std::optional<TileBody> &body, StructuredOpInterface op,
                     std::optional<unsigned> sumsInput) -> LogicalResult {
    body.emplace(lowering, op, attention.rows, attention.keys(), rowTile(),
                 width);
    for (unsigned i = 0; i < op.getInputs().size(); ++i) {
      bool scores = sumsInput ? i == *sumsInput
                              : op.getInputs()[i] == attention.scoresTensor;
      if (scores) {
        body->give(i, QueueKind::Vector);
        continue;
      }
      FailureOr<Home> home = lowering.homeOf(op, i);
      if (failed(home))
        return failure();
      if (home->strides[attention.rows] || home->strides[attention.keys()])
        continue;
      body->give(i, QueueKind::Vector);
      bool perHead = llvm::any_of(attention.outer, [&](unsigned outer) {
        return home->strides[outer] != 0 && attention.extents[outer] > 1;
      });
      numbers.push_back({op, i, *home, perHead, 0, 0});
    }
    return body->prepare();
  };
  if (attention.transform &&
      failed(prepare(
          transform,
          cast<StructuredOpInterface>(attention.transform.getOperation()),
          attention.sumsInput)))
    return failure();
  if (conditional() &&
      failed(prepare(
          conditions,
          cast<StructuredOpInterface>(attention.maxima.front().getOperation()),
          std::nullopt)))
    return failure();
  // One ring for all of a kind: each takes registers of the queues that read it.
  for (Number &number : numbers) {
    auto at = llvm::find_if(numberRows, [&](const NumberRow &row) {
      return row.perHead == number.perHead &&
             row.type == number.home.elementType;
    });
    if (at == numberRows.end()) {
      numberRows.push_back(
          {number.perHead, number.home.elementType, 0, {}, {}});
      at = std::prev(numberRows.end());
    }
    number.row = at - numberRows.begin();
    number.place = at->count++;
  }
  for (NumberRow &row : numberRows)
    row.ring = lowering.ring(
        "numbers", row.perHead ? 2 : 1,
        lowering.tileType({rowTile(), row.count}, row.type, Memory::Sbuf));
  return success();
}

void AttentionStage::makeScoreRings() {
  Type f32 = lowering.builder.getF32Type(),
       bf16 = lowering.builder.getBF16Type();
  auto ring = [&](StringRef name, int64_t depth, ArrayRef<int64_t> shape,
                  Type type, Memory memory = Memory::Sbuf) {
    return lowering.ring(name, depth, lowering.tileType(shape, type, memory));
  };
  int64_t rows = rowTile(), width = std::min(block(), keys.columns);
  int64_t chunks = llvm::divideCeil(width, chunk());
  int64_t chunkRows = std::min(width, chunk());
  int64_t most = 0;
  for (const Band &band : bands) {
    int64_t count = 0;
    for (const StepRun &run : band.blocks)
      count += run.count;
    most = std::max(most, count);
  }
  chosen = ring("chosen", 2 * most + 1, {rows, width}, f32);
  if (attention.transform)
    mapped = ring("mapped", 2, {rows, width}, f32);
  if (!conditional())
    return;
  condition = ring("condition", 2, {rows, width}, bf16);
  if (masked)
    masks = ring("mask", 3, {rows, width}, bf16);
  turnedCondition = ring("turned_condition", 1, {chunkRows, chunks, rows}, bf16,
                         Memory::Psum);
  // From the maximum of a tile to the last product of the next.
  exists = ring("exists", 2 * most + 7, {chunkRows, chunks, rows}, bf16);
  vanished = ring("vanished", 2, {chunkRows, chunks, rows}, bf16);
  movedMasked = ring("moved_masked", 4, {chunkRows, chunks, rows}, weightType);
  reciprocals = ring("reciprocals", 1, {rows, 1}, f32);
  unit = ring("unit", 1, {chunkRows, 1}, bf16);
  int64_t held = headsHeld(attention, machine);
  sound = ring("sound", held, {chunkRows, steps(values), values.columns},
               values.type);
  faults =
      ring("faults", held,
           {chunkRows, faultPlanes(), steps(values), values.columns}, bf16);
}

void AttentionStage::loadNumbers(bool perHead) {
  for (auto [i, row] : llvm::enumerate(numberRows)) {
    if (row.perHead != perHead)
      continue;
    Value slot = lowering.acquire(row.ring);
    for (const Number &number : numbers) {
      if (number.row != i)
        continue;
      Linear base = number.home.constant;
      for (unsigned iterator : outer)
        base += at[iterator] * number.home.strides[iterator];
      lowering.issue(
          QueueKind::Sync, "dma_copy",
          {{"dst", lowering.view(slot, number.place, {rowTile(), 1})},
           {"src", lowering.hbmView(number.home.buffer, base, {rowTile(), 1}, 0,
                                    {1})}});
    }
    lowering.commit(row.ring);
    row.slot = lowering.wait(row.ring);
  }
}

void AttentionStage::releaseNumbers(bool perHead) {
  for (NumberRow &row : numberRows)
    if (row.perHead == perHead)
      lowering.release(row.ring);
}

void AttentionStage::openConditions() {
  lowering.issue(QueueKind::Gpsimd, "fill", {{"dst", lowering.acquire(unit)}},
                 {lowering.number("value", 1)});
  lowering.commit(unit);
  unitSlot = lowering.wait(unit);
}

llvm::SmallDenseMap<unsigned, Value>
AttentionStage::numbersOf(StructuredOpInterface op, int64_t rows) {
  llvm::SmallDenseMap<unsigned, Value> given;
  for (const Number &number : numbers)
    if (number.op == op)
      given[number.input] =
          lowering.view(numberRows[number.row].slot, number.place, {rows, 1});
  return given;
}

/// The conditions of a block, and for the array.
void AttentionStage::holds(const Tile &rows, const BlockKind &kind,
                           const Linear &start) {
  Span rowSpan = {rows.start, rows.size()};
  Span columnSpan = {start * chunk(), kind.width};
  auto op =
      cast<StructuredOpInterface>(attention.maxima.front().getOperation());
  conditions->load(rowSpan, columnSpan, at);
  conditions->emitConditions(attention.conditions, rowSpan, columnSpan, at,
                             numbersOf(op, rows.size()), condition);
}

/// Those that were computed, and the part of the filter that divides the block; in a
/// slot of the ring returned, which is the caller's to release.
std::pair<RingOp, Value> AttentionStage::conditionsOf(const Tile &rows,
                                                      const BlockKind &kind,
                                                      const Linear &start) {
  SmallVector<int64_t> shape = {rows.size(), kind.width};
  Value computed = lowering.view(lowering.wait(condition), 0, shape);
  if (!kind.masked)
    return {condition, computed};
  writeMask(lowering.view(lowering.acquire(masks), 0, shape), false, rows.start,
            start * chunk(), computed);
  lowering.commit(masks);
  lowering.release(condition);
  return {masks, lowering.view(lowering.wait(masks), 0, shape)};
}

/// The scores of a block in a slot of `chosen`, and their maximum.
void AttentionStage::computeScores(Value top, const Tile &rows,
                                   const BlockKind &kind, const Linear &start) {
  SmallVector<int64_t> shape = {rows.size(), kind.width};
  product(lowering.view(lowering.acquire(trial), 0, shape), rows, kind, start);
  lowering.commit(trial);
  Value tile = lowering.view(lowering.wait(trial), 0, shape);
  if (transform) {
    Span rowSpan = {rows.start, rows.size()};
    Span columnSpan = {start * chunk(), kind.width};
    auto op = cast<StructuredOpInterface>(attention.transform.getOperation());
    llvm::SmallDenseMap<unsigned, Value> given = numbersOf(op, rows.size());
    given[attention.sumsInput] = tile;
    transform->load(rowSpan, columnSpan, at);
    transform->emit(rowSpan, columnSpan, at, given, mapped);
    lowering.release(trial);
    tile = lowering.view(lowering.wait(mapped), 0, shape);
  }
  auto reduced = [&](StringRef mnemonic, Value dst, StringRef into,
                     SmallVector<NamedAttribute> fields,
                     std::optional<Value> acc) {
    if (!kind.first)
      fields.push_back(lowering.flag("carry"));
    SmallVector<std::pair<StringRef, Value>> operands = {{"dst", dst},
                                                         {"src", tile}};
    if (acc)
      operands.push_back({into, *acc});
    lowering.issue(QueueKind::Vector, mnemonic, operands, fields);
  };
  if (!conditional() && !kind.masked) {
    Value to = lowering.view(lowering.acquire(chosen), 0, shape);
    reduced("tensor_scalar", to, "acc",
            {lowering.word("op0", "bypass"), lowering.word("acc_op", "max")},
            top);
  } else {
    if (conditional()) {
      auto [ring, mask] = conditionsOf(rows, kind, start);
      Value to = lowering.view(lowering.acquire(chosen), 0, shape);
      lowering.issue(
          QueueKind::Vector, "select",
          {{"dst", to}, {"mask", mask}, {"a", tile}},
          {lowering.number("imm0", -std::numeric_limits<double>::infinity())});
      turnCondition(mask, rows, kind);
      lowering.release(ring);
      tile = to;
    } else {
      tile = choose(tile, rows, kind, start);
    }
    reduced("reduce", top, "",
            {lowering.word("op", "max"),
             lowering.builder.getNamedAttr(
                 "axes", lowering.builder.getI32IntegerAttr(1))},
            std::nullopt);
  }
  lowering.commit(chosen);
  lowering.release(transform ? mapped : trial);
}

void AttentionStage::turnCondition(Value mask, const Tile &rows,
                                   const BlockKind &kind) {
  // The mask is a slot or the front of one.
  if (auto view = mask.getDefiningOp<ViewOp>())
    mask = view.getSource();
  Value sumsTile = lowering.acquire(turnedCondition);
  int64_t full = rowTile(), count = llvm::divideCeil(kind.width, chunk());
  auto widthOf = [&](int64_t i) {
    return std::min(chunk(), kind.width - i * chunk());
  };
  for (int64_t i = 0; i < count; ++i) {
    lowering.issue(QueueKind::Tensor, "load_weights",
                   {{"weights", lowering.view(mask, i * chunk(),
                                              {rows.size(), widthOf(i)})}});
    lowering.issue(QueueKind::Tensor, "transpose",
                   {{"dst", lowering.view(sumsTile, i * full,
                                          {widthOf(i), rows.size()})}});
  }
  lowering.commit(turnedCondition);
  Value from = lowering.wait(turnedCondition), to = lowering.acquire(exists);
  int64_t whole = widthOf(count - 1) == chunk() ? count : count - 1;
  auto copy = [&](int64_t first, int64_t depth, int64_t times) {
    SmallVector<int64_t> shape = {depth, times, rows.size()};
    lowering.issue(
        QueueKind::Scalar, "tensor_scalar",
        {{"dst", lowering.view(to, first * full, shape, {full, 1})},
         {"src", lowering.view(from, first * full, shape, {full, 1})}},
        {lowering.word("op0", "mul"), lowering.number("imm0", large)});
  };
  if (whole)
    copy(0, chunk(), whole);
  if (whole != count)
    copy(whole, widthOf(count - 1), 1);
  lowering.commit(exists);
  lowering.release(turnedCondition);
}

/// One over the row's sum, 0 for a row without keys.
void AttentionStage::invertExisting(const Tile &rows, Value total,
                                    Value sumsSlot) {
  SmallVector<int64_t> column = {rows.size(), 1};
  Value reciprocal = lowering.view(lowering.acquire(reciprocals), 0, column);
  lowering.issue(QueueKind::Vector, "tensor_scalar",
                 {{"dst", reciprocal}, {"src", total}},
                 {lowering.word("op0", "reciprocal")});
  lowering.commit(reciprocals);
  reciprocal = lowering.view(lowering.wait(reciprocals), 0, column);
  lowering.issue(QueueKind::Vector, "select",
                 {{"dst", lowering.view(lowering.acquire(inverses), 0, column)},
                  {"mask", lowering.view(sumsSlot, values.columns, column)},
                  {"a", reciprocal}},
                 {lowering.number("imm0", 0)});
  lowering.commit(inverses);
  lowering.release(reciprocals);
}
