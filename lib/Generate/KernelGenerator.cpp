//===- KernelGenerator.cpp - random kernels that are legal ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions are grown from their type downwards, so that they are legal by
// construction: an index is only used where its size fits, a reduction binds a
// fresh index, a conversion stands wherever two types meet. Seed 3 might give
//
//   kernel g3(a0: bf16[M, K], a1: const f32[K, N]) -> r0: f16[M, N] {
//     let t0[x0: M] = max[x1: K | x1 <= x0](a0[x0, x1])
//     r0[x2, x3] = sum[x4: K](a0[x2, x4] * a1[x4, x3]) + t0[x2]
//   }
//
// Values are kept where first-order error bounds mean something: arguments of
// exp and log are tamed, divisors kept away from 0; one time in eight they are
// not.
//
//===----------------------------------------------------------------------===//

#include "facet/Generate/KernelGenerator.h"

#include <algorithm>
#include <optional>
#include <set>

using namespace facet;

namespace {

/// SplitMix64: fixed by its definition, unlike the standard distributions.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  unsigned below(unsigned n) { return next() % n; }
  bool oneIn(unsigned n) { return below(n) == 0; }
  template <typename T>
  const T &pick(const std::vector<T> &from) {
    return from[below(from.size())];
  }

private:
  uint64_t state;
};

enum class Arithmetic { F32, F64, I32, I64, Bool };

Arithmetic arithmeticOf(const std::string &type) {
  if (type == "f64")
    return Arithmetic::F64;
  if (type == "i64")
    return Arithmetic::I64;
  if (type == "bool")
    return Arithmetic::Bool;
  return type[0] == 'i' || type[0] == 'u' ? Arithmetic::I32 : Arithmetic::F32;
}

/// Joins texts. The members of a braced list are evaluated in order, the operands
/// of `+` in any: a seed would mean another kernel with another compiler.
std::string cat(std::initializer_list<std::string> parts) {
  std::string all;
  for (const std::string &part : parts)
    all += part;
  return all;
}

/// A size's name or a number, as written.
using Dim = std::string;

struct Variable {
  std::string name;
  std::string type;
  std::vector<std::vector<Dim>> axes; // a group has several dimensions
  bool gatherOnly = false;            // holds subscripts, nothing else

  std::vector<Dim> dims() const {
    std::vector<Dim> all;
    for (const auto &axis : axes)
      all.insert(all.end(), axis.begin(), axis.end());
    return all;
  }
};

struct Index {
  std::string name;
  Dim extent;
};

class Generator {
public:
  Generator(uint64_t seed, const GeneratorOptions &options)
      : seed(seed), random(seed), options(options) {}
  GeneratedKernel run();

private:
  using Scope = std::vector<Index>;

  // Declarations.
  Variable declare(const std::string &prefix,
                   const std::vector<std::string> &types);
  std::string declaration(const Variable &variable,
                          const std::string &mode) const;

  // Expressions of one type; `depth` is what may still be nested.
  std::string expression(Arithmetic type, const Scope &scope, unsigned depth);
  std::string floating(Arithmetic type, const Scope &scope, unsigned depth);
  std::string integer(const Scope &scope, unsigned depth);
  std::string wide(const Scope &scope, unsigned depth);
  std::string boolean(const Scope &scope, unsigned depth);
  std::string reduction(Arithmetic type, const Scope &scope, unsigned depth);
  std::string contraction(Arithmetic type, const Scope &scope, unsigned depth);
  std::string filter(const Scope &scope, unsigned depth);
  std::optional<std::string> read(Arithmetic type, Scope &scope, bool mayBind,
                                  Scope *bound);
  std::string literal(Arithmetic type);
  std::string stored(const std::string &type, const Scope &scope,
                     unsigned depth);

  std::string freshIndex() { return cat({"x", std::to_string(nextIndex++)}); }
  static std::string binds(const Scope &scope);

  uint64_t seed;
  Random random;
  const GeneratorOptions &options;
  std::vector<Dim> sizes;   // names of the sizes arguments bind
  std::vector<Dim> allDims; // sizes and numbers
  std::vector<Variable> readable;
  unsigned nextIndex = 0;
};

} // namespace

