//===- CheckCall.cpp - functions of the language and of the text ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Built-in functions become one node; `clamp(x, a, b)` is min(max(x, a), b). A
// function of the text is written out where it is called:
//
//   fn softcap(x, c) = c * tanh(x / c)
//   softcap(s, 30)   ↦  30.0 * tanh(s / 30.0)
//
// with its parameters' values, so a literal still takes the type of what it
// meets inside. Calls that other languages allow are refused by name.
//
//===----------------------------------------------------------------------===//

#include "KernelChecker.h"
#include "llvm/ADT/StringSwitch.h"

using namespace facet;
using namespace facet::checked;
using llvm::StringRef;
using llvm::Twine;

static constexpr unsigned mostCalls = 64; // of functions inside functions

static std::string number(size_t count, StringRef what) {
  return std::to_string(count) + " " + what.str() + (count == 1 ? "" : "s");
}

std::string facet::wrongCount(StringRef name, size_t count,
                              const GlobalNames &names) {
  auto wrong = [&](const Twine &takes, StringRef rest = "") {
    return ("`" + name + "` takes " + takes + ", found " + Twine(count) + rest)
        .str();
  };
  if ((name == "min" || name == "max") && count < 2)
    return wrong("two or more arguments",
                 ("; over an index it is written `" + name + "[k](…)`").str());
  if (name == "where" && count != 3)
    return wrong("3 arguments, `where(condition, a, b)`");
  if (name == "clamp" && count != 3)
    return wrong("3 arguments, `clamp(x, least, most)`");
  if (unaryByName(name) && count != 1)
    return wrong("1 argument");
  if (auto found = names.functions.find(name); found != names.functions.end())
    if (size_t wanted = found->second.syntax->parameters.size();
        count != wanted)
      return wrong(number(wanted, "argument"));
  return "";
}

Value KernelChecker::checkCall(const syntax::Expr &expr,
                               const Environment &env) {
  StringRef name = expr.text;
  auto function = names.functions.find(name);
  if (std::string problem = wrongCount(name, expr.operands.size(), names);
      !problem.empty()) {
    Diagnostic &diagnostic = error(place(expr.mainSpan, env), problem, &env);
    if (function != names.functions.end())
      diagnostic.note(
          placeIn(function->second.file, function->second.syntax->name.span),
          "the function is here");
    return {};
  }
  if (name == "min" || name == "max")
    return checkMinMax(expr, env);
  if (name == "where")
    return checkWhere(expr, env);
  if (name == "clamp")
    return checkClamp(expr, env);
  if (std::optional<UnaryOp> op = unaryByName(name)) {

    Value operand = check(*expr.operands[0], env);
    return operand.failed() ? operand : applyUnary(*op, expr, operand, env);
  }
  if (mode == Mode::When && name == "ld" && !env.function) {
    const syntax::Expr &argument = *expr.operands[0];
    auto found = variables.find(argument.text);
    if (expr.operands.size() != 1 || argument.kind != syntax::ExprKind::Name ||
        argument.subscripts || found == variables.end() ||
        found->second->axes.size() < 2) {
      error(place(expr.mainSpan, env),
            "`ld` takes the name of an argument or result of two or more "
            "axes");
      return {};
    }
    return {make(ExprKind::Size, ScalarType::I64, place(expr.span, env)),
            nullptr};
  }
  if (function != names.functions.end())
    return expand(function->second, expr, env);
  return unknownCall(expr, env);
}

Value KernelChecker::checkMinMax(const syntax::Expr &expr,
                                 const Environment &env) {

  Value result = check(*expr.operands[0], env);
  for (size_t i = 1; i < expr.operands.size(); ++i) {
    Value next = check(*expr.operands[i], env);
    if (result.failed() || next.failed())
      return {};
    result =
        combine(expr.text == "min" ? BinaryOp::Min : BinaryOp::Max, expr,
                result, next, *expr.operands[i - 1], *expr.operands[i], env);
  }
  return result;
}

