//===- OnnxElementwise.cpp - ops on elements ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   Add(x, b)  ↦  x[m, n] + b[n]            stretched as NumPy does, an axis of 1 read at 0
//   Clip(x, 0, 6)  ↦  clamp(x[m, n], 0, 6)
//
// Each op is the expression that ONNX's page of it gives. Where ONNX and the language
// differ the op is refused or written out: a cast from float to an integer cuts off,
// integer division is C's.
//
//===----------------------------------------------------------------------===//

#include "Onnx.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace llvm;
using namespace facet;
using namespace facet::import;

/// The common type of operands, which ONNX demands.
static bool sameType(const Node &node, ArrayRef<Value> values) {
  for (const Value &value : values)
    if (value.type != values.front().type) {
      node.refuse("its operands are " + spelling(values.front().type) +
                  " and " + spelling(value.type));
      return false;
    }
  return true;
}

static std::vector<Value> allOperands(const Node &node) {
  std::vector<Value> values;
  for (size_t i = 0; i != node.operands(); ++i)
    if (node.has(i))
      values.push_back(node.operand(i));
  return values;
}

/// A value of `combine` over the elements of stretched operands.
static Value combined(const Node &node, std::vector<Value> values,
                      ScalarType type,
                      std::function<Text(ArrayRef<Text>)> combine,
                      Work work = Work::Heavy) {
  std::vector<std::string> axes = stretched(node, values);
  return make(
      type, std::move(axes),
      [values, combine](const Subscripts &subscripts) {
        std::vector<Text> elements;
        for (const Value &value : values)
          elements.push_back(value.at(seenBy(value, subscripts)));
        return combine(elements);
      },
      work);
}

static Value arithmetic(const Node &node, StringRef op) {
  std::vector<Value> values = allOperands(node);
  if (values.size() != 2 || !sameType(node, values))
    return node.refuse("two operands of one type are needed");
  if (values[0].type == ScalarType::Bool)
    return node.refuse("bool has no arithmetic");
  if (op == "/" && !isFloat(values[0].type))
    return node.refuse("integers divide by cutting off here, in the language "
                       "they floor; cast to float first");
  return combined(node, values, values[0].type,
                  [op](ArrayRef<Text> e) { return binary(op, e[0], e[1]); });
}

static Value comparison(const Node &node, StringRef op) {
  std::vector<Value> values = allOperands(node);
  if (values.size() != 2 || !sameType(node, values))
    return node.refuse("two operands of one type are needed");
  if (values[0].type == ScalarType::Bool)
    return node.refuse("bool has no order here; And, Or and Not take it");
  return combined(node, values, ScalarType::Bool,
                  [op](ArrayRef<Text> e) { return binary(op, e[0], e[1]); });
}

static Value logical(const Node &node, StringRef op) {
  std::vector<Value> values = allOperands(node);
  if (values.size() != 2 || values[0].type != ScalarType::Bool ||
      !sameType(node, values))
    return node.refuse("two operands of bool are needed");
  return combined(node, values, ScalarType::Bool,
                  [op](ArrayRef<Text> e) { return binary(op, e[0], e[1]); });
}

/// A function of one element of a float array.
static Value function(const Node &node,
                      std::function<Text(const Text &)> apply) {
  Value x = node.operand(0);
  if (!isFloat(x.type))
    return node.refuse("it takes floats here, found " + spelling(x.type));
  return combined(node, {x}, x.type,
                  [apply](ArrayRef<Text> e) { return apply(e[0]); });
}

template <const char *name>
static Value named(const Node &node) {
  return function(node, [](const Text &x) { return call(name, {x}); });
}

/// `apply` of an element that it reads twice, and so a `let` if it is work.
static Value twice(const Node &node, std::function<Text(const Text &)> apply) {
  Value x = node.operand(0);
  if (!isFloat(x.type))
    return node.refuse("it takes floats here, found " + spelling(x.type));
  x = node.kernel().keep(x, node.op());
  return combined(node, {x}, x.type,
                  [apply](ArrayRef<Text> e) { return apply(e[0]); });
}

static Text num(double value, ScalarType type = ScalarType::F32) {
  return number(written(value, type));
}

static Value extremum(const Node &node, StringRef name) {
  std::vector<Value> values = allOperands(node);
  if (!sameType(node, values))
    return {};
  if (values[0].type == ScalarType::Bool)
    return node.refuse("bool has no order here; And and Or take it");
  if (values.size() == 1)
    return values[0];
  return combined(node, values, values[0].type,
                  [name](ArrayRef<Text> e) { return call(name, e); });
}

