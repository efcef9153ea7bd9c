//===- GatherStage.cpp - rows chosen by an index, laid out in order -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An input that is read through an index becomes a buffer of its own before the
// statement that reads it, so that everything after sees plain subscripts:
//
//   … w[id[t], k, f] …      g[t, k, f]: row id[t] of w for each t
//
// Rows are as long as the iterators at the end allow; their numbers are computed by
// gpsimd in i32, and the DMA fetches 128 of them at a time (dma_gather). What an
// index may be is checked when the kernel is called; where a condition guards the
// access, an index may be anything, and is clamped, as its element is not used.
//
//===----------------------------------------------------------------------===//

#include "Stages.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;
using kernel::Subscript;

namespace {
class GatherStage {
public:
  GatherStage(Lowering &lowering, StructuredOpInterface op, unsigned input)
      : lowering(lowering), op(op), input(input),
        subscripts(op.getAccess(input).getSubscripts()) {}
  LogicalResult run();

private:
  void addChoosing(unsigned index, llvm::SmallBitVector &chooses);
  LogicalResult describe();
  void emitRows(unsigned next);
  void emitTile(const Span &span);
  void addIndex(Value sum, unsigned axis, const Span &span);

  Lowering &lowering;
  StructuredOpInterface op;
  unsigned input;
  ArrayRef<Subscript> subscripts;

  Value table;
  SmallVector<int64_t> shape;   ///< of the table
  SmallVector<int64_t> extents; ///< of the iterators
  unsigned lead = 0; ///< axes that choose a row; the others are in it
  int64_t numRows = 1, rowLength = 1, chunk = 1;
  int64_t words = 1; ///< of an element of the table; the first is laid out
  SmallVector<int64_t> rowStrides; ///< of the leading axes, in rows
  SmallVector<unsigned> chosenBy;  ///< iterators that the row depends on
  bool guarded = false;
  Home home; ///< of what is laid out
  RingOp numbers, loaded, clamped, rows;
  SmallVector<Linear> at;
};
} // namespace

/// Marks the iterators that an index depends on.
void GatherStage::addChoosing(unsigned index, llvm::SmallBitVector &chooses) {
  for (const Subscript &subscript : op.getAccess(index).getSubscripts())
    if (subscript.kind == Subscript::Iterator)
      chooses.set(subscript.value);
    else if (subscript.kind == Subscript::Element)
      addChoosing(subscript.value, chooses);
}