Value KernelChecker::checkClamp(const syntax::Expr &expr,
                                const Environment &env) {

  Value x = check(*expr.operands[0], env);
  Value least = check(*expr.operands[1], env);
  Value most = check(*expr.operands[2], env);
  if (x.failed() || least.failed() || most.failed())
    return {};
  Value atLeast = combine(BinaryOp::Max, expr, x, least, *expr.operands[0],
                          *expr.operands[1], env);
  if (atLeast.failed())
    return {};
  return combine(BinaryOp::Min, expr, atLeast, most, *expr.operands[0],
                 *expr.operands[2], env);
}

Value KernelChecker::checkWhere(const syntax::Expr &expr,
                                const Environment &env) {

  const Expr *choice = condition(*expr.operands[0], env, "`where`");
  Value a = check(*expr.operands[1], env);
  Value b = check(*expr.operands[2], env);
  if (!choice || a.failed() || b.failed())
    return {};
  Place where = place(expr.span, env);
  if (a.pending && b.pending) {
    Pending *select =
        makePending(Pending::Select, a.pending->isFloat || b.pending->isFloat,
                    where, a.pending, b.pending);
    if (select)
      select->condition = choice;
    return {nullptr, select};
  }
  if (!unify("where", place(expr.mainSpan, env), a, b, *expr.operands[1],
             *expr.operands[2], env))
    return {};
  return {make(ExprKind::Select, a.expr->type, where, {choice, a.expr, b.expr}),
          nullptr};
}

/// `- abs relu` keep the type; the others compute in f32 or f64.
Value KernelChecker::applyUnary(UnaryOp op, const syntax::Expr &expr,
                                Value operand, const Environment &env) {
  bool keepsType =
      op == UnaryOp::Neg || op == UnaryOp::Abs || op == UnaryOp::Relu;
  Place where = place(expr.span, env);
  if (operand.pending) {
    if (operand.isLiteral() && keepsType) {
      Literal literal = operand.pending->literal;
      Literal zero;
      bool isNegative =
          lessThan(literal, zero) || (literal.isZero() && literal.negative);
      if (op == UnaryOp::Neg || (op == UnaryOp::Abs && isNegative))
        literal = negate(literal);
      else if (op == UnaryOp::Relu && lessThan(literal, zero))
        literal = literal.isFloat() ? *floatLiteral("0.0") : zero;
      Pending *leaf = makePending(Pending::Leaf, literal.isFloat(), where);
      if (leaf)
        leaf->literal = literal;
      return {nullptr, leaf};
    }
    Pending *pending =
        makePending(Pending::Unary, operand.pending->isFloat || !keepsType,
                    where, operand.pending);
    if (pending)
      pending->unary = op;
    return {nullptr, pending};
  }
  ScalarType type = operand.expr->type;
  if (type == ScalarType::Bool || (!keepsType && !isFloat(type))) {
    std::string inner = print(*expr.operands[0]);
    if (inner.size() > 40)
      inner = "…";
    StringRef to = keepsType ? "i32" : "f32";
    error(place(expr.mainSpan, env),
          "`" + expr.text + "` takes " +
              (keepsType ? "numbers" : "f32 or f64") + ", found " +
              spelling(type) + "; convert, `" + to + "(" + inner + ")`",
          &env);
    return {};
  }
  Expr *result = make(ExprKind::Unary, type, where, {operand.expr});
  if (result)
    result->unary = op;
  return {result, nullptr};
}

//===----------------------------------------------------------------------===//
// Functions of the text
//===----------------------------------------------------------------------===//

Value KernelChecker::expand(const FunctionDef &function,
                            const syntax::Expr &expr, const Environment &env) {
  llvm::SmallVector<Value> arguments;
  bool good = true;
  for (const syntax::ExprPtr &operand : expr.operands) {
    arguments.push_back(check(*operand, env));
    good &= !arguments.back().failed();
  }
  if (function.broken || !good)
    return {};
  if (callDepth >= mostCalls) {
    error(place(expr.mainSpan, env),
          "functions call each other more than " + Twine(mostCalls) + " deep");
    tooLarge = true;
    return {};
  }
  ++callDepth;
  Environment inner{function.file, function.syntax, arguments, &env,
                    place(expr.mainSpan, env)};
  Value result = check(*function.syntax->body, inner);
  --callDepth;
  return result;
}

