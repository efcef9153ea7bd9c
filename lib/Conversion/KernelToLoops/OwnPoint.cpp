//===- OwnPoint.cpp - a point computed in the types of the text -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar ops of a body, one by one: arith as it stands, functions of math and
// kernel.apply by our own code (Functions.h), kernel.cast by integer arithmetic
// (Formats.h). Nothing is contracted: a product and a sum round twice.
//
//===----------------------------------------------------------------------===//

#include "OwnPoint.h"

using namespace facet;
using namespace facet::loops;
using namespace mlir;

llvm::SmallVector<Operation *> facet::loops::slice(Block &block, Value value) {
  llvm::SmallPtrSet<Operation *, 16> wanted;
  llvm::SmallVector<Value> work{value};
  while (!work.empty()) {
    Operation *def = work.pop_back_val().getDefiningOp();
    if (def && def->getBlock() == &block && wanted.insert(def).second)
      llvm::append_range(work, def->getOperands());
  }
  llvm::SmallVector<Operation *> result;
  for (Operation &op : block)
    if (wanted.contains(&op))
      result.push_back(&op);
  return result;
}

Num facet::loops::floorDivide(Num a, Num b) {
  LocBuilder &builder = a.builder();
  Num zero = b == 0;
  Num divisor = select(zero, b.like(1), b);
  Num quotient{builder, arith::DivSIOp::create(builder, a, divisor)};
  Num remainder = a - quotient * divisor;
  // Rounded towards zero; one less when the remainder has the other sign.
  Num lower = (remainder != 0) & ((remainder ^ divisor) < 0);
  return select(zero, a.like(0), select(lower, quotient - 1, quotient));
}

Num facet::loops::relu(Num x) {
  return select(x < x.like(0), x.like(0), x); // keeps NaN and −0
}

Num facet::loops::convert(Num x, Type from, Type to, kernel::CastMode mode) {
  Num value = decode(x, from);
  bool fromFloat = isa<FloatType>(from), toFloatType = isa<FloatType>(to);
  switch (mode) {
  case kernel::CastMode::Exact:
  case kernel::CastMode::Round:
  case kernel::CastMode::RoundSat:
    if (!toFloatType) // storage or narrower integer to wider
      return wrapInteger(value, to);
    if (!fromFloat) {
      if (!isStorage(to))
        return toFloat(value, to);
      value = toFloat(value, value.builder().getF64Type());
    }
    if (isStorage(to))
      return encodeFloat(value, to, mode == kernel::CastMode::RoundSat);
    return to.getIntOrFloatBitWidth() < value.width() ? truncate(value, to)
                                                      : extend(value, to);
  case kernel::CastMode::Wrap:
    return wrapInteger(value, to);
  case kernel::CastMode::Sat:
    return fromFloat ? saturateFloat(value, to) : saturateInteger(value, to);
  }
  llvm_unreachable("all cast modes are listed");
}

std::optional<Function> facet::loops::functionOf(Operation *inner) {
  if (isa<math::ExpOp>(inner))
    return Function::Exp;
  if (isa<math::LogOp>(inner))
    return Function::Log;
  if (isa<math::TanhOp>(inner))
    return Function::Tanh;
  if (isa<math::ErfOp>(inner))
    return Function::Erf;
  if (isa<math::SqrtOp>(inner))
    return Function::Sqrt;
  if (isa<math::RsqrtOp>(inner))
    return Function::Rsqrt;
  if (auto apply = dyn_cast<kernel::ApplyOp>(inner)) {
    switch (apply.getFunction()) {
    case kernel::ScalarFunction::Relu:
      return std::nullopt;
    case kernel::ScalarFunction::Sigmoid:
      return Function::Sigmoid;
    case kernel::ScalarFunction::Silu:
      return Function::Silu;
    case kernel::ScalarFunction::Gelu:
      return Function::Gelu;
    case kernel::ScalarFunction::GeluTanh:
      return Function::GeluTanh;
    }
  }
  return std::nullopt;
}

Value OwnPoint::evaluate(Operation *inner, llvm::ArrayRef<Value> operands) {
  auto x = [&](unsigned i = 0) { return frame.num(operands[i]); };
  if (auto index = dyn_cast<kernel::IndexOp>(inner))
    return iterator(index.getIterator());
  if (auto size = dyn_cast<kernel::SizeOp>(inner))
    return frame.sizes[*frame.kernel.getSizeIndex(size.getName())];
  if (auto cast = dyn_cast<kernel::CastOp>(inner))
    return convert(x(), cast.getValue().getType(), cast.getType(),
                   cast.getMode());
  if (auto constantOp = dyn_cast<arith::ConstantOp>(inner))
    return travelConstant(b, mlir::cast<TypedAttr>(constantOp.getValue()));
  if (std::optional<Function> function = functionOf(inner))
    return frame.functions.call(*function, x());
  if (isa<kernel::ApplyOp>(inner))
    return relu(x());
  if (isa<arith::FloorDivSIOp>(inner))
    return floorDivide(x(0), x(1));
  if (isa<arith::IndexCastOp>(inner))
    return wrapInteger(x(), travelType(inner->getResult(0).getType()));
  if (isa<math::AbsFOp>(inner))
    return abs(x());
  if (isa<math::AbsIOp>(inner))
    return select(x() < 0, -x(), x());
  if (isa<math::RoundEvenOp>(inner))
    return roundEven(x());
  if (isa<math::FloorOp>(inner))
    return floor(x());
  if (isa<math::CeilOp>(inner))
    return ceil(x());
  auto onStorage = [](Type type) { return isStorage(type); };
  if (isa<arith::RemSIOp, arith::RemUIOp, arith::DivSIOp, arith::DivUIOp>(
          inner) ||
      !isa<arith::ArithDialect>(inner->getDialect()) ||
      (!isa<arith::SelectOp>(inner) &&
       (llvm::any_of(inner->getOperandTypes(), onStorage) ||
        llvm::any_of(inner->getResultTypes(), onStorage)))) {
    frame.refuse(inner, "has no meaning in the body of a kernel op");
    return operands.empty() ? Value(frame.i1(false)) : operands[0];
  }
  // arith has the language's meaning on travel forms.
  Type travel = travelType(inner->getResult(0).getType());
  OperationState state(
      inner->getLoc(), inner->getName(), operands,
      operands.empty() ? travel : frame.num(operands.back()).shaped(travel),
      inner->getAttrs());
  return b.create(state)->getResult(0);
}

Value OwnPoint::read(unsigned k, llvm::ArrayRef<Value> index, Value guard) {
  const Storage &storage = frame.tensors[op.getInputs()[k]];
  Type travel = travelType(storage.element);
  if (storage.kind == Storage::Nothing)
    return constant(b, travel, int64_t(0));
  if (!guard || storage.kind == Storage::Splat)
    return load(b, storage, index);
  Value zero = constant(b, travel, int64_t(0));
  return ifElse(b, guard, zero, [&]() -> llvm::SmallVector<Value> {
    return {load(b, storage, index)};
  })[0];
}

Value OwnPoint::outer(Value value) {
  Value known = frame.scalars.lookup(value);
  if (known)
    return known;
  if (!frame.failed)
    frame.refuse(op, "uses a value from outside that is no scalar");
  return frame.i1(false);
}

Value OwnPoint::elementSubscript(unsigned, unsigned, unsigned source, Value &) {
  Type type = elementType(op.getInputs()[source]);
  Num element = decode(frame.num(input(source)), type);
  return extend(element, b.getI64Type());
}
