//===- ParseExpr.cpp - expressions and subscripts -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `a * b + c` ↦ Binary + (Binary * (a, b), c), by precedence climbing, so that
// a level of parentheses costs two stack frames. Nesting and height are limited
// here, by a message; everything after the parser may walk trees by recursion.
// What other languages can write and this one refuses (computed subscripts, bit
// operations, `?:`, …) is recognised by its first token and refused by name.
//
//===----------------------------------------------------------------------===//

#include "Parser.h"
#include "Words.h"
#include "llvm/ADT/ScopeExit.h"

using namespace facet;
using namespace facet::syntax;
using llvm::StringRef;
using llvm::Twine;

namespace {
enum Level : unsigned { OrLevel, AndLevel, CompareLevel, AddLevel, MulLevel };
} // namespace

static std::optional<unsigned> levelOf(TokenKind kind) {
  switch (kind) {
  case TokenKind::Or:
    return OrLevel;
  case TokenKind::And:
    return AndLevel;
  case TokenKind::Less:
  case TokenKind::LessEqual:
  case TokenKind::Greater:
  case TokenKind::GreaterEqual:
  case TokenKind::Equal:
  case TokenKind::NotEqual:
    return CompareLevel;
  case TokenKind::Plus:
  case TokenKind::Minus:
    return AddLevel;
  case TokenKind::Star:
  case TokenKind::Slash:
  case TokenKind::Percent:
    return MulLevel;
  default:
    return std::nullopt;
  }
}

ExprPtr Parser::make(ExprKind kind, const Token &at) {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->text = at.text.str();
  expr->span = expr->mainSpan = at.span;
  return expr;
}

/// Sets the height from the children; false, with a message, when too high.
bool Parser::measure(Expr &expr) {
  for (const ExprPtr &operand : expr.operands)
    expr.height = std::max(expr.height, operand->height + 1);
  if (expr.filter)
    expr.height = std::max(expr.height, expr.filter->height + 1);
  if (expr.height <= Expr::maxHeight)
    return true;
  error(expr.mainSpan, "expression is more than " + Twine(Expr::maxHeight) +
                           " operations deep; name parts of it with `let`");
  return false;
}

/// Operators that only other languages have, wherever they stand.
bool Parser::refuseForeignWord() {
  switch (token.kind) {
  case TokenKind::BitOperator:
    error(token.span, "`" + token.text +
                          "`: bit operations are not part of the language; "
                          "conditions are joined by `&&` and `||`, fields of "
                          "an integer taken with `/` and `%`");
    return true;
  case TokenKind::Power:
    error(token.span, "`**` is not part of the language; write the product "
                      "`x * x`, or `exp(y * log(x))`");
    return true;
  case TokenKind::Question:
    error(token.span, "`?` is not part of the language; choose with "
                      "`where(condition, a, b)`");
    return true;
  case TokenKind::CompoundAssign:
    error(token.span, "`" + token.text +
                          "` is not part of the language; an `inout` reads its "
                          "old value, `c[m, n] = c[m, n] + …`");
    return true;
  case TokenKind::Ellipsis:
    error(token.span,
          "`...` is not part of the language; write every axis out");
    return true;
  case TokenKind::Semicolon:
    error(token.span, "`;` is not part of the language; statements follow each "
                      "other without a separator");
    return true;
  default:
    return false;
  }
}

/// The same, and ours where they cannot stand, right behind an expression.
bool Parser::refuseForeignOperator() {
  switch (token.kind) {
  case TokenKind::Pipe:
    error(token.span, "`|` stands before a filter only: bit operations are not "
                      "part of the language, and conditions are joined by `&&` "
                      "and `||`");
    return true;
  case TokenKind::Assign:
    error(token.span, "`=` assigns and stands after the left side of a "
                      "statement only; compare with `==`");
    return true;
  case TokenKind::Dot:
    error(token.span, "`.` stands in a number and in `.sat` after a type only");
    return true;
  case TokenKind::LeftBracket:
    error(token.span, "only names take subscripts; give the expression a name "
                      "with `let`");
    return true;
  default:
    return refuseForeignWord();
  }
}

ExprPtr Parser::parseExpr(unsigned lowestLevel) {
  ExprPtr left = parseUnary();
  if (!left)
    return nullptr;
  while (std::optional<unsigned> level = levelOf(token.kind)) {
    if (*level < lowestLevel)
      return left;
    ExprPtr binary = make(ExprKind::Binary, token);
    advance();
    ExprPtr right = parseExpr(*level + 1);
    if (!right)
      return nullptr;
    if (*level == CompareLevel && levelOf(token.kind) == CompareLevel) {
      error(token.span, "comparisons do not chain; write `a " + binary->text +
                            " b && b " + token.text + " c`");
      return nullptr;
    }
    binary->span = join(left->span, right->span);
    binary->operands.push_back(std::move(left));
    binary->operands.push_back(std::move(right));
    if (!measure(*binary))
      return nullptr;
    left = std::move(binary);
  }
  if (refuseForeignOperator())
    return nullptr;
  return left;
}

