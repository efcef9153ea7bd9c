//===- CheckRead.cpp - names, reads and subscripts ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `w[id[t], k]` ↦ a read of w whose first subscript is an element of id and
// whose second is the index k. Each index subscripting an axis adds to what is
// known of its range. Here is also who may be read when: an argument always, a
// `let` once defined, a result once assigned, an `inout` at its own element
// inside its own assignment and anywhere afterwards.
//
//===----------------------------------------------------------------------===//

#include "KernelChecker.h"
#include "llvm/ADT/STLExtras.h"

using namespace facet;
using namespace facet::checked;
using llvm::StringRef;
using llvm::Twine;

/// Nothing known bears this name.
void KernelChecker::unknownName(StringRef name, Place where, bool asSubscript) {
  if (auto let = lets.find(name); let != lets.end()) {
    if (!variables.count(name) && !(current && current->name == name))
      error(where, "`" + name +
                       "` is used before it is defined; names are "
                       "defined before use")
          .note(let->second, "defined here");
    else
      error(where, "`" + name +
                       "` is read inside its own definition; "
                       "recurrences are not part of the language");
    return;
  }
  if (names.functions.count(name)) {
    error(where, "`" + name + "` is a function; call it, `" + name + "(…)`");
    return;
  }
  llvm::SmallVector<StringRef> known;
  for (const auto &entry : variables)
    if (!asSubscript || entry.second->kind == VariableKind::Argument)
      known.push_back(entry.first());
  llvm::sort(known); // the table's own order is arbitrary
  for (const BoundIndex &index : bound)
    known.push_back(index.index->name);
  std::string similar = nearest(name, known);
  if (!similar.empty())
    error(where,
          "unknown name `" + name + "`; did you mean `" + similar + "`?");
  else if (asSubscript)
    error(where, "index `" + name +
                     "` is bound neither on the left side nor "
                     "by a reduction around it");
  else
    error(where, "unknown name `" + name + "`");
}

Value KernelChecker::checkName(const syntax::Expr &expr,
                               const Environment &env) {
  const std::string &name = expr.text;
  Place where = place(expr.mainSpan, env);
  if (env.function) {
    // Only parameters are visible; checkFunction has seen to that.
    for (auto [i, parameter] : llvm::enumerate(env.function->parameters))
      if (parameter.text == name)
        return copy(env.arguments[i]);
    return {};
  }
  if (BoundIndex *index = findIndex(name)) {
    if (expr.subscripts) {
      error(where, "`" + name + "` is an index and takes no subscripts");
      return {};
    }
    index->used = true;
    checked::Expr *result =
        make(ExprKind::Index, ScalarType::I64, place(expr.span, env));
    if (result)
      result->index = index->index;
    return {result, nullptr};
  }
  auto found = variables.find(name);
  if (found == variables.end()) {
    unknownName(name, where, /*asSubscript=*/false);
    return {};
  }
  const Variable &variable = *found->second;
  wasRead[&variable] = true;
  if (broken.lookup(&variable))
    return {};
  if (!mayRead(variable, expr, where))
    return {};
  size_t count = expr.subscripts ? expr.subscripts->size() : 0;
  if (count != variable.rank()) {
    error(where, "`" + name + "` takes " + axesText(variable) + ", found " +
                     Twine(count))
        .note(variable.place, "declared here");
    return {};
  }
  checked::Expr *read = make(ExprKind::Read, arithmeticType(variable.type),
                             place(expr.span, env));
  if (!read)
    return {};
  read->variable = &variable;
  if (expr.subscripts && !checkSubscripts(*read, *expr.subscripts, where, env))
    return {};
  return {read, nullptr};
}

/// Whether `variable` has a value that may be read here.
bool KernelChecker::mayRead(const Variable &variable, const syntax::Expr &expr,
                            Place where) {
  bool isScalarArgument =
      variable.kind == VariableKind::Argument && variable.axes.empty();
  if (mode == Mode::Requires && !isScalarArgument) {
    error(where, "`requires` takes sizes, numbers and scalar arguments; `" +
                     variable.name + "` is " +
                     (variable.axes.empty() ? "not one" : "an array"))
        .note(variable.place, "declared here");
    return false;
  }
  if (mode == Mode::When) {
    error(where, "`when` takes sizes, numbers and leading dimensions, "
                 "`ld(name)`; `" +
                     variable.name + "` is none of these");
    return false;
  }
  if (variable.kind == VariableKind::Result) {
    if (&variable == current) {
      error(where, "recurrences are not part of the language: `" +
                       variable.name +
                       "` is read inside its own assignment; declare it "
                       "`inout` to read its old value");
      return false;
    }
    if (!assigned.count(&variable)) {
      error(where,
            "result `" + variable.name + "` is read before it is assigned");
      return false;
    }
  }
  if (variable.kind == VariableKind::Inout) {
    if (&variable == current) {
      if (isOwnElement(expr))
        return true;
      std::string own = variable.name;
      if (!currentSyntax->binds.empty()) {
        own += '[';
        for (auto [i, bind] : llvm::enumerate(currentSyntax->binds))
          own += (i ? ", " : "") + bind.name.text;
        own += ']';
      }
      error(where, "inside its own assignment `" + variable.name +
                       "` is read at the left side's own subscripts only, `" +
                       own + "`");
      return false;
    }
    if (!assigned.count(&variable)) {
      error(where, "`" + variable.name +
                       "` is `inout`: its old value is read inside its own "
                       "assignment only, its new value after that");
      return false;
    }
  }
  return true;
}