LogicalResult GatherStage::describe() {
  FailureOr<SmallVector<int64_t>> all = lowering.extentsOf(op);
  if (failed(all))
    return failure();
  extents = *all;
  at.assign(extents.size(), Linear());
  guarded = !op.getGuardsOfInput(input).empty() || !op.getFilter().empty();
  table = lowering.bufferOf(op.getInputs()[input]);

  // Iterators that choose: those of the leading axes, and of the indices.
  llvm::SmallBitVector chooses(extents.size());
  for (const Subscript &subscript : subscripts)
    if (subscript.kind == Subscript::Element)
      addChoosing(subscript.value, chooses);
  lead = subscripts.size();
  llvm::SmallBitVector inner(extents.size());
  while (lead > 0) {
    const Subscript &last = subscripts[lead - 1];
    bool free = last.kind == Subscript::Iterator && !chooses.test(last.value) &&
                !inner.test(last.value) &&
                llvm::none_of(subscripts.take_front(lead - 1),
                              [&](const Subscript &other) {
                                return other.kind == Subscript::Iterator &&
                                       other.value == last.value;
                              });
    if (!free)
      break;
    inner.set(last.value);
    --lead;
  }
  for (const Subscript &subscript : subscripts.take_front(lead))
    if (subscript.kind == Subscript::Iterator)
      chooses.set(subscript.value);

  SmallVector<int64_t> laidOut;
  SmallVector<unsigned> order;
  for (unsigned iterator : chooses.set_bits())
    chosenBy.push_back(iterator);
  llvm::append_range(order, chosenBy);
  for (const Subscript &subscript : subscripts.drop_front(lead))
    order.push_back(subscript.value);
  for (unsigned iterator : order)
    laidOut.push_back(extents[iterator]);
  home.elementType = storedType(
      cast<RankedTensorType>(op.getInputs()[input].getType()).getElementType());
  home.buffer = lowering.scratch("gathered", laidOut, home.elementType);
  home.strides.assign(extents.size(), 0);
  int64_t stride = 1;
  for (unsigned iterator : llvm::reverse(order)) {
    home.strides[iterator] = stride;
    stride *= extents[iterator];
  }
  if (!home.buffer)
    return success(); // nothing is chosen
  if (!table)
    return op->emitError("chooses rows of a tensor that has none");
  llvm::append_range(shape, cast<TileType>(table.getType()).getShape());
  shape.resize(subscripts.size()); // a pair's words are no axis
  words = lowering.isPairs(op.getInputs()[input]) ? 2 : 1;
  rowStrides.assign(lead, 1);
  for (unsigned axis = lead; axis-- > 0;) {
    rowStrides[axis] = numRows;
    numRows *= shape[axis];
  }
  for (int64_t extent : ArrayRef(shape).drop_front(lead))
    rowLength *= extent;
  if (numRows > INT32_MAX)
    return op->emitError("chooses among ")
           << numRows << " rows; their numbers have 32 bits";

  for (const Subscript &subscript : subscripts) {
    if (subscript.kind != Subscript::Element)
      continue;
    FailureOr<Home> index = lowering.homeOf(op, subscript.value);
    if (failed(index))
      return failure();
    if (!lowering.isIndexType(index->elementType))
      return op->emitError("is indexed by elements of ")
             << index->elementType << "; compile for a CPU";
  }
  return success();
}

/// Adds the row numbers that the index on `axis` makes to a column of i32.
void GatherStage::addIndex(Value sum, unsigned axis, const Span &span) {
  Home index = *lowering.homeOf(op, subscripts[axis].value);
  Linear base = index.constant;
  for (auto [iterator, stride] : llvm::enumerate(index.strides))
    if (chosenBy.empty() || chosenBy.back() != iterator)
      base += at[iterator] * stride;
  int64_t rowStep = chosenBy.empty() ? 0 : index.strides[chosenBy.back()];
  base += span.start * rowStep;
  SmallVector<int64_t> column = {span.size, 1};
  Value slot = lowering.view(lowering.acquire(loaded), 0, column);
  lowering.issue(
      QueueKind::Sync, "dma_copy",
      {{"dst", slot},
       {"src", lowering.hbmView(index.buffer, base, column, rowStep, {1})}});
  lowering.commit(loaded);
  Value number = lowering.view(lowering.wait(loaded), 0, column);
  auto integer = [&](StringRef name, int64_t value) {
    return lowering.builder.getNamedAttr(
        name, lowering.builder.getI32IntegerAttr(int32_t(value)));
  };
  if (guarded) {
    Value safe = lowering.view(lowering.acquire(clamped), 0, column);
    lowering.issue(
        QueueKind::Gpsimd, "tensor_scalar", {{"dst", safe}, {"src", number}},
        {lowering.word("op0", "max"), integer("imm0", 0),
         lowering.word("op1", "min"), integer("imm1", shape[axis] - 1)});
    lowering.commit(clamped);
    number = lowering.view(lowering.wait(clamped), 0, column);
  }
  lowering.issue(QueueKind::Gpsimd, "scalar_tensor_tensor",
                 {{"dst", sum}, {"src", number}, {"b", sum}},
                 {lowering.word("op0", "mul"),
                  integer("imm0", rowStrides[axis]),
                  lowering.word("op1", "add")});
  if (guarded)
    lowering.release(clamped);
  lowering.release(loaded);
}