static Value variadicSum(const Node &node, bool mean) {
  std::vector<Value> values = allOperands(node);
  if (!sameType(node, values))
    return {};
  if (!isFloat(values[0].type))
    return node.refuse("it takes floats here, found " +
                       spelling(values[0].type));
  size_t count = values.size();
  return combined(node, values, values[0].type,
                  [mean, count](ArrayRef<Text> e) {
                    Text sum = e[0];
                    for (const Text &next : e.drop_front())
                      sum = binary("+", sum, next);
                    return mean ? binary("/", sum, num(double(count))) : sum;
                  });
}

static Value where(const Node &node) {
  std::vector<Value> values = allOperands(node);
  if (values.size() != 3 || values[0].type != ScalarType::Bool ||
      values[1].type != values[2].type)
    return node.refuse("a bool and two operands of one type are needed");
  return combined(node, values, values[1].type,
                  [](ArrayRef<Text> e) { return call("where", e); });
}

static Value powerOf(const Node &node) {
  Value x = node.operand(0);
  Numbers exponent = node.constant(1, "the exponent");
  if (node.refused())
    return {};
  if (!isFloat(x.type) || exponent.values.size() != 1)
    return node.refuse("a float to the power of one number is known here");
  double p = exponent.values[0];
  if (p == 1)
    return x;
  if (p != 2 && p != 3 && p != 0.5 && p != -0.5 && p != -1)
    return node.refuse(
        "the exponents known here are 1, 2, 3, 0.5, -0.5 and -1, found " +
        written(p, ScalarType::F64));
  if (p == 2 || p == 3)
    x = node.kernel().keep(x, "base");
  return combined(node, {x}, x.type,
                  [p](ArrayRef<Text> e) { return *power(e[0], p); });
}

static Value clip(const Node &node) {
  Value x = node.operand(0);
  std::vector<Value> values = {x};
  auto bound = [&](size_t i, StringRef attribute) {
    bool given = node.has(i) || node.hasAttribute(attribute);
    if (node.has(i))
      values.push_back(node.operand(i));
    else if (given && !isFloat(x.type))
      node.refuse("bounds by attributes are floats, the operand is " +
                  spelling(x.type));
    else if (given)
      values.push_back(KernelText::literal(
          written(node.number(attribute, 0), x.type), x.type));
    return given;
  };
  bool least = bound(1, "min"), most = bound(2, "max");
  if (node.refused() || !sameType(node, values))
    return {};
  if (!least && !most)
    return x;
  StringRef name = least && most ? "clamp" : least ? "max" : "min";
  return combined(node, values, x.type,
                  [name](ArrayRef<Text> e) { return call(name, e); });
}

static Value cast(const Node &node) {
  int to = int(node.integer("to", 0));
  std::optional<ScalarType> type = elementType(to);
  if (!type)
    return node.refuse("the language has no type for " + nameOfType(to));
  Value x = node.operand(0);
  ScalarType target = *type, from = x.type;
  if (target == from)
    return x;
  if (target == ScalarType::Bool)
    return combined(node, {x}, target, [from](ArrayRef<Text> e) {
      return binary("!=", e[0], isFloat(from) ? num(0) : number("0"));
    });
  if (isFloat(target)) {
    ScalarType wide =
        target == ScalarType::F64 ? ScalarType::F64 : ScalarType::F32;
    bool saturates =
        (target == ScalarType::F8E4M3FN || target == ScalarType::F8E5M2) &&
        node.integer("saturate", 1);
    Value y = combined(
        node, {x}, target,
        [=](ArrayRef<Text> e) {
          Text value = isFloat(from) && (bitWidth(target) < 32 ||
                                         arithmeticType(from) == wide)
                           ? e[0]
                           : convert(wide, e[0]);
          return saturates ? call((spelling(target) + ".sat").str(), {value})
                           : value;
        },
        x.work == Work::Heavy ? Work::Heavy : Work::Light);
    y.converts = y.converts && !saturates;
    return y;
  }
  if (isFloat(from)) {
    x = node.kernel().keep(x, "cast");
    Value y = combined(node, {x}, target, [target](ArrayRef<Text> e) {
      return call((spelling(target) + ".sat").str(), {truncated(e[0])});
    });
    y.converts = false;
    return y;
  }
  return combined(
      node, {x}, target,
      [=](ArrayRef<Text> e) {
        return bitWidth(target) >= 32 ? convert(target, e[0]) : e[0];
      },
      x.work == Work::Heavy ? Work::Heavy : Work::Light);
}

