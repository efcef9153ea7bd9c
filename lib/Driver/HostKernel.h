//===- HostKernel.h - a kernel as run and check call it -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_HOSTKERNEL_H
#define FACET_LIB_DRIVER_HOSTKERNEL_H

#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "facet/Driver/Array.h"

#include <map>

namespace facet {

/// One dimension: a size (its position in HostKernel::sizes) or a number.
struct HostDim {
  int size = -1;
  int64_t number = 0;
};

/// An argument or result.
struct HostParam {
  std::string name;
  kernel::ParamMode mode;
  ScalarType type;
  /// Per axis in memory its dimensions, more than one for a group.
  std::vector<std::vector<HostDim>> axes;
  /// For an integer argument whose elements are subscripts: they must lie below
  /// each of these extents, where they are used.
  std::vector<HostDim> indexBelow;
  /// Whether some use as a subscript is under no filter or guard, so that every
  /// element counts.
  bool indexAlwaysUsed = false;

  bool isInput() const { return mode != kernel::ParamMode::Out; }
  bool isOutput() const {
    return mode == kernel::ParamMode::Inout || mode == kernel::ParamMode::Out;
  }
};

/// Values of the sizes, by position.
using SizeValues = std::vector<int64_t>;

struct HostKernel {
  std::string name;
  /// What run and check set in front of C names, so that no kernel's name is a
  /// keyword or known to the C library.
  static constexpr llvm::StringLiteral nameSpace = "run";
  /// The C name of the kernel.
  std::string symbol() const { return (nameSpace + "_" + name).str(); }
  std::vector<std::string> sizes;
  std::vector<HostParam> params; ///< arguments, then results
  std::vector<std::string> promises;
  /// Values a size may have, by position; empty: any.
  std::vector<std::vector<int64_t>> fixed;

  explicit HostKernel(kernel::FuncOp kernel);

  int64_t extent(const HostDim &dim, const SizeValues &values) const;
  /// The extents in memory; nothing when one does not fit 63 bits.
  std::optional<llvm::SmallVector<int64_t, 4>>
  shape(const HostParam &param, const SizeValues &values) const;
  /// "(M, (Q, 128))": the axes as written.
  std::string axesText(const HostParam &param) const;
};

/// What is known about the sizes, from `M=512` and from the shapes of arrays.
class SizeSolver {
public:
  explicit SizeSolver(const HostKernel &kernel) : kernel(kernel) {}

  /// `origin` says who wants it: "M=512", "argument 'x'".
  void set(unsigned size, int64_t value, const std::string &origin,
           Diagnostics &diagnostics);
  /// Takes what the shape of an argument says. Groups with one unknown wait until
  /// `finish`.
  void useShape(const HostParam &param, llvm::ArrayRef<int64_t> shape,
                const std::string &origin, Diagnostics &diagnostics);
  /// The values; an error names the sizes nothing determines.
  std::optional<SizeValues> finish(Diagnostics &diagnostics);

private:
  struct Known {
    int64_t value;
    std::string origin;
  };
  struct Group {
    const HostParam *param;
    unsigned axis;
    int64_t extent;
    std::string origin;
  };
  bool solveGroup(const Group &group, Diagnostics &diagnostics);

  const HostKernel &kernel;
  std::map<unsigned, Known> known;
  std::vector<Group> groups;
};

} // namespace facet

#endif // FACET_LIB_DRIVER_HOSTKERNEL_H