std::string Generator::binds(const Scope &scope) {
  std::string text;
  for (const Index &index : scope)
    text += (text.empty() ? "" : ", ") + index.name + ": " + index.extent;
  return text;
}

Variable Generator::declare(const std::string &prefix,
                            const std::vector<std::string> &types) {
  Variable variable;
  variable.name = prefix;
  variable.type = random.pick(types);
  unsigned rank = random.below(4);
  bool nibbles = variable.type == "i4" || variable.type == "u4";
  if (nibbles && rank == 0)
    rank = 1;
  for (unsigned i = 0; i < rank; ++i) {
    std::vector<Dim> axis{random.pick(allDims)};
    if (random.oneIn(8))
      axis.push_back(random.oneIn(2) ? "4" : random.pick(sizes));
    variable.axes.push_back(axis);
  }
  // Two elements share a byte: the last axis must be even.
  if (nibbles)
    variable.axes.back() = {random.pick(sizes), "2"};
  return variable;
}

std::string Generator::declaration(const Variable &variable,
                                   const std::string &mode) const {
  std::string text = variable.name + ": " + mode + variable.type;
  if (variable.axes.empty())
    return text;
  text += "[";
  for (size_t i = 0; i < variable.axes.size(); ++i) {
    const auto &axis = variable.axes[i];
    text += i ? ", " : "";
    if (axis.size() == 1) {
      text += axis[0];
      continue;
    }
    text += "(";
    for (size_t j = 0; j < axis.size(); ++j)
      text += (j ? ", " : "") + axis[j];
    text += ")";
  }
  return text + "]";
}

std::string Generator::literal(Arithmetic type) {
  static const std::vector<std::string> floats{
      "0.0", "1.0", "0.5", "2.0", "-1.5", "0.125", "3.0", "1e-3", "0.1"};
  static const std::vector<std::string> integers{"0", "1",  "2",  "3",
                                                 "7", "-1", "-5", "100"};
  auto paren = [](const std::string &text) {
    return text[0] == '-' ? "(" + text + ")" : text;
  };
  switch (type) {
  case Arithmetic::F32:
    return cat({"f32(", paren(random.pick(floats)), ")"});
  case Arithmetic::F64:
    return cat({"f64(", paren(random.pick(floats)), ")"});
  case Arithmetic::I32:
    return cat({"i32(", paren(random.pick(integers)), ")"});
  case Arithmetic::I64:
    return cat({"i64(", paren(random.pick(integers)), ")"});
  case Arithmetic::Bool:
    return random.oneIn(2) ? "true" : "false";
  }
  return "0";
}

/// A read of some variable of `type`. A dimension for which no index is in
/// scope is bound by the caller (`bound`), gathered, or, with `mayBind` false,
/// makes the variable unusable.
std::optional<std::string> Generator::read(Arithmetic type, Scope &scope,
                                           bool mayBind, Scope *bound) {
  std::vector<const Variable *> candidates;
  for (const Variable &variable : readable)
    if (!variable.gatherOnly && arithmeticOf(variable.type) == type)
      candidates.push_back(&variable);
  for (unsigned attempt = 0; attempt < 4 && !candidates.empty(); ++attempt) {
    const Variable &variable = *random.pick(candidates);
    Scope visible = scope;
    Scope fresh;
    std::string subscripts;
    bool usable = true;
    for (const Dim &dim : variable.dims()) {
      std::vector<std::string> choices;
      for (const Index &index : visible)
        if (index.extent == dim)
          choices.push_back(index.name);
      bool number = isdigit(dim[0]);
      if (number && (choices.empty() || random.oneIn(6)))
        choices.assign(1, std::to_string(random.below(std::stoi(dim))));
      // A gather: an element of the subscript array, itself read by an index.
      for (const Variable &ids : readable)
        if (ids.gatherOnly && ids.name == "g" + dim && random.oneIn(3)) {
          std::vector<std::string> inner;
          for (const Index &index : visible)
            if (index.extent == ids.axes[0][0])
              inner.push_back(index.name);
          if (!inner.empty())
            choices.assign(1, ids.name + "[" + random.pick(inner) + "]");
        }
      if (choices.empty() && mayBind) {
        fresh.push_back({freshIndex(), dim});
        visible.push_back(fresh.back());
        choices.push_back(fresh.back().name);
      }
      if (choices.empty()) {
        usable = false;
        break;
      }
      subscripts += (subscripts.empty() ? "" : ", ") + random.pick(choices);
    }
    if (!usable)
      continue;
    if (bound)
      *bound = fresh;
    return variable.name + (subscripts.empty() ? "" : "[" + subscripts + "]");
  }
  return std::nullopt;
}

