//===- OnnxAxes.cpp - ops on axes -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   Transpose, Squeeze, Unsqueeze, Reshape by axes of 1    another way to subscript
//   ReduceMean(x, axes = -1)   ↦  mean[k](x[m, k])
//   Softmax(x)                 ↦  softmax[n](x[m, n])
//   LayerNormalization         ↦  lets for mean and variance, then one expression
//
//===----------------------------------------------------------------------===//

#include "Onnx.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace facet;
using namespace facet::import;

static Value transpose(const Node &node) {
  Value x = node.operand(0);
  size_t rank = x.axes.size();
  std::vector<int64_t> order = node.integers("perm");
  if (order.empty())
    for (size_t i = rank; i-- > 0;)
      order.push_back(i);
  std::vector<std::string> axes;
  std::vector<bool> seen(rank);
  for (int64_t from : order) {
    if (order.size() != rank || from < 0 || from >= int64_t(rank) || seen[from])
      return node.refuse("perm is not an order of the " + Twine(rank) +
                         " axes");
    seen[from] = true;
    axes.push_back(x.axes[from]);
  }
  return view(x, axes, turned(order));
}

static Value squeeze(const Node &node) {
  Value x = node.operand(0);
  std::vector<bool> drop(x.axes.size());
  std::vector<int64_t> given = node.list(1, "axes");
  for (int64_t axis : given) {
    size_t at = node.axis(axis, x.axes.size());
    if (node.refused())
      return {};
    if (x.axes[at] != "1")
      return node.refuse("axis " + Twine(axis) + " is " + x.axes[at] +
                         " long, not 1");
    drop[at] = true;
  }
  if (given.empty())
    for (size_t i = 0; i != drop.size(); ++i)
      drop[i] = x.axes[i] == "1";
  std::vector<int> from;
  for (size_t i = 0; i != drop.size(); ++i)
    if (!drop[i])
      from.push_back(int(i));
  return reseen(x, from);
}

static Value unsqueeze(const Node &node) {
  Value x = node.operand(0);
  std::vector<int64_t> given = node.list(1, "axes");
  size_t rank = x.axes.size() + given.size();
  std::vector<bool> added(rank);
  for (int64_t axis : given) {
    size_t at = node.axis(axis, rank);
    if (node.refused())
      return {};
    if (added[at])
      return node.refuse("axis " + Twine(axis) + " is given twice");
    added[at] = true;
  }
  std::vector<int> from;
  int next = 0;
  for (size_t i = 0; i != rank; ++i)
    from.push_back(added[i] ? -1 : next++);
  return reseen(x, from);
}

/// A new shape is known where it only puts in or leaves out axes of 1: an axis that is
/// split or joined would need a computed subscript.
static Value reshape(const Node &node) {
  Value x = node.operand(0);
  std::vector<int64_t> shape = node.list(1, "shape");
  if (node.refused())
    return {};
  std::vector<int> kept;
  for (size_t i = 0; i != x.axes.size(); ++i)
    if (x.axes[i] != "1")
      kept.push_back(int(i));
  std::vector<int> from;
  size_t next = 0;
  for (size_t i = 0; i != shape.size(); ++i) {
    bool copies = shape[i] == 0 && i < x.axes.size() && x.axes[i] == "1";
    if (shape[i] == 1 || copies) {
      from.push_back(-1);
      continue;
    }
    bool same =
        next < kept.size() &&
        (shape[i] == -1 || std::to_string(shape[i]) == x.axes[kept[next]] ||
         (shape[i] == 0 && i < x.axes.size() &&
          x.axes[i] == x.axes[kept[next]]));
    if (!same)
      return node.refuse(
          "axes are split or joined; that is not known here but for axes of 1");
    from.push_back(kept[next++]);
  }
  if (next != kept.size())
    return node.refuse(
        "axes are split or joined; that is not known here but for axes of 1");
  return reseen(x, from);
}