/// What to write instead of a function that people look for.
static StringRef insteadOfCall(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"topk", "top_k"},
             "top-k is not part of the language; `argmax` and `max` give the "
             "first")
      .Cases({"sort", "argsort"},
             "sort is not part of the language; sort before the call and pass "
             "the order as an integer array")
      .Cases({"cumsum", "cumprod", "cummax"},
             "recurrences are not part of the language; a prefix sum is "
             "`sum[j | j <= i](…)`")
      .Cases({"rescale", "apply_scale"},
             "fixed-point RESCALE is not part of the language; scale in f32 "
             "and round, `i8.sat(round(f32(acc) * scale))`")
      .Cases({"sparse", "sparse24", "nm_sparse"},
             "structured sparsity is not part of the language; pass the "
             "compressed array and its numbers, and gather")
      .Cases({"conv", "conv2d", "im2col", "unfold"},
             "convolution windows need computed subscripts, which are not "
             "part of the language; split the axis, or unfold before the call")
      .Cases({"matmul", "dot", "einsum"},
             "a product is a sum, `sum[k](a[m, k] * b[k, n])`")
      .Cases({"transpose", "reshape"},
             "subscripts say how an array is walked, `a[k, m]`, groups how an "
             "axis is split")
      .Cases({"pow", "power"}, "write the product, or `exp(y * log(x))`")
      .Cases({"xor", "shl", "shr", "popcount"},
             "bit operations are not part of the language; fields of an "
             "integer are taken with `/` and `%`")
      .Cases({"prod", "product"},
             "there is no product over an index; `exp(sum[k](log(x[k])))` is "
             "one for positive values")
      .Cases({"logsumexp"}, "write `m + log(sum[j](exp(x[j] - m)))` with `let "
                            "m = max[j](x[j])`")
      .Cases({"cast", "astype"}, "a type's name converts, `f32(x)`")
      .Cases({"sin", "cos"}, "pass the table as an argument")
      .Default("");
}

Value KernelChecker::unknownCall(const syntax::Expr &expr,
                                 const Environment &env) {
  StringRef name = expr.text;
  Place where = place(expr.mainSpan, env);
  failed = true;
  if (findIndex(name) || variables.count(name))
    error(where, "`" + name +
                     "` is no function; subscripts stand in brackets, "
                     "`" +
                     name + "[…]`");
  else
    reportUnknownFunction(name, where, names, diagnostics);
  return {};
}

void facet::reportUnknownFunction(StringRef name, Place where,
                                  const GlobalNames &names,
                                  Diagnostics &diagnostics) {
  if (auto found = names.kernels.find(name); found != names.kernels.end()) {
    diagnostics
        .error(where, "`" + name +
                          "` is a kernel; calls of kernels are not "
                          "part of the language: share expressions "
                          "by `fn`, or call one kernel after the "
                          "other")
        .note(found->second, "the kernel is here");
    return;
  }
  if (auto later = names.laterFunctions.find(name);
      later != names.laterFunctions.end()) {
    diagnostics
        .error(where, "`" + name +
                          "` is called before it is defined; names "
                          "are defined before use")
        .note(later->second, "defined here");
    return;
  }
  if (StringRef instead = insteadOfCall(name); !instead.empty()) {
    diagnostics.error(where, "unknown function `" + name + "`: " + instead);
    return;
  }
  llvm::SmallVector<StringRef> known;
  for (WordKind kind : {WordKind::Function, WordKind::Reduction})
    known.append(words(kind).begin(), words(kind).end());
  for (const auto &entry : names.functions)
    known.push_back(entry.first());
  llvm::sort(known);
  std::string similar = nearest(name, known);
  diagnostics.error(
      where, "unknown function `" + name + "`" +
                 (similar.empty() ? "" : "; did you mean `" + similar + "`?"));
}
