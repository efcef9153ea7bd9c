//===- CheckReduce.cpp - indices, reductions and softmax ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An index is bound on the left of a statement or by a reduction. How far it
// runs is not written as a rule: every axis it subscripts says so, and all must
// agree by name.
//
//   sum[k](x[m, k] * w[k, n])     k: K, as axis 2 of x and axis 1 of w are `K`
//
// `softmax[j | c](e)` binds nothing: it belongs to a j that is bound around it.
//
//===----------------------------------------------------------------------===//

#include "KernelChecker.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace facet;
using namespace facet::checked;
using llvm::StringRef;
using llvm::Twine;

static constexpr size_t mostIndices = 64; // in scope

//===----------------------------------------------------------------------===//
// Indices

//===----------------------------------------------------------------------===//

BoundIndex *KernelChecker::findIndex(StringRef name) {
  for (BoundIndex &index : llvm::reverse(bound))
    if (index.index->name == name)
      return &index;
  return nullptr;
}

/// An index may not bear the name of anything else in the kernel.
bool KernelChecker::nameIsFree(StringRef name, Place where, StringRef what) {
  Place other;
  StringRef kind;
  if (auto variable = variables.find(name); variable != variables.end()) {
    other = variable->second->place;
    switch (variable->second->kind) {
    case VariableKind::Result:
      kind = "a result";
      break;
    case VariableKind::Let:
      kind = "a `let`";
      break;
    default:
      kind = "an argument";
    }
  } else if (auto let = lets.find(name); let != lets.end()) {
    other = let->second;
    kind = "a `let`";
  } else if (auto function = names.functions.find(name);
             function != names.functions.end()) {
    other = placeIn(function->second.file, function->second.syntax->name.span);
    kind = "a function";
  } else {
    return true;
  }
  error(where, what + " `" + name + "` bears the name of " + kind +
                   "; choose another name")
      .note(other, "`" + name + "` is " + kind + " here");
  return false;
}

/// Puts an index in scope.
bool KernelChecker::bind(const syntax::Bind &bind, const Environment &env) {
  Place where = place(bind.name.span, env);
  if (!nameIsFree(bind.name.text, where, "index"))
    return false;
  if (BoundIndex *outer = findIndex(bind.name.text)) {
    error(where, "index `" + bind.name.text +
                     "` is bound already; choose another name")
        .note(outer->index->place, "bound here");
    return false;
  }
  if (bound.size() == mostIndices) {
    error(where,
          "more than " + Twine(mostIndices) + " indices are bound at once");
    return false;
  }
  kernel->indexPool.push_back(std::make_unique<Index>());
  Index *index = kernel->indexPool.back().get();
  index->name = bind.name.text;
  index->place = where;
  bound.push_back({index, {}, false});
  return true;
}

/// The range written at the index, `j: T`.
bool KernelChecker::addRange(BoundIndex &index, const syntax::Bind &bind,
                             const Environment &env) {
  std::optional<Dim> dim = dimOf(*bind.range);
  if (!dim)
    return false;
  index.ranges.push_back({*dim, place(bind.range->span, env), "its range"});
  return true;
}

