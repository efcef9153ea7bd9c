//===- KernelText.cpp - a kernel written from values on axes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names are the only state: arguments, results and `let`s have one each for the whole
// kernel, indices are chosen anew in every statement from a few letters that no variable
// gets, and a reduction takes the first that nothing around it has.
//
//===----------------------------------------------------------------------===//

#include "KernelText.h"
#include "facet/Frontend/Frontend.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <cstdio>

using namespace llvm;
using namespace facet;
using namespace facet::import;

std::string facet::import::written(double value, ScalarType type) {
  if (type == ScalarType::Bool)
    return value ? "true" : "false";
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  // The shortest text that reads back as the same number.
  char text[64];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    double back = std::strtod(text, nullptr);
    if (type == ScalarType::F64 ? back == value : float(back) == float(value))
      break;
  }
  // The language's floats have digits on both sides of a point, or an exponent.
  std::string number = text;
  size_t exponent = number.find('e');
  if (exponent != std::string::npos && number[exponent + 1] == '+')
    number.erase(exponent + 1, 1);
  if (number.find_first_of(".e") == std::string::npos)
    number += ".0";
  return number;
}

/// A word of the language or a letter of the indices: no variable is called so.
static bool isTaken(StringRef name) {
  return isReserved(name) || is_contained({"i", "j", "k", "m", "n"}, name);
}

/// Letters, digits and underscores of `wish`, a letter first.
static std::string sanitized(StringRef wish, bool capital) {
  std::string text;
  for (char c : wish) {
    if (!isAlnum(c))
      c = '_';
    if (c == '_' && (text.empty() || text.back() == '_'))
      continue;
    text += c;
  }
  while (!text.empty() && text.back() == '_')
    text.pop_back();
  if (text.empty() || !isAlpha(text[0]))
    text = (capital ? "D" : "t") + text;
  text[0] = capital ? toUpper(text[0]) : toLower(text[0]);
  return text;
}

std::string facet::import::Text::at(Binding least) const {
  return binding < least ? "(" + text + ")" : text;
}

static std::vector<std::string> join(ArrayRef<Text> parts) {
  std::vector<std::string> all;
  for (const Text &part : parts)
    for (const std::string &index : part.ranged)
      if (!is_contained(all, index))
        all.push_back(index);
  return all;
}

Text facet::import::number(std::string text) {
  bool negative = StringRef(text).starts_with("-");
  return {std::move(text), negative ? Binding::Unary : Binding::Primary, {}};
}

Text facet::import::binary(StringRef op, const Text &a, const Text &b) {
  Binding binding = StringSwitch<Binding>(op)
                        .Cases({"*", "/", "%"}, Binding::Multiply)
                        .Cases({"+", "-"}, Binding::Add)
                        .Case("&&", Binding::And)
                        .Case("||", Binding::Or)
                        .Default(Binding::Compare);
  // Comparisons do not chain; a - (b + c) and a / (b * c) keep their parentheses.
  Binding tighter = Binding(int(binding) + 1);
  bool chains = binding != Binding::Compare;
  return {a.at(chains ? binding : tighter) + " " + op.str() + " " +
              b.at(tighter),
          binding, join({a, b})};
}

Text facet::import::convert(ScalarType type, const Text &value) {
  return call(spelling(type), {value});
}

Text Value::at(const Subscripts &subscripts) const {
  Text text = raw(subscripts);
  return converts ? convert(type, text) : text;
}

Text facet::import::unary(StringRef op, const Text &a) {
  return {op.str() + a.at(Binding::Primary), Binding::Unary, a.ranged};
}

Text facet::import::call(StringRef function, ArrayRef<Text> operands) {
  std::string list;
  for (const Text &operand : operands)
    list += (list.empty() ? "" : ", ") + operand.text;
  return {function.str() + "(" + list + ")", Binding::Primary, join(operands)};
}

