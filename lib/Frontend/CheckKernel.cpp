//===- CheckKernel.cpp - declarations and statements ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of questions: sizes and axes of the arguments and results, the
// promises, then statement by statement which name is assigned, which indices
// the left side binds, what the right side means (CheckExpr.cpp and its
// siblings), how far each index runs, and how the value becomes the target's
// type. A mistake poisons the name it defines, so that it is told once.
//
//===----------------------------------------------------------------------===//

#include "KernelChecker.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace facet;
using namespace facet::checked;
using llvm::StringRef;
using llvm::Twine;

static constexpr unsigned mostSubscripts = 32;

KernelChecker::KernelChecker(const syntax::Kernel &syntax, StringRef file,
                             const GlobalNames &names, Diagnostics &diagnostics)
    : syntax(syntax), file(file), names(names), diagnostics(diagnostics),
      kernel(std::make_unique<Kernel>()) {}

/// Errors name the calls they came through: `env` is where the text stands.
Diagnostic &KernelChecker::error(Place where, const Twine &message,
                                 const Environment *env) {
  failed = true;
  Diagnostic &diagnostic = diagnostics.error(std::move(where), message);
  for (; env && env->function; env = env->caller)
    diagnostic.note(env->call,
                    "in `" + env->function->name.text + "`, called here");
  return diagnostic;
}

