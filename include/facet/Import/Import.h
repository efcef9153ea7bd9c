//===- Import.h - kernels that others wrote, as Facet source --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every door has one form: text of another kind in, the text of a .facet file out,
// formatted as `facet fmt` would. What comes in passes the language's own checks after
// that, like anything a user writes, and can be read, kept and changed.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_IMPORT_IMPORT_H
#define FACET_IMPORT_IMPORT_H

#include "facet/Frontend/CheckedKernel.h"
#include "facet/Support/Diagnostics.h"

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace facet {

/// The kernel `einsum` of a formula as NumPy's einsum takes it, operands x0, x1, …,
/// result y: "bij,bjk->bik". Behind an operand or the result may stand its element
/// type, `:bf16` or `:const i8`; f32 unless said, the result as the operands (narrow
/// integers: i32). Letters of no result are summed; without `->` the result has the
/// letters that stand once, in alphabetical order. `...` is refused, since nothing says
/// how many axes it stands for, and so is whatever else gives no kernel. Places of errors
/// are columns of the formula, kept in `diagnostics` under the name `file`.
std::optional<std::string> importEinsum(llvm::StringRef file,
                                        llvm::StringRef formula,
                                        Diagnostics &diagnostics);

/// A constant of a model: the argument `name`, row-major and little-endian.
struct ImportedArray {
  std::string name;
  ScalarType type;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
};

/// One kernel, named like the file, of the whole graph of an ONNX model: matrix products
/// (MatMul, Gemm, MatMulInteger, QLinearMatMul, Einsum) and what may surround them.
/// Inputs become arguments, constants of more than one element `const` arguments behind
/// them, outputs results. `bytes` is the file's content; a node outside the subset is
/// refused by number, op and name. docs/Import.md has the list. `arrays`, if not null, gets
/// the constants that became arguments; one whose numbers are in another file is an error.
std::optional<std::string>
importOnnx(llvm::StringRef file, llvm::StringRef bytes,
           Diagnostics &diagnostics,
           std::vector<ImportedArray> *arrays = nullptr);

/// An argument or result of a kernel, and the model's tensor that it is.
struct ImportedTensor {
  std::string name, tensor;
};

/// A kernel that was cut from a model.
struct ImportedFragment {
  std::string kernel;
  std::vector<int> nodes; ///< of the model, by number
  /// In the order of the prototype.
  std::vector<ImportedTensor> inputs, constants, results;
  std::vector<ImportedArray> arrays; ///< the constants' elements
};

/// A node that no kernel computes.
struct ImportedLeft {
  int node;
  std::string op, name, why;
};

struct ImportedFragments {
  std::string text; ///< all kernels
  std::vector<ImportedFragment> kernels;
  std::vector<ImportedLeft> left;
};

/// The products of an ONNX model with what surrounds them: one kernel for each set of
/// connected nodes that importOnnx knows and that has a product in it. Between kernels lie
/// nodes that it does not know; a tensor that one of those makes needs a shape in the model,
/// as ONNX's shape inference adds. A kernel is named by its first product. `arrays` asks for
/// constants' elements. Nothing, with an error, when there is no such set.
std::optional<ImportedFragments> importOnnxFragments(llvm::StringRef file,
                                                     llvm::StringRef bytes,
                                                     Diagnostics &diagnostics,
                                                     bool arrays);

} // namespace facet

#endif // FACET_IMPORT_IMPORT_H
