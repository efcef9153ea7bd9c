//===- IntegerBody.cpp - integers that f32 cannot count -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector and scalar compute in f32. Integers that intervals show to stay below 2^24
// are computed there like anything else (IntegerRange.h); the others are tiles of i32
// on gpsimd, which wraps as the language does:
//
//   q[m] + 2147483647        gpsimd: tensor_scalar add, i32 to i32
//   seg[i] == seg[j]         gpsimd: tensor_tensor eq, i32 to a mask of f32
//
// An i64 that 32 bits may not hold is only ever compared: sizes and indices against
// i32 arguments. The difference of both sides is a sum of terms, and an i32 term is
// 2^16·h + l with h = v >> 16 and l = v & 65535, so that two sums of f32 hold it:
//
//   j < len[b] + i - S       0 <= 2^16·(-h) + (j - i + S - l) would be "not less"
//
//===----------------------------------------------------------------------===//

#include "IntegerRange.h"
#include "TileBody.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

static bool fits32(Lowering &lowering, StructuredOpInterface op, Value value) {
  auto range = integerRange(lowering, op, value);
  return value.getType().isInteger(32) ||
         (range && llvm::isInt<32>(range->first) &&
          llvm::isInt<32>(range->second));
}

//===----------------------------------------------------------------------===//
// Sums of terms
//===----------------------------------------------------------------------===//

/// Adds `factor` times `value` to the terms; false when it is no such sum.
static bool addTerms(Lowering &lowering, StructuredOpInterface op, Value value,
                     int64_t factor,
                     SmallVectorImpl<std::pair<Value, int64_t>> &terms) {
  if (fits32(lowering, op, value)) {
    terms.push_back({value, factor});
    return true;
  }
  Operation *def = value.getDefiningOp();
  if (!def)
    return false;
  auto add = [&](Value part, int64_t by) {
    int64_t product;
    return !llvm::MulOverflow(factor, by, product) &&
           addTerms(lowering, op, part, product, terms);
  };
  if (auto cast = dyn_cast<kernel::CastOp>(def))
    return cast.getMode() == kernel::CastMode::Exact && add(cast.getValue(), 1);
  if (isa<arith::AddIOp>(def))
    return add(def->getOperand(0), 1) && add(def->getOperand(1), 1);
  if (isa<arith::SubIOp>(def))
    return add(def->getOperand(0), 1) && add(def->getOperand(1), -1);
  if (!isa<arith::MulIOp>(def))
    return false;
  for (unsigned i : {0, 1})
    if (auto number = integerRange(lowering, op, def->getOperand(i));
        number && number->first == number->second)
      return add(def->getOperand(1 - i), number->first);
  return false;
}

/// The difference of the sides of a comparison as terms, or nullopt: they are none,
/// or two sums of f32 could not hold them exactly.
static std::optional<SmallVector<std::pair<Value, int64_t>>>
differenceOf(Lowering &lowering, StructuredOpInterface op,
             arith::CmpIOp compare) {
  SmallVector<std::pair<Value, int64_t>> terms;
  if (!addTerms(lowering, op, compare.getLhs(), 1, terms) ||
      !addTerms(lowering, op, compare.getRhs(), -1, terms))
    return std::nullopt;
  double high = 0, low = 0;
  for (auto [value, factor] : terms) {
    double weight = std::fabs(double(factor));
    if (fitsF32(lowering, op, value)) {
      auto range = *integerRange(lowering, op, value);
      low += weight * std::max(std::fabs(double(range.first)),
                               std::fabs(double(range.second)));
    } else {
      high += weight * 32768;
      low += weight * 65535;
    }
  }
  // What the low sum carries over is added to the high one.
  constexpr double limit = double(int64_t(1) << 23);
  if (high > limit || low > limit)
    return std::nullopt;
  return terms;
}

static bool isWideCompare(Lowering &lowering, StructuredOpInterface op,
                          Operation *def) {
  auto compare = dyn_cast<arith::CmpIOp>(def);
  return compare && (!fits32(lowering, op, compare.getLhs()) ||
                     !fits32(lowering, op, compare.getRhs()));
}

//===----------------------------------------------------------------------===//
// What can be computed
//===----------------------------------------------------------------------===//

bool TileBody::countsInI32(Operation *def) {
  if (recipeOf(def)->kind == Recipe::Integer)
    return true;
  return llvm::any_of(integersOf(def), [&](Value value) {
    return !fitsF32(lowering, op, value);
  });
}

