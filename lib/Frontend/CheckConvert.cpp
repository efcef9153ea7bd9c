//===- CheckConvert.cpp - conversions, assignments, literals' types -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All changes of type, made explicit in the checked form:
//
//   bf16(x)          x: f32 ↦ round to bf16, reads back as f32
//   i8.sat(x)        x: f32 ↦ to integer, nearest even, clamped
//   y[m] = x         y: bf16 ↦ round, as a float result does on assignment
//   2 * x            x: f64 ↦ the literal is rounded once, to f64
//
//===----------------------------------------------------------------------===//

#include "KernelChecker.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace facet;
using namespace facet::checked;
using llvm::StringRef;
using llvm::Twine;

static std::string shortText(const syntax::Expr &expr) {
  const syntax::Expr *inner = &expr;
  while (inner->kind == syntax::ExprKind::Paren)
    inner = inner->operands[0].get();
  std::string text = print(*inner);
  return text.size() > 40 ? "…" : text;
}

static bool isStorage(ScalarType type) { return arithmeticType(type) != type; }

Expr *KernelChecker::convert(ConvertMode mode, const Expr *operand,
                             ScalarType storage, Place where) {
  Expr *result = make(ExprKind::Convert, arithmeticType(storage),
                      std::move(where), {operand});
  if (result) {
    result->mode = mode;
    result->storage = storage;
  }
  return result;
}

/// i32 to i64, f32 to f64; itself when it has the type.
const Expr *KernelChecker::widen(const Expr *expr, ScalarType type) {
  if (!expr || expr->type == type)
    return expr;
  return convert(ConvertMode::Widen, expr, type, expr->place);
}