/// Empty, or ` | condition`; conditions of indices and sizes more often than
/// not.
std::string Generator::filter(const Scope &scope, unsigned depth) {
  if (!random.oneIn(3) || scope.empty())
    return "";
  const Index &a = random.pick(scope);
  if (random.oneIn(4))
    return cat({" | ", boolean(scope, depth ? depth - 1 : 0)});
  const Index &b = random.pick(scope);
  static const std::vector<std::string> relations{"<=", "<", ">=", "!=", "=="};
  std::string text = a.name + " " + random.pick(relations) + " " + b.name;
  if (random.oneIn(3))
    text += " + " + std::to_string(random.below(4));
  if (random.oneIn(3))
    text +=
        " && " + a.name + " < " + (sizes.empty() ? "3" : random.pick(sizes));
  return " | " + text;
}

/// sum[k](a[.., k] * b[k, ..]): what everything here is about.
std::string Generator::contraction(Arithmetic type, const Scope &scope,
                                   unsigned depth) {
  Scope inner = scope;
  Scope bound;
  std::optional<std::string> a = read(type, inner, /*mayBind=*/true, &bound);
  if (!a)
    return literal(type);
  if (bound.empty())
    bound.push_back({freshIndex(), random.pick(allDims)});
  inner.insert(inner.end(), bound.begin(), bound.end());
  std::optional<std::string> b = read(type, inner, /*mayBind=*/false, nullptr);
  std::string second = b ? *b : expression(type, inner, depth ? depth - 1 : 0);
  return cat({"sum[", binds(bound), filter(inner, depth), "](", *a, " * ",
              second, ")"});
}

std::string Generator::reduction(Arithmetic type, const Scope &scope,
                                 unsigned depth) {
  Scope bound{{freshIndex(), random.pick(allDims)}};
  if (random.oneIn(5))
    bound.push_back({freshIndex(), random.pick(allDims)});
  Scope inner = scope;
  inner.insert(inner.end(), bound.begin(), bound.end());
  bool floats = type == Arithmetic::F32 || type == Arithmetic::F64;
  static const std::vector<std::string> any{"sum", "max", "min"};
  static const std::vector<std::string> more{"sum", "max", "min", "mean"};
  std::string op = random.pick(floats ? more : any);
  if (type == Arithmetic::Bool)
    op = random.oneIn(2) ? "any" : "all";
  if (type == Arithmetic::I64 && random.oneIn(2)) {
    op = random.oneIn(2) ? "argmax" : "argmin";
    bound.resize(1);
    inner.resize(scope.size() + 1);
    Arithmetic of = random.oneIn(2) ? Arithmetic::F32 : Arithmetic::I32;
    return cat({op, "[", binds(bound), filter(inner, depth), "](",
                expression(of, inner, depth - 1), ")"});
  }
  return cat({op, "[", binds(bound), filter(inner, depth), "](",
              expression(type, inner, depth - 1), ")"});
}

