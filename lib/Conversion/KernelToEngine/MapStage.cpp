//===- MapStage.cpp - maps and reductions, tile by tile -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is no contraction runs on the vector and scalar engines: one iterator over the
// partitions, one along the rows, loops around the others.
//
//   y[m, n] = …             tiles of 128 x 512 of (m, n)
//   s[m] = max[n](…)        the same, each tile reduced into one number per row
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
  void reduceRows(const Span &rowSpan);
  void store(RingOp ring, const Span &rowSpan, const Span &columnSpan);

  Lowering &lowering;
  StructuredOpInterface op;
  kernel::ReduceOp reduce;
  std::optional<unsigned> rows, columns;
  SmallVector<int64_t> extents;
  SmallVector<unsigned> parallel, summed; ///< the other iterators
  SmallVector<Linear> at;
  int64_t rowTile = 1, columnTile = 1;
  std::optional<TileBody> body;
  RingOp terms, out;
};
} // namespace

LogicalResult ElementwiseStage::choose() {
  if (reduce) {
    kernel::ReduceKind kind = reduce.getKind();
    if (kind != kernel::ReduceKind::Sum && kind != kernel::ReduceKind::Max &&
        kind != kernel::ReduceKind::Min)
      return op->emitError("combines by '")
             << kernel::stringifyReduceKind(kind)
             << "'; this road has sum, max and min: compile for a CPU";
    Type element =
        cast<RankedTensorType>(reduce.getResult(0).getType()).getElementType();
    if (!element.isF32())
      return op->emitError("combines values of ")
             << element << "; this road combines f32: compile for a CPU";
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
  constexpr int64_t widest = 512;
  if (rows)
    rowTile = std::min(extents[*rows], lowering.machine.core.partitions);
  if (columns)
    columnTile = std::min(extents[*columns], widest);
  body.emplace(lowering, op, rows, columns, rowTile, columnTile);
  if (failed(body->prepare()))
    return failure();
  Type f32 = lowering.builder.getF32Type();
  Type element =
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  if (!dtypeOf(lowering.storedType(element)))
    return op->emitError("makes elements of ")
           << element << ", which the matrix engine has not; compile for a CPU";
  if (reduce)
    terms = lowering.ring(
        "terms", 2,
        lowering.tileType({rowTile, columnTile}, f32, Memory::Sbuf));
  out = lowering.ring("out", 3,
                      lowering.tileType({rowTile, reduce ? 1 : columnTile},
                                        lowering.storedType(element),
                                        Memory::Sbuf));
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

void ElementwiseStage::store(RingOp ring, const Span &rowSpan,
                             const Span &columnSpan) {
  Home home = lowering.homeOfResult(op);
  Linear base = home.constant;
  for (unsigned i : parallel)
    base += at[i] * home.strides[i];
  int64_t rowStride = rows ? home.strides[*rows] : 0;
  int64_t columnStride = columns && !reduce ? home.strides[*columns] : 1;
  base += rowSpan.start * rowStride;
  if (!reduce)
    base += columnSpan.start * columnStride;
  SmallVector<int64_t> shape = {rowSpan.size, reduce ? 1 : columnSpan.size};
  Value slot = lowering.view(lowering.wait(ring), 0, shape);
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

void ElementwiseStage::reduceRows(const Span &rowSpan) {
  StringRef alu = kernel::stringifyReduceKind(reduce.getKind());
  double start = 0;
  if (reduce.getKind() == kernel::ReduceKind::Max)
    start = -std::numeric_limits<double>::infinity();
  if (reduce.getKind() == kernel::ReduceKind::Min)
    start = std::numeric_limits<double>::infinity();
  Value slot = lowering.acquire(out);
  Value result = lowering.view(slot, 0, {rowSpan.size, 1});
  lowering.issue(QueueKind::Vector, "fill", {{"dst", result}},
                 {lowering.number("value", start)});
  loops(summed, 0, [&] {
    forColumns([&](Span columnSpan) {
      body->load(rowSpan, columnSpan, at);
      body->emit(rowSpan, columnSpan, at,
                 llvm::SmallDenseMap<unsigned, Value>(), terms, start);
      Value tile = lowering.view(lowering.wait(terms), 0,
                                 {rowSpan.size, columnSpan.size});
      lowering.issue(QueueKind::Vector, "reduce",
                     {{"dst", result}, {"src", tile}},
                     {lowering.word("op", alu == "sum" ? "add" : alu),
                      lowering.builder.getNamedAttr(
                          "axes", lowering.builder.getI32IntegerAttr(1)),
                      lowering.flag("carry")});
      lowering.release(terms);
    });
  });
  lowering.commit(out);
  store(out, rowSpan, Span());
}

LogicalResult ElementwiseStage::run() {
  if (failed(choose()))
    return failure();
  loops(parallel, 0, [&] {
    forRows([&](Span rowSpan) {
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