std::string KernelText::name(StringRef wish) {
  std::string base = sanitized(wish, false), text = base;
  for (unsigned next = 1; isTaken(text) || !taken.insert(text).second;)
    text = base + "_" + std::to_string(next++);
  return text;
}

std::string KernelText::size(StringRef wish) {
  auto [known, isNew] = sizes.try_emplace(wish);
  if (isNew) {
    std::string base = sanitized(wish, true), text = base;
    for (unsigned next = 1; !taken.insert(text).second;)
      text = base + "_" + std::to_string(next++);
    known->second = text;
  }
  return known->second;
}

/// `[M, K]`, or nothing.
static std::string brackets(ArrayRef<std::string> list) {
  return list.empty() ? "" : "[" + llvm::join(list, ", ") + "]";
}

/// A value that is read as an element of `name`.
static Value variable(const std::string &name, ScalarType type,
                      std::vector<std::string> axes) {
  Value value{type, std::move(axes), nullptr, Work::None, false, 0};
  value.raw = [name](const Subscripts &subscripts) {
    Text text{name + brackets(subscripts), Binding::Primary, {}};
    for (const std::string &subscript : subscripts)
      if (isAlpha(subscript[0]))
        text.ranged.push_back(subscript);
    return text;
  };
  return value;
}

Value KernelText::argument(StringRef wish, ScalarType type,
                           std::vector<std::string> axes, bool isConst) {
  std::string called = name(wish);
  arguments += (arguments.empty() ? "" : ", ") + called + ": " +
               (isConst && !axes.empty() ? "const " : "") +
               spelling(type).str() + brackets(axes);
  return variable(called, type, std::move(axes));
}

Value KernelText::literal(std::string text, ScalarType type, size_t rank) {
  Value value{type, std::vector<std::string>(rank, "1"), nullptr, Work::None,
              false};
  value.raw = [text](const Subscripts &) { return number(text); };
  return value;
}

Text KernelText::bind(StringRef wish,
                      function_ref<Text(const std::string &index)> read) {
  std::string index = wish.str();
  for (unsigned next = 1; is_contained(bound, index) || taken.contains(index);)
    index = wish.str() + std::to_string(next++);
  bound.push_back(index);
  Text text = read(index);
  bound.pop_back();
  erase(text.ranged, index);
  return text;
}

Text KernelText::reduce(StringRef reduction, ArrayRef<std::string> extents,
                        function_ref<Text(const Subscripts &indices)> body) {
  if (extents.empty())
    return body({});
  Subscripts indices;
  std::string list;
  std::function<Text()> inner = [&]() -> Text {
    if (indices.size() == extents.size()) {
      Text text = body(indices);
      for (auto [index, extent] : zip(indices, extents))
        list += (list.empty() ? "" : ", ") + index +
                (is_contained(text.ranged, index) ? "" : ": " + extent);
      return {reduction.str() + "[" + list + "](" + text.text + ")",
              Binding::Primary, text.ranged};
    }
    return bind("k", [&](const std::string &index) {
      indices.push_back(index);
      return inner();
    });
  };
  return inner();
}

/// What the indices of a statement are called: the last two m and n, those before i, j.
static Subscripts indicesFor(size_t rank) {
  static const Subscripts byRank[] = {
      {}, {"n"}, {"m", "n"}, {"i", "m", "n"}, {"i", "j", "m", "n"}};
  if (rank < std::size(byRank))
    return byRank[rank];
  Subscripts indices;
  for (size_t axis = 0; axis + 2 < rank; ++axis)
    indices.push_back("i" + std::to_string(axis));
  indices.insert(indices.end(), {"m", "n"});
  return indices;
}