std::string Generator::floating(Arithmetic type, const Scope &scope,
                                unsigned depth) {
  std::string prefix = type == Arithmetic::F64 ? "f64" : "f32";
  auto sub = [&] { return expression(type, scope, depth - 1); };
  switch (random.below(15)) {
  case 0:
  case 1:
  case 2:
    return contraction(type, scope, depth);
  case 3:
    return reduction(type, scope, depth);
  case 4:
    return cat({"(", sub(), " + ", sub(), ")"});
  case 5:
    return cat({"(", sub(), " - ", sub(), ")"});
  case 6:
    return cat({sub(), " * ", sub()});
  case 7: { // keep the divisor away from 0, most of the time
    std::string divisor =
        random.oneIn(8) ? "(" + sub() + ")" : "(1.5 + abs(" + sub() + "))";
    return cat({"(", sub(), ") / ", divisor});
  }
  case 8: {
    static const std::vector<std::string> functions{
        "tanh", "sigmoid", "relu",  "gelu", "gelu_tanh", "silu",
        "erf",  "abs",     "floor", "ceil", "round"};
    return cat({random.pick(functions), "(", sub(), ")"});
  }
  case 9: {
    bool wild = random.oneIn(8);
    static const std::vector<std::string> functions{"log", "sqrt", "rsqrt"};
    if (random.oneIn(2))
      return wild ? "exp(" + sub() + ")"
                  : "exp(clamp(" + sub() + ", -4.0, 4.0))";
    return cat({random.pick(functions), "(",
                wild ? sub() : cat({"0.25 + abs(", sub(), ")"}), ")"});
  }
  case 10:
    return cat({std::string(random.oneIn(2) ? "min" : "max"), "(", sub(), ", ",
                sub(), ")"});
  case 11:
    return cat(
        {"where(", boolean(scope, depth - 1), ", ", sub(), ", ", sub(), ")"});
  case 12: {
    if (type == Arithmetic::F64)
      return cat({"f64(", expression(Arithmetic::F32, scope, depth - 1), ")"});
    static const std::vector<std::string> roundings{"bf16", "f16", "tf32"};
    return cat({random.pick(roundings), "(", sub(), ")"});
  }
  case 13:
    return prefix + "(" +
           expression(random.oneIn(2) ? Arithmetic::I32 : Arithmetic::I64,
                      scope, depth - 1) +
           ")";
  default:
    if (!scope.empty() &&
        type == Arithmetic::F32) { // softmax over an enclosing index
      const Index &over = random.pick(scope);
      return cat({"softmax[", over.name, filter(scope, 0), "](", sub(), ")"});
    }
    return cat({"-(", sub(), ")"});
  }
}

std::string Generator::integer(const Scope &scope, unsigned depth) {
  auto sub = [&] { return expression(Arithmetic::I32, scope, depth - 1); };
  switch (random.below(9)) {
  case 0:
  case 1:
    return contraction(Arithmetic::I32, scope, depth);
  case 2:
    return reduction(Arithmetic::I32, scope, depth);
  case 3:
    return cat({"(", sub(), " + ", sub(), ")"});
  case 4:
    return cat({"(", sub(), " - ", sub(), ")"});
  case 5: {
    std::string divisor = std::to_string(1 + random.below(9));
    return cat({"(", sub(), random.oneIn(2) ? ") / " : ") % ", divisor});
  }
  case 6: {
    static const std::vector<std::string> narrow{
        "i8", "u8", "i16", "i4", "u4", "i8.sat", "u8.sat", "i16.sat", "i4.sat"};
    std::string type = random.pick(narrow);
    bool fromFloat = type.find(".sat") != std::string::npos && random.oneIn(2);
    return type + "(" +
           (fromFloat ? expression(Arithmetic::F32, scope, depth - 1) : sub()) +
           ")";
  }
  case 7:
    return cat(
        {"where(", boolean(scope, depth - 1), ", ", sub(), ", ", sub(), ")"});
  default:
    return random.oneIn(2)
               ? "abs(" + sub() + ")"
               : "i32(" + expression(Arithmetic::I64, scope, depth - 1) + ")";
  }
}

std::string Generator::wide(const Scope &scope, unsigned depth) {
  auto sub = [&] { return expression(Arithmetic::I64, scope, depth - 1); };
  switch (random.below(5)) {
  case 0:
    return reduction(Arithmetic::I64, scope, depth);
  case 1:
    return cat({"(", sub(), " + ", sub(), ")"});
  case 2:
    return cat({"(", sub(), " - ", sub(), ")"});
  case 3:
    return cat({"i64(", expression(Arithmetic::I32, scope, depth - 1), ")"});
  default:
    return cat({"(", sub(), ") * 3"});
  }
}

