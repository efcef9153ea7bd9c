//===- OnnxFragments.cpp - the kernels inside a model ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole model holds nodes that no kernel computes. Between them lie sets of nodes that
// one does:
//
//   MatMul ─ Add ─ Reshape ─ Transpose ─ MatMul ─ Softmax ─ MatMul ─ Transpose ─ …
//   └ kernel ┘     └ left ┘  └─────────── kernel ─────────────────┘
//
// Two nodes are in one kernel when they are connected and no path between them leaves it:
// a node's level is the number of times that a path to it came out of nodes that are left,
// and only nodes of one level are joined.
//
//===----------------------------------------------------------------------===//

#include "Onnx.h"
#include "facet/Frontend/Frontend.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace llvm;
using namespace facet;
using namespace facet::import;

namespace {
class Cutter {
public:
  Cutter(const onnx::ModelProto &model, StringRef file,
         Diagnostics &diagnostics, bool arrays)
      : model(model), graph(model.graph()), file(file),
        diagnostics(diagnostics), arrays(arrays),
        whole(model, file, diagnostics) {}
  std::optional<ImportedFragments> run();

private:
  void findProducers();
  /// Puts what is made of constants alone, a weight that is dequantised, to the first that
  /// reads it.
  void raiseConstants(std::vector<int> &level);
  /// The numbers of connected nodes, by the first of them.
  std::map<int, std::vector<int>> connected();
  onnx::ModelProto modelOf(const std::vector<int> &nodes);
  void addValue(StringRef tensor, onnx::ValueInfoProto &info);
  void leave(int node, const Twine &why);
  void cut(const std::vector<int> &nodes, ImportedFragments &all);

  const onnx::ModelProto &model;
  const onnx::GraphProto &graph;
  StringRef file;
  Diagnostics &diagnostics;
  bool arrays;
  OnnxGraph whole;
  KernelText names; ///< of kernels
  std::vector<std::string> why;
  StringMap<int> producers;
  std::map<int, ImportedLeft> left;
};
} // namespace

void Cutter::findProducers() {
  for (auto [i, node] : enumerate(graph.node()))
    for (const std::string &output : node.output())
      if (!output.empty() && !whole.constant(output))
        producers[output] = int(i);
}

void Cutter::raiseConstants(std::vector<int> &level) {
  std::vector<bool> isConstant(why.size());
  StringMap<int> lowest; // level of a tensor's readers
  for (const onnx::ValueInfoProto &output : graph.output())
    lowest[output.name()] = -1;
  for (auto [i, node] : enumerate(graph.node())) {
    isConstant[i] = why[i].empty() && !whole.isIdle(node);
    for (const std::string &input : node.input()) {
      auto from = producers.find(input);
      isConstant[i] =
          isConstant[i] && (input.empty() || whole.constant(input) ||
                            (from != producers.end() && from->second < int(i) &&
                             isConstant[size_t(from->second)]));
    }
  }
  for (int i = int(why.size()) - 1; i >= 0; --i) {
    const onnx::NodeProto &node = graph.node(i);
    if (isConstant[size_t(i)])
      if (auto found = lowest.find(node.output(0)); found != lowest.end())
        level[size_t(i)] = std::max(level[size_t(i)], found->second);
    for (const std::string &input : node.input()) {
      // What is left would lie between: nothing is raised over it.
      int at = why[size_t(i)].empty() ? level[size_t(i)] : -1;
      auto [found, isNew] = lowest.try_emplace(input, at);
      if (!isNew)
        found->second = std::min(found->second, at);
    }
  }
}

std::map<int, std::vector<int>> Cutter::connected() {
  EquivalenceClasses<int> classes;
  std::vector<int> level(why.size(), 0);
  for (auto [i, node] : enumerate(graph.node())) {
    int number = int(i);
    bool isLeft = !why[i].empty();
    if (!isLeft && !whole.isIdle(node))
      classes.insert(number);
    for (const std::string &input : node.input())
      // A node may only read what was made before it.
      if (auto from = producers.find(input);
          from != producers.end() && from->second < number)
        level[i] = std::max(
            level[i], level[size_t(from->second)] +
                          (!isLeft && !why[size_t(from->second)].empty()));
  }
  raiseConstants(level);
  for (auto [i, node] : enumerate(graph.node()))
    for (const std::string &input : node.input())
      if (auto from = producers.find(input);
          from != producers.end() && from->second < int(i) &&
          classes.contains(int(i)) && classes.contains(from->second) &&
          level[i] == level[size_t(from->second)])
        classes.unionSets(int(i), from->second);
  std::map<int, std::vector<int>> sets;
  for (int i = 0; i < int(why.size()); ++i)
    if (classes.contains(i))
      sets[classes.getLeaderValue(i)].push_back(i);
  std::map<int, std::vector<int>> ordered;
  for (auto &[leader, nodes] : sets)
    ordered[nodes.front()] = std::move(nodes);
  return ordered;
}

