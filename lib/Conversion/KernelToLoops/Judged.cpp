//===- Judged.cpp - a value and how far a road may be from it -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One rule per operation. What every rule has to answer: if each operand is
// somewhere within its bound, and the road rounds as the language allows, where
// can the result be? Bounds are first order, except where a function is steep
// or has an edge: there both ends of the interval are looked at.
//
//===----------------------------------------------------------------------===//

#include "Judged.h"

#include "OwnPoint.h"

#include <cmath>

using namespace facet;
using namespace facet::loops;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

Num facet::loops::boundOf(const Judged &x) {
  if (x.bound)
    return x.bound;
  LocBuilder &b = x.value.builder();
  return {b, constant(b, b.getF64Type(), 0.0)};
}

Judged facet::loops::exact(Num value) { return {value, {}, {}}; }

Num facet::loops::isUncertain(const Judged &condition) {
  return condition.bound ? condition.bound > 0.0 : Num();
}

double facet::loops::unitRoundoff(Type type) {
  // f32: 2⁻²⁴ and a little for the judge's own roundings in f64. f64: the judge
  // rounds as coarsely as the road, so both count.
  return type.isF32() ? 0x1.00001p-24 : 0x1p-52;
}

double facet::loops::overflowOf(Type type) {
  if (type.isF64())
    return INFINITY;
  if (type.isF32())
    return 0x1.ffffffp127;
  return floatFormat(cast<FloatType>(type)).overflow();
}

Num facet::loops::rounding(Num value, Type type, double halfUnits) {
  double least = type.isF32() ? 0x1p-150 : 0x1p-1074;
  return abs(value) * (unitRoundoff(type) * halfUnits) + least * halfUnits;
}

Num facet::loops::unitInLastPlace(Num x, Type type) {
  FloatFormat format = floatFormat(cast<FloatType>(type));
  LocBuilder &b = x.builder();
  constexpr int64_t exponentMask = int64_t(0x7ff) << 52;
  Num power =
      bitcast(bitcast(x, b.getI64Type()) & exponentMask, b.getF64Type());
  return max(power * std::ldexp(1.0, -int(format.mantissaBits)),
             x.like(format.leastStep()));
}

static Num isInfinite(Num x) { return abs(x) == x.like(INFINITY); }

static Num orOf(Num a, Num b) { return !a ? b : !b ? a : a | b; }

