//===- Scalars.cpp - what can be computed once per call -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conditions of a kernel that name no index, rebuilt from its regions:
//
//   where(has_bc, bc[n], 0)      guards(%g) { yield %has_bc_v }   ─▶ the argument
//   requires K % 64 == 0         { remsi %K, 64 == 0 }            ─▶ the same on dim_K
//
// A value is followed backwards through arith, casts, sizes and rank-0 `let`s to
// the arguments. It stops at an index or an array element: then nothing is known.
// Values are memoised per function, so a condition is computed once.
//
//===----------------------------------------------------------------------===//

#include "Scalars.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace facet;
using namespace facet::interface;
using kernel::CastMode;

//===----------------------------------------------------------------------===//
// What is known
//===----------------------------------------------------------------------===//

/// Casts that need no rounding but the processor's own.
static bool canCast(kernel::CastOp cast) {
  Type from = cast.getValue().getType(), to = cast.getResult().getType();
  bool fromInt = isa<IntegerType>(from), toInt = isa<IntegerType>(to);
  switch (cast.getMode()) {
  case CastMode::Exact:
    return toInt || to.isF32() || to.isF64();
  case CastMode::Round:
    return (fromInt && (to.isF32() || to.isF64())) ||
           (from.isF64() && to.isF32());
  case CastMode::Wrap:
    return fromInt && toInt;
  default:
    return false;
  }
}

bool Scalars::isKnown(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto it = tensors.find(value);
    return it != tensors.end() && isElementKnown(it->second);
  }
  Operation *op = value.getDefiningOp();
  bool supported =
      isa<kernel::SizeOp, math::AbsFOp, math::AbsIOp>(op) ||
      (isa<kernel::CastOp>(op) && canCast(cast<kernel::CastOp>(op))) ||
      (isa<arith::ArithDialect>(op->getDialect()) && op->getNumResults() == 1 &&
       !isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
            arith::CeilDivSIOp, arith::CeilDivUIOp>(op));
  if (!supported) {
    obstacle = op;
    return false;
  }
  return llvm::all_of(op->getOperands(), [&](Value v) { return isKnown(v); });
}

/// A scalar argument, or a `let` without axes that is known itself.
bool Scalars::isElementKnown(Value tensor) {
  if (cast<RankedTensorType>(tensor.getType()).getRank() != 0)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return kernel.getParam(argument.getArgNumber()).getMode() !=
           kernel::ParamMode::Inout;
  auto map = tensor.getDefiningOp<kernel::MapOp>();
  if (!map || map.getNumIterators() != 0 || !map.getGuards().empty())
    return false;
  for (auto [element, input] :
       llvm::zip(map.getBody().getArguments(), map.getInputs()))
    bind(element, input);
  return isKnown(map.getBody().front().getTerminator()->getOperand(0));
}

//===----------------------------------------------------------------------===//
// Computing it
//===----------------------------------------------------------------------===//

Value Scalars::elementOf(Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    unsigned index = argument.getArgNumber();
    Value value = f.formal(Formal::Data, index);
    const ElementType &element = *f.signature.parameters[index].element;
    ImplicitLocOpBuilder &b = f.b;
    // From the form in which C passes it to the type of the region.
    if (element.number == FACET_BOOL)
      return arith::TruncIOp::create(b, b.getI1Type(), value);
    if (element.isNibble())
      return arith::TruncIOp::create(b, b.getIntegerType(4), value);
    return value;
  }
  auto map = tensor.getDefiningOp<kernel::MapOp>();
  return compute(map.getBody().front().getTerminator()->getOperand(0));
}

/// The f32 of a storage float, which is passed as its bits. A subnormal is a
/// small integer times a power of two, so that no mode of the processor flushes it.
static Value decodeFloat(Function &f, Value bits, FloatType type) {
  ImplicitLocOpBuilder &b = f.b;
  const llvm::fltSemantics &format = type.getFloatSemantics();
  unsigned width = type.getWidth();
  int mantissa = llvm::APFloat::semanticsPrecision(format) - 1;
  int least = llvm::APFloat::semanticsMinExponent(format); // of normal numbers
  auto bitcast = [&](Type to, Value value) -> Value {
    return arith::BitcastOp::create(b, to, value);
  };
  auto shifted = [&](Value value, int left) -> Value {
    if (left < 0)
      return arith::ShRUIOp::create(b, value, f.i32(-left));
    return arith::ShLIOp::create(b, value, f.i32(left));
  };
  Value wide = arith::ExtUIOp::create(b, b.getI32Type(), bits);
  Value sign = shifted(shifted(wide, 1 - int(width)), 31);
  Value magnitude = f.band(wide, f.i32((1 << (width - 1)) - 1));
  Value moved = shifted(magnitude, 23 - mantissa);
  Value normal = f.add(moved, f.i32((126 + least) << 23));
  Value number = arith::UIToFPOp::create(b, b.getF32Type(), magnitude);
  Value unit =
      f.constant(b.getF32FloatAttr(std::ldexp(1.0f, least - mantissa)));
  Value small = bitcast(b.getI32Type(), arith::MulFOp::create(b, number, unit));
  Value isSmall = f.lt(magnitude, f.i32(1 << mantissa));
  // The largest exponent is infinity and NaN; e4m3fn has one NaN and no infinity.
  bool isFn = isa<Float8E4M3FNType>(type);
  int32_t allOnes = (1 << (width - 1)) - 1;
  int32_t firstSpecial = isFn ? allOnes : allOnes >> mantissa << mantissa;
  Value isSpecial = f.le(f.i32(firstSpecial), magnitude);
  Value special = f.bor(moved, f.i32(0x7f800000));
  Value result = f.select(isSmall, small, f.select(isSpecial, special, normal));
  return bitcast(b.getF32Type(), f.bor(result, sign));
}

