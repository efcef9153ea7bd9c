//===- JudgePoint.cpp - a point computed as values with bounds ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dispatch from scalar ops to the rules of Judged.cpp, and how elements
// enter and leave memory: parameters and results as they are stored, which is
// exact; everything else as a value and a bound.
//
//===----------------------------------------------------------------------===//

#include "JudgePoint.h"

#include "Demand.h"
#include "OwnPoint.h"

using namespace facet;
using namespace facet::loops;
using namespace mlir;

Type facet::loops::judgedType(Type type) {
  Type arithmetic = arithmeticType(type);
  return isa<FloatType>(arithmetic) ? Float64Type::get(type.getContext())
                                    : arithmetic;
}

Judged facet::loops::loadStored(LocBuilder &b, const Storage &from,
                                llvm::ArrayRef<Value> index) {
  Num element = decode({b, load(b, from, index)}, from.element);
  return exact(element.isFloat() ? extend(element, b.getF64Type()) : element);
}

Judged facet::loops::loadJudged(LocBuilder &b, const JudgedTensor &from,
                                llvm::ArrayRef<Value> index) {
  Judged result = exact({b, load(b, from.value, index)});
  if (!from.isExact)
    result.bound = {b, load(b, from.bound, index)};
  return result;
}

void facet::loops::storeJudged(LocBuilder &b, JudgedTensor &to,
                               llvm::ArrayRef<Value> index,
                               const Judged &element) {
  to.isExact = element.isExact();
  store(b, to.value, index, element.value);
  if (!to.isExact)
    store(b, to.bound, index, element.bound);
}

Value JudgePoint::mayHold(const Judged &condition) {
  Num uncertain = isUncertain(condition);
  return uncertain ? condition.value | uncertain : condition.value;
}

Value JudgePoint::surelyHolds(llvm::ArrayRef<int64_t> wanted) {
  Value all;
  bool anyUncertain = false;
  for (int64_t i : wanted) {
    const Judged &condition = atom(i);
    Num uncertain = isUncertain(condition);
    anyUncertain |= bool(uncertain);
    Num one = uncertain ? condition.value & invert(uncertain) : condition.value;
    all = all ? Value(frame.num(all) & one) : one.get();
  }
  return anyUncertain ? all : Value();
}

Value JudgePoint::holdsByValue(llvm::ArrayRef<int64_t> wanted) {
  Value all;
  for (int64_t i : wanted)
    all = all ? Value(frame.num(all) & atom(i).value) : atom(i).value.get();
  return all;
}

/// `value` is an element of a softmax, perhaps widened.
bool JudgePoint::isSoftmaxElement(Value value) {
  while (auto cast = value.getDefiningOp<kernel::CastOp>()) {
    if (cast.getMode() != kernel::CastMode::Exact)
      return false;
    value = cast.getValue();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getArgNumber() >= op.getInputs().size())
    return false;
  return op.getInputs()[argument.getArgNumber()]
             .getDefiningOp<kernel::SoftmaxOp>() != nullptr;
}

/// A road may fuse this product into an addition, here or behind a let.
bool JudgePoint::mayFuse(Operation *product) {
  return llvm::any_of(product->getUsers(), [&](Operation *user) {
    if (isa<kernel::YieldOp>(user))
      return !isa<kernel::MapOp>(*op) || !isReturned(op);
    return isa<arith::AddFOp, arith::SubFOp, arith::NegFOp, arith::SelectOp>(
        user);
  });
}

