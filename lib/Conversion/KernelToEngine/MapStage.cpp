//===- MapStage.cpp - maps and reductions, tile by tile -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is no contraction runs on the vector and scalar engines: one iterator over the
// partitions, one along the rows, loops around the others.
//
//   y[m, n] = …             tiles of 128 x 512 of (m, n)
//   s[m] = max[n](…)        the same, each tile reduced into one number per row
//   t[m] = argmax[n](…)     the maximum first; then the least n where it stands
//
// Sums of integers are made by gpsimd, in i32.
//
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "TileBody.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

namespace {
class ElementwiseStage {
public:
  ElementwiseStage(Lowering &lowering, StructuredOpInterface op)
      : lowering(lowering), op(op),
        reduce(dyn_cast<kernel::ReduceOp>(op.getOperation())) {}
  LogicalResult run();

private:
  LogicalResult choose();
  /// Loops over the iterators in `around` from `next` on, then `inside`.
  void loops(ArrayRef<unsigned> around, unsigned next,
             llvm::function_ref<void()> inside);
  void forRows(llvm::function_ref<void(Span)> inside);
  void forColumns(llvm::function_ref<void(Span)> inside);
  void mapTile(const Span &rowSpan, const Span &columnSpan);
  LogicalResult checkReduction();
  bool isArg() {
    return reduce && (reduce.getKind() == kernel::ReduceKind::Argmax ||
                      reduce.getKind() == kernel::ReduceKind::Argmin);
  }
  bool isLeast() {
    return reduce.getKind() == kernel::ReduceKind::Min ||
           reduce.getKind() == kernel::ReduceKind::Argmin ||
           reduce.getKind() == kernel::ReduceKind::All;
  }
  double neutral();
  void fillColumn(Value column, double value);
  void reduceTile(Value into, Value tile);
  void reduceAll(Value into, const Span &rowSpan);
  Value position(Value tile, Value best, const Span &rowSpan,
                 const Span &columnSpan);
  void argRows(const Span &rowSpan);
  void reduceRows(const Span &rowSpan);
  void store(RingOp ring, const Span &rowSpan, const Span &columnSpan) {
    store(ring, made(), rowSpan, columnSpan);
  }
  void store(RingOp ring, unsigned result, const Span &rowSpan,
             const Span &columnSpan);
  /// The result that the stage is about: of argmax the place, not the value.
  unsigned made() { return isArg() ? 1 : 0; }

  Lowering &lowering;
  StructuredOpInterface op;
  kernel::ReduceOp reduce;
  std::optional<unsigned> rows, columns;
  SmallVector<int64_t> extents;
  SmallVector<unsigned> parallel, summed; ///< the other iterators
  SmallVector<Linear> at;
  int64_t rowTile = 1, columnTile = 1;
  std::optional<TileBody> body;
  RingOp terms, out, words;
  Type running; ///< of what is combined: f32, or i32 on gpsimd
  StringRef alu;
  QueueKind combiner = QueueKind::Vector;

  // For argmax and argmin: the value, where it stands in a tile, and in the row.
  RingOp best, marks, places, where, found, value;
};
} // namespace

