//===- Onnx.h - the graph of an ONNX model, node by node ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nodes of a graph become values (KernelText.h) in their order. A maker that cannot
// make its value says why by Node::refuse; the walk adds which node it was.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_IMPORT_ONNX_H
#define FACET_LIB_IMPORT_ONNX_H

#include "KernelText.h"
#include "facet/Import/Import.h"
#include "onnx.pb.h"

#include "llvm/ADT/StringMap.h"

namespace facet::import {

/// A constant whose numbers are in the file.
struct Numbers {
  std::vector<int64_t> shape;
  std::vector<double>
      values; ///< exact for every type but large 64-bit integers
  std::vector<int64_t> integers; ///< of integer types
};

/// One node with its operands and attributes.
class Node {
public:
  Node(class OnnxGraph &graph, const onnx::NodeProto &proto)
      : graph(graph), proto(proto) {}

  llvm::StringRef op() const { return proto.op_type(); }
  size_t operands() const { return proto.input_size(); }
  /// Whether operand `i` is given; the last ones, and empty names, may be absent.
  bool has(size_t i) const;
  Value operand(size_t i) const;
  /// The numbers of operand `i` where the file has them; refuses otherwise.
  Numbers constant(size_t i, llvm::StringRef what) const;
  /// The same for a list of integers such as axes: operand `i`, or before the opset that
  /// made an operand of it the attribute `name`. Empty when neither is there.
  std::vector<int64_t> list(size_t i, llvm::StringRef name) const;

  bool hasAttribute(llvm::StringRef name) const { return attribute(name); }
  int64_t integer(llvm::StringRef name, int64_t otherwise) const;
  double number(llvm::StringRef name, double otherwise) const;
  std::string text(llvm::StringRef name, llvm::StringRef otherwise) const;
  std::vector<int64_t> integers(llvm::StringRef name) const;
  /// `given` of `rank` axes counted from 0, negative ones from the end; refuses others.
  size_t axis(int64_t given, size_t rank) const;

  KernelText &kernel() const;
  int64_t opset() const;
  /// Notes why this node makes no kernel; the value returned is never used.
  Value refuse(const llvm::Twine &why) const;
  bool refused() const;

private:
  const onnx::AttributeProto *attribute(llvm::StringRef name) const;

  class OnnxGraph &graph;
  const onnx::NodeProto &proto;
};

/// The model in these bytes; nothing, with an error, when there is none.
std::optional<onnx::ModelProto> readModel(llvm::StringRef file,
                                          llvm::StringRef bytes,
                                          Diagnostics &diagnostics);

/// What an op makes of its operands, of which it needs `least`.
struct Maker {
  Value (*make)(const Node &node) = nullptr;
  unsigned least = 1;
};
/// The maker of `op`; a null one when it is not of this kind.
Maker elementwiseMaker(llvm::StringRef op);
Maker productMaker(llvm::StringRef op);
Maker axisMaker(llvm::StringRef op);

/// The type in the language of an ONNX element type; nothing for others.
std::optional<ScalarType> elementType(int onnxType);
std::string nameOfType(int onnxType);
/// The elements in memory order, little-endian; nothing when they are not in the file.
std::optional<std::vector<uint8_t>> bytesOf(const onnx::TensorProto &tensor,
                                            ScalarType type);
/// The elements as numbers, when they are in the file and no more than these.
constexpr int64_t mostNumbers = INT64_C(1) << 20;
std::optional<Numbers> numbersOf(const onnx::TensorProto &tensor);

/// The axes of arrays stretched to each other as NumPy does; refuses what may not fit.
std::vector<std::string> stretched(const Node &node,
                                   llvm::ArrayRef<Value> values);
/// What `subscripts` of the stretched array are for `value`.
Subscripts seenBy(const Value &value, const Subscripts &subscripts);
/// A value of `type` at these axes.
Value make(ScalarType type, std::vector<std::string> axes,
           std::function<Text(const Subscripts &)> raw,
           Work work = Work::Heavy);

class OnnxGraph {
public:
  OnnxGraph(const onnx::ModelProto &model, llvm::StringRef file,
            Diagnostics &diagnostics);

  /// The kernel as text; nothing, with errors, when a node is refused.
  std::optional<std::string> kernel(llvm::StringRef name);

  /// Makes every node by itself; `why` gets, for each, why it cannot be made, "" for the
  /// others and those that are not needed. Tensors of such nodes take their shapes from the
  /// model. What is left in the graph are types and axes.
  void survey(std::vector<std::string> &why);
  /// The elements of constants that became arguments; false with an error.
  bool takeArrays(std::vector<ImportedArray> &arrays);
  /// Whether nobody reads the node's results, or they are constants of the file.
  bool isIdle(const onnx::NodeProto &node) const;
  /// The constant of that name; null: it is none.
  const onnx::TensorProto *constant(llvm::StringRef tensor) const {
    return constants.lookup(tensor);
  }
  /// Null: unknown.
  const Value *find(llvm::StringRef tensor) const;
  /// The argument or result that a tensor became.
  std::string nameOf(llvm::StringRef tensor) const;

  Value value(llvm::StringRef name);
  const Numbers *numbers(llvm::StringRef name);

  /// The constants that are arguments, by their names.
  std::vector<std::pair<std::string, const onnx::TensorProto *>> weights;
  KernelText text;
  int64_t opset = 0;
  std::optional<std::string> refusal;

private:
  void countUses();
  void findConstants();
  void addArguments();
  /// An argument for a tensor of the model; nothing, with `why`, when it can be none.
  std::optional<Value> argumentFor(const onnx::ValueInfoProto &info,
                                   std::string &why);
  Value evaluate(const onnx::NodeProto &proto);

  const onnx::GraphProto &graph;
  llvm::StringRef file;
  Diagnostics &diagnostics;
  llvm::StringMap<Value> values;
  llvm::StringMap<const onnx::TensorProto *> constants;
  llvm::StringMap<Numbers> known;
  llvm::StringMap<unsigned> uses;
};

} // namespace facet::import

#endif // FACET_LIB_IMPORT_ONNX_H