/// min(max(x, −most), most) in f64, with f32's largest value; keeps NaN. Before
/// a rounding to f32 it is what `.sat` means: arithmetic has no such mode.
const Expr *KernelChecker::clampToF32(const Expr *expr, Place where) {
  const double most = std::numeric_limits<float>::max();
  for (auto [op, bound] : {std::make_pair(BinaryOp::Max, -most),
                           std::make_pair(BinaryOp::Min, most)}) {
    Expr *constant = make(ExprKind::Constant, ScalarType::F64, where);
    if (constant)
      constant->real = bound;
    Expr *clamped =
        make(ExprKind::Binary, ScalarType::F64, where, {expr, constant});
    if (clamped)
      clamped->binary = op;
    expr = clamped;
  }
  return expr;
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

static std::string textOf(const Literal &literal) {
  if (literal.kind != Literal::Integer)
    return "the literal";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << literal.numerator;
  return text.size() > 40 ? "the literal" : text;
}

const Expr *KernelChecker::settle(const Value &value, const Environment &env) {
  if (value.expr)
    return value.expr;
  return materialize(
      value, value.pending->isFloat ? ScalarType::F32 : ScalarType::I32, env);
}

const Expr *KernelChecker::materialize(const Value &value, ScalarType type,
                                       const Environment &env) {
  return value.expr ? value.expr : materialize(*value.pending, type, env);
}

/// The pending literals as a tree of `type`, one of I32 I64 F32 F64.
const Expr *KernelChecker::materialize(const Pending &pending, ScalarType type,
                                       const Environment &env) {
  if (tooLarge)
    return nullptr;
  switch (pending.kind) {
  case Pending::Leaf:
    break;
  case Pending::Unary: {
    Expr *result = make(ExprKind::Unary, type, pending.place,
                        {materialize(*pending.a, type, env)});
    if (result)
      result->unary = pending.unary;
    return result;
  }
  case Pending::Binary: {
    Expr *result = make(ExprKind::Binary, type, pending.place,
                        {materialize(*pending.a, type, env),
                         materialize(*pending.b, type, env)});
    if (result)
      result->binary = pending.binary;
    return result;
  }
  case Pending::Select:
    return make(ExprKind::Select, type, pending.place,
                {copy(Value{pending.condition, nullptr}).expr,
                 materialize(*pending.a, type, env),
                 materialize(*pending.b, type, env)});
  }
  const Literal &literal = pending.literal;
  Expr *constant = make(ExprKind::Constant, type, pending.place);
  if (!constant)
    return nullptr;
  if (isInteger(type)) {
    std::optional<int64_t> value = asInteger(literal, type);
    if (!value) {
      error(pending.place,
            textOf(literal) + " does not fit " + spelling(type) +
                (asInteger(literal, ScalarType::I64)
                     ? "; write `i64(" + textOf(literal) + ")`"
                     : std::string("; integers have at most 64 bits")),
            &env);
      return nullptr;
    }
    constant->integer = *value;
    return constant;
  }
  RoundedLiteral rounded = roundTo(literal, type);
  if (rounded.overflow) {
    error(pending.place,
          "the literal is beyond the largest " + spelling(type) + "; write " +
              (type == ScalarType::F32 ? "`inf`, or `f64(…)`" : "`inf`"),
          &env);
    return nullptr;
  }
  if (literal.kind == Literal::Integer && !rounded.exact) {
    error(pending.place,
          textOf(literal) + " is not exact in " + spelling(type) + "; write `" +
              textOf(literal) + ".0` to have it rounded",
          &env);
    return nullptr;
  }
  if (rounded.value == 0 && !literal.isZero())
    diagnostics.warning("literal-underflow", pending.place,
                        "the literal is smaller than any " + spelling(type) +
                            " and becomes 0");
  constant->real = rounded.value;
  return constant;
}

/// T(literal) or T.sat(literal): rounded once, straight to T.
Value KernelChecker::convertLiteral(const syntax::Expr &expr,
                                    const Pending &literal,
                                    const Environment &env) {
  ScalarType type = expr.type;
  Place where = place(expr.span, env);
  bool isLeaf = literal.kind == Pending::Leaf;
  auto generic = [&](ScalarType as) -> Value {
    const Expr *operand = materialize(literal, as, env);
    return {operand ? convertValue(expr, operand, env) : nullptr, nullptr};
  };
  if (isFloat(type)) {
    if (!isLeaf || expr.saturate) {
      if (!isStorage(type) && !expr.saturate)
        return {materialize(literal, type, env), nullptr};
      return generic(expr.saturate ? ScalarType::F64 : ScalarType::F32);
    }
    RoundedLiteral rounded = roundTo(literal.literal, type);
    if (rounded.overflow) {
      error(where,
            "the literal is beyond the largest " + spelling(type) +
                "; write `" + spelling(type) + ".sat(…)` to clamp it",
            &env);
      return {};
    }
    Expr *constant = make(ExprKind::Constant, arithmeticType(type), where);
    if (!constant)
      return {};
    constant->real = rounded.value;
    if (!isStorage(type))
      return {constant, nullptr};
    return {convert(ConvertMode::Round, constant, type, where), nullptr};
  }
  if (type == ScalarType::Bool || literal.isFloat)
    return generic(literal.isFloat ? ScalarType::F64 : ScalarType::I32);
  // Integers.
  if (!isLeaf)
    return generic(arithmeticType(type));
  if (expr.saturate)
    return generic(ScalarType::I64);
  std::optional<int64_t> value = asInteger(literal.literal, type);
  if (!value) {
    error(where,
          textOf(literal.literal) + " does not fit " + spelling(type) +
              "; write `" + spelling(type) + ".sat(…)` to clamp it",
          &env);
    return {};
  }
  Expr *constant = make(ExprKind::Constant, arithmeticType(type), where);
  if (!constant)
    return {};
  constant->integer = *value;
  if (!isStorage(type))
    return {constant, nullptr};
  return {convert(ConvertMode::Wrap, constant, type, where), nullptr};
}

//===----------------------------------------------------------------------===//
// T(e) and T.sat(e)
//===----------------------------------------------------------------------===//

Value KernelChecker::checkConvert(const syntax::Expr &expr,
                                  const Environment &env) {
  Value operand = check(*expr.operands[0], env);
  if (operand.failed())
    return {};
  if (operand.pending)
    return convertLiteral(expr, *operand.pending, env);
  return {convertValue(expr, operand.expr, env), nullptr};
}

const Expr *KernelChecker::convertValue(const syntax::Expr &expr,
                                        const Expr *operand,
                                        const Environment &env) {
  ScalarType from = operand->type, to = expr.type;
  Place where = place(expr.span, env);
  StringRef name = spelling(to);
  std::string inner = shortText(*expr.operands[0]);
  auto refuse = [&](const Twine &message) {
    error(place(expr.mainSpan, env), message, &env);
    return nullptr;
  };
  if (from == to) {
    if (!env.function)
      diagnostics.warning("redundant-conversion", place(expr.mainSpan, env),
                          "`" + inner + "` is " + name + " already");
    return operand;
  }
  if (to == ScalarType::Bool)
    return refuse("a number is no condition; compare it, `" + inner + " != 0`");
  if (to == ScalarType::TF32 && expr.saturate)
    return refuse("`tf32` has the range of f32, so there is nothing to clamp; "
                  "write `tf32(" +
                  inner + ")`");
  if (isFloat(to)) {
    if (!isFloat(from)) {
      if (isStorage(to))
        return refuse("`" + name + "` rounds f32 or f64, found " +
                      spelling(from) + "; write `" + name + "(f32(" + inner +
                      "))`");
      if (expr.saturate)
        return refuse("nothing to clamp from " + spelling(from) + " to " +
                      name + "; write `" + name + "(" + inner + ")`");
      return convert(from == ScalarType::Bool ? ConvertMode::BoolToNumber
                                              : ConvertMode::IntToFloat,
                     operand, to, where);
    }
    if (to == ScalarType::F64)
      return expr.saturate
                 ? refuse("nothing to clamp from " + spelling(from) + " to " +
                          name + "; write `" + name + "(" + inner + ")`")
                 : convert(ConvertMode::Widen, operand, to, where);
    if (to == ScalarType::F32 && expr.saturate)
      return convert(ConvertMode::Round, clampToF32(operand, where), to, where);
    return convert(expr.saturate ? ConvertMode::RoundSat : ConvertMode::Round,
                   operand, to, where);
  }
  // To an integer.
  if (isFloat(from)) {
    if (!expr.saturate)
      return refuse("a float becomes an integer by rounding and clamping, `" +
                    name + ".sat(" + inner + ")`");
    return convert(ConvertMode::FloatToInt, operand, to, where);
  }
  bool widens = to == ScalarType::I64 || from == ScalarType::Bool;
  if (expr.saturate && widens)
    return refuse("nothing to clamp from " + spelling(from) + " to " + name +
                  "; write `" + name + "(" + inner + ")`");
  if (from == ScalarType::Bool) {
    const Expr *number =
        convert(ConvertMode::BoolToNumber, operand, arithmeticType(to), where);
    return isStorage(to) ? convert(ConvertMode::Wrap, number, to, where)
                         : number;
  }
  if (to == ScalarType::I64)
    return convert(ConvertMode::Widen, operand, to, where);
  return convert(expr.saturate ? ConvertMode::IntSat : ConvertMode::Wrap,
                 operand, to, where);
}

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

/// The value as the result holds it: floats round, i32 and f32 widen, all else
/// is written out by the user.
const Expr *KernelChecker::toTarget(const Variable &target, Value value,
                                    const syntax::Expr &text,
                                    const Environment &env) {
  ScalarType type = target.type;
  ScalarType wanted = arithmeticType(type);
  StringRef name = spelling(type);
  Place where = place(text.span, env);
  std::string inner = shortText(text);
  auto refuse = [&](const Twine &offer) {
    error(where, "`" + target.name + "` is " + name + ", found " +
                     nameOfType(value) + "; " + offer)
        .note(target.place, "declared here");
    return nullptr;
  };
  if (value.pending) {
    if (wanted == ScalarType::Bool)
      return refuse("write `true`, `false` or a comparison");
    if (isInteger(type) && value.pending->isFloat)
      return refuse("write `" + name + ".sat(" + inner + ")`");
    if (value.isLiteral() && isStorage(type)) {
      syntax::Expr conversion; // as if the text had written T(…)
      conversion.kind = syntax::ExprKind::Convert;
      conversion.type = type;
      conversion.span = conversion.mainSpan = text.span;
      return convertLiteral(conversion, *value.pending, env).expr;
    }
    const Expr *number = materialize(value, wanted, env);
    if (!number)
      return nullptr;
    value = {number, nullptr};
  }
  const Expr *expr = value.expr;
  ScalarType from = expr->type;
  if (wanted == ScalarType::Bool)
    return from == ScalarType::Bool ? expr
                                    : refuse("write `" + inner + " != 0`");
  if (from == ScalarType::Bool)
    return refuse(
        "write `" + name + "(" +
        (isStorage(type) && isFloat(type) ? "f32(" + inner + ")" : inner) +
        ")`");
  if (isFloat(type)) {
    if (!isFloat(from))
      return refuse("write `f32(" + inner + ")`");
    if (type == ScalarType::F64)
      return widen(expr, type);
    if (from == type)
      return expr;
    bool isRounded = expr->kind == ExprKind::Convert && expr->storage == type;
    return isRounded ? expr : convert(ConvertMode::Round, expr, type, where);
  }
  if (isFloat(from))
    return refuse("write `" + name + ".sat(" + inner + ")`");
  if (from == type)
    return expr;
  if (type == ScalarType::I64)
    return widen(expr, type);
  if (expr->kind == ExprKind::Convert && expr->storage == type)
    return expr;
  return refuse("write `" + name + "(" + inner + ")` to wrap or `" + name +
                ".sat(" + inner + ")` to clamp");
}