/// The rows of one tile of the last iterator that chooses.
void GatherStage::emitTile(const Span &span) {
  SmallVector<int64_t> column = {span.size, 1};
  Value sum = lowering.view(lowering.acquire(numbers), 0, column);
  Linear base;
  int64_t rowStep = 0;
  for (unsigned axis = 0; axis < lead; ++axis) {
    const Subscript &subscript = subscripts[axis];
    if (subscript.kind == Subscript::Constant)
      base += subscript.value * rowStrides[axis];
    if (subscript.kind != Subscript::Iterator)
      continue;
    bool inTile = chosenBy.back() == subscript.value;
    rowStep += inTile ? rowStrides[axis] : 0;
    base += (inTile ? span.start : at[subscript.value]) * rowStrides[axis];
  }
  lowering.issue(
      QueueKind::Gpsimd, "iota",
      {{"dst", sum}, {"index", lowering.index(base, column, rowStep, 0)}});
  for (unsigned axis = 0; axis < lead; ++axis)
    if (subscripts[axis].kind == Subscript::Element)
      addIndex(sum, axis, span);
  lowering.commit(numbers);
  Value number = lowering.view(lowering.wait(numbers), 0, column);

  Linear to;
  for (unsigned iterator : chosenBy)
    to += (iterator == chosenBy.back() ? span.start : at[iterator]) *
          home.strides[iterator];
  int64_t step = chosenBy.empty() ? 0 : home.strides[chosenBy.back()];
  lowering.forTiles(rowLength, chunk, [&](Span part) {
    SmallVector<int64_t> tile = {span.size, part.size};
    Value slot = lowering.view(lowering.acquire(rows), 0, tile);
    lowering.issue(QueueKind::Sync, "dma_gather",
                   {{"dst", slot},
                    {"src", lowering.hbmView(table, part.start * words,
                                             {numRows, part.size},
                                             rowLength * words, {words})},
                    {"index", number}});
    lowering.commit(rows);
    slot = lowering.view(lowering.wait(rows), 0, tile);
    lowering.issue(QueueKind::Scalar, "dma_copy",
                   {{"dst", lowering.hbmView(home.buffer, to + part.start, tile,
                                             step, {1})},
                    {"src", slot}});
    lowering.release(rows);
  });
  lowering.release(numbers);
}

void GatherStage::emitRows(unsigned next) {
  if (chosenBy.empty())
    return emitTile(Span());
  unsigned iterator = chosenBy[next];
  if (next + 1 == chosenBy.size())
    return lowering.forTiles(extents[iterator],
                             lowering.machine.core.partitions,
                             [&](Span span) { emitTile(span); });
  lowering.forTiles(extents[iterator], 1, [&](Span one) {
    at[iterator] = one.start;
    emitRows(next + 1);
  });
}

LogicalResult GatherStage::run() {
  if (failed(describe()))
    return failure();
  lowering.layOut(op, input, home);
  if (!home.buffer)
    return success(); // nothing is chosen
  // A slot of 16 KiB in each partition keeps the DMA busy and leaves room for two.
  constexpr int64_t slotBytes = 16384;
  int64_t bytes = dtypeBytes(*dtypeOf(home.elementType));
  chunk = std::min(rowLength, slotBytes / bytes);
  int64_t tile = std::min(chosenBy.empty() ? 1 : extents[chosenBy.back()],
                          lowering.machine.core.partitions);
  auto ring = [&](StringRef name, int64_t depth, int64_t width, Type type) {
    return lowering.ring(name, depth,
                         lowering.tileType({tile, width}, type, Memory::Sbuf));
  };
  Type i32 = lowering.builder.getI32Type();
  numbers = ring("numbers", 2, 1, i32);
  loaded = ring("indices", 2, 1, i32);
  if (guarded)
    clamped = ring("clamped", 1, 1, i32);
  rows = ring("chosen", 2, chunk, home.elementType);
  emitRows(0);
  return success();
}

LogicalResult engine::emitGather(Lowering &lowering, StructuredOpInterface op,
                                 unsigned input) {
  return GatherStage(lowering, op, input).run();
}
