//===- When.cpp - the condition of a schedule -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   -D M=16:  `M <= 32 && K % 64 == 0`  is open for an open K, `M > 32 && …` is false
//
// Three-valued arithmetic on the syntax: a size that is not fixed is unknown, so is
// what depends on it, and `&&`, `||` are decided by one side where they can be.
//
//===----------------------------------------------------------------------===//

#include "When.h"

#include "llvm/Support/MathExtras.h"

using namespace facet;
using syntax::Expr;
using syntax::ExprKind;

/// An integer, or a truth value as 0 and 1; nullopt: unknown.
using Known = std::optional<int64_t>;

static Known binary(llvm::StringRef sign, Known a, Known b) {
  if (sign == "&&" || sign == "||") {
    int64_t decides = sign == "||";
    if (a == Known(decides) || b == Known(decides))
      return decides;
    return a && b ? Known(1 - decides) : std::nullopt;
  }
  if (!a || !b)
    return std::nullopt;
  int64_t result;
  if (sign == "+")
    return llvm::AddOverflow(*a, *b, result) ? Known() : Known(result);
  if (sign == "-")
    return llvm::SubOverflow(*a, *b, result) ? Known() : Known(result);
  if (sign == "*")
    return llvm::MulOverflow(*a, *b, result) ? Known() : Known(result);
  if (sign == "/" || sign == "%") {
    if (*b <= 0)
      return std::nullopt;
    int64_t quotient = *a / *b - (*a % *b < 0);
    return sign == "/" ? quotient : *a - quotient * *b;
  }
  if (sign == "<")
    return *a < *b;
  if (sign == "<=")
    return *a <= *b;
  if (sign == ">")
    return *a > *b;
  if (sign == ">=")
    return *a >= *b;
  if (sign == "==")
    return *a == *b;
  return sign == "!=" ? Known(*a != *b) : std::nullopt;
}

static Known evaluate(const Expr &expr, kernel::FuncOp kernel) {
  int64_t number;
  switch (expr.kind) {
  case ExprKind::Integer:
    return llvm::StringRef(expr.text).getAsInteger(10, number) ? Known()
                                                               : Known(number);
  case ExprKind::Boolean:
    return expr.text == "true";
  case ExprKind::Size:
    return kernel.getFixedSize(expr.text);
  case ExprKind::Paren:
    return evaluate(*expr.operands[0], kernel);
  case ExprKind::Unary: {
    Known operand = evaluate(*expr.operands[0], kernel);
    if (!operand)
      return std::nullopt;
    if (expr.text == "!")
      return *operand == 0;
    return *operand == INT64_MIN ? Known() : Known(-*operand);
  }
  case ExprKind::Binary:
    return binary(expr.text, evaluate(*expr.operands[0], kernel),
                  evaluate(*expr.operands[1], kernel));
  default:
    return std::nullopt; // leading dimensions, scalar arguments: the call's
  }
}

std::optional<bool> facet::isDecided(const Expr &when, kernel::FuncOp kernel) {
  Known value = evaluate(when, kernel);
  if (!value)
    return std::nullopt;
  return *value != 0;
}
