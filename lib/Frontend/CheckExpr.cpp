//===- CheckExpr.cpp - operators, literals, nodes -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every expression becomes a `Value`: a typed tree, or literals that wait for
// the type of what they meet.
//
//   2 * x + i      x: f32, i: i32   ↦  error: `+` mixes f32 and i32; write …
//   2 * x + f32(i)                  ↦  (2.0 * x) + convert(i), all f32
//
// f32 widens to f64 and i32 to i64; any other mix is refused with the
// conversion to write. Trees are limited in height and size here, so that a few
// lines of functions calling functions cannot grow without bound.
//
//===----------------------------------------------------------------------===//

#include "KernelChecker.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace facet;
using namespace facet::checked;
using llvm::StringRef;
using llvm::Twine;

static constexpr unsigned mostNodes = 1 << 18; // of a kernel
static constexpr unsigned mostDepth = 1000;    // of recursion and of a tree

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Null when the kernel is too large; that was reported.
Expr *KernelChecker::make(ExprKind kind, ScalarType type, Place where,
                          llvm::ArrayRef<const Expr *> operands) {
  if (tooLarge)
    return nullptr;
  unsigned height = 1;
  for (const Expr *operand : operands) {
    if (!operand)
      return nullptr;
    height = std::max(height, operand->height + 1);
  }
  if (height > mostDepth || kernel->exprPool.size() >= mostNodes) {
    tooLarge = true;
    error(where, height > mostDepth
                     ? "the expression is more than " + Twine(mostDepth) +
                           " operations deep once its functions are written "
                           "out; name parts of it with `let`"
                     : "the kernel has more than " + Twine(mostNodes) +
                           " operations once its functions are written out; "
                           "name parts of it with `let`");
    return nullptr;
  }
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->type = type;
  expr->place = std::move(where);
  expr->operands.append(operands.begin(), operands.end());
  expr->height = height;
  kernel->exprPool.push_back(std::move(expr));
  return kernel->exprPool.back().get();
}

Pending *KernelChecker::makePending(Pending::Kind kind, bool isFloat,
                                    Place where, const Pending *a,
                                    const Pending *b) {
  unsigned height = 1;
  for (const Pending *operand : {a, b})
    if (operand)
      height = std::max(height, operand->height + 1);
  if (tooLarge || height > mostDepth || pendings.size() >= mostNodes) {
    if (!tooLarge)
      error(where, "the literals are more than " + Twine(mostDepth) +
                       " operations deep once functions are written out");
    tooLarge = true;
    return nullptr;
  }
  pendings.emplace_back();
  Pending &pending = pendings.back();
  pending.kind = kind;
  pending.isFloat = isFloat;
  pending.a = a;
  pending.b = b;
  pending.height = height;
  pending.place = std::move(where);
  return &pending;
}

/// A tree of its own, with indices of its own: nodes are never shared, as each
/// place has its own conditions and stages.
const Expr *KernelChecker::copy(
    const Expr *expr,
    llvm::SmallVectorImpl<std::pair<const Index *, const Index *>> &renamed) {
  if (!expr)
    return nullptr;
  auto own = [&](const Index *index) {
    for (auto [old, fresh] : renamed)
      if (old == index)
        return fresh;
    return index;
  };
  size_t before = renamed.size();
  if (expr->kind == ExprKind::Reduce)
    for (const Index *index : expr->indices) {
      kernel->indexPool.push_back(std::make_unique<Index>(*index));
      renamed.push_back({index, kernel->indexPool.back().get()});
    }
  llvm::SmallVector<const Expr *, 3> operands;
  for (const Expr *operand : expr->operands)
    operands.push_back(copy(operand, renamed));
  Expr *result = make(expr->kind, expr->type, expr->place, operands);
  if (result) {
    unsigned height = expr->height;
    *result = *expr;
    result->operands = std::move(operands);
    result->height = height;
    if (expr->index)
      result->index = own(expr->index);
    for (const Index *&index : result->indices)
      index = own(index);
    for (checked::Subscript &subscript : result->subscripts) {
      if (subscript.index)
        subscript.index = own(subscript.index);
      subscript.element = copy(subscript.element, renamed);
    }
    result->filter = copy(expr->filter, renamed);
  }
  renamed.truncate(before);
  return result;
}