static Value computeCast(Function &f, kernel::CastOp op, Value value) {
  ImplicitLocOpBuilder &b = f.b;
  Type from = op.getValue().getType(), to = op.getResult().getType();
  auto toInteger = dyn_cast<IntegerType>(to);
  auto fromInteger = dyn_cast<IntegerType>(from);
  bool isUnsigned =
      fromInteger && (fromInteger.isUnsigned() || fromInteger.getWidth() == 1);
  if (toInteger) {
    Type type = b.getIntegerType(toInteger.getWidth());
    if (toInteger.getWidth() < fromInteger.getWidth())
      return arith::TruncIOp::create(b, type, value);
    if (toInteger.getWidth() == fromInteger.getWidth())
      return value;
    if (isUnsigned)
      return arith::ExtUIOp::create(b, type, value);
    return arith::ExtSIOp::create(b, type, value);
  }
  if (fromInteger) {
    if (isUnsigned)
      return arith::UIToFPOp::create(b, to, value);
    return arith::SIToFPOp::create(b, to, value);
  }
  if (from.getIntOrFloatBitWidth() < 32)
    value = decodeFloat(f, value, cast<FloatType>(from));
  if (value.getType() == to)
    return value;
  if (to.isF64())
    return arith::ExtFOp::create(b, to, value);
  return arith::TruncFOp::create(b, to, value);
}

/// x / d rounded down, as the language divides; by a size of 0 it is 0.
static Value computeFloorDiv(Function &f, Value x, Value d) {
  ImplicitLocOpBuilder &b = f.b;
  Value zero = f.constant(b.getIntegerAttr(x.getType(), 0));
  Value one = f.constant(b.getIntegerAttr(x.getType(), 1));
  Value byZero = f.eq(d, zero), divisor = f.select(byZero, one, d);
  Value quotient = arith::DivSIOp::create(b, x, divisor);
  Value remainder = f.sub(x, f.mul(quotient, divisor));
  Value signs = arith::XOrIOp::create(b, remainder, divisor);
  Value isLower = f.band(f.ne(remainder, zero), f.lt(signs, zero));
  quotient = f.select(isLower, f.sub(quotient, one), quotient);
  return f.select(byZero, zero, quotient);
}

Value Scalars::computeOp(Operation *op) {
  ImplicitLocOpBuilder &b = f.b;
  if (auto size = dyn_cast<kernel::SizeOp>(op)) {
    Value value = f.size(f.signature.sizeIndex(size.getNameAttr()));
    if (size.getResult().getType().isIndex())
      return arith::IndexCastOp::create(b, b.getIndexType(), value);
    return value;
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(compute(operand));
  if (auto cast = dyn_cast<kernel::CastOp>(op))
    return computeCast(f, cast, operands.front());
  if (isa<math::AbsFOp>(op)) { // the sign bit, whatever the number
    Type type = operands[0].getType();
    unsigned width = type.getIntOrFloatBitWidth();
    Type bits = b.getIntegerType(width);
    Value mask = f.constant(
        b.getIntegerAttr(bits, llvm::APInt::getSignedMaxValue(width)));
    Value raw = arith::BitcastOp::create(b, bits, operands[0]);
    return arith::BitcastOp::create(b, type, f.band(raw, mask));
  }
  if (isa<math::AbsIOp>(op)) {
    Value zero = f.constant(b.getIntegerAttr(operands[0].getType(), 0));
    return f.select(f.lt(operands[0], zero), f.sub(zero, operands[0]),
                    operands[0]);
  }
  if (isa<arith::FloorDivSIOp>(op))
    return computeFloorDiv(f, operands[0], operands[1]);
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(op->getOperands(), operands))
    mapping.map(from, to);
  return b.clone(*op, mapping)->getResult(0);
}

Value Scalars::compute(Value value) {
  if (Value known = computed.lookup(value))
    return known;
  Value result = isa<BlockArgument>(value) ? elementOf(tensors.lookup(value))
                                           : computeOp(value.getDefiningOp());
  computed[value] = result;
  return result;
}
