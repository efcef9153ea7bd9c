//===- LanePoint.cpp - several neighbouring points, one per vector lane ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With lanes along n, `x[m, k] * w[k, n]` becomes a scalar load of x, a vector
// load of w, a broadcast and a multiply. Reads along the lane are one load when
// the elements are neighbours, a gather otherwise; both under the mask of the
// lanes that exist and of the input's guard, so that nothing outside of a buffer
// and nothing that a filter excludes is touched.
//
// The arithmetic itself is OwnPoint's: it builds vectors as it builds scalars.
//
//===----------------------------------------------------------------------===//

#include "LanePoint.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

bool cpu::isVector(Value value) { return isa<VectorType>(value.getType()); }

Value cpu::widen(LocBuilder &b, Value value, int64_t lanes) {
  if (isVector(value))
    return value;
  return vector::BroadcastOp::create(
      b, VectorType::get({lanes}, value.getType()), value);
}

Value cpu::iota(LocBuilder &b, int64_t lanes) {
  llvm::SmallVector<int64_t> values(lanes);
  for (int64_t i = 0; i < lanes; ++i)
    values[i] = i;
  auto type = VectorType::get({lanes}, b.getI64Type());
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, llvm::ArrayRef(values)));
}

Value cpu::andMasks(LocBuilder &b, Value a, Value c, int64_t lanes) {
  if (!a || !c)
    return a ? a : c;
  return arith::AndIOp::create(b, widen(b, a, lanes), widen(b, c, lanes));
}

Value cpu::maskBelow(LocBuilder &b, Value count, int64_t lanes) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, iota(b, lanes),
                               widen(b, count, lanes));
}

bool cpu::isConstant(Value value, int64_t expected) {
  llvm::APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) &&
         constant.getSExtValue() == expected;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// One pointer per lane: `pointer` plus `offsets` elements.
static Value addresses(LocBuilder &b, Type element, Value pointer,
                       Value offsets) {
  int64_t lanes = cast<VectorType>(offsets.getType()).getNumElements();
  Type type = VectorType::get({lanes}, pointer.getType());
  return LLVM::GEPOp::create(b, type, element, pointer,
                             llvm::ArrayRef<LLVM::GEPArg>{offsets});
}

static Value allLanes(LocBuilder &b, int64_t lanes) {
  return loops::constant(b, VectorType::get({lanes}, b.getI1Type()),
                         int64_t(1));
}

static IntegerAttr alignment(LocBuilder &b, Type element) {
  return b.getI32IntegerAttr(std::max(1u, element.getIntOrFloatBitWidth() / 8));
}

/// One element per lane at `offsets` (vector of i64, in elements).
static Value gather(LocBuilder &b, const Storage &from, Num offsets,
                    Value mask) {
  Type memory = loops::memoryType(from.element);
  int64_t lanes = cast<VectorType>(offsets.type()).getNumElements();
  auto type = VectorType::get({lanes}, memory);
  Value zero = loops::constant(b, type, int64_t(0));
  Num places = from.packed ? offsets >> 1 : offsets;
  Num value{b, LLVM::masked_gather::create(
                   b, type, addresses(b, memory, from.pointer, places),
                   mask ? mask : allLanes(b, lanes), ValueRange{zero},
                   alignment(b, memory))};
  if (from.packed)
    value = (value >> loops::truncate((offsets & 1) << 2, memory)) & 15;
  if (from.element.isInteger(1))
    return value != 0;
  return value;
}

static Value loadContiguous(LocBuilder &b, const Storage &from, Value offset,
                            int64_t lanes, Value mask) {
  Type memory = loops::memoryType(from.element);
  auto type = VectorType::get({lanes}, memory);
  Value at = loops::address(b, memory, from.pointer, offset);
  Num value;
  if (mask) {
    Value zero = loops::constant(b, type, int64_t(0));
    value = {b, LLVM::MaskedLoadOp::create(b, type, at, mask, zero,
                                           alignment(b, memory))};
  } else {
    value = {b,
             LLVM::LoadOp::create(b, type, at, alignment(b, memory).getInt())};
  }
  if (from.element.isInteger(1))
    return value != 0;
  return value;
}

/// Neighbouring nibbles from an even `offset` on, whole bytes at a time.
static Value loadNibbles(LocBuilder &b, const Storage &from, Num offset,
                         int64_t lanes, Value mask) {
  Storage bytes = from;
  bytes.packed = false;
  Value byteMask;
  if (mask) { // both nibbles of a byte exist, or a lane of ours wants one
    llvm::SmallVector<int64_t> even, odd;
    for (int64_t i = 0; i < lanes; i += 2) {
      even.push_back(i);
      odd.push_back(i + 1);
    }
    byteMask =
        arith::OrIOp::create(b, vector::ShuffleOp::create(b, mask, mask, even),
                             vector::ShuffleOp::create(b, mask, mask, odd));
  }
  Num pair{b, loadContiguous(b, bytes, offset >> 1, lanes / 2, byteMask)};
  Num value{b, vector::InterleaveOp::create(b, pair & 15, pair >> 4)};
  if (mask)
    value = loops::select(Num(b, mask), value, value.like(0));
  return value;
}

Value cpu::loadLanes(LocBuilder &b, const Storage &from,
                     llvm::ArrayRef<Value> index, unsigned dim, int64_t lanes,
                     Value mask) {
  if (from.kind == Storage::Splat)
    return widen(b, from.scalar, lanes);
  Num offset = loops::elementOffset(b, from, index);
  if (!from.packed && isConstant(from.strides[dim], 1))
    return loadContiguous(b, from, offset, lanes, mask);
  Num steps = Num(b, iota(b, lanes)) * Num(b, from.strides[dim]);
  return gather(b, from, steps + offset, mask);
}