std::unique_ptr<Kernel> KernelChecker::run() {
  kernel->name = syntax.name.text;
  kernel->documentation = syntax.documentation;
  kernel->place = placeIn(file, syntax.name.span);
  noteSizes(syntax.arguments, /*results=*/false);
  noteSizes(syntax.results, /*results=*/true);
  declareParams(syntax.arguments, /*results=*/false);
  declareParams(syntax.results, /*results=*/true);
  if (isAmbiguous)
    return nullptr; // the statements would only repeat the mistake
  collectLets();
  checkRequirements();
  for (const syntax::Statement &statement : syntax.statements) {
    if (diagnostics.limitReached())
      return nullptr;
    checkStatement(statement);
  }
  checkAllAssigned();
  if (failed)
    return nullptr;
  warnUnused();
  return std::move(kernel);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void KernelChecker::noteSizes(const std::vector<syntax::Param> &params,
                              bool results) {
  for (const syntax::Param &param : params)
    for (const syntax::Axis &axis : param.axes)
      for (const syntax::Dim &dim : axis.dims) {
        if (dim.size.empty() || sizes.count(dim.size))
          continue;
        Place where = placeIn(file, dim.span);
        if (results)
          error(where, "no argument has an axis `" + dim.size +
                           "`, so a call cannot tell how long it is; sizes are "
                           "bound by the arguments");
        sizes[dim.size] = kernel->sizes.size();
        kernel->sizes.push_back({dim.size, where});
      }
}

void KernelChecker::declareParams(const std::vector<syntax::Param> &params,
                                  bool results) {
  for (const syntax::Param &param : params)
    declareParam(param, results);
}

void KernelChecker::declareParam(const syntax::Param &param, bool isResult) {
  Place where = placeIn(file, param.name.span);
  auto variable = std::make_unique<Variable>();
  variable->name = param.name.text;
  variable->kind =
      isResult                                 ? VariableKind::Result
      : param.mode == syntax::ParamMode::Inout ? VariableKind::Inout
      : param.mode == syntax::ParamMode::Const ? VariableKind::Const
                                               : VariableKind::Argument;
  variable->type = param.type;
  variable->place = where;
  for (const syntax::Axis &axis : param.axes) {
    variable->axes.emplace_back();
    for (const syntax::Dim &dim : axis.dims)
      variable->axes.back().dims.push_back(*dimOf(dim));
  }
  if (isResult && param.mode != syntax::ParamMode::Plain)
    error(placeIn(file, param.modeSpan),
          param.mode == syntax::ParamMode::Inout
              ? "a result has no old value; declare `" + param.name.text +
                    "` as an `inout` argument"
              : Twine("`const` is for arguments"));
  if (variable->kind == VariableKind::Const && variable->axes.empty())
    error(placeIn(file, param.modeSpan),
          "`const` lets the caller pack an array once; a scalar needs none");
  checkParamType(param, *variable);

  auto [old, isNew] = variables.try_emplace(param.name.text, variable.get());
  if (!isNew) {
    isAmbiguous = true;
    error(where, "`" + param.name.text + "` is declared twice")
        .note(old->second->place, "first declared here");
  } else if (auto function = names.functions.find(param.name.text);
             function != names.functions.end())
    error(where, "`" + param.name.text + "` is the name of a function")
        .note(
            placeIn(function->second.file, function->second.syntax->name.span),
            "the function is here");
  (isResult ? kernel->results : kernel->arguments).push_back(variable.get());
  kernel->variables.push_back(std::move(variable));
}

/// Length limits, and the 4-bit types, which come in pairs.
void KernelChecker::checkParamType(const syntax::Param &param,
                                   Variable &variable) {
  Place where = placeIn(file, param.name.span);
  if (variable.rank() > mostSubscripts)
    error(where, "`" + variable.name + "` has " + Twine(variable.rank()) +
                     " sizes; at most " + Twine(mostSubscripts) +
                     " are allowed");
  int64_t elements = 1;
  for (const Axis &axis : variable.axes)
    for (const Dim &dim : axis.dims)
      if (!dim.size && (llvm::MulOverflow(elements, dim.constant, elements) ||
                        elements > (int64_t(1) << 59))) {
        error(where,
              "`" + variable.name + "` has more elements than memory can hold");
        return;
      }
  if (bitWidth(variable.type) != 4)
    return;
  if (variable.axes.empty()) {
    error(placeIn(file, param.typeSpan),
          "two `" + spelling(variable.type) +
              "` share a byte, so they come in arrays; a scalar is `i32`");
    return;
  }
  bool hasSize = false;
  int64_t length = 1;
  for (const Dim &dim : variable.axes.back().dims) {
    hasSize |= dim.size.has_value();
    length *= dim.size ? 1 : dim.constant;
  }
  if (!hasSize && length % 2)
    error(placeIn(file, param.axes.back().span),
          "the last axis of `" + spelling(variable.type) +
              "` arrays is even, as two elements share a byte; found " +
              Twine(length));
}

/// nullopt, with a message, for a size that no argument or result has.
std::optional<Dim> KernelChecker::dimOf(const syntax::Dim &dim) {
  if (dim.size.empty())
    return Dim{std::nullopt, dim.number};
  auto found = sizes.find(dim.size);
  if (found != sizes.end())
    return Dim{found->second, 0};
  llvm::SmallVector<StringRef> known;
  for (const Size &size : kernel->sizes)
    known.push_back(size.name);
  std::string similar = nearest(dim.size, known);
  error(placeIn(file, dim.span),
        "unknown size `" + dim.size + "`" +
            (similar.empty() ? "; sizes are bound by the arguments"
                             : "; did you mean `" + similar + "`?"));
  return std::nullopt;
}

void KernelChecker::collectLets() {
  for (const syntax::Statement &statement : syntax.statements)
    if (statement.isLet)
      lets.try_emplace(statement.target.text,
                       placeIn(file, statement.target.span));
}

void KernelChecker::checkRequirements() {
  mode = Mode::Requires;
  Environment env{file, nullptr, {}, nullptr, {}};
  for (const syntax::ExprPtr &requirement : syntax.requirements) {
    if (const Expr *holds = condition(*requirement, env, "`requires`"))
      kernel->requirements.push_back(
          {holds, print(*requirement), place(requirement->span, env)});
  }
  mode = Mode::Statement;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void KernelChecker::checkStatement(const syntax::Statement &statement) {
  Environment env{file, nullptr, {}, nullptr, {}};
  Variable *target = targetOf(statement);
  if (!target)
    return;
  current = target;
  currentSyntax = &statement;
  bool bindsAreGood = bindLeft(statement, *target);
  // Without its indices the right side would only repeat the mistake.
  Value value = bindsAreGood ? check(*statement.value, env) : Value();
  const Expr *stored = nullptr;
  if (!value.failed()) {
    if (statement.isLet)
      stored = settle(value, env);
    else
      stored = toTarget(*target, value, *statement.value, env);
  }
  Statement result{target, {}, stored, placeIn(file, statement.target.span)};
  for (BoundIndex &index : bound) {
    // A value that failed may hide what states the range.
    if (stored || !index.ranges.empty())
      bindsAreGood &= settleRange(index);
    result.binds.push_back(index.index);
  }
  if (statement.isLet) {
    for (const Index *index : result.binds)
      target->axes.push_back({{index->extent}});
    broken[target] = !stored || !bindsAreGood;
    if (stored)
      finishLet(*target, *stored);
    variables[target->name] = target;
  }
  if (stored && bindsAreGood)
    kernel->statements.push_back(std::move(result));
  assigned.try_emplace(target, placeIn(file, statement.target.span));
  bound.clear();
  current = nullptr;
  currentSyntax = nullptr;
}

/// The variable a statement assigns; null, with a message, when it may not.
Variable *KernelChecker::targetOf(const syntax::Statement &statement) {
  const std::string &name = statement.target.text;
  Place where = placeIn(file, statement.target.span);
  auto found = variables.find(name);
  Variable *known = found == variables.end() ? nullptr : found->second;
  if (statement.isLet) {
    if (known && known->kind == VariableKind::Let)
      error(where, "`" + name +
                       "` is defined twice; a `let` stands for one "
                       "expression")
          .note(known->place, "first defined here");
    else if (known)
      error(where, "`" + name + "` is " +
                       (known->kind == VariableKind::Result ? "a result"
                                                            : "an argument") +
                       (known->kind == VariableKind::Result ||
                                known->kind == VariableKind::Inout
                            ? "; assign it without `let`"
                            : "; choose another name for the `let`"))
          .note(known->place, "declared here");
    else if (auto function = names.functions.find(name);
             function != names.functions.end())
      error(where, "`" + name + "` is the name of a function")
          .note(placeIn(function->second.file,
                        function->second.syntax->name.span),
                "the function is here");
    else {
      kernel->variables.push_back(std::make_unique<Variable>());
      Variable *let = kernel->variables.back().get();
      let->name = name;
      let->kind = VariableKind::Let;
      let->type = ScalarType::F32;
      let->place = where;
      return let;
    }
    return nullptr;
  }
  if (!known) {
    lostTarget = true;
    llvm::SmallVector<StringRef> targets;
    for (const auto &variable : kernel->variables)
      if (variable->kind == VariableKind::Result ||
          variable->kind == VariableKind::Inout)
        targets.push_back(variable->name);
    std::string similar = nearest(name, targets);
    if (lets.count(name) || similar.empty())
      error(where, "`" + name +
                       "` is neither a result nor an `inout`; an "
                       "intermediate is written `let " +
                       name + "`");
    else
      error(where, "`" + name +
                       "` is neither a result nor an `inout`; did you "
                       "mean `" +
                       similar + "`?");
    return nullptr;
  }
  if (known->kind == VariableKind::Let) {
    error(where, "`" + name +
                     "` is a `let`, which stands for one expression "
                     "and is not assigned again")
        .note(known->place, "defined here");
    return nullptr;
  }
  if (known->kind != VariableKind::Result &&
      known->kind != VariableKind::Inout) {
    error(where, "`" + name +
                     "` is an argument and is only read; declare it "
                     "`inout` to change it")
        .note(known->place, "declared here");
    return nullptr;
  }
  if (auto old = assigned.find(known); old != assigned.end()) {
    error(where, "`" + name +
                     "` is assigned twice; a result is assigned once, "
                     "everywhere, with `where` for its cases")
        .note(old->second, "first assigned here");
    return nullptr;
  }
  return known;
}

/// Puts the left side's indices in scope; a result's axes state their ranges.
bool KernelChecker::bindLeft(const syntax::Statement &statement,
                             const Variable &target) {
  Environment env{file, nullptr, {}, nullptr, {}};
  bool good = true;
  bool isLet = target.kind == VariableKind::Let;
  if (statement.binds.size() > mostSubscripts) {
    error(placeIn(file, statement.target.span),
          "`" + target.name + "` has " + Twine(statement.binds.size()) +
              " indices; at most " + Twine(mostSubscripts) + " are allowed");
    return false;
  }
  for (size_t position = 0; position < statement.binds.size(); ++position) {
    const syntax::Bind &left = statement.binds[position];
    auto isSame = [&](const syntax::Bind &earlier) {
      return earlier.name.text == left.name.text;
    };
    if (llvm::any_of(llvm::ArrayRef(statement.binds).take_front(position),
                     isSame)) {
      error(placeIn(file, left.name.span),
            "`" + left.name.text +
                "` stands twice on the left side; its indices are distinct");
      good = false;
      continue;
    }
    if (!bind(left, env)) {
      good = false;
      continue;
    }
    if (!isLet && position < target.rank())
      bound.back().ranges.push_back(
          {target.dim(position), placeIn(file, left.name.span),
           ("subscript " + Twine(position + 1) + " of `" + target.name + "`")
               .str()});
    if (left.range)
      good &= addRange(bound.back(), left, env);
  }
  if (!isLet && statement.binds.size() != target.rank()) {
    error(placeIn(file, statement.target.span),
          "`" + target.name + "` takes " + axesText(target) + ", found " +
              Twine(statement.binds.size()))
        .note(target.place, "declared here");
    good = false;
  }
  return good;
}

/// A `let` that ends in a rounding or a wrap has that type in memory.
void KernelChecker::finishLet(Variable &let, const Expr &value) {
  let.type = value.type;
  if (value.kind == ExprKind::Convert && value.storage != value.type &&
      value.storage != ScalarType::TF32 &&
      arithmeticType(value.storage) == value.type)
    let.type = value.storage;
}

void KernelChecker::checkAllAssigned() {
  for (const auto &variable : kernel->variables) {
    bool isResult = variable->kind == VariableKind::Result;
    if (!isResult && variable->kind != VariableKind::Inout)
      continue;
    if (assigned.count(variable.get()))
      continue;
    // It may be meant by a statement that was refused.
    if (lostTarget ||
        llvm::any_of(syntax.statements, [&](const syntax::Statement &s) {
          return s.target.text == variable->name;
        }))
      continue;
    if (isResult)
      error(variable->place,
            "result `" + variable->name + "` is never assigned");
    else
      error(variable->place, "`" + variable->name +
                                 "` is `inout` and is never assigned; drop "
                                 "`inout`");
  }
  if (kernel->results.empty() &&
      llvm::none_of(kernel->arguments, [](const Variable *argument) {
        return argument->kind == VariableKind::Inout;
      }))
    error(kernel->place, "kernel `" + kernel->name +
                             "` has neither a result nor an `inout`, so it "
                             "computes nothing");
}

void KernelChecker::warnUnused() {
  for (const auto &variable : kernel->variables) {
    if (wasRead.count(variable.get()))
      continue;
    if (variable->kind == VariableKind::Let)
      diagnostics.warning("unused-let", variable->place,
                          "`" + variable->name + "` is never used");
    else if (variable->kind == VariableKind::Argument ||
             variable->kind == VariableKind::Const)
      diagnostics.warning("unused-argument", variable->place,
                          "argument `" + variable->name + "` is never read");
  }
}

//===----------------------------------------------------------------------===//
// Text for messages
//===----------------------------------------------------------------------===//

std::string KernelChecker::dimText(const Dim &dim) const {
  return dim.size ? kernel->sizes[*dim.size].name
                  : std::to_string(dim.constant);
}

/// "3 subscripts (S, G, R)" or "no subscripts".
std::string KernelChecker::axesText(const Variable &variable) const {
  unsigned rank = variable.rank();
  if (!rank)
    return "no subscripts";
  std::string text =
      std::to_string(rank) + (rank == 1 ? " subscript (" : " subscripts (");
  for (unsigned i = 0; i < rank; ++i)
    text += (i ? ", " : "") + dimText(variable.dim(i));
  return text + ")";
}

std::string KernelChecker::nameOfType(const Value &value) const {
  if (value.expr)
    return spelling(value.expr->type).str();
  return value.pending->isFloat ? "a float literal" : "an integer literal";
}