LogicalResult TileBody::checkIntegers(Operation &inner) {
  if (isWideCompare(lowering, op, &inner)) {
    if (differenceOf(lowering, op, cast<arith::CmpIOp>(inner)))
      return success();
    return inner.emitError("compares integers that 32 bits may not hold, and "
                           "whose difference is no short sum; compile for a "
                           "CPU");
  }
  for (Value value : integersOf(&inner)) {
    if (fitsF32(lowering, op, value) || fits32(lowering, op, value))
      continue;
    // Part of a sum that is only compared.
    bool compared = isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(inner) &&
                    llvm::all_of(inner.getUsers(), [](Operation *user) {
                      return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp,
                                 arith::CmpIOp>(user);
                    });
    if (!compared)
      return inner.emitError("computes with integers that 32 bits may not "
                             "hold, the most that this machine has; compile "
                             "for a CPU");
  }
  return success();
}

LogicalResult TileBody::checkGiven(Region &region) {
  for (Value value : region.front().getTerminator()->getOperands())
    if (value.getType().isInteger(64) && !fits32(lowering, op, value))
      return op->emitError("passes on integers that 32 bits may not hold, the "
                           "most that this machine has; make them i32, or "
                           "compile for a CPU");
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles of i32
//===----------------------------------------------------------------------===//

static bool isInteger(const TileValue &value) {
  return value.tile &&
         isa<IntegerType>(
             cast<TileType>(value.tile.getType()).getElementType());
}

/// A number stays one: an immediate is an i32 where all else is.
TileValue TileBody::asI32(TileValue value, const void *key, unsigned part) {
  if (value.kind == TileValue::Constant || isInteger(value))
    return value;
  Value tile = target(key, part, value.kind, lowering.builder.getI32Type(), {});
  lowering.issue(QueueKind::Vector, "copy",
                 {{"dst", tile}, {"src", value.tile}});
  value.tile = finish(key, part, {}, tile);
  return value;
}

double TileBody::clampTo(Type type, double value) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return value;
  bool isUnsigned = integer.isUnsigned();
  double span = std::ldexp(1.0, int(integer.getWidth()) - !isUnsigned);
  double least = isUnsigned ? 0 : -span;
  return std::isnan(value) ? 0
                           : std::clamp(std::nearbyint(value), least, span - 1);
}

TileValue TileBody::integerCopy(Operation *def, Type type, RingOp into,
                                bool saturate) {
  TileValue a = asI32(evaluate(def->getOperand(0)), def, 7);
  TileValue result;
  result.kind = a.kind == TileValue::Constant ? TileValue::Tile : a.kind;
  Value tile = target(def, 0, result.kind, type, into);
  SmallVector<NamedAttribute> fields;
  if (saturate)
    fields.push_back(lowering.flag("sat"));
  if (a.kind == TileValue::Constant)
    fill(tile, saturate ? clampTo(type, a.constant) : a.constant,
         QueueKind::Gpsimd);
  else
    lowering.issue(QueueKind::Gpsimd, "copy", {{"dst", tile}, {"src", a.tile}},
                   fields);
  result.tile = finish(def, 0, into, tile);
  return result;
}

TileValue TileBody::integerSelect(const void *key, TileValue mask,
                                  TileValue yes, TileValue no, RingOp into) {
  Type i32 = lowering.builder.getI32Type();
  mask = widen(mask, key, 11);
  yes = widen(asI32(yes, key, 7), key, 8, i32);
  if (no.kind != TileValue::Constant)
    no = widen(asI32(no, key, 9), key, 10, i32);
  TileValue result;
  result.kind = TileValue::Tile;
  Value tile = target(key, 0, TileValue::Tile, i32, into);
  SmallVector<std::pair<StringRef, Value>> operands = {
      {"dst", tile}, {"mask", mask.tile}, {"a", yes.tile}};
  SmallVector<NamedAttribute> fields;
  if (no.kind == TileValue::Constant)
    fields.push_back(lowering.builder.getNamedAttr(
        "imm0",
        lowering.builder.getI32IntegerAttr(int32_t(int64_t(no.constant)))));
  else
    operands.push_back({"b", no.tile});
  lowering.issue(QueueKind::Gpsimd, "select", operands, fields);
  result.tile = finish(key, 0, into, tile);
  return result;
}