/// scale and zero point per array, or per element of one axis.
static Value along(const Node &node, size_t i, const Value &x) {
  Value v = node.operand(i);
  bool one =
      all_of(v.axes, [](const std::string &axis) { return axis == "1"; });
  if (one || v.axes.size() != 1) {
    if (!one)
      node.refuse("scales and zero points of one number, or of one axis, are "
                  "known here");
    v.axes.clear();
    auto raw = v.raw;
    size_t rank = node.operand(i).axes.size();
    v.raw = [raw, rank](const Subscripts &) {
      return raw(Subscripts(rank, "0"));
    };
    return v;
  }
  // [N] on axis a of x is [N, 1, …, 1] on the last ones.
  size_t axis = node.axis(node.integer("axis", 1), x.axes.size());
  if (node.refused())
    return v;
  if (v.axes[0] != x.axes[axis])
    node.refuse("the axis of " + v.axes[0] + " scales lies along one of " +
                x.axes[axis]);
  Value result = v;
  result.axes.insert(result.axes.end(), x.axes.size() - axis - 1, "1");
  result.raw = [raw = v.raw](const Subscripts &subscripts) {
    return raw({subscripts[0]});
  };
  return result;
}

static Value dequantize(const Node &node) {
  Value x = node.operand(0), scale = along(node, 1, x);
  if (node.integer("block_size", 0))
    return node.refuse("blocks of scales are not known here");
  std::vector<Value> values = {x, scale};
  if (node.has(2))
    values.push_back(along(node, 2, x));
  ScalarType wide = arithmeticType(scale.type), from = x.type;
  return combined(
      node, values, scale.type,
      [=](ArrayRef<Text> e) {
        bool zero = e.size() == 2 || e[2].text == "0";
        Text code = zero ? e[0] : binary("-", e[0], e[2]);
        return binary("*", isFloat(from) ? code : convert(wide, code), e[1]);
      },
      x.work == Work::Heavy ? Work::Heavy : Work::Light);
}

static Value quantize(const Node &node) {
  Value x = node.operand(0);
  if (!isFloat(x.type) || x.type == ScalarType::F64)
    return node.refuse("floats of 32 bits or less are needed, found " +
                       spelling(x.type));
  if (node.integer("block_size", 0))
    return node.refuse("blocks of scales are not known here");
  std::vector<Value> values = {x, along(node, 1, x)};
  ScalarType type = ScalarType::U8;
  if (node.has(2)) {
    values.push_back(along(node, 2, x));
    type = values[2].type;
  } else if (node.hasAttribute("output_dtype")) {
    std::optional<ScalarType> wanted =
        elementType(int(node.integer("output_dtype", 0)));
    if (!wanted)
      return node.refuse("the language has no type for " +
                         nameOfType(int(node.integer("output_dtype", 0))));
    type = *wanted;
  }
  Value y = combined(node, values, type, [type](ArrayRef<Text> e) {
    Text scaled = binary("/", e[0], e[1]);
    if (!isFloat(type)) {
      scaled = call("round", {scaled});
      if (e.size() == 3 && e[2].text != "0")
        scaled = binary("+", scaled, convert(ScalarType::F32, e[2]));
    }
    return call((spelling(type) + ".sat").str(), {scaled});
  });
  y.converts = false;
  return y;
}

static Value gelu(const Node &node) {
  std::string form = node.text("approximate", "none");
  if (form != "none" && form != "tanh")
    return node.refuse("approximate is none or tanh, found '" + form + "'");
  return function(node, [form](const Text &x) {
    return call(form == "tanh" ? "gelu_tanh" : "gelu", {x});
  });
}

static Value negate(const Node &node) {
  Value x = node.operand(0);
  return combined(node, {x}, x.type,
                  [](ArrayRef<Text> e) { return unary("-", e[0]); });
}

static Value absolute(const Node &node) {
  Value x = node.operand(0);
  return combined(node, {x}, x.type,
                  [](ArrayRef<Text> e) { return call("abs", {e[0]}); });
}

static Value relu(const Node &node) {
  Value x = node.operand(0);
  return combined(node, {x}, x.type,
                  [](ArrayRef<Text> e) { return call("relu", {e[0]}); });
}

static Value negation(const Node &node) {
  Value x = node.operand(0);
  if (x.type != ScalarType::Bool)
    return node.refuse("it takes bool, found " + spelling(x.type));
  return combined(node, {x}, x.type,
                  [](ArrayRef<Text> e) { return unary("!", e[0]); });
}

