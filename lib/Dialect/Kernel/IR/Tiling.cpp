//===- Tiling.cpp - one tile of a map, reduce or softmax ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TilingInterface for the three ops. The tile of an op is the same op over a
// part of its iterators, with their names:
//
//   kernel.reduce sum "y" [m: %M] over [k: %K] ins(%w[%e, m, 3, k] ...)
//   outs(%init ...)
//
// at offsets (%i, %j) and sizes (4, 8) becomes
//
//   %slice = tensor.extract_slice %w[0, %i, 3, %j] [%P, 4, 1, 8] [1, 1, 1, 1]
//   kernel.reduce sum "y" [m: 4] over [k: 8] ins(%slice[%e, m, 0, k] ...)
//   outs(...)
//
// A subscript that is an iterator takes that iterator's part, a number takes
// one element, and a gather takes the whole dimension, since its values are
// only known when they are read. kernel.index gets the offset added, so that
// bodies (filters, argmax) still see positions of the whole.
//
// A reduce adds to its init, so its reduction iterators tile like the others
// with the init carried through the loop. A softmax knows its sums only after
// the last element, so its normalised iterators do not tile.
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Kernel/IR/StructuredParts.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace facet::kernel;

namespace {
/// A part of one tensor.
struct Part {
  SmallVector<OpFoldResult> offsets, sizes;
};
} // namespace

static SmallVector<utils::IteratorType>
iteratorTypes(StructuredOpInterface op) {
  SmallVector<utils::IteratorType> types(op.getNumParallel(),
                                         utils::IteratorType::parallel);
  types.append(op.getNumReduction(), utils::IteratorType::reduction);
  return types;
}

static SmallVector<Range> iterationDomain(StructuredOpInterface op,
                                          OpBuilder &builder) {
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  SmallVector<Range> domain;
  for (OpFoldResult extent : op.getMixedExtents())
    domain.push_back({zero, extent, one});
  return domain;
}

/// Whether iterator `i` is not tiled: its part is its whole extent.
static bool isWhole(StructuredOpInterface op, unsigned i, OpFoldResult offset,
                    OpFoldResult size) {
  return isZeroInteger(offset) &&
         isEqualConstantIntOrValue(size, op.getMixedExtents()[i]);
}

static Part partOfInput(StructuredOpInterface op, unsigned input,
                        OpBuilder &builder, ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> dims =
      tensor::getMixedSizes(builder, op.getLoc(), op.getInputs()[input]);
  Part part;
  for (auto [dim, subscript] :
       llvm::enumerate(op.getAccess(input).getSubscripts())) {
    switch (subscript.kind) {
    case Subscript::Iterator:
      part.offsets.push_back(offsets[subscript.value]);
      part.sizes.push_back(sizes[subscript.value]);
      break;
    case Subscript::Constant:
      part.offsets.push_back(builder.getIndexAttr(subscript.value));
      part.sizes.push_back(builder.getIndexAttr(1));
      break;
    case Subscript::Element:
      part.offsets.push_back(builder.getIndexAttr(0));
      part.sizes.push_back(dims[dim]);
      break;
    }
  }
  return part;
}

static Value slice(OpBuilder &builder, Location loc, Value tensor,
                   const Part &part, SmallVectorImpl<Operation *> &slices) {
  if (part.offsets.empty())
    return tensor;
  SmallVector<OpFoldResult> strides(part.offsets.size(),
                                    builder.getIndexAttr(1));
  auto op = tensor::ExtractSliceOp::create(builder, loc, tensor, part.offsets,
                                           part.sizes, strides);
  slices.push_back(op);
  return op;
}

/// Adds the offsets of the tile to every kernel.index of a cloned region. The
/// offsets are converted to i64 once, in front of the tile.
static void shiftIndices(StructuredOpInterface op, OpBuilder &builder,
                         ArrayRef<OpFoldResult> offsets, Region &region,
                         MutableArrayRef<Value> shifts) {
  SmallVector<IndexOp> indices(region.getOps<IndexOp>());
  for (IndexOp index : indices) {
    unsigned i = 0;
    while (op.getIteratorName(i) != index.getIterator())
      ++i;
    if (isZeroInteger(offsets[i]))
      continue;
    Location loc = index.getLoc();
    if (!shifts[i]) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(op); // the tiled op
      if (std::optional<int64_t> number = getConstantIntValue(offsets[i]))
        shifts[i] = arith::ConstantIntOp::create(builder, loc,
                                                 builder.getI64Type(), *number);
      else
        shifts[i] = arith::IndexCastOp::create(
            builder, loc, builder.getI64Type(), cast<Value>(offsets[i]));
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(index);
    auto sum = arith::AddIOp::create(builder, loc, index, shifts[i]);
    index.getResult().replaceAllUsesExcept(sum, sum);
  }
}