TileValue TileBody::integer(Operation *def, Type type, RingOp into) {
  Recipe recipe = *recipeOf(def);
  if (auto cast = dyn_cast<kernel::CastOp>(def))
    return integerCopy(def, type, into,
                       cast.getMode() == kernel::CastMode::Sat);
  if (recipe.kind == Recipe::Select)
    return integerSelect(def, evaluate(def->getOperand(0)),
                         evaluate(def->getOperand(1)),
                         evaluate(def->getOperand(2)), into);
  Type made = isa<arith::CmpIOp>(def) ? Type(lowering.builder.getF32Type())
                                      : Type(lowering.builder.getI32Type());
  TileValue a = asI32(evaluate(def->getOperand(0)), def, 7);
  if (def->getNumOperands() == 1) {
    if (a.kind ==
        TileValue::Constant) // abs(i32(M)): an instruction reads a tile
      a = widen(a, def, 9, lowering.builder.getI32Type());
    return combine(QueueKind::Gpsimd, recipe.name, a, std::nullopt, def, made,
                   into);
  }
  TileValue b = asI32(evaluate(def->getOperand(1)), def, 8);
  if (a.kind == TileValue::Constant && b.kind == TileValue::Constant)
    a = widen(a, def, 9, lowering.builder.getI32Type());
  return combine(QueueKind::Gpsimd, recipe.name, a, b, def, made, into);
}

//===----------------------------------------------------------------------===//
// Comparing in two sums
//===----------------------------------------------------------------------===//

bool TileBody::comparesWide(Operation *def) {
  return isWideCompare(lowering, op, def);
}

TileValue TileBody::compareWide(Operation *def, RingOp into) {
  auto compare = cast<arith::CmpIOp>(def);
  arith::CmpIPredicate predicate = compare.getPredicate();
  bool negated = predicate == arith::CmpIPredicate::sgt ||
                 predicate == arith::CmpIPredicate::sle;
  Type f32 = lowering.builder.getF32Type();
  unsigned part = 100; // rings of this op's own
  TileValue zero, high, low;
  auto arithmetic = [&](StringRef alu, TileValue a, TileValue b) {
    if (a.kind == TileValue::Constant && b.kind == TileValue::Constant) {
      a.constant = alu == "add"   ? a.constant + b.constant
                   : alu == "sub" ? a.constant - b.constant
                                  : a.constant * b.constant;
      return a;
    }
    return combine(QueueKind::Vector, alu, a, b, def, f32, {}, part++);
  };
  auto constant = [](double number) {
    TileValue value;
    value.constant = number;
    return value;
  };
  auto addTo = [&](TileValue &sum, TileValue term, int64_t factor) {
    if (factor != 1 && factor != -1)
      term = arithmetic("mul", term, constant(double(std::abs(factor))));
    sum = arithmetic(factor < 0 ? "sub" : "add", sum, term);
  };
  auto terms = differenceOf(lowering, op, compare);
  for (auto [value, factor] : *terms) {
    int64_t by = negated ? -factor : factor;
    TileValue term = evaluate(value);
    if (fitsF32(lowering, op, value)) {
      addTo(low, term, by);
      continue;
    }
    term = asI32(term, def, part++);
    auto bits = [&](StringRef alu, double with) {
      return combine(QueueKind::Vector, alu, term, constant(with), def,
                     lowering.builder.getI32Type(), {}, part++);
    };
    addTo(high, bits("sar", 16), by);
    addTo(low, bits("and", 65535), by);
  }
  // The low sum keeps 0 … 65535, the rest is carried: each step is exact in f32.
  TileValue carry = combine(QueueKind::Vector, "floor",
                            arithmetic("mul", low, constant(1.0 / 65536)),
                            std::nullopt, def, f32, {}, part++);
  TileValue top = arithmetic("add", high, carry);
  if (predicate == arith::CmpIPredicate::eq ||
      predicate == arith::CmpIPredicate::ne) {
    TileValue rest =
        arithmetic("sub", low, arithmetic("mul", carry, constant(65536)));
    TileValue either =
        combine(QueueKind::Vector, "abs_max", top, rest, def, f32, {}, part++);
    return combine(QueueKind::Vector,
                   predicate == arith::CmpIPredicate::eq ? "eq" : "ne", either,
                   zero, def, f32, into);
  }
  bool below = predicate == arith::CmpIPredicate::slt ||
               predicate == arith::CmpIPredicate::sgt;
  return combine(QueueKind::Vector, below ? "lt" : "ge", top, zero, def, f32,
                 into);
}
