//===- Onnx.cpp - a kernel from an ONNX model -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole graph becomes one kernel: inputs are arguments, constants of one element are
// written out, larger ones become `const` arguments behind the inputs, in the order of
// their first use, and outputs are results.
//
//   MatMul(x, W) ─ Add(·, B) ─ Relu        kernel k(x: f32[M, 64], w: const f32[64, 32], b: const f32[32])
//                                              -> y: f32[M, 32] {
//                                            y[m, n] = relu(sum[k](x[m, k] * w[k, n]) + b[n])
//                                          }
//
// The model's types are kept: a tensor of float16 between two nodes is rounded to f16.
// The file is read by protobuf's lite runtime from ONNX's own description; nothing of the
// graph is believed before it was looked at.
//
//===----------------------------------------------------------------------===//

#include "Onnx.h"
#include "facet/Frontend/Frontend.h"
#include "facet/Import/Import.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace facet;
using namespace facet::import;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

bool Node::has(size_t i) const {
  return i < size_t(proto.input_size()) && !proto.input(i).empty();
}
Value Node::operand(size_t i) const { return graph.value(proto.input(i)); }
KernelText &Node::kernel() const { return graph.text; }
int64_t Node::opset() const { return graph.opset; }
bool Node::refused() const { return graph.refusal.has_value(); }

Value Node::refuse(const Twine &why) const {
  if (!graph.refusal)
    graph.refusal = why.str();
  return {};
}

Numbers Node::constant(size_t i, StringRef what) const {
  if (const Numbers *numbers = graph.numbers(proto.input(i)))
    return *numbers;
  refuse(what + " must be a constant whose numbers are in the file");
  return {};
}