static FailureOr<TilingResult> tile(StructuredOpInterface op,
                                    OpBuilder &builder,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) {
  if (offsets.size() != op.getNumIterators() ||
      sizes.size() != op.getNumIterators())
    return op->emitOpError()
           << "is tiled by " << sizes.size() << " sizes and has "
           << op.getNumIterators() << " iterators";
  bool isSoftmax = isa<SoftmaxOp>(op);
  for (unsigned i = op.getNumParallel(), e = op.getNumIterators();
       isSoftmax && i != e; ++i)
    if (!isWhole(op, i, offsets[i], sizes[i]))
      return op->emitOpError()
             << "cannot be tiled along '" << op.getIteratorName(i)
             << "', over which it normalises; decompose it first";

  TilingResult result;
  StructuredParts parts(op);
  parts.extents.assign(sizes.begin(), sizes.end());
  for (auto [i, input] : llvm::enumerate(parts.inputs)) {
    Part part = partOfInput(op, i, builder, offsets, sizes);
    input.tensor =
        slice(builder, op.getLoc(), input.tensor, part, result.generatedSlices);
    // Numbers count from the start of the slice, which begins there.
    for (Subscript &subscript : input.subscripts)
      if (subscript.kind == Subscript::Constant)
        subscript.value = 0;
  }
  unsigned rank = isSoftmax ? op.getNumIterators() : op.getNumParallel();
  Part resultPart{llvm::to_vector(offsets.take_front(rank)),
                  llvm::to_vector(sizes.take_front(rank))};
  for (Value &init : parts.inits)
    init =
        slice(builder, op.getLoc(), init, resultPart, result.generatedSlices);

  StructuredOpInterface tiled = parts.create(builder, op.getLoc());
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(op->getRegions(), tiled->getRegions()))
    from.cloneInto(&to, mapping);
  SmallVector<Value> shifts(op.getNumIterators());
  for (Region &region : tiled->getRegions())
    shiftIndices(tiled, builder, offsets, region, shifts);
  result.tiledOps.push_back(tiled);
  result.tiledValues.assign(tiled->result_begin(), tiled->result_end());
  return result;
}

static LogicalResult resultPosition(StructuredOpInterface op,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes,
                                    SmallVector<OpFoldResult> &resultOffsets,
                                    SmallVector<OpFoldResult> &resultSizes) {
  unsigned rank =
      isa<SoftmaxOp>(op) ? op.getNumIterators() : op.getNumParallel();
  if (offsets.size() < rank || sizes.size() < rank)
    return failure();
  resultOffsets = llvm::to_vector(offsets.take_front(rank));
  resultSizes = llvm::to_vector(sizes.take_front(rank));
  return success();
}

/// The part of the iterators that computes a part of the result: every
/// reduction iterator as a whole.
static FailureOr<Part> domainOfResultPart(StructuredOpInterface op,
                                          OpBuilder &builder,
                                          ArrayRef<OpFoldResult> offsets,
                                          ArrayRef<OpFoldResult> sizes) {
  unsigned rank =
      isa<SoftmaxOp>(op) ? op.getNumIterators() : op.getNumParallel();
  if (offsets.size() != rank || sizes.size() != rank)
    return failure();
  for (unsigned i = op.getNumParallel(); i < rank; ++i)
    if (!isWhole(op, i, offsets[i], sizes[i]))
      return failure(); // a part of a normalised row: the row is needed
  Part part{llvm::to_vector(offsets), llvm::to_vector(sizes)};
  SmallVector<OpFoldResult> extents = op.getMixedExtents();
  for (unsigned i = rank, e = op.getNumIterators(); i < e; ++i) {
    part.offsets.push_back(builder.getIndexAttr(0));
    part.sizes.push_back(extents[i]);
  }
  return part;
}

static FailureOr<TilingResult> tileOfResult(StructuredOpInterface op,
                                            OpBuilder &builder,
                                            ArrayRef<OpFoldResult> offsets,
                                            ArrayRef<OpFoldResult> sizes) {
  FailureOr<Part> part = domainOfResultPart(op, builder, offsets, sizes);
  if (failed(part))
    return failure();
  return tile(op, builder, part->offsets, part->sizes);
}

static LogicalResult reifyShapes(StructuredOpInterface op,
                                 ReifiedRankedShapedTypeDims &shapes) {
  unsigned rank =
      isa<SoftmaxOp>(op) ? op.getNumIterators() : op.getNumParallel();
  SmallVector<OpFoldResult> extents = op.getMixedExtents();
  extents.truncate(rank);
  shapes.assign(op->getNumResults(), extents);
  return success();
}

//===----------------------------------------------------------------------===//
// The same methods for each op
//===----------------------------------------------------------------------===//

#define FACET_TILING_OF(Op)                                                    \
  SmallVector<utils::IteratorType> Op::getLoopIteratorTypes() {                \
    return iteratorTypes(*this);                                               \
  }                                                                            \
  SmallVector<Range> Op::getIterationDomain(OpBuilder &builder) {              \
    return iterationDomain(*this, builder);                                    \
  }                                                                            \
  FailureOr<TilingResult> Op::getTiledImplementation(                          \
      OpBuilder &builder, ArrayRef<OpFoldResult> offsets,                      \
      ArrayRef<OpFoldResult> sizes) {                                          \
    return tile(*this, builder, offsets, sizes);                               \
  }                                                                            \
  LogicalResult Op::getResultTilePosition(                                     \
      OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,                   \
      ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,  \
      SmallVector<OpFoldResult> &resultSizes) {                                \
    return resultPosition(*this, offsets, sizes, resultOffsets, resultSizes);  \
  }                                                                            \
  FailureOr<TilingResult> Op::generateResultTileValue(                         \
      OpBuilder &builder, unsigned, ArrayRef<OpFoldResult> offsets,            \
      ArrayRef<OpFoldResult> sizes) {                                          \
    return tileOfResult(*this, builder, offsets, sizes);                       \
  }                                                                            \
  LogicalResult Op::reifyResultShapes(OpBuilder &,                             \
                                      ReifiedRankedShapedTypeDims &shapes) {   \
    return reifyShapes(*this, shapes);                                         \
  }
FACET_TILING_OF(MapOp)
FACET_TILING_OF(ReduceOp)
FACET_TILING_OF(SoftmaxOp)
#undef FACET_TILING_OF
