//===- Frame.cpp - one function being emitted for a kernel ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every function of a kernel begins with (sizes, the scalars computed from
// them), and the few shapes of control flow and memory access that all of the
// conversion is made of. Loops are scf.for on i64; an address is a pointer and
// an i64 element offset, Σ index·stride.
//
//===----------------------------------------------------------------------===//

#include "Frame.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace facet;
using namespace facet::loops;
using namespace mlir;

void Frame::refuse(Operation *op, const llvm::Twine &message) {
  if (!failed)
    op->emitOpError(message);
  failed = true;
}

ValueRange Frame::open(const llvm::Twine &name, llvm::ArrayRef<Type> more,
                       Type result) {
  unsigned numSizes = kernel.getSizes().size();
  llvm::SmallVector<Type> types(numSizes, b.getI64Type());
  llvm::append_range(types, more);
  b.setInsertionPoint(kernel);
  auto function = func::FuncOp::create(b, (kernel.getSymName() + name).str(),
                                       b.getFunctionType(types, result));
  for (auto [i, type] : llvm::enumerate(types))
    if (isa<LLVM::LLVMPointerType>(type))
      function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                          b.getUnitAttr());
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  auto arguments = entry->getArguments();
  // A size that the command line fixed to one value is that number: callers have
  // been checked.
  for (unsigned i = 0; i < numSizes; ++i) {
    std::optional<int64_t> only =
        kernel.getFixedSize(cast<StringAttr>(kernel.getSizes()[i]).getValue());
    sizes.push_back(only ? Value(i64(*only)) : arguments[i]);
  }
  return arguments.drop_front(numSizes);
}

Value Frame::dim(Attribute dimension) {
  if (auto name = dyn_cast<StringAttr>(dimension))
    return sizes[*kernel.getSizeIndex(name.getValue())];
  return i64(cast<IntegerAttr>(dimension).getInt());
}

Value Frame::extent(OpFoldResult extent) {
  if (auto attribute = dyn_cast<Attribute>(extent))
    return i64(cast<IntegerAttr>(attribute).getInt());
  return scalars.lookup(cast<Value>(extent));
}

llvm::SmallVector<Value> Frame::extents(kernel::StructuredOpInterface op) {
  llvm::SmallVector<Value> result;
  for (OpFoldResult mixed : op.getMixedExtents())
    result.push_back(extent(mixed));
  return result;
}

/// An op on indices or scalars at the top level, with i64 for index.
static Value emitTopLevelScalar(Frame &frame, Operation &op) {
  LocBuilder &b = frame.b;
  if (auto size = dyn_cast<kernel::SizeOp>(op))
    return frame.sizes[*frame.kernel.getSizeIndex(size.getName())];
  if (auto constantOp = dyn_cast<arith::ConstantOp>(op))
    if (auto typed = dyn_cast<TypedAttr>(constantOp.getValue());
        typed && typed.getType().isIntOrIndexOrFloat())
      return travelConstant(b, typed);
  llvm::SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    Value known = frame.scalars.lookup(operand);
    if (!known)
      return {};
    operands.push_back(known);
  }
  if (isa<arith::IndexCastOp>(op)) {
    Num x = frame.num(operands[0]);
    if (isa<IndexType>(op.getResult(0).getType()))
      return extend(x, b.getI64Type());
    return wrapInteger(x, op.getResult(0).getType());
  }
  if (!isa<arith::ArithDialect>(op.getDialect()) || op.getNumResults() != 1)
    return {};
  Type type = op.getResult(0).getType();
  OperationState state(op.getLoc(), op.getName(), operands,
                       isa<IndexType>(type) ? b.getI64Type() : type,
                       op.getAttrs());
  return b.create(state)->getResult(0);
}

void Frame::emitTopLevel() {
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isa<kernel::StructuredOpInterface, kernel::RequireOp>(op))
      continue;
    b.setLoc(op.getLoc());
    if (isa<tensor::EmptyOp>(op)) {
      tensors[op.getResult(0)].element =
          cast<RankedTensorType>(op.getResult(0).getType()).getElementType();
      continue;
    }
    if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
      Storage &storage = tensors[splat.getResult()];
      storage.kind = Storage::Splat;
      storage.element = splat.getInput().getType();
      storage.scalar = scalars.lookup(splat.getInput());
      continue;
    }
    if (auto constantOp = dyn_cast<arith::ConstantOp>(op))
      if (auto dense = dyn_cast<SplatElementsAttr>(constantOp.getValue())) {
        Storage &storage = tensors[constantOp.getResult()];
        storage.kind = Storage::Splat;
        storage.element = dense.getElementType();
        storage.scalar = travelConstant(
            b, cast<TypedAttr>(dense.getSplatValue<Attribute>()));
        continue;
      }
    Value value = emitTopLevelScalar(*this, op);
    if (!value) {
      refuse(&op, "has no place in a kernel that is compiled to loops");
      return;
    }
    scalars[op.getResult(0)] = value;
  }
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