const onnx::AttributeProto *Node::attribute(StringRef name) const {
  for (const onnx::AttributeProto &attribute : proto.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

int64_t Node::integer(StringRef name, int64_t otherwise) const {
  const onnx::AttributeProto *found = attribute(name);
  return found ? found->i() : otherwise;
}

double Node::number(StringRef name, double otherwise) const {
  const onnx::AttributeProto *found = attribute(name);
  return found ? double(found->f()) : otherwise;
}

std::string Node::text(StringRef name, StringRef otherwise) const {
  const onnx::AttributeProto *found = attribute(name);
  return found ? found->s() : otherwise.str();
}

std::vector<int64_t> Node::integers(StringRef name) const {
  const onnx::AttributeProto *found = attribute(name);
  if (!found)
    return {};
  return {found->ints().begin(), found->ints().end()};
}

std::vector<int64_t> Node::list(size_t i, StringRef name) const {
  return has(i) ? constant(i, name).integers : integers(name);
}

size_t Node::axis(int64_t given, size_t rank) const {
  int64_t axis = given < 0 ? given + int64_t(rank) : given;
  if (axis >= 0 && axis < int64_t(rank))
    return axis;
  refuse("axis " + Twine(given) + " is none of an array with " + Twine(rank) +
         " axes");
  return 0;
}

//===----------------------------------------------------------------------===//
// Arrays stretched to each other
//===----------------------------------------------------------------------===//

std::vector<std::string> facet::import::stretched(const Node &node,
                                                  ArrayRef<Value> values) {
  size_t rank = 0;
  for (const Value &value : values)
    rank = std::max(rank, value.axes.size());
  std::vector<std::string> axes(rank, "1");
  for (const Value &value : values)
    for (size_t i = 0; i != value.axes.size(); ++i) {
      std::string &axis = axes[rank - value.axes.size() + i];
      if (axis == "1")
        axis = value.axes[i];
      else if (value.axes[i] != axis && value.axes[i] != "1")
        node.refuse("axes of " + axis + " and " + value.axes[i] +
                    " do not fit each other" +
                    (isDigit(axis[0]) && isDigit(value.axes[i][0])
                         ? ""
                         : " for certain; give both one name"));
    }
  return axes;
}

Subscripts facet::import::seenBy(const Value &value,
                                 const Subscripts &subscripts) {
  Subscripts own(subscripts.end() - value.axes.size(), subscripts.end());
  for (auto [subscript, axis] : zip(own, value.axes))
    if (axis == "1")
      subscript = "0";
  return own;
}

Value facet::import::make(ScalarType type, std::vector<std::string> axes,
                          std::function<Text(const Subscripts &)> raw,
                          Work work) {
  return {
      type, std::move(axes), std::move(raw), work, arithmeticType(type) != type,
      0};
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

OnnxGraph::OnnxGraph(const onnx::ModelProto &model, StringRef file,
                     Diagnostics &diagnostics)
    : graph(model.graph()), file(file), diagnostics(diagnostics) {
  for (const onnx::OperatorSetIdProto &set : model.opset_import())
    if (set.domain().empty() || set.domain() == "ai.onnx")
      opset = set.version();
  for (const onnx::TensorProto &tensor : graph.initializer())
    constants[tensor.name()] = &tensor;
}

const Numbers *OnnxGraph::numbers(StringRef name) {
  auto [at, isNew] = known.try_emplace(name);
  if (!isNew)
    return &at->second;
  if (auto found = constants.find(name); found != constants.end())
    if (std::optional<Numbers> numbers = numbersOf(*found->second)) {
      at->second = std::move(*numbers);
      return &at->second;
    }
  known.erase(name);
  return nullptr;
}

/// An axis of an input; `place` names one that the model leaves open.
static std::string axisOf(const onnx::TensorShapeProto::Dimension &dim,
                          KernelText &text, const Twine &place) {
  if (dim.has_dim_value())
    return std::to_string(dim.dim_value());
  return text.size(dim.dim_param().empty() ? place.str() : dim.dim_param());
}

/// Of an argument or a result: "w" of w[k, n].
static std::string argumentName(const Value &value) {
  std::string element = value.at(Subscripts(value.axes.size(), "0")).text;
  return StringRef(element).take_until([](char c) { return c == '['; }).str();
}

Value OnnxGraph::value(StringRef name) {
  if (auto found = values.find(name); found != values.end())
    return found->second;
  // A constant, at its first use.
  const onnx::TensorProto &tensor = *constants.lookup(name);
  std::optional<ScalarType> type = elementType(tensor.data_type());
  if (!type) {
    refusal = "the language has no type for " + nameOfType(tensor.data_type());
    return {};
  }
  Value result;
  bool isOne =
      all_of(tensor.dims(), [](int64_t extent) { return extent == 1; });
  const Numbers *content = isOne ? numbers(name) : nullptr;
  if (content) {
    std::string text = isFloat(*type) || *type == ScalarType::Bool
                           ? written(content->values[0], *type)
                           : std::to_string(content->integers[0]);
    result = KernelText::literal(text, *type, content->shape.size());
  } else {
    std::vector<std::string> axes;
    for (int64_t extent : tensor.dims())
      axes.push_back(std::to_string(extent));
    result = text.argument(name, *type, std::move(axes), /*isConst=*/true);
    weights.emplace_back(argumentName(result), &tensor);
  }
  return values[name] = result;
}

void OnnxGraph::countUses() {
  for (const onnx::NodeProto &node : graph.node())
    for (const std::string &input : node.input())
      ++uses[input];
  for (const onnx::ValueInfoProto &output : graph.output())
    ++uses[output.name()];
}

std::optional<Value> OnnxGraph::argumentFor(const onnx::ValueInfoProto &info,
                                            std::string &why) {
  const onnx::TypeProto::Tensor &tensor = info.type().tensor_type();
  std::optional<ScalarType> type = elementType(tensor.elem_type());
  if (!info.type().has_tensor_type() || !type) {
    why = "is " +
          (info.type().has_tensor_type() ? nameOfType(tensor.elem_type())
                                         : std::string("no tensor")) +
          ", for which the language has no type";
    return std::nullopt;
  }
  if (!tensor.has_shape()) {
    why = "has no shape; the number of axes must be known";
    return std::nullopt;
  }
  std::vector<std::string> axes;
  for (const auto &dim : tensor.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() <= 0) {
      why = "has an axis of no element";
      return std::nullopt;
    }
    axes.push_back(axisOf(dim, text, info.name() + "_" + Twine(axes.size())));
  }
  return text.argument(info.name(), *type, std::move(axes), /*isConst=*/false);
}

void OnnxGraph::addArguments() {
  for (const onnx::ValueInfoProto &input : graph.input()) {
    if (constants.contains(input.name()))
      continue; // a constant that older models list here too
    std::string why;
    if (std::optional<Value> argument = argumentFor(input, why))
      values[input.name()] = std::move(*argument);
    else
      diagnostics.error({file.str()}, "input '" + input.name() + "' " + why);
  }
}

void OnnxGraph::findConstants() {
  for (const onnx::NodeProto &node : graph.node()) {
    if (node.op_type() == "Constant")
      for (const onnx::AttributeProto &attribute : node.attribute())
        if (attribute.name() == "value" && node.output_size())
          constants[node.output(0)] = &attribute.t();
  }
}

bool OnnxGraph::isIdle(const onnx::NodeProto &node) const {
  if (node.op_type() == "Constant" && node.output_size() &&
      constants.contains(node.output(0)))
    return true;
  return none_of(node.output(), [&](const std::string &output) {
    return !output.empty() && uses.lookup(output);
  });
}

const Value *OnnxGraph::find(StringRef tensor) const {
  auto found = values.find(tensor);
  return found == values.end() ? nullptr : &found->second;
}

std::string OnnxGraph::nameOf(StringRef tensor) const {
  return argumentName(values.lookup(tensor));
}

void OnnxGraph::survey(std::vector<std::string> &why) {
  countUses();
  findConstants();
  StringMap<const onnx::ValueInfoProto *> shapes;
  for (const auto *list : {&graph.value_info(), &graph.output()})
    for (const onnx::ValueInfoProto &info : *list)
      shapes[info.name()] = &info;
  // What an input cannot be, its readers are told.
  std::string ignored;
  for (const onnx::ValueInfoProto &input : graph.input())
    if (!constants.contains(input.name()))
      if (std::optional<Value> argument = argumentFor(input, ignored))
        values[input.name()] = std::move(*argument);
  for (const onnx::NodeProto &node : graph.node()) {
    why.emplace_back();
    if (isIdle(node))
      continue;
    for (const std::string &input : node.input())
      if (why.back().empty() && !input.empty() && !values.contains(input) &&
          !constants.contains(input))
        why.back() = "the shape of its operand '" + input +
                     "' is not in the model; ONNX's shape inference adds it";
    Value value;
    if (why.back().empty()) {
      value = evaluate(node);
      if (refusal)
        why.back() = *refusal;
      refusal.reset();
    }
    if (why.back().empty()) {
      // By itself: what it reads is of no interest.
      values[node.output(0)] =
          text.argument("t", value.type, value.axes, /*isConst=*/false);
      continue;
    }
    for (const std::string &output : node.output())
      if (const onnx::ValueInfoProto *info = shapes.lookup(output))
        if (std::optional<Value> argument = argumentFor(*info, ignored))
          values[output] = std::move(*argument);
  }
}

bool OnnxGraph::takeArrays(std::vector<ImportedArray> &arrays) {
  for (const auto &[argument, tensor] : weights) {
    ScalarType type = *elementType(tensor->data_type());
    std::optional<std::vector<uint8_t>> elements = bytesOf(*tensor, type);
    if (!elements) {
      diagnostics.error({file.str()}, "the numbers of '" + tensor->name() +
                                          "' are not in this file");
      return false;
    }
    arrays.push_back({argument,
                      type,
                      {tensor->dims().begin(), tensor->dims().end()},
                      std::move(*elements)});
  }
  return true;
}

/// "node 3 (MatMul 'scores')"
static std::string describe(const onnx::NodeProto &node, int index) {
  return "node " + std::to_string(index) + " (" + node.op_type() +
         (node.name().empty() ? "" : " '" + node.name() + "'") + ")";
}

/// What a `let` of this node is called: `MatMul` of "/layer.0/attention/MatMul_output_0".
static StringRef shortName(const onnx::NodeProto &node) {
  StringRef name = node.output(0);
  name = name.substr(name.rfind('/') + 1);
  name.consume_back("_output_0");
  return name.empty() || name.size() > 24 ? StringRef(node.op_type()) : name;
}

Value OnnxGraph::evaluate(const onnx::NodeProto &proto) {
  Node node(*this, proto);
  if (!proto.domain().empty() && proto.domain() != "ai.onnx")
    return node.refuse("ops of the domain '" + proto.domain() +
                       "' are not among those that import knows");
  Maker maker = elementwiseMaker(proto.op_type());
  if (!maker.make)
    maker = productMaker(proto.op_type());
  if (!maker.make)
    maker = axisMaker(proto.op_type());
  if (!maker.make)
    return node.refuse("this op is not among those that import knows");
  for (int i = 0; i != proto.input_size(); ++i)
    if (!proto.input(i).empty() && !values.contains(proto.input(i)) &&
        !constants.contains(proto.input(i)))
      return node.refuse("its operand '" + proto.input(i) +
                         "' is made by no node before it");
  for (unsigned i = 0; i != maker.least; ++i)
    if (!node.has(i))
      return node.refuse("operand " + Twine(i) + " is missing");
  for (int i = 1; i < proto.output_size(); ++i)
    if (uses.lookup(proto.output(i)))
      return node.refuse("only the first of its results is made here, '" +
                         proto.output(i) + "' is used");
  return maker.make(node);
}

std::optional<std::string> OnnxGraph::kernel(StringRef name) {
  countUses();
  addArguments();
  if (diagnostics.hasErrors())
    return std::nullopt;
  findConstants();
  // Outputs keep their names; what an output is may be read by nodes after it.
  StringMap<std::string> outputs;
  for (const onnx::ValueInfoProto &output : graph.output())
    if (outputs.try_emplace(output.name()).second)
      outputs[output.name()] = text.result(output.name());
  int index = -1;
  for (const onnx::NodeProto &node : graph.node()) {
    ++index;
    if (!node.output_size() ||
        (node.op_type() == "Constant" && constants.contains(node.output(0))))
      continue;
    if (!uses.lookup(node.output(0)))
      continue; // nobody reads it
    Value value = evaluate(node);
    // Long chains are cut into lets: an expression does not nest without end.
    value.depth = 0;
    for (const std::string &operand : node.input())
      if (auto found = values.find(operand); found != values.end())
        value.depth = std::max(value.depth, found->second.depth + 1);
    auto output = outputs.find(node.output(0));
    if (!refusal && output != outputs.end())
      value = text.assign(output->second, value);
    else if (!refusal && (uses.lookup(node.output(0)) > 1 ||
                          value.depth > KernelText::deepest))
      value = text.keep(value, shortName(node),
                        /*always=*/value.depth > KernelText::deepest);
    if (refusal) {
      diagnostics.error({file.str()}, describe(node, index) + ": " + *refusal);
      return std::nullopt;
    }
    values[node.output(0)] = std::move(value);
  }
  if (!graph.output_size()) {
    diagnostics.error({file.str()}, "the graph has no output");
    return std::nullopt;
  }
  for (const onnx::ValueInfoProto &output : graph.output()) {
    if (constants.contains(output.name()) || !values.contains(output.name())) {
      diagnostics.error({file.str()},
                        "output '" + output.name() + "' is made by no node");
      return std::nullopt;
    }
    // An input that is an output too is copied.
    if (none_of(graph.node(), [&](const onnx::NodeProto &node) {
          return node.output_size() && node.output(0) == output.name();
        }))
      text.assign(outputs[output.name()], values[output.name()]);
  }
  std::string about = "From an ONNX graph";
  if (!graph.name().empty() && all_of(graph.name(), isPrint))
    about += ", '" + graph.name() + "'";
  return text.finish(name, about + ".");
}

std::optional<onnx::ModelProto>
facet::import::readModel(StringRef file, StringRef bytes,
                         Diagnostics &diagnostics) {
  onnx::ModelProto model;
  if (bytes.size() > INT32_MAX ||
      !model.ParseFromArray(bytes.data(), int(bytes.size())) ||
      !model.has_graph()) {
    diagnostics.error({file.str()}, "this is not an ONNX model");
    return std::nullopt;
  }
  return model;
}

std::optional<std::string>
facet::importOnnx(StringRef file, StringRef bytes, Diagnostics &diagnostics,
                  std::vector<ImportedArray> *arrays) {
  std::optional<onnx::ModelProto> model = readModel(file, bytes, diagnostics);
  if (!model)
    return std::nullopt;
  OnnxGraph graph(*model, file, diagnostics);
  std::string name = graph.text.name(sys::path::stem(file));
  std::optional<std::string> text = graph.kernel(name);
  if (!text)
    return std::nullopt;
  if (arrays && !graph.takeArrays(*arrays))
    return std::nullopt;
  return formatSource(file, std::move(*text), diagnostics);
}