void Cutter::addValue(StringRef tensor, onnx::ValueInfoProto &info) {
  const Value &value = *whole.find(tensor);
  info.set_name(tensor.str());
  onnx::TypeProto::Tensor &type = *info.mutable_type()->mutable_tensor_type();
  for (int number = 1; number < 32; ++number)
    if (elementType(number) == value.type)
      type.set_elem_type(number);
  onnx::TensorShapeProto &shape = *type.mutable_shape();
  for (const std::string &axis : value.axes) {
    int64_t extent = 0;
    if (StringRef(axis).getAsInteger(10, extent))
      shape.add_dim()->set_dim_param(axis);
    else
      shape.add_dim()->set_dim_value(extent);
  }
}

/// These nodes as a graph of their own.
onnx::ModelProto Cutter::modelOf(const std::vector<int> &nodes) {
  onnx::ModelProto part;
  *part.mutable_opset_import() = model.opset_import();
  onnx::GraphProto &own = *part.mutable_graph();
  StringSet<> seen, made;
  DenseSet<int> inside(nodes.begin(), nodes.end());
  for (int number : nodes) {
    const onnx::NodeProto &node = graph.node(number);
    *own.add_node() = node;
    for (const std::string &input : node.input()) {
      if (input.empty() || made.contains(input) || !seen.insert(input).second)
        continue;
      if (const onnx::TensorProto *tensor = whole.constant(input)) {
        *own.add_initializer() = *tensor;
        own.mutable_initializer(own.initializer_size() - 1)->set_name(input);
      } else {
        addValue(input, *own.add_input());
      }
    }
    made.insert(node.output(0));
  }
  // Results are what others read.
  StringSet<> wanted;
  for (const onnx::ValueInfoProto &output : graph.output())
    wanted.insert(output.name());
  for (auto [i, node] : enumerate(graph.node()))
    if (!inside.contains(int(i)))
      for (const std::string &input : node.input())
        wanted.insert(input);
  for (int number : nodes)
    if (const std::string &output = graph.node(number).output(0);
        wanted.contains(output))
      addValue(output, *own.add_output());
  return part;
}

void Cutter::leave(int node, const Twine &why) {
  const onnx::NodeProto &proto = graph.node(node);
  left[node] = {node, proto.op_type(), proto.name(), why.str()};
}

void Cutter::cut(const std::vector<int> &nodes, ImportedFragments &all) {
  auto product = find_if(nodes, [&](int number) {
    return productMaker(graph.node(number).op_type()).make != nullptr;
  });
  if (product == nodes.end()) {
    for (int number : nodes)
      leave(number, "no product is connected with it");
    return;
  }
  onnx::ModelProto part = modelOf(nodes);
  Diagnostics refused;
  OnnxGraph own(part, file, refused);
  const onnx::NodeProto &first = graph.node(*product);
  StringRef wish = first.name().empty() ? first.output(0) : first.name();
  KernelText before = names;
  ImportedFragment fragment;
  fragment.kernel = own.text.name(names.name(wish.trim('/')));
  fragment.nodes = nodes;
  std::optional<std::string> text = own.kernel(fragment.kernel);
  if (!text || (arrays && !own.takeArrays(fragment.arrays))) {
    names = before;
    for (int number : nodes)
      leave(number,
            "its kernel would be refused: " + refused.all().front().message);
    return;
  }
  for (const onnx::ValueInfoProto &input : part.graph().input())
    fragment.inputs.push_back({own.nameOf(input.name()), input.name()});
  for (const auto &[argument, tensor] : own.weights)
    fragment.constants.push_back({argument, tensor->name()});
  for (const onnx::ValueInfoProto &output : part.graph().output())
    fragment.results.push_back({own.nameOf(output.name()), output.name()});
  all.text += (all.text.empty() ? "" : "\n") + *text;
  all.kernels.push_back(std::move(fragment));
}

std::optional<ImportedFragments> Cutter::run() {
  whole.survey(why);
  findProducers();
  ImportedFragments all;
  for (auto [i, reason] : enumerate(why))
    if (!reason.empty())
      leave(int(i), reason);
  for (const auto &[first, nodes] : connected())
    cut(nodes, all);
  for (auto &[node, entry] : left)
    all.left.push_back(std::move(entry));
  if (all.kernels.empty()) {
    facet::Diagnostic &error = diagnostics.error(
        {file.str()}, "no product of this model becomes a kernel");
    constexpr size_t most = 5;
    for (const ImportedLeft &entry : ArrayRef(all.left).take_front(most))
      error.note({}, "node " + std::to_string(entry.node) + " (" + entry.op +
                         (entry.name.empty() ? "" : " '" + entry.name + "'") +
                         "): " + entry.why);
    return std::nullopt;
  }
  std::optional<std::string> formatted =
      formatSource(file, std::move(all.text), diagnostics);
  if (!formatted)
    return std::nullopt;
  all.text = std::move(*formatted);
  return all;
}

std::optional<ImportedFragments>
facet::importOnnxFragments(StringRef file, StringRef bytes,
                           Diagnostics &diagnostics, bool arrays) {
  std::optional<onnx::ModelProto> model = readModel(file, bytes, diagnostics);
  if (!model)
    return std::nullopt;
  return Cutter(*model, file, diagnostics, arrays).run();
}
