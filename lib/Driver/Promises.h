//===- Promises.h - which promises a call would break ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_PROMISES_H
#define FACET_LIB_DRIVER_PROMISES_H

#include "Call.h"

namespace facet {

/// The `requires` of a kernel, evaluated without compiling anything: check looks
/// for sizes that keep them, and for sizes that break one.
class Promises {
public:
  Promises(kernel::FuncOp func, const HostKernel &kernel)
      : func(func), kernel(kernel) {}

  unsigned size() const { return kernel.promises.size(); }
  /// The first promise that `sizes` and the scalar arguments break; nothing when
  /// all hold as far as can be told.
  std::optional<unsigned> firstBroken(const SizeValues &sizes,
                                      const Arguments &arguments) const;

private:
  mutable kernel::FuncOp func; // MLIR's ops have no const methods
  const HostKernel &kernel;
};

} // namespace facet

#endif // FACET_LIB_DRIVER_PROMISES_H