std::string Generator::boolean(const Scope &scope, unsigned depth) {
  static const std::vector<std::string> relations{"<",  "<=", ">",
                                                  ">=", "==", "!="};
  if (depth == 0 || random.oneIn(3)) {
    if (!scope.empty()) {
      std::string a = random.pick(scope).name;
      std::string b = random.oneIn(2) ? random.pick(scope).name
                                      : random.pick(sizes) + " - 1";
      return cat({"(", a, " ", random.pick(relations), " ", b, ")"});
    }
    return cat(
        {"(", random.pick(sizes), " > ", std::to_string(random.below(5)), ")"});
  }
  auto compare = [&](Arithmetic type) {
    return cat({"(", expression(type, scope, depth - 1), " ",
                random.pick(relations), " ", expression(type, scope, depth - 1),
                ")"});
  };
  switch (random.below(6)) {
  case 0:
    return cat({"(", boolean(scope, depth - 1), " && ",
                boolean(scope, depth - 1), ")"});
  case 1:
    return cat({"(", boolean(scope, depth - 1), " || ",
                boolean(scope, depth - 1), ")"});
  case 2:
    return cat({"!", boolean(scope, depth - 1)});
  case 3:
    return compare(Arithmetic::I32);
  case 4:
    return compare(Arithmetic::I64);
  default:
    return random.oneIn(2) ? compare(Arithmetic::F32)
                           : reduction(Arithmetic::Bool, scope, depth);
  }
}

std::string Generator::expression(Arithmetic type, const Scope &scope,
                                  unsigned depth) {
  Scope mutableScope = scope;
  if (depth == 0 || random.oneIn(4)) {
    if (type == Arithmetic::I64) {
      if (!scope.empty() && !random.oneIn(3))
        return random.pick(scope).name;
      return random.pick(sizes);
    }
    if (type == Arithmetic::Bool)
      return boolean(scope, 0);
    if (std::optional<std::string> text =
            read(type, mutableScope, /*mayBind=*/false, nullptr))
      return *text;
    return literal(type);
  }
  switch (type) {
  case Arithmetic::F32:
  case Arithmetic::F64:
    return floating(type, scope, depth);
  case Arithmetic::I32:
    return integer(scope, depth);
  case Arithmetic::I64:
    return wide(scope, depth);
  case Arithmetic::Bool:
    return boolean(scope, depth);
  }
  return "";
}

/// An expression that may be assigned to an element of `type`.
std::string Generator::stored(const std::string &type, const Scope &scope,
                              unsigned depth) {
  std::string value = expression(arithmeticOf(type), scope, depth);
  bool narrow =
      type != "i32" && type != "i64" && (type[0] == 'i' || type[0] == 'u');
  if (narrow)
    return type + (random.oneIn(2) ? ".sat(" : "(") + value + ")";
  return value;
}