LogicalResult ElementwiseStage::choose() {
  if (reduce) {
    if (failed(checkReduction()))
      return failure();
  } else if (!isa<kernel::MapOp>(op.getOperation())) {
    return op->emitError("'")
           << op->getName() << "' is not lowered by this road";
  }
  FailureOr<SmallVector<int64_t>> all = lowering.extentsOf(op);
  if (failed(all))
    return failure();
  extents = *all;
  unsigned numParallel = op.getNumParallel(),
           numIterators = op.getNumIterators();
  if (numIterators > numParallel) {
    columns = numIterators - 1;
    if (numParallel)
      rows = numParallel - 1;
  } else if (numParallel) {
    columns = numParallel - 1;
    if (numParallel > 1)
      rows = numParallel - 2;
  }
  for (unsigned i = 0; i < numIterators; ++i)
    if (rows != i && columns != i)
      (i < numParallel ? parallel : summed).push_back(i);
  at.assign(numIterators, Linear());
  // Rows of 512 f32 fill a bank's worth and keep the fixed costs below a tenth.
  int64_t widest = 512;
  // A short map is as fast as its transfers, whose triggers take a time of their own.
  unsigned inputs = op.getInputs().size();
  if (!reduce && inputs <= 2 &&
      inputs + op.getBody().front().getOperations().size() <= 10)
    widest = 2048;
  // Of an empty extent there will be no tiles, of which this is the size.
  if (rows)
    rowTile = std::clamp<int64_t>(extents[*rows], 1,
                                  lowering.machine.core.partitions);
  if (columns)
    columnTile = std::clamp<int64_t>(extents[*columns], 1, widest);
  body.emplace(lowering, op, rows, columns, rowTile, columnTile);
  if (failed(body->prepare()))
    return failure();
  if (isArg() && extents[*columns] > int64_t(1) << 24)
    return op->emitError("looks for a place among ")
           << extents[*columns] << " along '" << op.getIteratorName(*columns)
           << "'; vector counts to 2^24: split the axis, or compile for a CPU";
  Type element =
      cast<RankedTensorType>(op->getResult(made()).getType()).getElementType();
  if (!dtypeOf(storedType(element)))
    return op->emitError("makes elements of ")
           << element << ", which the matrix engine has not; compile for a CPU";
  auto ring = [&](StringRef name, int64_t depth, int64_t width, Type type) {
    return lowering.ring(
        name, depth, lowering.tileType({rowTile, width}, type, Memory::Sbuf));
  };
  if (reduce && !llvm::is_contained(extents, 0))
    terms = ring("terms", 2, columnTile, running);
  if (isArg() && !op->getResult(0).use_empty())
    value = ring("value", 2, 1, running);
  if (isArg() && terms) {
    best = ring("best", 1, 1, running);
    marks = ring("marks", 1, columnTile, running);
    places = ring("places", 2, columnTile, running);
    where = ring("where", 1, columnTile, running);
    found = ring("found", 1, 1, running);
  }
  out = lowering.ring("out", 3,
                      lowering.tileType({rowTile, reduce ? 1 : columnTile},
                                        storedType(element), Memory::Sbuf));
  if (lowering.isPairs(op->getResult(made())))
    words = ring("words", 2, 2 * (reduce ? 1 : columnTile),
                 lowering.builder.getI32Type());
  return success();
}

void ElementwiseStage::loops(ArrayRef<unsigned> around, unsigned next,
                             llvm::function_ref<void()> inside) {
  if (next == around.size())
    return inside();
  lowering.forTiles(extents[around[next]], 1, [&](Span one) {
    at[around[next]] = one.start;
    loops(around, next + 1, inside);
  });
}

void ElementwiseStage::forRows(llvm::function_ref<void(Span)> inside) {
  if (rows)
    return lowering.forTiles(extents[*rows], rowTile, inside);
  inside(Span());
}

void ElementwiseStage::forColumns(llvm::function_ref<void(Span)> inside) {
  if (columns)
    return lowering.forTiles(extents[*columns], columnTile, inside);
  inside(Span());
}

void ElementwiseStage::store(RingOp ring, unsigned result, const Span &rowSpan,
                             const Span &columnSpan) {
  Home home = lowering.homeOfResult(op, result);
  Linear base = home.constant;
  for (unsigned i : parallel)
    base += at[i] * home.strides[i];
  int64_t rowStride = rows ? home.strides[*rows] : 0;
  bool inWords = words && result == made();
  int64_t columnStride = columns && !reduce ? home.strides[*columns]
                         : inWords          ? 2
                                            : 1;
  base += rowSpan.start * rowStride;
  if (!reduce)
    base += columnSpan.start * columnStride;
  SmallVector<int64_t> shape = {rowSpan.size, reduce ? 1 : columnSpan.size};
  Value slot = lowering.view(lowering.wait(ring), 0, shape);
  if (inWords) {
    // The number, and its sign all over the word behind it.
    shape.push_back(2);
    Value pair = lowering.acquire(words);
    ArrayRef<int64_t> plain = ArrayRef(shape).take_front(2);
    lowering.issue(
        QueueKind::Gpsimd, "copy",
        {{"dst", lowering.view(pair, 0, plain, {2})}, {"src", slot}});
    lowering.issue(QueueKind::Gpsimd, "tensor_scalar",
                   {{"dst", lowering.view(pair, 1, plain, {2})}, {"src", slot}},
                   {lowering.word("op0", "sar"),
                    lowering.builder.getNamedAttr(
                        "imm0", lowering.builder.getI32IntegerAttr(31))});
    lowering.commit(words);
    lowering.release(ring);
    pair = lowering.view(lowering.wait(words), 0, shape, {2, 1});
    lowering.issue(QueueKind::Gpsimd, "dma_copy",
                   {{"dst", lowering.hbmView(home.buffer, base, shape,
                                             rowStride, {columnStride, 1})},
                    {"src", pair}});
    lowering.release(words);
    return;
  }
  lowering.issue(QueueKind::Gpsimd, "dma_copy",
                 {{"dst", lowering.hbmView(home.buffer, base, shape, rowStride,
                                           {columnStride})},
                  {"src", slot}});
  lowering.release(ring);
}