Judged JudgePoint::evaluate(Operation *inner, llvm::ArrayRef<Judged> operands) {
  Type type = inner->getResult(0).getType();
  auto x = [&](unsigned i = 0) -> const Judged & { return operands[i]; };
  if (auto index = dyn_cast<kernel::IndexOp>(inner))
    return exact(frame.num(iterator(index.getIterator())));
  if (auto size = dyn_cast<kernel::SizeOp>(inner))
    return exact(
        frame.num(frame.sizes[*frame.kernel.getSizeIndex(size.getName())]));
  if (auto constantOp = dyn_cast<arith::ConstantOp>(inner)) {
    Num element = decode(
        frame.num(travelConstant(b, cast<TypedAttr>(constantOp.getValue()))),
        type);
    return exact(element.isFloat() ? extend(element, b.getF64Type()) : element);
  }
  if (auto cast = dyn_cast<kernel::CastOp>(inner))
    return convert(x(), cast.getValue().getType(), type, cast.getMode(),
                   isSoftmaxElement(cast.getValue()));
  if (isa<kernel::ApplyOp>(inner) &&
      mlir::cast<kernel::ApplyOp>(inner).getFunction() ==
          kernel::ScalarFunction::Relu)
    return relu(x());
  if (std::optional<Function> function = functionOf(inner))
    return apply(*function, x(), type, frame.functions);
  if (isa<arith::AddFOp>(inner))
    return add(x(0), x(1), type, /*subtract=*/false);
  if (isa<arith::SubFOp>(inner))
    return add(x(0), x(1), type, /*subtract=*/true);
  if (isa<arith::MulFOp>(inner))
    return multiply(x(0), x(1), type, mayFuse(inner));
  if (isa<arith::DivFOp>(inner))
    return divide(x(0), x(1), type);
  if (isa<arith::NegFOp>(inner))
    return negate(x());
  if (isa<math::AbsFOp, math::AbsIOp>(inner))
    return absolute(x());
  if (isa<arith::MaximumFOp>(inner))
    return largest(x(0), x(1));
  if (isa<arith::MinimumFOp>(inner))
    return smallest(x(0), x(1));
  if (isa<math::RoundEvenOp>(inner))
    return step(x(), roundEven);
  if (isa<math::FloorOp>(inner))
    return step(x(), loops::floor);
  if (isa<math::CeilOp>(inner))
    return step(x(), loops::ceil);
  if (isa<arith::SelectOp>(inner))
    return choose(x(0), x(1), x(2));
  if (auto compare = dyn_cast<arith::CmpFOp>(inner))
    return compareFloat(compare.getPredicate(), x(0), x(1));
  if (auto compare = dyn_cast<arith::CmpIOp>(inner))
    return compareInteger(compare.getPredicate(), x(0), x(1));
  if (isa<arith::IndexCastOp>(inner))
    return {wrapInteger(x().value, arithmeticType(type)), x().bound, {}};
  if (operands.size() == 2)
    if (std::optional<Judged> result = integerOp(inner, x(0), x(1)))
      return *result;
  frame.refuse(inner, "has no rule by which it can be judged");
  return exact({b, constant(b, judgedType(type), int64_t(0))});
}

Judged JudgePoint::read(unsigned k, llvm::ArrayRef<Value> index, Value guard) {
  Value tensor = op.getInputs()[k];
  auto it = computed.find(tensor);
  const Storage *stored =
      it == computed.end() ? &frame.tensors[tensor] : nullptr;
  Type type = judgedType(elementType(tensor));
  if (stored && stored->kind == Storage::Nothing)
    return exact({b, constant(b, type, int64_t(0))});
  auto fetch = [&] {
    return stored ? loadStored(b, *stored, index)
                  : loadJudged(b, it->second, index);
  };
  if (!guard || (stored && stored->kind == Storage::Splat))
    return fetch();
  bool isExact = stored || it->second.isExact;
  llvm::SmallVector<Value> otherwise{constant(b, type, int64_t(0))};
  if (!isExact)
    otherwise.push_back(frame.f64(0.0));
  llvm::SmallVector<Value> values =
      ifElse(b, guard, otherwise, [&]() -> llvm::SmallVector<Value> {
        Judged element = fetch();
        if (isExact)
          return {element.value};
        return {element.value, element.bound};
      });
  Judged result = exact(frame.num(values[0]));
  if (!isExact)
    result.bound = frame.num(values[1]);
  return result;
}

Judged JudgePoint::outer(Value value) {
  Value known = frame.scalars.lookup(value);
  if (!known) {
    if (!frame.failed)
      frame.refuse(op, "uses a value from outside that is no scalar");
    return exact(frame.i1(false));
  }
  Num element = decode(frame.num(known), value.getType());
  return exact(element.isFloat() ? extend(element, b.getF64Type()) : element);
}

void JudgePoint::keepInRange(unsigned k, unsigned dim, Num index,
                             Value &guard) {
  Value tensor = op.getInputs()[k];
  auto it = computed.find(tensor);
  const Storage &storage =
      it == computed.end() ? frame.tensors[tensor] : it->second.value;
  if (storage.dims.empty())
    return; // the same everywhere
  Num inRange = (index >= 0) & (index < frame.num(storage.dims[dim]));
  guard = guard ? Value(frame.num(guard) & inRange) : inRange.get();
}

Value JudgePoint::elementSubscript(unsigned k, unsigned dim, unsigned source,
                                   Value &guard) {
  Num index = extend(input(source).value, b.getI64Type());
  keepInRange(k, dim, index, guard);
  return index;
}

Value JudgePoint::constantSubscript(unsigned k, unsigned dim, int64_t value,
                                    Value &guard) {
  auto type = cast<RankedTensorType>(op.getInputs()[k].getType());
  if (type.isDynamicDim(dim))
    keepInRange(k, dim, frame.i64(value), guard);
  return frame.i64(value);
}