/// What is reduced: a mark for each axis.
static std::vector<bool> reduced(const Node &node, const Value &x) {
  std::vector<bool> marks(x.axes.size());
  std::vector<int64_t> given = node.list(1, "axes");
  for (int64_t axis : given)
    if (size_t at = node.axis(axis, x.axes.size()); !node.refused())
      marks[at] = true;
  if (given.empty() && !node.integer("noop_with_empty_axes", 0))
    marks.assign(marks.size(), true);
  return marks;
}

static Value reduction(const Node &node, StringRef name,
                       std::function<Text(const Text &)> before = nullptr,
                       std::function<Text(const Text &)> after = nullptr) {
  Value x = node.operand(0);
  if (before)
    x = node.kernel().keep(x, "reduced");
  if (x.type == ScalarType::Bool ||
      (!isFloat(x.type) && (name == "mean" || before || bitWidth(x.type) < 32)))
    return node.refuse(spelling(x.type) +
                       " is not reduced here; cast to float first");
  std::vector<bool> marks = reduced(node, x);
  if (node.refused())
    return {};
  bool keeps = node.integer("keepdims", 1);
  std::vector<std::string> axes, extents;
  for (size_t i = 0; i != marks.size(); ++i) {
    if (marks[i])
      extents.push_back(x.axes[i]);
    if (!marks[i] || keeps)
      axes.push_back(marks[i] ? "1" : x.axes[i]);
  }
  KernelText &kernel = node.kernel();
  return make(x.type, axes, [=, &kernel](const Subscripts &subscripts) {
    Text all = kernel.reduce(name, extents, [&](const Subscripts &k) {
      Subscripts own;
      size_t next = 0, at = 0;
      for (bool mark : marks) {
        own.push_back(mark ? k[next++] : subscripts[at]);
        at += !mark || keeps;
      }
      Text element = x.at(own);
      return before ? before(element) : element;
    });
    return after ? after(all) : all;
  });
}

static Text square(const Text &x) { return binary("*", x, x); }
static Text root(const Text &x) { return call("sqrt", {x}); }
static Text magnitude(const Text &x) { return call("abs", {x}); }

/// The one axis of an op that works along it; before opset 13 the axes from it on.
static std::optional<size_t> alongAxis(const Node &node, const Value &x) {
  bool old = node.opset() < 13;
  size_t axis = node.axis(node.integer("axis", old ? 1 : -1), x.axes.size());
  if (node.refused())
    return std::nullopt;
  if (old && axis + 1 != x.axes.size()) {
    node.refuse("before opset 13 all axes from " + Twine(axis) +
                " on are taken together; one is known here");
    return std::nullopt;
  }
  return axis;
}

static Value alongSoftmax(const Node &node) {
  Value x = node.kernel().keep(node.operand(0), "scores");
  if (!isFloat(x.type))
    return node.refuse("floats are needed, found " + spelling(x.type));
  std::optional<size_t> axis = alongAxis(node, x);
  if (!axis)
    return {};
  if (x.axes[*axis] == "1") // one element: e / e
    return node.refuse("an axis of 1 needs no softmax");
  return softmax(x, *axis, x.type);
}