void cpu::storeLanes(LocBuilder &b, const Storage &to,
                     llvm::ArrayRef<Value> index, unsigned dim, int64_t lanes,
                     Value mask, Value value) {
  assert(!to.packed && "two elements of a byte belong to one writer");
  Type memory = loops::memoryType(to.element);
  Value stored = loops::extend(Num(b, widen(b, value, lanes)), memory);
  Num offset = loops::elementOffset(b, to, index);
  if (isConstant(to.strides[dim], 1)) {
    Value at = loops::address(b, memory, to.pointer, offset);
    if (mask)
      LLVM::MaskedStoreOp::create(b, stored, at, mask, alignment(b, memory));
    else
      LLVM::StoreOp::create(b, stored, at, alignment(b, memory).getInt());
    return;
  }
  Num steps = Num(b, iota(b, lanes)) * Num(b, to.strides[dim]);
  LLVM::masked_scatter::create(
      b, stored, addresses(b, memory, to.pointer, steps + offset),
      mask ? mask : allLanes(b, lanes), alignment(b, memory));
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

Value LanePoint::valueOf(Value value) {
  for (Operation *inner : loops::slice(op.getBody().front(), value))
    evaluateInto(inner);
  return lookup(value);
}

Value LanePoint::evaluate(Operation *inner, llvm::ArrayRef<Value> operands) {
  if (auto index = dyn_cast<kernel::IndexOp>(inner))
    if (index.getIterator() == op.getIteratorName(range.iterator))
      return Num(b, iota(b, range.lanes)) + Num(b, iterators[range.iterator]);
  // A scalar that meets a vector is in all lanes; a condition may stay a scalar.
  bool anyVector = llvm::any_of(operands, isVector);
  llvm::SmallVector<Value> same(operands);
  if (anyVector)
    for (auto [i, operand] : llvm::enumerate(same))
      if (!(i == 0 && isa<arith::SelectOp>(inner) && !isVector(operand)))
        operand = widen(b, operand, range.lanes);
  return OwnPoint::evaluate(inner, same);
}

bool LanePoint::dependsOnLane(unsigned input,
                              llvm::ArrayRef<Value> index) const {
  auto &self = const_cast<LanePoint &>(*this);
  for (auto [subscript, value] :
       llvm::zip_equal(self.op.getAccess(input).getSubscripts(), index))
    if (isVector(value) || (subscript.kind == kernel::Subscript::Iterator &&
                            subscript.value == int64_t(range.iterator)))
      return true;
  return false;
}

/// The lanes read neighbours: only the last subscript is the lane's iterator.
bool LanePoint::isContiguous(unsigned input, const Storage &storage,
                             llvm::ArrayRef<Value> index) const {
  auto &self = const_cast<LanePoint &>(*this);
  auto subscripts = self.op.getAccess(input).getSubscripts();
  if (!isConstant(storage.strides.back(), 1))
    return false;
  // Rows of an argument begin with a whole byte, and lanes at an even place in them.
  if (storage.packed &&
      (!isa<BlockArgument>(self.op.getInputs()[input]) || range.lanes % 2 != 0))
    return false;
  for (auto [i, subscript] : llvm::enumerate(subscripts)) {
    bool isLane = subscript.kind == kernel::Subscript::Iterator &&
                  subscript.value == int64_t(range.iterator);
    if (isVector(index[i]) || isLane != (i + 1 == subscripts.size()))
      return false;
  }
  return true;
}

Value LanePoint::read(unsigned k, llvm::ArrayRef<Value> index, Value guard) {
  const Storage &storage = frame.tensors[op.getInputs()[k]];
  Type travel = loops::travelType(storage.element);
  if (storage.kind != Storage::Memory)
    return OwnPoint::read(k, index, nullptr);

  if (!dependsOnLane(k, index)) {
    if (guard && isVector(guard)) { // some lane wants it
      Value wanted = andMasks(b, guard, range.mask, range.lanes);
      guard = vector::ReductionOp::create(b, vector::CombiningKind::OR, wanted);
    }
    return OwnPoint::read(k, index, guard);
  }

  // A condition that is the same for all lanes is a branch, others are masks.
  bool branch = guard && !isVector(guard);
  Value mask =
      branch ? range.mask : andMasks(b, guard, range.mask, range.lanes);
  auto readAll = [&]() -> Value {
    if (isContiguous(k, storage, index)) {
      Num offset = loops::elementOffset(b, storage, index);
      return storage.packed
                 ? loadNibbles(b, storage, offset, range.lanes, mask)
                 : loadContiguous(b, storage, offset, range.lanes, mask);
    }
    Num offsets{b, widen(b, loops::constant(b, b.getI64Type(), int64_t(0)),
                         range.lanes)};
    for (auto [subscript, i, stride] : llvm::zip_equal(
             op.getAccess(k).getSubscripts(), index, storage.strides)) {
      Num position{b, i};
      if (subscript.kind == kernel::Subscript::Iterator &&
          subscript.value == int64_t(range.iterator))
        position = Num(b, iota(b, range.lanes)) + position;
      offsets = offsets + position * Num(b, stride);
    }
    return gather(b, storage, offsets, mask);
  };
  if (!branch)
    return readAll();
  Value zero =
      loops::constant(b, VectorType::get({range.lanes}, travel), int64_t(0));
  return loops::ifElse(b, guard, zero, [&]() -> llvm::SmallVector<Value> {
    return {readAll()};
  })[0];
}

Value GivenPoint::read(unsigned input, llvm::ArrayRef<Value> index,
                       Value guard) {
  Value value = given.lookup(op.getInputs()[input]);
  return value ? value : LanePoint::read(input, index, guard);
}
