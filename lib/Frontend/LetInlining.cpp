//===- LetInlining.cpp - lets that are only conditions or index arithmetic ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `let live[i: S, j: T] = j <= i + T - S` names a condition. Stored as a tensor
// it would hide from every later step that it is affine in the indices (blocks
// to skip) and depends on arguments only (so that it guards a gather). Such
// lets, integer or bool, without reductions, are put back where they are used:
//
//   sum[j | live[i, j]](p[i, j])   becomes   sum[j | j <= i + T - S](p[i, j])
//
// Lets of computed data stay: they are what a plan keeps, fuses or stores.
//
//===----------------------------------------------------------------------===//

#include "LetInlining.h"

using namespace facet;
using namespace facet::checked;

LetInlining::LetInlining(const Kernel &kernel) {
  for (const Statement &statement : kernel.statements) {
    if (statement.target->kind != VariableKind::Let)
      continue;
    lets[statement.target] = &statement;
    ScalarType type = statement.target->type;
    if (type == ScalarType::Bool || type == ScalarType::I32 ||
        type == ScalarType::I64)
      if (canInline(statement.value, /*allowFloats=*/type == ScalarType::Bool))
        inlined[statement.target] = &statement;
  }
  for (const Statement &statement : kernel.statements)
    if (statement.target->kind != VariableKind::Let)
      collectNeeded(statement.value);
}

/// True when `expr` has no reduction and reads only arguments and inlined lets.
/// Integers computed from floats (quantised data) are values, not conditions.
bool LetInlining::canInline(const Expr *expr, bool allowFloats) const {
  if (expr->kind == ExprKind::Reduce || expr->kind == ExprKind::Softmax)
    return false;
  if (isFloat(expr->type) && !allowFloats)
    return false;
  if (expr->kind == ExprKind::Read) {
    VariableKind kind = expr->variable->kind;
    if (kind == VariableKind::Let
            ? !inlined.contains(expr->variable)
            : kind != VariableKind::Argument && kind != VariableKind::Const)
      return false;
  }
  return llvm::all_of(expr->operands,
                      [&](const Expr *e) { return canInline(e, allowFloats); });
}

void LetInlining::collectNeeded(const Expr *expr) {
  if (expr->kind == ExprKind::Read) {
    if (auto it = lets.find(expr->variable);
        it != lets.end() && needed.insert(expr->variable).second)
      collectNeeded(it->second->value);
    for (const Subscript &subscript : expr->subscripts)
      if (subscript.kind == Subscript::Element)
        collectNeeded(subscript.element);
  }
  for (const Expr *operand : expr->operands)
    collectNeeded(operand);
  if (expr->filter)
    collectNeeded(expr->filter);
}

const Expr *LetInlining::value(const Statement &statement) {
  return clone(statement.value, Substitution());
}

Subscript LetInlining::clone(const Subscript &subscript,
                             const Substitution &substitution) {
  Subscript copy = subscript;
  if (subscript.kind == Subscript::Index) {
    if (auto it = substitution.find(subscript.index);
        it != substitution.end()) {
      copy = it->second;
      if (copy.kind == Subscript::Element)
        copy.element = clone(copy.element, Substitution());
    }
  } else if (subscript.kind == Subscript::Element) {
    copy.element = clone(subscript.element, substitution);
  }
  return copy;
}

const Expr *LetInlining::clone(const Expr *expr,
                               const Substitution &substitution) {
  auto own = [&](Expr e) {
    return pool.emplace_back(std::make_unique<Expr>(std::move(e))).get();
  };

  // A use of an inlined let: its expression, with the binds replaced by the
  // subscripts of this use.
  if (expr->kind == ExprKind::Read)
    if (auto it = inlined.find(expr->variable); it != inlined.end()) {
      Substitution inner;
      for (auto [bind, subscript] :
           llvm::zip_equal(it->second->binds, expr->subscripts))
        inner[bind] = clone(subscript, substitution);
      return clone(it->second->value, inner);
    }

  // The value of an index that became a number or an element.
  if (expr->kind == ExprKind::Index)
    if (auto it = substitution.find(expr->index); it != substitution.end()) {
      const Subscript &subscript = it->second;
      Expr value = *expr;
      switch (subscript.kind) {
      case Subscript::Index:
        value.index = subscript.index;
        return own(std::move(value));
      case Subscript::Constant:
        value.kind = ExprKind::Constant;
        value.integer = subscript.constant;
        return own(std::move(value));
      case Subscript::Element: {
        const Expr *element = clone(subscript.element, Substitution());
        if (element->type == ScalarType::I64)
          return element;
        Expr widened;
        widened.kind = ExprKind::Convert;
        widened.type = widened.storage = ScalarType::I64;
        widened.mode = ConvertMode::Widen;
        widened.place = expr->place;
        widened.operands = {element};
        return own(std::move(widened));
      }
      }
    }

  Expr copy = *expr;
  for (Subscript &subscript : copy.subscripts)
    subscript = clone(subscript, substitution);
  for (const Expr *&operand : copy.operands)
    operand = clone(operand, substitution);
  if (copy.filter)
    copy.filter = clone(copy.filter, substitution);
  return own(std::move(copy));
}