void ElementwiseStage::mapTile(const Span &rowSpan, const Span &columnSpan) {
  body->load(rowSpan, columnSpan, at);
  body->emit(rowSpan, columnSpan, at, llvm::SmallDenseMap<unsigned, Value>(),
             out);
  store(out, rowSpan, columnSpan);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

LogicalResult ElementwiseStage::checkReduction() {
  Type element = op.getBody().front().getTerminator()->getOperand(0).getType();
  bool isInteger = element.isInteger(32);
  if (!element.isF32() && !isInteger && !element.isInteger(1))
    return op->emitError("combines values of ")
           << element
           << "; this machine combines f32, i32 and bool: compile for a CPU";
  if (isArg() && isInteger)
    return op->emitError("looks for the place of an i32; this road does of an "
                         "f32: convert it by f32(...), or compile for a CPU");
  if (isArg() && !op.getFilter().empty())
    return op->emitError("looks for a place under a filter; this road has "
                         "filters for sum, min and max: choose by 'where' "
                         "inside, or compile for a CPU");
  running = isInteger ? Type(lowering.builder.getI32Type())
                      : Type(lowering.builder.getF32Type());
  combiner = isInteger ? QueueKind::Gpsimd : QueueKind::Vector;
  alu = reduce.getKind() == kernel::ReduceKind::Sum ? "add"
        : isLeast()                                 ? "min"
                                                    : "max";
  return success();
}

/// What nothing combines to.
double ElementwiseStage::neutral() {
  switch (reduce.getKind()) {
  case kernel::ReduceKind::Sum:
  case kernel::ReduceKind::Any:
    return 0;
  case kernel::ReduceKind::All:
    return 1;
  default:
    break;
  }
  if (running.isInteger(32))
    return isLeast() ? INT32_MAX : INT32_MIN;
  double infinity = std::numeric_limits<double>::infinity();
  return isLeast() ? infinity : -infinity;
}

void ElementwiseStage::fillColumn(Value column, double value) {
  Type type = cast<TileType>(column.getType()).getElementType();
  NamedAttribute number =
      isa<IntegerType>(type)
          ? lowering.builder.getNamedAttr(
                "value",
                lowering.builder.getI32IntegerAttr(int32_t(int64_t(value))))
          : lowering.number("value", value);
  lowering.issue(combiner, "fill", {{"dst", column}}, {number});
}

void ElementwiseStage::reduceTile(Value into, Value tile) {
  lowering.issue(combiner, "reduce", {{"dst", into}, {"src", tile}},
                 {lowering.word("op", alu),
                  lowering.builder.getNamedAttr(
                      "axes", lowering.builder.getI32IntegerAttr(1)),
                  lowering.flag("carry")});
}

/// Combines all points of the rows into a column.
void ElementwiseStage::reduceAll(Value into, const Span &rowSpan) {
  fillColumn(into, neutral());
  loops(summed, 0, [&] {
    forColumns([&](Span columnSpan) {
      body->load(rowSpan, columnSpan, at);
      body->emit(rowSpan, columnSpan, at,
                 llvm::SmallDenseMap<unsigned, Value>(), terms, neutral());
      reduceTile(into, lowering.view(lowering.wait(terms), 0,
                                     {rowSpan.size, columnSpan.size}));
      lowering.release(terms);
    });
  });
}

void ElementwiseStage::reduceRows(const Span &rowSpan) {
  Value slot = lowering.acquire(out);
  reduceAll(lowering.view(slot, 0, {rowSpan.size, 1}), rowSpan);
  lowering.commit(out);
  store(out, rowSpan, Span());
}

/// The positions of a tile where the best value stands, elsewhere a number beyond:
/// NaN is the best where there is one, and equals nothing.
Value ElementwiseStage::position(Value tile, Value bestValue,
                                 const Span &rowSpan, const Span &columnSpan) {
  SmallVector<int64_t> shape = {rowSpan.size, columnSpan.size};
  Value mark = lowering.view(lowering.acquire(marks), 0, shape);
  lowering.issue(QueueKind::Vector, "tensor_tensor",
                 {{"dst", mark}, {"a", tile}, {"b", tile}},
                 {lowering.word("op", "ne")});
  lowering.issue(QueueKind::Vector, "scalar_tensor_tensor",
                 {{"dst", mark}, {"src", tile}, {"s0", bestValue}, {"b", mark}},
                 {lowering.word("op0", "eq"), lowering.word("op1", "lor")});
  lowering.commit(marks);
  mark = lowering.view(lowering.wait(marks), 0, shape);
  Value place = lowering.view(lowering.acquire(places), 0, shape);
  lowering.issue(QueueKind::Gpsimd, "iota",
                 {{"dst", place},
                  {"index", lowering.index(columnSpan.start, shape, 0, 1)}});
  lowering.commit(places);
  place = lowering.view(lowering.wait(places), 0, shape);
  Value chosen = lowering.view(lowering.acquire(where), 0, shape);
  lowering.issue(QueueKind::Vector, "select",
                 {{"dst", chosen}, {"mask", mark}, {"a", place}},
                 {lowering.number("imm0", double(extents[*columns]))});
  lowering.commit(where);
  lowering.release(marks);
  lowering.release(places);
  return lowering.view(lowering.wait(where), 0, shape);
}

void ElementwiseStage::argRows(const Span &rowSpan) {
  SmallVector<int64_t> shape = {rowSpan.size, 1};
  bool wantsValue = !op->getResult(0).use_empty();
  if (!terms) { // over nothing
    if (wantsValue) {
      fillColumn(lowering.view(lowering.acquire(value), 0, shape), neutral());
      lowering.commit(value);
      store(value, 0, rowSpan, Span());
    }
    fillColumn(lowering.view(lowering.acquire(out), 0, shape), -1);
    lowering.commit(out);
    return store(out, rowSpan, Span());
  }
  reduceAll(lowering.view(lowering.acquire(best), 0, shape), rowSpan);
  lowering.commit(best);
  Value bestValue = lowering.view(lowering.wait(best), 0, shape);
  Value least = lowering.view(lowering.acquire(found), 0, shape);
  alu = "min";
  fillColumn(least, double(extents[*columns]));
  forColumns([&](Span columnSpan) {
    body->load(rowSpan, columnSpan, at);
    body->emit(rowSpan, columnSpan, at, llvm::SmallDenseMap<unsigned, Value>(),
               terms);
    Value tile =
        lowering.view(lowering.wait(terms), 0, {rowSpan.size, columnSpan.size});
    reduceTile(least, position(tile, bestValue, rowSpan, columnSpan));
    lowering.release(where);
    lowering.release(terms);
  });
  alu = isLeast() ? "min" : "max";
  lowering.commit(found);
  least = lowering.view(lowering.wait(found), 0, shape);
  lowering.issue(QueueKind::Vector, "copy",
                 {{"dst", lowering.view(lowering.acquire(out), 0, shape)},
                  {"src", least}});
  lowering.commit(out);
  lowering.release(found);
  if (wantsValue) {
    lowering.issue(QueueKind::Vector, "copy",
                   {{"dst", lowering.view(lowering.acquire(value), 0, shape)},
                    {"src", bestValue}});
    lowering.commit(value);
    store(value, 0, rowSpan, Span());
  }
  lowering.release(best);
  store(out, rowSpan, Span());
}

LogicalResult ElementwiseStage::run() {
  if (failed(choose()))
    return failure();
  loops(parallel, 0, [&] {
    forRows([&](Span rowSpan) {
      if (isArg())
        return argRows(rowSpan);
      if (reduce)
        return reduceRows(rowSpan);
      forColumns([&](Span columnSpan) { mapTile(rowSpan, columnSpan); });
    });
  });
  return success();
}

LogicalResult engine::emitElementwise(Lowering &lowering,
                                      StructuredOpInterface op) {
  return ElementwiseStage(lowering, op).run();
}