GeneratedKernel Generator::run() {
  static const std::vector<std::string> names{"M", "N", "K", "T"};
  unsigned numSizes = 1 + random.below(names.size());
  sizes.assign(names.begin(), names.begin() + numSizes);
  allDims = sizes;
  allDims.push_back(std::to_string(1 + random.below(5)));

  static const std::vector<std::string> inputs{
      "f32",    "f32",      "bf16",   "bf16", "f16", "f64",
      "f8e4m3", "f8e4m3fn", "f8e5m2", "i32",  "i64", "i8",
      "u8",     "i16",      "i4",     "u4",   "bool"};
  std::vector<Variable> arguments;
  std::vector<std::string> modes;
  unsigned numArguments = 2 + random.below(4);
  for (unsigned i = 0; i < numArguments; ++i) {
    arguments.push_back(declare("a" + std::to_string(i), inputs));
    modes.push_back(!arguments.back().axes.empty() && random.oneIn(6) ? "const "
                                                                      : "");
  }
  // Every size is bound by some argument.
  for (const Dim &size : sizes) {
    bool bound = false;
    for (const Variable &argument : arguments)
      for (const Dim &dim : argument.dims())
        bound |= dim == size;
    if (bound)
      continue;
    Variable extra;
    extra.name = "a" + std::to_string(arguments.size());
    extra.type = random.oneIn(2) ? "f32" : "bf16";
    extra.axes = {{size}, {random.pick(allDims)}};
    arguments.push_back(extra);
    modes.push_back("");
  }
  readable = arguments;
  // Subscript arrays, named after the size they index.
  if (random.oneIn(3)) {
    Variable ids;
    Dim target = random.pick(sizes);
    ids.name = "g" + target;
    ids.type = random.oneIn(2) ? "i32" : "i64";
    ids.axes = {{random.pick(sizes)}};
    ids.gatherOnly = true;
    arguments.push_back(ids);
    readable.push_back(ids);
    modes.push_back("");
  }
  std::optional<Variable> inout;
  if (random.oneIn(4)) {
    static const std::vector<std::string> types{"f32", "bf16", "i32", "f64"};
    inout = declare("c", types);
    arguments.push_back(*inout);
    modes.push_back("inout ");
  }

  std::string body;
  auto bindAll = [&](const Variable &variable, bool annotate,
                     std::string &left) {
    Scope scope;
    for (const Dim &dim : variable.dims())
      scope.push_back({freshIndex(), dim});
    left = variable.name;
    if (!scope.empty()) {
      left += "[";
      for (size_t i = 0; i < scope.size(); ++i)
        left += (i ? ", " : "") + scope[i].name +
                (annotate ? ": " + scope[i].extent : "");
      left += "]";
    }
    return scope;
  };

  unsigned numLets = random.below(options.maxLets + 1);
  for (unsigned i = 0; i < numLets; ++i) {
    static const std::vector<std::string> types{"f32", "f32",  "f32", "f64",
                                                "i32", "bool", "i64"};
    Variable let;
    let.name = "t" + std::to_string(i);
    let.type = random.pick(types);
    for (unsigned rank = random.below(3); rank > 0; --rank)
      let.axes.push_back({random.pick(allDims)});
    std::string left;
    Scope scope = bindAll(let, /*annotate=*/true, left);
    body += "  let " + left + " = " +
            stored(let.type, scope, options.maxDepth) + "\n";
    readable.push_back(let);
  }

  std::vector<Variable> results;
  unsigned numResults = (inout ? 0 : 1) + random.below(options.maxResults);
  for (unsigned i = 0; i < numResults; ++i) {
    static const std::vector<std::string> types{"f32",  "bf16",   "f16", "f64",
                                                "i32",  "i64",    "i8",  "u8",
                                                "bool", "f8e5m2", "i16"};
    Variable result = declare("r" + std::to_string(i), types);
    std::string left;
    Scope scope = bindAll(result, /*annotate=*/random.oneIn(4), left);
    body += "  " + left + " = " + stored(result.type, scope, options.maxDepth) +
            "\n";
    results.push_back(result);
    readable.push_back(result);
  }
  if (inout) {
    std::string left;
    Scope scope = bindAll(*inout, /*annotate=*/false, left);
    std::string value =
        expression(arithmeticOf(inout->type), scope, options.maxDepth);
    body += "  " + left + " = " + left + " + " + value + "\n";
  }

  GeneratedKernel kernel;
  kernel.seed = seed;
  kernel.name = "g" + std::to_string(seed);
  kernel.source = "kernel " + kernel.name + "(";
  for (size_t i = 0; i < arguments.size(); ++i)
    kernel.source += (i ? ", " : "") + declaration(arguments[i], modes[i]);
  kernel.source += ")";
  for (size_t i = 0; i < results.size(); ++i)
    kernel.source += (i ? ", " : " -> ") + declaration(results[i], "");
  bool promise = random.oneIn(5);
  Dim promised = random.pick(sizes);
  if (promise)
    kernel.source += " requires " + promised + " % 2 == 0";
  kernel.source += " {\n" + body + "}\n";

  static const std::vector<int64_t> values{1, 2, 3, 4, 5, 7, 8, 13, 16, 17};
  for (unsigned run = 0; run < 3; ++run) {
    std::map<std::string, int64_t> shape;
    int64_t points = 1;
    for (const Dim &size : sizes) {
      int64_t value = random.pick(values);
      while (points * value > options.maxPoints)
        value = 1;
      if (promise && size == promised)
        value += value % 2;
      points *= value;
      shape[size] = value;
    }
    if (run == 2)
      shape[random.pick(sizes)] = 0;
    kernel.runs.push_back(shape);
  }
  return kernel;
}

GeneratedKernel facet::generateKernel(uint64_t seed,
                                      const GeneratorOptions &options) {
  return Generator(seed, options).run();
}