Value KernelChecker::copy(const Value &value) {
  if (!value.expr)
    return value; // pending literals make new nodes each time anyway
  llvm::SmallVector<std::pair<const Index *, const Index *>> renamed;
  return {copy(value.expr, renamed), nullptr};
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Value KernelChecker::check(const syntax::Expr &expr, const Environment &env) {
  if (tooLarge)
    return {};
  if (depth >= mostDepth) {
    tooLarge = true;
    error(place(expr.mainSpan, env),
          "the expression is more than " + Twine(mostDepth) +
              " operations deep once its functions are written out; name parts "
              "of it with `let`");
    return {};
  }
  ++depth;
  Value result;
  switch (expr.kind) {
  case syntax::ExprKind::Integer:
  case syntax::ExprKind::Float:
  case syntax::ExprKind::Infinity:
  case syntax::ExprKind::NotANumber:
  case syntax::ExprKind::Boolean:
    result = checkLiteral(expr, env);
    break;
  case syntax::ExprKind::Size:
    result = checkSize(expr, env);
    break;
  case syntax::ExprKind::Name:
    result = checkName(expr, env);
    break;
  case syntax::ExprKind::Call:
    result = checkCall(expr, env);
    break;
  case syntax::ExprKind::Convert:
    result = checkConvert(expr, env);
    break;
  case syntax::ExprKind::Reduce:
    result = checkReduce(expr, env);
    break;
  case syntax::ExprKind::Unary:
    result = checkUnary(expr, env);
    break;
  case syntax::ExprKind::Binary:
    result = expr.text == "&&" || expr.text == "||" ? checkLogical(expr, env)
                                                    : checkBinary(expr, env);
    break;
  case syntax::ExprKind::Paren:
    result = check(*expr.operands[0], env);
    break;
  }
  --depth;
  return result;
}

Value KernelChecker::checkLiteral(const syntax::Expr &expr,
                                  const Environment &env) {
  Place where = place(expr.span, env);
  if (expr.kind == syntax::ExprKind::Boolean) {
    Expr *constant = make(ExprKind::Constant, ScalarType::Bool, where);
    if (constant)
      constant->integer = expr.text == "true";
    return {constant, nullptr};
  }
  Literal literal;
  switch (expr.kind) {
  case syntax::ExprKind::Integer:
    literal = integerLiteral(expr.text);
    break;
  case syntax::ExprKind::Float:
    if (auto value = floatLiteral(expr.text)) {
      literal = *value;
      break;
    }
    error(where, "the exponent of `" + expr.text.substr(0, 30) +
                     "` is beyond every type; write `inf` or 0.0");
    return {};
  case syntax::ExprKind::Infinity:
    literal.kind = Literal::Infinity;
    break;
  default:
    literal.kind = Literal::NaN;
    break;
  }
  Pending *pending = makePending(Pending::Leaf, literal.isFloat(), where);
  if (pending)
    pending->literal = literal;
  return {nullptr, pending};
}

Value KernelChecker::checkSize(const syntax::Expr &expr,
                               const Environment &env) {
  std::optional<Dim> dim = dimOf(syntax::Dim{expr.text, 0, expr.mainSpan});
  Expr *size = nullptr;
  if (dim &&
      (size = make(ExprKind::Size, ScalarType::I64, place(expr.span, env))))
    size->size = *dim->size;
  return {size, nullptr};
}

Value KernelChecker::checkUnary(const syntax::Expr &expr,
                                const Environment &env) {
  if (expr.text == "-") {
    Value operand = check(*expr.operands[0], env);
    return operand.failed() ? operand
                            : applyUnary(UnaryOp::Neg, expr, operand, env);
  }
  const Expr *operand = condition(*expr.operands[0], env, "`!`");
  Expr *result =
      make(ExprKind::Unary, ScalarType::Bool, place(expr.span, env), {operand});
  if (result)
    result->unary = UnaryOp::Not;
  return {result, nullptr};
}

Value KernelChecker::checkLogical(const syntax::Expr &expr,
                                  const Environment &env) {
  std::string of = "`" + expr.text + "`";
  const Expr *a = condition(*expr.operands[0], env, of);
  const Expr *b = condition(*expr.operands[1], env, of);
  Expr *result =
      make(ExprKind::Binary, ScalarType::Bool, place(expr.span, env), {a, b});
  if (result)
    result->binary = expr.text == "&&" ? BinaryOp::And : BinaryOp::Or;
  return {result, nullptr};
}

Value KernelChecker::checkBinary(const syntax::Expr &expr,
                                 const Environment &env) {
  Value a = check(*expr.operands[0], env);
  Value b = check(*expr.operands[1], env);
  if (a.failed() || b.failed())
    return {};
  auto op = llvm::StringSwitch<BinaryOp>(expr.text)
                .Case("+", BinaryOp::Add)
                .Case("-", BinaryOp::Sub)
                .Case("*", BinaryOp::Mul)
                .Case("/", BinaryOp::Div)
                .Case("%", BinaryOp::Mod)
                .Case("<", BinaryOp::Lt)
                .Case("<=", BinaryOp::Le)
                .Case(">", BinaryOp::Gt)
                .Case(">=", BinaryOp::Ge)
                .Case("==", BinaryOp::Eq)
                .Default(BinaryOp::Ne);
  return combine(op, expr, a, b, *expr.operands[0], *expr.operands[1], env);
}

static bool isComparison(BinaryOp op) {
  return op >= BinaryOp::Lt && op <= BinaryOp::Ne;
}

static bool compare(BinaryOp op, const Literal &a, const Literal &b) {
  switch (op) {
  case BinaryOp::Lt:
    return lessThan(a, b);
  case BinaryOp::Le:
    return lessThan(a, b) || equal(a, b);
  case BinaryOp::Gt:
    return lessThan(b, a);
  case BinaryOp::Ge:
    return lessThan(b, a) || equal(a, b);
  case BinaryOp::Eq:
    return equal(a, b);
  default:
    return !equal(a, b);
  }
}

/// a op b for arithmetic, comparisons, `min` and `max`; `at` is the whole.
Value KernelChecker::combine(BinaryOp op, const syntax::Expr &at, Value a,
                             Value b, const syntax::Expr &textA,
                             const syntax::Expr &textB,
                             const Environment &env) {
  Place where = place(at.span, env);
  if (a.pending && b.pending) {
    if (a.isLiteral() && b.isLiteral()) {
      const Literal &x = a.pending->literal, &y = b.pending->literal;
      if (isComparison(op)) {
        Expr *constant = make(ExprKind::Constant, ScalarType::Bool, where);
        if (constant)
          constant->integer = compare(op, x, y);
        return {constant, nullptr};
      }
      std::string problem;
      std::optional<Literal> folded = fold(op, x, y, problem);
      if (!folded) {
        error(place(at.mainSpan, env), problem, &env);
        return {};
      }
      Pending *pending = makePending(Pending::Leaf, folded->isFloat(), where);
      if (pending)
        pending->literal = *folded;
      return {nullptr, pending};
    }
    bool isFloat = a.pending->isFloat || b.pending->isFloat;
    bool divides = op == BinaryOp::Mod || (op == BinaryOp::Div && !isFloat);
    if (!isComparison(op) && !divides) {
      Pending *pending =
          makePending(Pending::Binary, isFloat, where, a.pending, b.pending);
      if (pending)
        pending->binary = op;
      return {nullptr, pending};
    }
    // Nothing else gives these a type.
    ScalarType type = isFloat ? ScalarType::F32 : ScalarType::I32;
    a = {materialize(a, type, env), nullptr};
    b = {materialize(b, type, env), nullptr};
    if (a.failed() || b.failed())
      return {};
  }
  if (!unify(at.text, place(at.mainSpan, env), a, b, textA, textB, env))
    return {};
  ScalarType type = a.expr->type;
  if (op == BinaryOp::Mod && !isInteger(type)) {
    error(place(at.mainSpan, env),
          "`%` takes integers, found " + spelling(type), &env);
    return {};
  }
  if ((op == BinaryOp::Mod || op == BinaryOp::Div) && isInteger(type) &&
      !checkDivisor(b.expr, textB, env))
    return {};
  Expr *result =
      make(ExprKind::Binary, isComparison(op) ? ScalarType::Bool : type, where,
           {a.expr, b.expr});
  if (result)
    result->binary = op;
  return {result, nullptr};
}

/// The text of an operand inside a conversion that a message offers.
static std::string offered(StringRef type, const syntax::Expr &text) {
  const syntax::Expr *inner = &text;
  while (inner->kind == syntax::ExprKind::Paren)
    inner = inner->operands[0].get();
  std::string written = print(*inner);
  if (written.size() > 40)
    written = "…";
  return "`" + type.str() + "(" + written + ")`";
}

/// Brings both to one type by widening, or says which conversion to write. On
/// success both are typed.
bool KernelChecker::unify(StringRef op, Place where, Value &a, Value &b,
                          const syntax::Expr &textA, const syntax::Expr &textB,
                          const Environment &env) {
  auto kindOf = [](const Value &value) {
    if (value.pending)
      return value.pending->isFloat ? 2 : 1;
    return isFloat(value.expr->type) ? 2 : isInteger(value.expr->type) ? 1 : 0;
  };
  int kindA = kindOf(a), kindB = kindOf(b);
  if (kindA == 0 && kindB == 0) {
    if (op == "where")
      return true;
    error(where,
          "`" + op + "` takes numbers, found bool; convert, " +
              offered("i32", textA) +
              ", or join conditions by `&&`, "
              "`||`, `!`",
          &env);
    return false;
  }
  // An integer literal goes with floats; everything else keeps its kind.
  bool aFollows = a.pending && kindA == 1 && kindB == 2;
  bool bFollows = b.pending && kindB == 1 && kindA == 2;
  if (kindA != kindB && !aFollows && !bFollows) {
    bool convertA = kindA < kindB;
    const Value &other = convertA ? b : a;
    StringRef type = other.expr               ? spelling(other.expr->type)
                     : other.pending->isFloat ? "f32"
                                              : "i32";
    error(where,
          "`" + op + "` mixes " + nameOfType(a) + " and " + nameOfType(b) +
              "; convert one, " + offered(type, convertA ? textA : textB),
          &env);
    return false;
  }
  if (a.pending)
    a = {materialize(a, b.expr->type, env), nullptr};
  else if (b.pending)
    b = {materialize(b, a.expr->type, env), nullptr};
  if (a.failed() || b.failed())
    return false;
  ScalarType wide = std::max(a.expr->type, b.expr->type); // I32 I64 F32 F64
  a.expr = widen(a.expr, wide);
  b.expr = widen(b.expr, wide);
  return a.expr && b.expr;
}

/// `/` and `%` on integers floor, which is defined for positive divisors.
bool KernelChecker::checkDivisor(const Expr *divisor, const syntax::Expr &text,
                                 const Environment &env) {
  if (divisor->kind == ExprKind::Size ||
      (divisor->kind == ExprKind::Constant && divisor->integer > 0))
    return true;
  error(place(text.span, env),
        "an integer is divided by a positive literal or a size only; divide "
        "floats, " +
            offered("f32", text) + ", for anything else",
        &env);
  return false;
}

/// The expression as a bool; null, with a message, otherwise.
const Expr *KernelChecker::condition(const syntax::Expr &expr,
                                     const Environment &env, StringRef of) {
  Value value = check(expr, env);
  if (value.failed())
    return nullptr;
  if (value.expr && value.expr->type == ScalarType::Bool)
    return value.expr;
  std::string written = print(expr);
  if (written.size() > 40)
    written = "…";
  error(place(expr.span, env),
        of + " takes a condition, found " + nameOfType(value) +
            "; compare it, `" + written + " != 0`",
        &env);
  return nullptr;
}
