//===- onnx-fuzzer.cpp - any graph of ONNX ops ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes are read twice: as a file, and as choices from which a graph is made: inputs,
// constants, ops that import knows with operands and attributes at random. What is
// imported is a text that parses.
//
//===----------------------------------------------------------------------===//

#include "Promise.h"
#include "facet/Frontend/Frontend.h"
#include "facet/Import/Import.h"
#include "onnx.pb.h"

#include <fuzzer/FuzzedDataProvider.h>

using namespace facet;

static const char *const ops[] = {"Add",
                                  "Div",
                                  "Less",
                                  "And",
                                  "Not",
                                  "Min",
                                  "Sum",
                                  "Where",
                                  "Pow",
                                  "Clip",
                                  "Cast",
                                  "DequantizeLinear",
                                  "QuantizeLinear",
                                  "Exp",
                                  "Gelu",
                                  "Relu",
                                  "Elu",
                                  "Identity",
                                  "Dropout",
                                  "MatMul",
                                  "Gemm",
                                  "MatMulInteger",
                                  "QLinearMatMul",
                                  "Einsum",
                                  "Transpose",
                                  "Squeeze",
                                  "Unsqueeze",
                                  "Reshape",
                                  "ReduceSum",
                                  "ReduceMean",
                                  "ReduceL2",
                                  "Softmax",
                                  "LayerNormalization",
                                  "Gather",
                                  "Constant",
                                  "Conv"};
static const char *const attributes[] = {
    "axis",        "axes",    "perm",   "to",       "alpha",
    "beta",        "transA",  "transB", "keepdims", "equation",
    "approximate", "epsilon", "min",    "max",      "saturate"};
static const char *const formulas[] = {
    "ij,jk->ik", "...ij,...jk->...ik", "ii->i", "ij", "bij,bjk", "i,,j", "->",
    "a...a"};

static void shape(FuzzedDataProvider &from, onnx::TypeProto::Tensor &tensor) {
  for (int rank = from.ConsumeIntegralInRange(0, 4); rank-- > 0;) {
    auto *dim = tensor.mutable_shape()->add_dim();
    if (from.ConsumeBool())
      dim->set_dim_value(from.ConsumeIntegralInRange<int64_t>(-1, 8));
    else
      dim->set_dim_param(from.PickValueInArray({"M", "K", "batch size", ""}));
  }
}

static onnx::ModelProto graphFrom(FuzzedDataProvider &from) {
  onnx::ModelProto model;
  auto *set = model.add_opset_import();
  set->set_version(from.PickValueInArray({11, 13, 17, 21}));
  onnx::GraphProto &graph = *model.mutable_graph();
  std::vector<std::string> names = {""};
  for (int i = from.ConsumeIntegralInRange(1, 4); i-- > 0;) {
    auto *input = graph.add_input();
    input->set_name(names.emplace_back("x" + std::to_string(i)));
    auto &tensor = *input->mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(from.ConsumeIntegralInRange(0, 23));
    tensor.mutable_shape();
    shape(from, tensor);
  }
  for (int i = from.ConsumeIntegralInRange(0, 3); i-- > 0;) {
    auto *constant = graph.add_initializer();
    constant->set_name(names.emplace_back("c" + std::to_string(i)));
    constant->set_data_type(from.ConsumeIntegralInRange(0, 23));
    for (int rank = from.ConsumeIntegralInRange(0, 2); rank-- > 0;)
      constant->add_dims(from.ConsumeIntegralInRange(-1, 4));
    constant->set_raw_data(from.ConsumeRandomLengthString(64));
  }
  for (int i = 0; i != 12 && from.remaining_bytes(); ++i) {
    auto *node = graph.add_node();
    node->set_op_type(from.PickValueInArray(ops));
    for (int operands = from.ConsumeIntegralInRange(0, 8); operands-- > 0;)
      node->add_input(
          names[from.ConsumeIntegralInRange<size_t>(0, names.size() - 1)]);
    for (int count = from.ConsumeIntegralInRange(0, 3); count-- > 0;) {
      auto *attribute = node->add_attribute();
      attribute->set_name(from.PickValueInArray(attributes));
      attribute->set_i(from.ConsumeIntegralInRange(-5, 25));
      attribute->set_f(from.ConsumeFloatingPoint<float>());
      attribute->set_s(from.PickValueInArray(formulas));
      for (int ints = from.ConsumeIntegralInRange(0, 4); ints-- > 0;)
        attribute->add_ints(from.ConsumeIntegralInRange(-5, 5));
    }
    node->add_output(names.emplace_back("t" + std::to_string(i)));
  }
  graph.add_output()->set_name(names.back());
  if (from.ConsumeBool())
    graph.add_output()->set_name(
        names[from.ConsumeIntegralInRange<size_t>(0, names.size() - 1)]);
  return model;
}

/// The same cut into kernels; the walk that finds them makes each node by itself.
static void cut(llvm::StringRef bytes) {
  Diagnostics diagnostics;
  std::optional<ImportedFragments> fragments =
      importOnnxFragments("graph.onnx", bytes, diagnostics, /*arrays=*/true);
  promise(fragments.has_value() != diagnostics.hasErrors(),
          "a model is refused without a reason, or with kernels");
  if (!fragments)
    return;
  Diagnostics again;
  promise(formatSource("graph.facet", fragments->text, again) ==
              fragments->text,
          "imported kernels are not formatted");
  (void)parseAndCheck("graph.facet", fragments->text, {}, again);
}

static void import(llvm::StringRef bytes) {
  cut(bytes);
  Diagnostics diagnostics;
  std::optional<std::string> text =
      importOnnx("graph.onnx", bytes, diagnostics);
  promise(text.has_value() != diagnostics.hasErrors(),
          "a model is refused without a reason, or with a kernel");
  if (!text)
    return;
  // The language may refuse it (an odd last axis of int4), but it reads it.
  Diagnostics again;
  promise(formatSource("graph.facet", *text, again) == *text,
          "an imported kernel is not formatted");
  (void)parseAndCheck("graph.facet", *text, {}, again);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  import(llvm::StringRef(reinterpret_cast<const char *>(data), size));
  FuzzedDataProvider from(data, size);
  import(graphFrom(from).SerializeAsString());
  return 0;
}
