//===- Tensor.h - an array of Python as a tensor of C ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_PYTHON_TENSOR_H
#define FACET_PYTHON_TENSOR_H

#include "facet/abi.h"

#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <string>

namespace facet::python {

namespace nb = nanobind;

/// An element type and what Python calls it.
struct Element {
  int32_t type;      ///< a facet_type
  const char *name;  ///< "bf16"
  const char *numpy; ///< "bfloat16": of NumPy, ml_dtypes, PyTorch and JAX
  uint8_t code;      ///< DLPack's
  uint8_t bits;
  char kind;    ///< of the buffer protocol: 'f', 'i', 'u', '?'; 0: it has none
  bool inNumpy; ///< else it comes from ml_dtypes
};
const Element &elementOf(int32_t type);

/// Which library a value comes from.
enum class Library { None, NumPy, Torch, Jax, Other };
Library libraryOf(nb::handle value);

/// NumPy's dtype of an element; ImportError when ml_dtypes is needed and missing.
/// 4-bit elements are bytes of two.
nb::object numpyType(const Element &element);

/// A parameter of one call: borrows the memory of a Python object until it dies.
class Tensor {
public:
  Tensor() = default;
  ~Tensor();
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;

  /// Takes `value` for `parameter` of `kernel`; `writable` when the kernel writes to
  /// it. Throws TypeError or ValueError that name both.
  void set(nb::handle value, const facet_argument &parameter, bool writable,
           const char *kernel);

  /// Null for an argument that is left out.
  facet_dltensor *get() { return isGiven ? &tensor : nullptr; }
  bool isPresent() const { return isGiven; }
  /// Null for an argument that is left out.
  const int64_t *shape() const { return isGiven ? tensor.shape : nullptr; }
  int64_t extent(int32_t axis) const { return tensor.shape[axis]; }

private:
  struct Request {
    nb::handle value;
    const facet_argument &parameter;
    const Element &element;
    bool writable;
    const char *kernel;
    /// Throws TypeError: "linear: 'x' is bf16[M, K], not …".
    [[noreturn]] void refuse(const std::string &what) const;
  };
  bool setNumber(const Request &request);
  bool setBuffer(const Request &request, nb::handle from, bool raw);
  bool setNumpy(const Request &request);
  void setDlpack(const Request &request);
  void layOut(int32_t rank);

  facet_dltensor tensor = {};
  bool isGiven = false;
  bool hasView = false;
  Py_buffer view;
  nb::object keep; ///< what must live as long as the memory
  uint64_t number = 0;
  int64_t few[8];
  std::unique_ptr<int64_t[]> many;
};

} // namespace facet::python

#endif // FACET_PYTHON_TENSOR_H