Judged facet::loops::finish(Num value, Num bound, Type type,
                            llvm::ArrayRef<Judged> operands, Num ambiguous) {
  Num anything = ambiguous;
  for (const Judged &operand : operands)
    if (operand.bound && operand.value.isFloat())
      anything = orOf(anything, operand.bound == operand.bound.like(INFINITY));
  Num special = isNaN(value) | isInfinite(value);
  double limit = overflowOf(type);
  Num result = value;
  if (std::isfinite(limit)) {
    Num size = abs(value);
    Num over = (size - bound >= limit) & invert(special);
    Num crosses = (size + bound >= limit) & invert(over) & invert(special);
    anything = orOf(anything, crosses);
    result = select(
        over, select(value < 0.0, value.like(-INFINITY), value.like(INFINITY)),
        value);
    special = special | over;
  }
  Num spread = select(special, bound.like(0.0), bound);
  // A bound that is no number comes from infinities: nothing is known.
  anything = orOf(anything, isNaN(spread));
  return {result, select(anything, bound.like(INFINITY), spread), {}};
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// To the nearest value of `type`. One rounding of f32 operands' sum or product
/// in f64 changes nothing about that.
static Num nearest(Num value, Type type) {
  return extend(truncate(value, type), value.type());
}

Judged facet::loops::add(const Judged &a, const Judged &b, Type type,
                         bool subtract) {
  Num value = subtract ? a.value - b.value : a.value + b.value;
  if (a.isExact() && b.isExact()) // IEEE 754 leaves no choice
    return exact(nearest(value, type));
  Num bound = rounding(value, type, 1) + boundOf(a) + boundOf(b);
  // A fused product does not overflow on its own.
  Num ambiguous;
  double limit = overflowOf(type);
  for (const Judged *operand : {&a, &b})
    if (operand->unclamped && std::isfinite(limit))
      ambiguous = orOf(ambiguous, (abs(operand->unclamped) >= limit) &
                                      invert(isInfinite(operand->unclamped)));
  return finish(value, bound, type, {a, b}, ambiguous);
}

Judged facet::loops::multiply(const Judged &a, const Judged &b, Type type,
                              bool mayFuse) {
  Num value = a.value * b.value;
  bool isExact = a.isExact() && b.isExact();
  if (isExact && !mayFuse)
    return exact(nearest(value, type));
  Num bound = rounding(value, type, 1);
  if (isExact && type.isF32()) // a product that f32 holds is the same fused
    bound = select(nearest(value, type) == value, bound.like(0.0), bound);
  Num ambiguous;
  auto spread = [&](const Judged &x, const Judged &y) {
    if (!x.bound)
      return;
    bound = bound + abs(y.value) * x.bound;
    // An infinity times something that may be 0.
    ambiguous =
        orOf(ambiguous, isInfinite(y.value) & (abs(x.value) <= x.bound));
  };
  spread(a, b);
  spread(b, a);
  if (a.bound && b.bound)
    bound = bound + a.bound * b.bound;
  Judged result = finish(value, bound, type, {a, b}, ambiguous);
  result.unclamped = value;
  return result;
}

Judged facet::loops::divide(const Judged &a, const Judged &b, Type type) {
  Num value = a.value / b.value;
  Num bound = rounding(value, type, 4);
  Num ambiguous;
  Num spread;
  if (a.bound)
    spread = a.bound;
  if (b.bound) {
    Num more = abs(value) * b.bound;
    spread = spread ? spread + more : more;
    ambiguous = (abs(b.value) <= b.bound) & (b.bound > 0.0);
  }
  if (spread)
    bound = bound + spread / (abs(b.value) - boundOf(b));
  return finish(value, bound, type, {a, b}, ambiguous);
}

Judged facet::loops::negate(const Judged &a) { return {-a.value, a.bound, {}}; }

Judged facet::loops::absolute(const Judged &a) {
  if (a.value.isFloat())
    return {abs(a.value), a.bound, {}};
  return {select(a.value < 0, -a.value, a.value), a.bound, {}};
}

static Num asFloat(Num x) {
  LocBuilder &b = x.builder();
  return x.isFloat() ? x : toFloat(x, b.getF64Type());
}

/// The extreme of two: its ends are the extremes of their ends.
static Judged extreme(const Judged &a, const Judged &b, Num (*pick)(Num, Num)) {
  Num value = pick(a.value, b.value);
  if (a.isExact() && b.isExact())
    return exact(value);
  Num va = asFloat(a.value), vb = asFloat(b.value), v = asFloat(value);
  Num ba = boundOf(a), bb = boundOf(b);
  Num spread = max(pick(va + ba, vb + bb) - v, v - pick(va - ba, vb - bb));
  // Equal infinities have no distance; NaN is certain, as far as its operand is.
  Num anything = (ba == ba.like(INFINITY)) | (bb == bb.like(INFINITY));
  spread = select(isNaN(spread), spread.like(0.0), spread);
  return {value, select(anything, spread.like(INFINITY), spread), {}};
}

Judged facet::loops::largest(const Judged &a, const Judged &b) {
  return extreme(a, b, static_cast<Num (*)(Num, Num)>(max));
}
Judged facet::loops::smallest(const Judged &a, const Judged &b) {
  return extreme(a, b, static_cast<Num (*)(Num, Num)>(min));
}

Judged facet::loops::relu(const Judged &a) {
  Num value = relu(a.value);
  if (a.isExact())
    return exact(value);
  // Everything below 0 becomes 0.
  Num reach = asFloat(a.value) + a.bound;
  return {value, select(reach < 0.0, a.bound.like(0.0), a.bound), {}};
}

Judged facet::loops::step(const Judged &a,
                          llvm::function_ref<Num(Num)> function) {
  Num value = function(a.value);
  if (a.isExact())
    return exact(value);
  Num up = function(a.value + a.bound) - value;
  Num down = value - function(a.value - a.bound);
  Num spread = max(up, down);
  Num anything = a.bound == a.bound.like(INFINITY);
  spread = select(isNaN(spread), spread.like(0.0), spread);
  return {value, select(anything, spread.like(INFINITY), spread), {}};
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// How far f may be from f(v) when its argument is within `b` of v. What is infinite in
/// f64 has no distance: `ambiguous` says whether some argument gives less than `limit`.
static Num argumentSpread(Function function, Num v, Num b, Num f, double limit,
                          Functions &functions, Num &ambiguous) {
  auto call = [&](Function g, Num x) { return functions.call(g, x); };
  switch (function) {
  case Function::Exp: // steep: e^(v+b) − e^v
    ambiguous = isInfinite(f) & (call(Function::Exp, v - b) < limit);
    return f * (call(Function::Exp, b) - 1.0);
  case Function::Log:
    ambiguous = v <= b;
    return b / (v - b);
  case Function::Sqrt:
    ambiguous = v < b;
    return f - sqrt(v - b);
  case Function::Rsqrt:
    ambiguous = v <= b;
    return 1.0 / sqrt(v - b) - f;
  case Function::Tanh: // |f''| ≤ 0.77
    return min(b * (1.0 - f * f) + b * b * 0.39, b);
  case Function::Erf: // f' = 2/√π·exp(−v²), |f''| ≤ 0.97
    return min(b * call(Function::Exp, -(v * v)) * 1.1283791670955126 +
                   b * b * 0.49,
               b * 1.13);
  case Function::Sigmoid: // |f''| ≤ 0.097
    return min(b * f * (1.0 - f) + b * b * 0.05, b * 0.25);
  case Function::Silu: // |f'| ≤ 1.1
    return b * 1.1;
  case Function::Gelu: // |f'| ≤ 1.13
  case Function::GeluTanh:
    return b * 1.13;
  }
  llvm_unreachable("all functions are listed");
}

Judged facet::loops::apply(Function function, const Judged &a, Type type,
                           Functions &functions) {
  Num value = functions.call(function, a.value);
  // Two units in the last place; f64, for which no function of the language
  // promises a number, gets four times as much.
  Num bound = rounding(value, type, type.isF32() ? 4 : 16);
  if (function == Function::Silu || function == Function::Gelu ||
      function == Function::GeluTanh)
    bound = bound + abs(a.value) * (type.isF32() ? 0x1p-23 : 0x1p-50);
  Num ambiguous;
  if (a.bound) {
    Num spread = argumentSpread(function, a.value, a.bound, value,
                                overflowOf(type), functions, ambiguous);
    // At an infinite argument, exact or not, the value is what it is.
    bound = bound + select(isInfinite(a.value), spread.like(0.0), spread);
    if (ambiguous)
      ambiguous = ambiguous & (a.bound > 0.0);
  }
  return finish(value, bound, type, a, ambiguous);
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

Judged facet::loops::choose(const Judged &condition, const Judged &a,
                            const Judged &b) {
  Num value = select(condition.value, a.value, b.value);
  if (a.isExact() && b.isExact() && condition.isExact())
    return exact(value);
  Num bound = select(condition.value, boundOf(a), boundOf(b));
  Num uncertain = isUncertain(condition);
  if (!uncertain)
    return {value, bound, {}};
  // Either may be taken: the bound reaches over both.
  Num va = asFloat(a.value), vb = asFloat(b.value);
  Num same = (va == vb) | (isNaN(va) & isNaN(vb));
  Num distance = select(same, va.like(0.0), abs(va - vb));
  Num other = select(condition.value, boundOf(b), boundOf(a));
  Num both = max(bound, distance + other);
  both = select(isNaN(both), both.like(INFINITY), both);
  return {value, select(uncertain, both, bound), {}};
}

/// 1 where the operands are so near that a comparison may go either way.
static Num near(const Judged &a, const Judged &b) {
  Num reach = boundOf(a) + boundOf(b);
  Num close = abs(asFloat(a.value) - asFloat(b.value)) <= reach;
  close = (close & (reach > 0.0)) | (reach == reach.like(INFINITY));
  return select(close, reach.like(1.0), reach.like(0.0));
}

Judged facet::loops::compareFloat(arith::CmpFPredicate predicate,
                                  const Judged &a, const Judged &b) {
  LocBuilder &builder = a.value.builder();
  Num value{builder, arith::CmpFOp::create(builder, predicate, a.value.get(),
                                           b.value.get())};
  if (a.isExact() && b.isExact())
    return exact(value);
  return {value, near(a, b), {}};
}

Judged facet::loops::compareInteger(arith::CmpIPredicate predicate,
                                    const Judged &a, const Judged &b) {
  LocBuilder &builder = a.value.builder();
  Num value{builder, arith::CmpIOp::create(builder, predicate, a.value.get(),
                                           b.value.get())};
  if (a.isExact() && b.isExact())
    return exact(value);
  return {value, near(a, b), {}};
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// The op itself, on plain values.
static Num plain(Operation *op, Num a, Num b) {
  if (isa<arith::FloorDivSIOp>(op))
    return floorDivide(a, b);
  LocBuilder &builder = a.builder();
  OperationState state(builder.getLoc(), op->getName(),
                       ValueRange{a.get(), b.get()}, a.type(), op->getAttrs());
  return {builder, builder.create(state)->getResult(0)};
}

static Judged boolOp(Operation *op, const Judged &a, const Judged &b) {
  Num value = plain(op, a.value, b.value);
  Num ua = isUncertain(a), ub = isUncertain(b);
  if (!ua && !ub)
    return exact(value);
  auto may = [](const Judged &x, Num u) { return u ? x.value | u : x.value; };
  auto must = [](const Judged &x, Num u) {
    return u ? x.value & invert(u) : x.value;
  };
  Num uncertain;
  if (isa<arith::XOrIOp>(op))
    uncertain = orOf(ua, ub);
  else
    uncertain = plain(op, may(a, ua), may(b, ub)) &
                invert(plain(op, must(a, ua), must(b, ub)));
  return {value, toFloat(uncertain, value.builder().getF64Type()), {}};
}

/// Beyond the range of its type a value wraps, and nothing is known.
static Judged wrapping(Num value, Num wide, Num bound) {
  double limit = std::ldexp(1.0, int(value.type().getIntOrFloatBitWidth()) - 1);
  Num beyond = (bound > 0.0) & (abs(wide) + bound >= limit);
  return {
      value, select(beyond | isNaN(bound), bound.like(INFINITY), bound), {}};
}

std::optional<Judged> facet::loops::integerOp(Operation *op, const Judged &a,
                                              const Judged &b) {
  if (a.type().isInteger(1) &&
      isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return boolOp(op, a, b);
  if (isa<arith::MaxSIOp>(op))
    return largest(a, b);
  if (isa<arith::MinSIOp>(op))
    return smallest(a, b);
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::FloorDivSIOp>(
          op))
    return std::nullopt;
  Num value = plain(op, a.value, b.value);
  if (a.isExact() && b.isExact())
    return exact(value);
  Num va = asFloat(a.value), vb = asFloat(b.value), ba = boundOf(a),
      bb = boundOf(b);
  if (isa<arith::AddIOp>(op))
    return wrapping(value, va + vb, ba + bb);
  if (isa<arith::SubIOp>(op))
    return wrapping(value, va - vb, ba + bb);
  if (isa<arith::MulIOp>(op))
    return wrapping(value, va * vb, abs(va) * bb + abs(vb) * ba + ba * bb);
  // The divisor is a literal or a size. Both ends of the dividend:
  Num quotient = asFloat(value);
  Num up = floor((va + ba) / vb) - quotient,
      down = quotient - floor((va - ba) / vb);
  Num spread = max(up, down);
  return Judged{
      value, select(isNaN(spread), spread.like(INFINITY), spread), {}};
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Element types as the judge computes them.
static Num toJudged(Num travel, Type type) {
  Num value = decode(travel, type);
  return value.isFloat() ? extend(value, value.builder().getF64Type()) : value;
}

static Judged roundFloat(const Judged &x, Type to, bool saturate,
                         bool ofSoftmax) {
  LocBuilder &b = x.value.builder();
  Type f64 = b.getF64Type();
  bool storage = isStorage(to);
  if (x.isExact()) {
    if (!storage)
      return exact(extend(truncate(x.value, to), f64));
    return exact(toJudged(encodeFloat(x.value, to, saturate), to));
  }
  if (to.isF64())
    return x;
  if (!storage) // f64 to f32
    return finish(x.value, x.bound + rounding(x.value, to, 1), to, x);
  Num value = x.value;
  FloatFormat format = floatFormat(cast<FloatType>(to));
  if (saturate)
    value = select(isNaN(value), value,
                   min(max(value, value.like(-format.largest)),
                       value.like(format.largest)));
  Num unit = unitInLastPlace(abs(value) + x.bound, to);
  Num bound = x.bound + unit * (ofSoftmax ? 1.0 : 0.5);
  if (saturate)
    return {value, select(isNaN(bound), bound.like(INFINITY), bound), {}};
  Judged result = finish(value, bound, to, x);
  if (!format.hasInfinity)
    result.value = select(isInfinite(result.value),
                          result.value.like(std::nan("")), result.value);
  return result;
}

static Judged roundInteger(const Judged &x, Type to) {
  LocBuilder &b = x.value.builder();
  Type f64 = b.getF64Type();
  if (x.isExact()) {
    if (isStorage(to))
      return exact(toJudged(encodeFloat(toFloat(x.value, f64), to, false), to));
    return exact(extend(toFloat(x.value, to), f64));
  }
  Num value = toFloat(x.value, f64);
  Type accuracy = isStorage(to) ? b.getF32Type() : to;
  return finish(value, x.bound + rounding(value, accuracy, 1), accuracy, {});
}

static Judged floatToInteger(const Judged &x, Type to) {
  LocBuilder &b = x.value.builder();
  auto clamp = [&](Num v) { return decode(saturateFloat(v, to), to); };
  Num value = clamp(x.value);
  if (x.isExact())
    return exact(value);
  auto wide = [&](Num v) { return toFloat(v, b.getF64Type()); };
  Num up = wide(clamp(x.value + x.bound)) - wide(value);
  Num down = wide(value) - wide(clamp(x.value - x.bound));
  Num spread = select(isNaN(x.value), up.like(0.0), max(up, down));
  Num anything = x.bound == x.bound.like(INFINITY);
  return {value, select(anything, spread.like(INFINITY), spread), {}};
}

Judged facet::loops::convert(const Judged &x, Type from, Type to,
                             kernel::CastMode mode, bool ofSoftmax) {
  bool fromFloat = isa<FloatType>(from), toFloatType = isa<FloatType>(to);
  switch (mode) {
  case kernel::CastMode::Exact:
    if (fromFloat)
      return x; // f64 holds them all
    if (toFloatType)
      return roundInteger(x, to); // a bool
    return {wrapInteger(x.value, arithmeticType(to)), x.bound, {}};
  case kernel::CastMode::Round:
  case kernel::CastMode::RoundSat:
    if (!toFloatType)
      return {wrapInteger(x.value, arithmeticType(to)), x.bound, {}};
    return fromFloat ? roundFloat(x, to, mode == kernel::CastMode::RoundSat,
                                  ofSoftmax)
                     : roundInteger(x, to);
  case kernel::CastMode::Wrap: {
    Num value = decode(wrapInteger(x.value, to), to);
    if (x.isExact())
      return exact(value);
    // Unless it stays inside, it wraps.
    auto [least, greatest] = integerRange(to);
    Num wide = asFloat(x.value);
    Num beyond = (x.bound > 0.0) & ((wide - x.bound < double(least)) |
                                    (wide + x.bound > double(greatest)));
    return {value, select(beyond, x.bound.like(INFINITY), x.bound), {}};
  }
  case kernel::CastMode::Sat:
    if (fromFloat)
      return floatToInteger(x, to);
    return {decode(saturateInteger(x.value, to), to), x.bound, {}};
  }
  llvm_unreachable("all cast modes are listed");
}
