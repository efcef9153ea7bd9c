//===- Kernel.h - a compiled kernel as a callable of Python ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_PYTHON_KERNEL_H
#define FACET_PYTHON_KERNEL_H

#include "Tensor.h"
#include "facet-c/compiler.h"

#include <vector>

namespace facet::python {

/// Kernels of one text; unloaded with the last of them.
using Module = std::shared_ptr<facetc_module>;

/// A run on a matrix engine; null when it was refused.
using Simulation = std::shared_ptr<facetc_simulation>;

/// One dimension of an axis: a size, by its position, or a number.
struct Dim {
  int32_t size;
  int64_t number;
};

/// An argument or result.
struct Parameter {
  const facet_argument *info;
  const Element *element;
  std::vector<std::vector<Dim>> axes; ///< more than one Dim: a group
  nb::object numpyType;               ///< of results, once one was allocated
};

class Kernel {
public:
  Kernel(Module module, const facetc_kernel *kernel);

  /// kernel(x, w, b, out=y, M=512): arguments by position or name, results, sizes that
  /// no argument says.
  nb::object call(const nb::args &args, const nb::kwargs &kwargs);

  /// The same on the simulator of the matrix engine of `options`, from the kernel's
  /// text. `messages` is set.
  std::pair<nb::object, Simulation> simulate(const std::string &text,
                                             const facetc_options &options,
                                             const nb::args &args,
                                             const nb::kwargs &kwargs,
                                             facetc_messages *&messages);

  const facet_info &info() const { return *information; }
  /// Shapes of the results, by those of the arguments.
  nb::tuple resultShapes(const nb::args &shapes, const nb::kwargs &sizes) const;
  /// Floating-point operations of a call with `sizes`.
  double flops(const nb::kwargs &sizes) const;

private:
  using Sizes = std::vector<int64_t>;
  struct Given;
  /// Sorts out a call, lets `run` make it, and gives the results.
  template <typename Run>
  nb::object invoke(const nb::args &args, const nb::kwargs &kwargs, Run run);
  void sort(const nb::args &args, const nb::kwargs &kwargs, Given &given) const;
  void compare(const Parameter &parameter, const Tensor &tensor,
               const Sizes &sizes) const;
  /// By argument; null: left out.
  void solve(const std::vector<const int64_t *> &shapes, Sizes &sizes) const;
  nb::list shapeOf(const Parameter &result, const Sizes &sizes) const;
  Sizes sizesNamed(const nb::kwargs &given) const;
  nb::object allocate(Parameter &result, const Sizes &sizes, Library library);
  [[noreturn]] void fail(int code) const;
  /// "linear: " and `what`.
  std::string said(const std::string &what) const;

  Module module;
  const facetc_kernel *kernel;
  const facet_info *information;
  std::vector<Parameter> inputs, results;
  nb::object numpyEmpty;
};

} // namespace facet::python

#endif // FACET_PYTHON_KERNEL_H