static Value isNaN(const Node &node) {
  Value x = node.operand(0);
  if (!isFloat(x.type))
    return node.refuse("it takes floats here, found " + spelling(x.type));
  x = node.kernel().keep(x, "t");
  return combined(node, {x}, ScalarType::Bool,
                  [](ArrayRef<Text> e) { return binary("!=", e[0], e[0]); });
}

static Value leakyRelu(const Node &node) {
  double alpha = node.number("alpha", 0.01f);
  return twice(node, [alpha](const Text &x) {
    return call("where",
                {binary("<", x, num(0)), binary("*", num(alpha), x), x});
  });
}

static Value elu(const Node &node) {
  double alpha = node.number("alpha", 1);
  return twice(node, [alpha](const Text &x) {
    Text below = binary("-", call("exp", {x}), num(1));
    return call("where",
                {binary("<", x, num(0)), binary("*", num(alpha), below), x});
  });
}

static Value hardSigmoid(const Node &node) {
  double alpha = node.number("alpha", 0.2f), beta = node.number("beta", 0.5);
  return function(node, [=](const Text &x) {
    return call("clamp", {binary("+", binary("*", num(alpha), x), num(beta)),
                          num(0), num(1)});
  });
}

static Value same(const Node &node) { return node.operand(0); }

static Value dropout(const Node &node) {
  if (node.has(2)) {
    Numbers training = node.constant(2, "training_mode");
    if (!node.refused() && training.integers.size() == 1 &&
        training.integers[0])
      return node.refuse("it draws random numbers when training_mode is set");
  }
  return node.operand(0);
}

static Value reciprocal(const Node &node) {
  return function(node, [](const Text &x) { return binary("/", num(1), x); });
}

static constexpr char expName[] = "exp", logName[] = "log", sqrtName[] = "sqrt",
                      tanhName[] = "tanh", sigmoidName[] = "sigmoid",
                      erfName[] = "erf", roundName[] = "round",
                      floorName[] = "floor", ceilName[] = "ceil";

Maker facet::import::elementwiseMaker(StringRef op) {
  return StringSwitch<Maker>(op)
      .Case("Add", {[](const Node &n) { return arithmetic(n, "+"); }, 2})
      .Case("Sub", {[](const Node &n) { return arithmetic(n, "-"); }, 2})
      .Case("Mul", {[](const Node &n) { return arithmetic(n, "*"); }, 2})
      .Case("Div", {[](const Node &n) { return arithmetic(n, "/"); }, 2})
      .Case("Less", {[](const Node &n) { return comparison(n, "<"); }, 2})
      .Case("LessOrEqual",
            {[](const Node &n) { return comparison(n, "<="); }, 2})
      .Case("Greater", {[](const Node &n) { return comparison(n, ">"); }, 2})
      .Case("GreaterOrEqual",
            {[](const Node &n) { return comparison(n, ">="); }, 2})
      .Case("Equal", {[](const Node &n) { return comparison(n, "=="); }, 2})
      .Case("And", {[](const Node &n) { return logical(n, "&&"); }, 2})
      .Case("Or", {[](const Node &n) { return logical(n, "||"); }, 2})
      .Case("Not", {negation})
      .Case("Min", {[](const Node &n) { return extremum(n, "min"); }})
      .Case("Max", {[](const Node &n) { return extremum(n, "max"); }})
      .Case("Sum", {[](const Node &n) { return variadicSum(n, false); }})
      .Case("Mean", {[](const Node &n) { return variadicSum(n, true); }})
      .Case("Where", {where, 3})
      .Case("Pow", {powerOf, 2})
      .Case("Clip", {clip})
      .Case("Cast", {cast})
      .Case("DequantizeLinear", {dequantize, 2})
      .Case("QuantizeLinear", {quantize, 2})
      .Case("Exp", {named<expName>})
      .Case("Log", {named<logName>})
      .Case("Sqrt", {named<sqrtName>})
      .Case("Tanh", {named<tanhName>})
      .Case("Sigmoid", {named<sigmoidName>})
      .Case("Erf", {named<erfName>})
      .Case("Round", {named<roundName>})
      .Case("Floor", {named<floorName>})
      .Case("Ceil", {named<ceilName>})
      .Case("Reciprocal", {reciprocal})
      .Case("Gelu", {gelu})
      .Case("Neg", {negate})
      .Case("Abs", {absolute})
      .Case("Relu", {relu})
      .Case("LeakyRelu", {leakyRelu})
      .Case("Elu", {elu})
      .Case("HardSigmoid", {hardSigmoid})
      .Case("IsNaN", {isNaN})
      .Case("Identity", {same})
      .Case("Dropout", {dropout})
      .Default({});
}