static Value layerNormalization(const Node &node) {
  KernelText &kernel = node.kernel();
  Value x = kernel.keep(node.operand(0), "x"), scale = node.operand(1);
  if (!isFloat(x.type))
    return node.refuse("floats are needed, found " + spelling(x.type));
  size_t axis = node.axis(node.integer("axis", -1), x.axes.size());
  if (node.refused())
    return {};
  size_t rank = x.axes.size();
  std::vector<std::string> outer(x.axes.begin(), x.axes.begin() + axis),
      inner(x.axes.begin() + axis, x.axes.end());
  std::string epsilon = written(node.number("epsilon", 1e-5f), ScalarType::F32);
  ScalarType type = arithmeticType(x.type);
  auto whole = [axis](const Subscripts &at, const Subscripts &k) {
    Subscripts own(at.begin(), at.begin() + axis);
    own.insert(own.end(), k.begin(), k.end());
    return own;
  };
  Value mean = kernel.keep(make(type, outer,
                                [=, &kernel](const Subscripts &s) {
                                  return kernel.reduce(
                                      "mean", inner, [&](const Subscripts &k) {
                                        return x.at(whole(s, k));
                                      });
                                }),
                           "mean_x");
  Value variance = kernel.keep(
      make(type, outer,
           [=, &kernel](const Subscripts &s) {
             return kernel.reduce("mean", inner, [&](const Subscripts &k) {
               return square(binary("-", x.at(whole(s, k)), mean.at(s)));
             });
           }),
      "variance");
  std::optional<Value> bias;
  if (node.has(2))
    bias = node.operand(2);
  std::vector<Value> all = {x, scale};
  if (bias)
    all.push_back(*bias);
  if (stretched(node, all).size() != rank)
    return node.refuse("scale and bias have more axes than the operand");
  return make(x.type, x.axes, [=](const Subscripts &s) {
    Subscripts row(s.begin(), s.begin() + axis);
    Text centred = binary("-", x.at(s), mean.at(row));
    Text normal =
        binary("*", centred,
               call("rsqrt", {binary("+", variance.at(row), number(epsilon))}));
    Text scaled = binary("*", normal, scale.at(seenBy(scale, s)));
    return bias ? binary("+", scaled, bias->at(seenBy(*bias, s))) : scaled;
  });
}

/// Rows of an argument by a list of numbers: the language's gather. The numbers are
/// checked at every call, so a negative one, which ONNX counts from the end, is an error.
static Value gather(const Node &node) {
  Value x = node.operand(0), index = node.operand(1);
  size_t axis = node.axis(node.integer("axis", 0), x.axes.size());
  if (node.refused())
    return {};
  if (isFloat(index.type) || index.work != Work::None)
    return node.refuse("the indices must be an integer input of the model");
  size_t more = index.axes.size();
  std::vector<std::string> axes(x.axes.begin(), x.axes.begin() + axis);
  axes.insert(axes.end(), index.axes.begin(), index.axes.end());
  axes.insert(axes.end(), x.axes.begin() + axis + 1, x.axes.end());
  Value y = view(x, axes, [=](const Subscripts &subscripts) {
    Subscripts own(subscripts.begin(), subscripts.begin() + axis);
    own.push_back(index
                      .at(Subscripts(subscripts.begin() + axis,
                                     subscripts.begin() + axis + more))
                      .text);
    own.insert(own.end(), subscripts.begin() + axis + more, subscripts.end());
    return own;
  });
  // What the indices subscript has a range by them.
  y.raw = [raw = y.raw, axis, more](const Subscripts &subscripts) {
    Text text = raw(subscripts);
    for (size_t i = axis; i != axis + more; ++i)
      if (isAlpha(subscripts[i][0]) &&
          !is_contained(text.ranged, subscripts[i]))
        text.ranged.push_back(subscripts[i]);
    return text;
  };
  return y;
}

Maker facet::import::axisMaker(StringRef op) {
  return StringSwitch<Maker>(op)
      .Case("Transpose", {transpose})
      .Case("Squeeze", {squeeze})
      .Case("Unsqueeze", {unsqueeze})
      .Case("Reshape", {reshape, 2})
      .Case("ReduceSum", {[](const Node &n) { return reduction(n, "sum"); }})
      .Case("ReduceMean", {[](const Node &n) { return reduction(n, "mean"); }})
      .Case("ReduceMax", {[](const Node &n) { return reduction(n, "max"); }})
      .Case("ReduceMin", {[](const Node &n) { return reduction(n, "min"); }})
      .Case("ReduceSumSquare",
            {[](const Node &n) { return reduction(n, "sum", square); }})
      .Case("ReduceL1",
            {[](const Node &n) { return reduction(n, "sum", magnitude); }})
      .Case("ReduceL2",
            {[](const Node &n) { return reduction(n, "sum", square, root); }})
      .Case("Softmax", {alongSoftmax})
      .Case("LayerNormalization", {layerNormalization, 2})
      .Case("Gather", {gather, 2})
      .Default({});
}