ExprPtr Parser::parseUnary() {
  if (nesting >= maxNesting) {
    error(token.span, "expression nests more than " + Twine(maxNesting) +
                          " levels; name parts of it with `let`");
    return nullptr;
  }
  ++nesting;
  auto leave = llvm::scope_exit([&] { --nesting; });
  if (!token.is(TokenKind::Minus) && !token.is(TokenKind::Not))
    return parsePrimary();
  ExprPtr unary = make(ExprKind::Unary, token);
  advance();
  ExprPtr operand = parseUnary();
  if (!operand)
    return nullptr;
  unary->span = join(unary->span, operand->span);
  unary->operands.push_back(std::move(operand));
  return measure(*unary) ? std::move(unary) : nullptr;
}

ExprPtr Parser::parsePrimary() {
  auto leaf = [&](ExprKind kind) {
    ExprPtr expr = make(kind, token);
    advance();
    return expr;
  };
  switch (token.kind) {
  case TokenKind::Integer:
    return leaf(ExprKind::Integer);
  case TokenKind::Float:
    return leaf(ExprKind::Float);
  case TokenKind::Size:
    return leaf(ExprKind::Size);
  case TokenKind::Name:
    return parseNameOrCall();
  case TokenKind::Type:
    return parseConversion();
  case TokenKind::Reduction:
    return parseReduction();
  case TokenKind::Function: {
    ExprPtr call = leaf(ExprKind::Call);
    return parseArguments(*call) ? std::move(call) : nullptr;
  }
  case TokenKind::Keyword:
    if (token.text == "inf")
      return leaf(ExprKind::Infinity);
    if (token.text == "nan")
      return leaf(ExprKind::NotANumber);
    if (token.text == "true" || token.text == "false")
      return leaf(ExprKind::Boolean);
    break;
  case TokenKind::Later:
    error(token.span, "`" + token.text + "` is not part of the language; " +
                          insteadOf(token.text));
    return nullptr;
  case TokenKind::LeftParen: {
    ExprPtr paren = leaf(ExprKind::Paren);
    ExprPtr inner = parseExpr();
    if (!inner || !expect(TokenKind::RightParen, "`)`", &paren->span))
      return nullptr;
    paren->span = join(paren->span, previousEnd);
    paren->operands.push_back(std::move(inner));
    return measure(*paren) ? std::move(paren) : nullptr;
  }
  default:
    break;
  }
  if (!refuseForeignWord())
    error(token.span, "expected an expression, found " + found());
  return nullptr;
}

ExprPtr Parser::parseNameOrCall() {
  ExprPtr name = make(ExprKind::Name, token);
  StringRef array = token.text;
  advance();
  if (token.is(TokenKind::LeftParen)) {
    name->kind = ExprKind::Call;
    return parseArguments(*name) ? std::move(name) : nullptr;
  }
  if (token.is(TokenKind::LeftBracket)) {
    name->subscripts.emplace();
    if (!parseSubscripts(*name->subscripts, array))
      return nullptr;
    name->span = join(name->span, previousEnd);
  }
  return name;
}

ExprPtr Parser::parseConversion() {
  ExprPtr convert = make(ExprKind::Convert, token);
  convert->type = *typeByName(token.text);
  advance();
  if (consume(TokenKind::Dot)) {
    if (!token.is(TokenKind::Name) || token.text != "sat") {
      error(token.span,
            "expected `sat` after `" + convert->text + ".`, found " + found());
      return nullptr;
    }
    convert->saturate = true;
    convert->mainSpan = join(convert->mainSpan, token.span);
    advance();
  }
  if (!token.is(TokenKind::LeftParen)) {
    error(token.span, "a type in an expression converts, `" + convert->text +
                          "(x)`; expected `(`, found " + found());
    return nullptr;
  }
  if (!parseArguments(*convert))
    return nullptr;
  if (convert->operands.size() != 1) {
    error(convert->span, "`" + convert->text + "` converts one value, found " +
                             Twine(convert->operands.size()));
    return nullptr;
  }
  return convert;
}