llvm::SmallVector<Value> facet::loops::foldNest(
    LocBuilder &b, llvm::ArrayRef<Value> extents, ValueRange start,
    llvm::function_ref<llvm::SmallVector<Value>(llvm::ArrayRef<Value>,
                                                ValueRange)>
        body) {
  if (extents.empty())
    return body({}, start);
  Value zero = constant(b, b.getI64Type(), int64_t(0));
  Value one = constant(b, b.getI64Type(), int64_t(1));
  OpBuilder::InsertionGuard guard(b);
  llvm::SmallVector<Value> indices;
  llvm::SmallVector<scf::ForOp> nest;
  ValueRange carried = start;
  for (Value extent : extents) {
    auto loop = scf::ForOp::create(b, zero, extent, one, carried);
    nest.push_back(loop);
    indices.push_back(loop.getInductionVar());
    carried = loop.getRegionIterArgs();
    b.setInsertionPointToStart(loop.getBody());
  }
  llvm::SmallVector<Value> results = body(indices, carried);
  for (scf::ForOp loop : llvm::reverse(nest)) {
    // scf.for without carried values comes with its terminator.
    if (!results.empty()) {
      b.setInsertionPointToEnd(loop.getBody());
      scf::YieldOp::create(b, results);
    }
    results.assign(loop.result_begin(), loop.result_end());
  }
  return results;
}

void facet::loops::forNest(
    LocBuilder &b, llvm::ArrayRef<Value> extents,
    llvm::function_ref<void(llvm::ArrayRef<Value>)> body) {
  foldNest(b, extents, {},
           [&](llvm::ArrayRef<Value> indices,
               ValueRange) -> llvm::SmallVector<Value> {
             body(indices);
             return {};
           });
}

void facet::loops::forLoop(LocBuilder &b, Value n,
                           llvm::function_ref<void(Value)> body) {
  forNest(b, n, [&](llvm::ArrayRef<Value> indices) { body(indices[0]); });
}

void facet::loops::ifHolds(LocBuilder &b, Value condition,
                           llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  auto ifOp = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  body();
}

llvm::SmallVector<Value>
facet::loops::ifElse(LocBuilder &b, Value condition, ValueRange otherwise,
                     llvm::function_ref<llvm::SmallVector<Value>()> then) {
  if (!condition)
    return then();
  if (otherwise.empty()) {
    ifHolds(b, condition, [&] { then(); });
    return {};
  }
  auto ifOp = scf::IfOp::create(b, otherwise.getTypes(), condition,
                                /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  scf::YieldOp::create(b, then());
  b.setInsertionPointToStart(ifOp.elseBlock());
  scf::YieldOp::create(b, otherwise);
  return ifOp.getResults();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Num facet::loops::elementOffset(LocBuilder &b, const Storage &storage,
                                llvm::ArrayRef<Value> index) {
  Num offset{b, constant(b, b.getI64Type(), int64_t(0))};
  for (auto [i, stride] : llvm::zip_equal(index, storage.strides))
    offset = offset + Num(b, i) * Num(b, stride);
  return offset;
}

Type facet::loops::memoryType(Type element) {
  Type travel = travelType(element);
  return travel.isInteger(1) ? IntegerType::get(element.getContext(), 8)
                             : travel;
}

Value facet::loops::address(LocBuilder &b, Type element, Value pointer,
                            Value offset) {
  return LLVM::GEPOp::create(b, pointer.getType(), element, pointer,
                             llvm::ArrayRef<LLVM::GEPArg>{offset});
}

Value facet::loops::load(LocBuilder &b, const Storage &from,
                         llvm::ArrayRef<Value> index) {
  if (from.kind == Storage::Splat)
    return from.scalar;
  Num offset = elementOffset(b, from, index);
  Type type = memoryType(from.element);
  if (from.packed) {
    Num byte{b, LLVM::LoadOp::create(
                    b, type, address(b, type, from.pointer, offset >> 1))};
    return (byte >> truncate((offset & 1) << 2, type)) & 15;
  }
  Num value{
      b, LLVM::LoadOp::create(b, type, address(b, type, from.pointer, offset))};
  if (from.element.isInteger(1))
    return value != 0;
  return value;
}

void facet::loops::store(LocBuilder &b, const Storage &to,
                         llvm::ArrayRef<Value> index, Value value) {
  Num offset = elementOffset(b, to, index);
  Type type = memoryType(to.element);
  if (to.packed) {
    Value place = address(b, type, to.pointer, offset >> 1);
    Num byte{b, LLVM::LoadOp::create(b, type, place)};
    Num shift = truncate((offset & 1) << 2, type);
    Num cleared = byte & ((byte.like(15) << shift) ^ -1);
    LLVM::StoreOp::create(b, cleared | (Num(b, value) << shift), place);
    return;
  }
  LLVM::StoreOp::create(b, extend(Num(b, value), type),
                        address(b, type, to.pointer, offset));
}

Storage facet::loops::denseStorage(LocBuilder &b, Type element, Value pointer,
                                   llvm::ArrayRef<Value> dims) {
  Storage storage;
  storage.kind = Storage::Memory;
  storage.element = element;
  storage.pointer = pointer;
  storage.dims.assign(dims.begin(), dims.end());
  storage.strides.resize(dims.size());
  Num stride{b, constant(b, b.getI64Type(), int64_t(1))};
  for (size_t i = dims.size(); i-- > 0;) {
    storage.strides[i] = stride;
    stride = stride * Num(b, dims[i]);
  }
  return storage;
}

Type facet::loops::elementType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}