/// All that was said of the range agrees and becomes the extent.
bool KernelChecker::settleRange(BoundIndex &index) {
  const std::string &name = index.index->name;
  if (index.ranges.empty()) {
    std::string example = kernel->sizes.empty() ? "8" : kernel->sizes[0].name;
    error(index.index->place, "nothing says how far index `" + name +
                                  "` runs, as it subscripts no axis; state its "
                                  "range, `" +
                                  name + ": " + example + "`");
    return false;
  }
  const BoundIndex::Range &first = index.ranges.front();
  index.index->extent = first.dim;
  for (const BoundIndex::Range &other : index.ranges) {
    if (other.dim == first.dim)
      continue;
    // A size name is the better offer than a number.
    std::string offer = dimText(first.dim.size ? first.dim : other.dim);
    error(other.place, "index `" + name + "` runs over `" + dimText(other.dim) +
                           "` as " + other.of + " and over `" +
                           dimText(first.dim) + "` as " + first.of +
                           "; write one, `" + offer + "`, for both")
        .note(first.place,
              "`" + name + "` runs over `" + dimText(first.dim) + "` here");
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static Reduction reductionByName(StringRef name) {
  return llvm::StringSwitch<Reduction>(name)
      .Case("max", Reduction::Max)
      .Case("min", Reduction::Min)
      .Case("mean", Reduction::Mean)
      .Case("any", Reduction::Any)
      .Case("all", Reduction::All)
      .Case("argmax", Reduction::Argmax)
      .Case("argmin", Reduction::Argmin)
      .Default(Reduction::Sum);
}

Value KernelChecker::checkReduce(const syntax::Expr &expr,
                                 const Environment &env) {
  if (mode != Mode::Statement) {
    error(place(expr.mainSpan, env),
          mode == Mode::Requires
              ? "a promise is checked before anything is read; `requires` "
                "takes sizes, numbers and scalar arguments"
              : "a schedule is chosen by sizes and leading dimensions; `when` "
                "takes these and numbers",
          &env);
    return {};
  }
  if (expr.text == "softmax")
    return checkSoftmax(expr, env);
  bool isArg = expr.text == "argmax" || expr.text == "argmin";
  if (isArg && expr.binds.size() != 1) {
    error(place(expr.mainSpan, env), "`" + expr.text +
                                         "` runs over one index, found " +
                                         Twine(expr.binds.size()));
    return {};
  }
  size_t outer = bound.size();
  bool good = true;
  for (const syntax::Bind &inner : expr.binds) {
    if (!bind(inner, env)) {
      good = false;
      break; // what follows would only repeat the mistake
    }
    if (inner.range)
      good &= addRange(bound.back(), inner, env);
  }
  const checked::Expr *filter = nullptr, *body = nullptr;
  if (good) {
    if (expr.filter) {
      filter = condition(*expr.filter, env, "a filter");
      good &= filter != nullptr;
    }
    body = checkBody(expr, env);
    good &= body && acceptsBody(expr, *body, env);
  }
  llvm::SmallVector<const Index *, 2> indices;
  for (size_t i = outer; i < bound.size(); ++i) {
    BoundIndex &index = bound[i];
    if (good || index.ranges.size() > 1)
      good &= settleRange(index);
    if (good && !index.used)
      diagnostics.warning("unused-index", index.index->place,
                          "`" + index.index->name +
                              "` is in neither filter "
                              "nor body of `" +
                              expr.text + "`");
    indices.push_back(index.index);
  }
  bound.resize(outer, {nullptr, {}, false});
  if (!good)
    return {};
  checked::Expr *reduce =
      make(ExprKind::Reduce, isArg ? ScalarType::I64 : body->type,
           place(expr.span, env), {body});
  if (!reduce)
    return {};
  reduce->reduction = reductionByName(expr.text);
  reduce->indices = std::move(indices);
  reduce->filter = filter;
  if (filter)
    reduce->height = std::max(reduce->height, filter->height + 1);
  return {reduce, nullptr};
}

Value KernelChecker::checkSoftmax(const syntax::Expr &expr,
                                  const Environment &env) {
  llvm::SmallVector<const Index *, 2> indices;
  for (const syntax::Bind &bind : expr.binds) {
    Place where = place(bind.name.span, env);
    BoundIndex *index = findIndex(bind.name.text);
    if (!index) {
      error(where, "`softmax` binds nothing: `" + bind.name.text +
                       "` is an index of the left side or of a reduction "
                       "around it, over which the values are normalised");
      return {};
    }
    if (llvm::is_contained(indices, index->index)) {
      error(where, "`" + bind.name.text + "` stands twice in `softmax`");
      return {};
    }
    index->used = true;
    if (bind.range && !addRange(*index, bind, env))
      return {};
    indices.push_back(index->index);
  }
  const checked::Expr *filter = nullptr;
  if (expr.filter && !(filter = condition(*expr.filter, env, "a filter")))
    return {};
  const checked::Expr *body = checkBody(expr, env);
  if (!body || !acceptsBody(expr, *body, env))
    return {};
  checked::Expr *softmax =
      make(ExprKind::Softmax, body->type, place(expr.span, env), {body});
  if (!softmax)
    return {};
  softmax->indices = std::move(indices);
  softmax->filter = filter;
  if (filter)
    softmax->height = std::max(softmax->height, filter->height + 1);
  return {softmax, nullptr};
}

/// What is reduced. Literals alone take their own type, a float one where only
/// floats will do.
const checked::Expr *KernelChecker::checkBody(const syntax::Expr &expr,
                                              const Environment &env) {
  Value value = check(*expr.operands[0], env);
  if (value.failed())
    return nullptr;
  if (value.pending && (expr.text == "mean" || expr.text == "softmax"))
    return materialize(value, ScalarType::F32, env);
  return settle(value, env);
}

/// Whether the reduction takes the type of its body; says what to write if not.
bool KernelChecker::acceptsBody(const syntax::Expr &expr,
                                const checked::Expr &body,
                                const Environment &env) {
  StringRef name = expr.text;
  bool isBool = body.type == ScalarType::Bool;
  std::string inner = print(*expr.operands[0]);
  if (inner.size() > 30)
    inner = "…";
  std::string problem;
  if (name == "any" || name == "all") {
    if (!isBool)
      problem = "joins conditions, found " + spelling(body.type).str() +
                "; compare it, `" + inner + " != 0`";
  } else if (name == "mean" || name == "softmax") {
    if (!isFloat(body.type))
      problem = "takes f32 or f64, found " + spelling(body.type).str() +
                "; convert what it runs over, `f32(" + inner + ")`";
  } else if (isBool) {
    problem = "takes numbers, found bool; " +
              (name == "sum" ? "count with `i32(" + inner + ")`"
                             : "convert it, `i32(" + inner + ")`, or use `" +
                                   (name == "min" ? "all" : "any") + "`");
  }
  if (problem.empty())
    return true;
  error(place(expr.operands[0]->span, env), "`" + name + "` " + problem);
  return false;
}