ExprPtr Parser::parseReduction() {
  ExprPtr reduce = make(ExprKind::Reduce, token);
  advance();
  if (token.is(TokenKind::LeftParen)) {
    if (reduce->text != "min" && reduce->text != "max") {
      error(reduce->span, "`" + reduce->text +
                              "` names the indices it runs "
                              "over, `" +
                              reduce->text + "[k](…)`");
      return nullptr;
    }
    reduce->kind = ExprKind::Call;
    return parseArguments(*reduce) ? std::move(reduce) : nullptr;
  }
  if (!expect(TokenKind::LeftBracket, "`[` after `" + reduce->text + "`") ||
      !parseBinds(reduce->binds, /*left=*/false))
    return nullptr;
  if (consume(TokenKind::Pipe)) {
    reduce->filter = parseExpr();
    if (!reduce->filter)
      return nullptr;
  }
  if (!expect(TokenKind::RightBracket, reduce->filter
                                           ? "`]` after the filter"
                                           : "`,`, `|` or `]` after an index"))
    return nullptr;
  Span opening = token.span;
  if (!expect(TokenKind::LeftParen,
              "`(` and what `" + reduce->text + "` runs over"))
    return nullptr;
  ExprPtr body = parseExpr();
  if (!body || !expect(TokenKind::RightParen, "`)`", &opening))
    return nullptr;
  reduce->span = join(reduce->span, previousEnd);
  reduce->operands.push_back(std::move(body));
  return measure(*reduce) ? std::move(reduce) : nullptr;
}

/// args, into `call.operands`.
bool Parser::parseArguments(Expr &call) {
  Span opening = token.span;
  if (!expect(TokenKind::LeftParen, "`(` after `" + call.text + "`"))
    return false;
  if (token.is(TokenKind::RightParen)) {
    error(token.span, "`" + call.text + "` needs at least one argument");
    return false;
  }
  do {
    ExprPtr argument = parseExpr();
    if (!argument)
      return false;
    call.operands.push_back(std::move(argument));
  } while (consume(TokenKind::Comma));
  if (!expect(TokenKind::RightParen, "`,` or `)`", &opening))
    return false;
  call.span = join(call.span, previousEnd);
  return measure(call);
}

/// "[" sub {"," sub} "]" of `array`.
bool Parser::parseSubscripts(std::vector<Subscript> &subscripts,
                             StringRef array) {
  if (nesting >= maxNesting) {
    error(token.span,
          "subscripts nest more than " + Twine(maxNesting) + " levels");
    return false;
  }
  ++nesting;
  auto leave = llvm::scope_exit([&] { --nesting; });
  Span opening = token.span;
  expect(TokenKind::LeftBracket, "`[`");
  do {
    Subscript subscript;
    if (!parseSubscript(subscript, array))
      return false;
    subscripts.push_back(std::move(subscript));
  } while (consume(TokenKind::Comma));
  return expect(TokenKind::RightBracket, "`,` or `]` after a subscript",
                &opening);
}

bool Parser::parseSubscript(Subscript &subscript, StringRef array) {
  Span begin = token.span;
  auto computed = [&] {
    if (array == assigning)
      error(begin, "recurrences are not part of the language: `" + array +
                       "` is read inside its own assignment; a prefix sum is "
                       "`sum[j | j <= i](…)`, other steps are one call each");
    else
      error(begin, "computed subscripts are not part of the language; a "
                   "subscript of `" +
                       array +
                       "` is an index, a number, an integer argument or an "
                       "element of an integer array: split the axis, or unfold "
                       "first");
    return false;
  };
  subscript.span = begin;
  switch (token.kind) {
  case TokenKind::Integer:
    if (token.text.getAsInteger(10, subscript.number)) {
      error(token.span, "number is too large for a subscript");
      return false;
    }
    advance();
    break;
  case TokenKind::Name:
    subscript.name = token.text.str();
    advance();
    if (token.is(TokenKind::LeftBracket)) {
      subscript.inner.emplace();
      if (!parseSubscripts(*subscript.inner, subscript.name))
        return false;
      subscript.span = join(begin, previousEnd);
    } else if (token.is(TokenKind::LeftParen)) {
      return computed();
    }
    break;
  case TokenKind::Size: {
    StringRef size = token.text;
    advance();
    if (levelOf(token.kind))
      return computed();
    error(begin, "`" + size +
                     "` is a size, one past the last element; a "
                     "subscript is an index, a number, an integer "
                     "argument or an element of an integer array");
    return false;
  }
  case TokenKind::Minus:
  case TokenKind::Not:
  case TokenKind::LeftParen:
  case TokenKind::Function:
  case TokenKind::Reduction:
  case TokenKind::Type:
    return computed();
  case TokenKind::Colon:
    break;
  default:
    if (!refuseForeignWord())
      error(token.span, "expected a subscript, found " + found());
    return false;
  }
  if (token.is(TokenKind::Colon)) {
    error(token.span, "slices are not part of the language; an index runs over "
                      "its whole axis, a filter `| i < n` leaves elements out");
    return false;
  }
  if (levelOf(token.kind) || token.is(TokenKind::BitOperator))
    return computed();
  return true;
}