/// `c[m, n]` inside `c[m, n] = …`.
bool KernelChecker::isOwnElement(const syntax::Expr &expr) const {
  size_t count = expr.subscripts ? expr.subscripts->size() : 0;
  if (count != currentSyntax->binds.size())
    return count != current->rank(); // a wrong count is told elsewhere
  for (size_t i = 0; i < count; ++i) {
    const syntax::Subscript &subscript = (*expr.subscripts)[i];
    if (subscript.name != currentSyntax->binds[i].name.text || subscript.inner)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Subscripts
//===----------------------------------------------------------------------===//

bool KernelChecker::checkSubscripts(
    checked::Expr &read, const std::vector<syntax::Subscript> &subscripts,
    Place where, const Environment &env) {
  const Variable &variable = *read.variable;
  if (subscripts.size() != variable.rank()) {
    error(where, "`" + variable.name + "` takes " + axesText(variable) +
                     ", found " + Twine(subscripts.size()))
        .note(variable.place, "declared here");
    return false;
  }
  bool good = true;
  for (auto [position, subscript] : llvm::enumerate(subscripts))
    good &= checkSubscript(read, position, subscript, env);
  return good;
}

bool KernelChecker::checkSubscript(checked::Expr &read, unsigned position,
                                   const syntax::Subscript &subscript,
                                   const Environment &env) {
  const Variable &variable = *read.variable;
  Dim dim = variable.dim(position);
  Place where = place(subscript.span, env);
  read.subscripts.emplace_back();
  checked::Subscript &result = read.subscripts.back();
  result.place = where;
  if (subscript.name.empty()) {
    result.kind = checked::Subscript::Constant;
    result.constant = subscript.number;
    if (dim.size || subscript.number < dim.constant)
      return true;
    error(where, "subscript " + Twine(subscript.number) + " of `" +
                     variable.name + "` is beyond the " + Twine(dim.constant) +
                     " elements there, 0 to " + Twine(dim.constant - 1))
        .note(variable.place, "declared here");
    return false;
  }
  if (BoundIndex *index = findIndex(subscript.name)) {
    if (subscript.inner) {
      error(where, "`" + subscript.name +
                       "` is an index and takes no "
                       "subscripts");
      return false;
    }
    result.kind = checked::Subscript::Index;
    result.index = index->index;
    index->used = true;
    index->ranges.push_back(
        {dim, where,
         ("subscript " + Twine(position + 1) + " of `" + variable.name + "`")
             .str()});
    return true;
  }
  auto found = variables.find(subscript.name);
  if (found == variables.end()) {
    unknownName(subscript.name, where, /*asSubscript=*/true);
    return false;
  }
  wasRead[found->second] = true;
  return checkElement(result, *found->second, subscript, env);
}

/// An integer scalar argument, or an element of an integer array argument.
bool KernelChecker::checkElement(checked::Subscript &result,
                                 const Variable &array,
                                 const syntax::Subscript &subscript,
                                 const Environment &env) {
  Place where = place(subscript.span, env);
  if (array.kind != VariableKind::Argument &&
      array.kind != VariableKind::Const) {
    error(where, "`" + array.name +
                     "` cannot be a subscript: numbers that select elements "
                     "are checked before anything is written, so they come "
                     "from arguments")
        .note(array.place, "declared here");
    return false;
  }
  if (!isInteger(array.type)) {
    error(where, "`" + array.name + "` is " + spelling(array.type) +
                     "; a subscript is an integer")
        .note(array.place, "declared here");
    return false;
  }
  checked::Expr *element =
      make(ExprKind::Read, arithmeticType(array.type), where);
  if (!element)
    return false;
  element->variable = &array;
  result.kind = checked::Subscript::Element;
  result.element = element;
  static const std::vector<syntax::Subscript> none;
  return checkSubscripts(*element, subscript.inner ? *subscript.inner : none,
                         where, env);
}