std::string KernelText::statement(const std::string &name, const Value &value,
                                  bool isLet) {
  Subscripts wishes = indicesFor(value.axes.size()), indices;
  for (std::string index : wishes) {
    std::string base = index;
    for (unsigned next = 1; taken.contains(index);)
      index = base + "_" + std::to_string(next++);
    indices.push_back(index);
  }
  bound = indices;
  // An assignment rounds floats by itself; narrow integers say how.
  Text text =
      isLet || !isFloat(value.type) ? value.at(indices) : value.raw(indices);
  if (!isLet && !value.converts && arithmeticType(value.type) != value.type &&
      !isFloat(value.type) &&
      !StringRef(text.text).starts_with((spelling(value.type) + ".sat(").str()))
    text = convert(value.type, text);
  bound.clear();
  Subscripts left = indices;
  if (isLet)
    for (auto [index, extent] : zip(left, value.axes))
      if (!is_contained(text.ranged, index))
        index += ": " + extent;
  return std::string(isLet ? "let " : "") + name + brackets(left) + " = " +
         text.text + "\n";
}

Value KernelText::keep(const Value &value, StringRef wish, bool always) {
  if (value.work != Work::Heavy && !always)
    return value;
  std::string called = name(wish);
  body += statement(called, value, /*isLet=*/true);
  return variable(called, value.type, value.axes);
}

std::string KernelText::result(StringRef wish) {
  results.emplace_back(name(wish), "");
  return results.back().first;
}

Value KernelText::assign(const std::string &result, const Value &value) {
  for (auto &[called, type] : results)
    if (called == result)
      type = spelling(value.type).str() + brackets(value.axes);
  body += statement(result, value, /*isLet=*/false);
  return variable(result, value.type, value.axes);
}

std::string KernelText::finish(StringRef kernel,
                               StringRef documentation) const {
  std::string text, list;
  for (const auto &[called, type] : results)
    list += (list.empty() ? "" : ", ") + called + ": " + type;
  SmallVector<StringRef> lines;
  documentation.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    text += "/// " + line.trim().str() + "\n";
  return text + "kernel " + kernel.str() + "(" + arguments + ") -> " + list +
         " {\n" + body + "}\n";
}

Text facet::import::truncated(const Text &x) {
  return call("where", {binary("<", x, number("0.0")), call("ceil", {x}),
                        call("floor", {x})});
}

std::optional<Text> facet::import::power(const Text &x, double exponent) {
  if (exponent == 0.5)
    return call("sqrt", {x});
  if (exponent == -0.5)
    return call("rsqrt", {x});
  if (exponent == -1)
    return binary("/", number("1.0"), x);
  Text square = binary("*", x, x);
  if (exponent == 2)
    return square;
  if (exponent == 3)
    return binary("*", square, x);
  return std::nullopt;
}

Value facet::import::view(const Value &x, std::vector<std::string> axes,
                          SeenBy own) {
  Value y = x;
  y.axes = std::move(axes);
  y.raw = [raw = x.raw, own = std::move(own)](const Subscripts &subscripts) {
    return raw(own(subscripts));
  };
  return y;
}

SeenBy facet::import::turned(std::vector<int64_t> order) {
  return [order = std::move(order)](const Subscripts &subscripts) {
    Subscripts own(order.size());
    for (auto [axis, from] : enumerate(order))
      own[from] = subscripts[axis];
    return own;
  };
}

Value facet::import::reseen(const Value &x, const std::vector<int> &from) {
  std::vector<std::string> axes;
  for (int axis : from)
    axes.push_back(axis < 0 ? "1" : x.axes[axis]);
  return view(x, std::move(axes),
              [from, rank = x.axes.size()](const Subscripts &subscripts) {
                Subscripts own(rank, "0");
                for (auto [axis, source] : enumerate(from))
                  if (source >= 0)
                    own[source] = subscripts[axis];
                return own;
              });
}

Value facet::import::softmax(const Value &scores, size_t axis,
                             ScalarType type) {
  Value value = scores;
  value.type = type;
  value.work = Work::Light;
  value.converts = arithmeticType(type) != type;
  value.raw = [scores, axis](const Subscripts &subscripts) {
    Text element = scores.at(subscripts);
    return Text{"softmax[" + subscripts[axis] + "](" + element.text + ")",
                Binding::Primary, element.ranged};
  };
  return value;
}
