//===- Lowering.cpp - what the stages of a program share ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Extents as numbers, tensors as buffers, and the few ops that everything is made of:
//
//   tensor<4096x512xbf16>, element [m, k]   -> buffer "x", element m·512 + k
//   tiles of 128 of an extent of 1000       -> a loop of 7, then one of 104
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

Linear &Linear::operator+=(const Linear &other) {
  constant += other.constant;
  for (auto [counter, factor] : other.terms) {
    auto at = llvm::find_if(terms, [&, counter = counter](auto &term) {
      return term.first == counter;
    });
    if (at != terms.end())
      at->second += factor;
    else
      terms.push_back({counter, factor});
  }
  return *this;
}

Linear Linear::operator*(int64_t factor) const {
  Linear result = *this;
  result.constant *= factor;
  if (factor == 0)
    result.terms.clear();
  for (auto &term : result.terms)
    term.second *= factor;
  return result;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

FailureOr<int64_t> Lowering::sizeOf(StringRef name) {
  if (std::optional<int64_t> size = kernel.getFixedSize(name))
    return *size;
  return kernel.emitError("size ")
         << name
         << " is not one number; a program for a matrix engine is made for "
            "fixed sizes: give -D "
         << name << "=NUMBER";
}

FailureOr<int64_t> Lowering::extentOf(OpFoldResult extent) {
  int64_t value;
  if (auto attribute = dyn_cast<Attribute>(extent)) {
    value = cast<IntegerAttr>(attribute).getInt();
  } else {
    auto size = cast<Value>(extent).getDefiningOp<kernel::SizeOp>();
    if (!size)
      return kernel.emitError(
          "size of a statement is not one number; a program "
          "for a matrix engine is made for fixed sizes: give "
          "-D NAME=NUMBER");
    FailureOr<int64_t> fixed = sizeOf(size.getName());
    if (failed(fixed))
      return failure();
    value = *fixed;
  }
  return value;
}

FailureOr<SmallVector<int64_t>> Lowering::extentsOf(StructuredOpInterface op) {
  SmallVector<int64_t> extents;
  for (OpFoldResult extent : op.getMixedExtents()) {
    FailureOr<int64_t> value = extentOf(extent);
    if (failed(value))
      return failure();
    extents.push_back(*value);
  }
  return extents;
}

Value Lowering::buffer(StringRef name, ArrayRef<int64_t> shape, Type element,
                       BufferUse use) {
  if (llvm::is_contained(shape, 0))
    return nullptr;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(program.getBody());
  auto after = program.getBody()->getOps<BufferOp>();
  for (BufferOp op : after)
    builder.setInsertionPointAfter(op);
  SmallVector<int64_t> dims(shape);
  if (dims.empty())
    dims.push_back(1);
  unsigned &uses = names[name];
  std::string unique = name.str() + (uses ? "_" + std::to_string(uses) : "");
  ++uses;
  return BufferOp::create(builder, location,
                          tileType(dims, element, Memory::Hbm), unique, use)
      .getResult();
}

Value Lowering::scratch(StringRef name, ArrayRef<int64_t> shape, Type element) {
  return buffer(name, shape, element, BufferUse::Scratch);
}

void Lowering::declare(Value tensor, StringRef name, BufferUse use,
                       ArrayRef<int64_t> shape) {
  SmallVector<int64_t> dims(shape);
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (element.isInteger(64) && use != BufferUse::Scratch) {
    if (dims.empty())
      dims.push_back(1);
    dims.push_back(2); // the words of each number, the low one first
    pairs.insert(tensor);
  }
  buffers[tensor] = buffer(name, dims, storedType(element), use);
}

static SmallVector<int64_t> denseStrides(Value buffer) {
  ArrayRef<int64_t> shape = cast<TileType>(buffer.getType()).getShape();
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = strides.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

FailureOr<Home> Lowering::homeOf(StructuredOpInterface op, unsigned input) {
  if (auto at = laidOut.find({op.getOperation(), input}); at != laidOut.end())
    return at->second;
  Value tensor = op.getInputs()[input];
  Home home;
  home.buffer = buffers.lookup(tensor);
  home.elementType =
      storedType(cast<RankedTensorType>(tensor.getType()).getElementType());
  home.strides.assign(op.getNumIterators(), 0);
  if (!home.buffer) // no elements
    return home;
  SmallVector<int64_t> strides = denseStrides(home.buffer);
  for (auto [axis, subscript] :
       llvm::enumerate(op.getAccess(input).getSubscripts())) {
    if (subscript.kind == kernel::Subscript::Iterator)
      home.strides[subscript.value] += strides[axis];
    else if (subscript.kind == kernel::Subscript::Constant)
      home.constant += subscript.value * strides[axis];
    else
      return op->emitError("reads rows chosen by an index under a name of "
                           "their own; compile for a CPU");
  }
  return home;
}

Home Lowering::homeOfResult(StructuredOpInterface op, unsigned result) {
  Value tensor = op->getResult(result);
  Home home;
  home.buffer = buffers.lookup(tensor);
  home.elementType =
      storedType(cast<RankedTensorType>(tensor.getType()).getElementType());
  home.strides.assign(op.getNumIterators(), 0);
  SmallVector<int64_t> strides = denseStrides(home.buffer);
  std::copy_n(strides.begin(), op.getNumParallel(), home.strides.begin());
  return home;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

RingOp Lowering::ring(StringRef name, int64_t depth, TileType tile) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(program.getBody());
  for (Operation &op : *program.getBody())
    if (isa<BufferOp, RingOp>(op))
      builder.setInsertionPointAfter(&op);
  unsigned &uses = names[name];
  std::string unique = name.str() + (uses ? "_" + std::to_string(uses) : "");
  ++uses;
  return RingOp::create(builder, location,
                        RingType::get(program.getContext(), depth, tile),
                        unique);
}

Value Lowering::acquire(RingOp ring) {
  return AcquireOp::create(builder, location, ring.getType().getTile(), ring);
}
void Lowering::commit(RingOp ring) {
  CommitOp::create(builder, location, ring);
}
Value Lowering::wait(RingOp ring) {
  return WaitOp::create(builder, location, ring.getType().getTile(), ring);
}
void Lowering::release(RingOp ring) {
  ReleaseOp::create(builder, location, ring);
}

AffineMap Lowering::mapOf(const Linear &at, SmallVectorImpl<Value> &counters) {
  AffineExpr expr = builder.getAffineConstantExpr(at.constant);
  for (auto [counter, factor] : at.terms) {
    expr = expr + builder.getAffineDimExpr(counters.size()) * factor;
    counters.push_back(counter);
  }
  return AffineMap::get(counters.size(), 0, expr);
}

Value Lowering::index(Linear at, ArrayRef<int64_t> shape, int64_t rowStep,
                      int64_t step) {
  SmallVector<Value> counters;
  AffineMap map = mapOf(at, counters);
  return IndexOp::create(
      builder, location, tileType(shape, builder.getI32Type(), Memory::Index),
      counters, map, rowStep, builder.getDenseI64ArrayAttr({step}));
}

Value Lowering::makeView(Value source, const Linear &at,
                         ArrayRef<int64_t> shape, ArrayRef<int64_t> steps,
                         int64_t partition, int64_t rowStep) {
  auto type = cast<TileType>(source.getType());
  SmallVector<Value> counters;
  AffineMap map = mapOf(at, counters);
  return ViewOp::create(
      builder, location,
      tileType(shape, type.getElementType(), type.getMemory()), source,
      counters, map, partition, rowStep,
      steps.empty() ? nullptr : builder.getDenseI64ArrayAttr(steps));
}

Value Lowering::view(Value slot, Linear at, ArrayRef<int64_t> shape,
                     ArrayRef<int64_t> steps, int64_t partition) {
  auto type = cast<TileType>(slot.getType());
  if (at.terms.empty() && at.constant == 0 && partition == 0 &&
      shape == type.getShape() && steps.empty())
    return slot;
  return makeView(slot, at, shape, steps, partition, 0);
}

Value Lowering::hbmView(Value buffer, Linear at, ArrayRef<int64_t> shape,
                        int64_t rowStep, ArrayRef<int64_t> steps) {
  return makeView(buffer, at, shape, steps, 0, rowStep);
}

IssueOp Lowering::issue(QueueKind queue, StringRef mnemonic,
                        ArrayRef<std::pair<StringRef, Value>> operands,
                        ArrayRef<NamedAttribute> fields) {
  return IssueOp::create(builder, location, queue, mnemonic, operands, fields);
}

void Lowering::copy(QueueKind queue, Value dst, Value src, bool saturate) {
  SmallVector<NamedAttribute> fields;
  if (saturate)
    fields.push_back(flag("sat"));
  bool onScalar = queue == QueueKind::Scalar;
  if (onScalar)
    fields.push_back(word("func", "identity"));
  issue(queue, onScalar ? "activate" : "copy", {{"dst", dst}, {"src", src}},
        fields);
}

void Lowering::forTiles(int64_t extent, int64_t tile,
                        llvm::function_ref<void(Span)> body) {
  int64_t whole = extent / tile, rest = extent % tile;
  if (whole == 1)
    body({0, tile});
  if (whole > 1) {
    auto loop = ForOp::create(builder, location, whole);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    Linear start;
    start.terms.push_back({loop.getCounter(), tile});
    body({start, tile});
  }
  if (rest)
    body({whole * tile, rest});
}
