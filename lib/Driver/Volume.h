//===- Volume.h - how much is compiled together ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_VOLUME_H
#define FACET_LIB_DRIVER_VOLUME_H

#include "Invocation.h"
#include "facet/Dialect/Kernel/IR/Kernel.h"

namespace facet {

/// Whether the kernels of `module`, for so many levels, are no more code than is made
/// together; an error at the kernel that is one too many otherwise.
bool checkVolume(mlir::ModuleOp module, size_t levels,
                 Diagnostics &diagnostics);

/// While it lives: says once on standard error that these kernels are still being
/// compiled, after ten seconds of it. Silent with --quiet, beside messages for programs
/// and for a caller that has no standard error to look at. One at a time.
class LongWork {
public:
  LongWork(const Invocation &invocation, mlir::ModuleOp module, size_t levels);
  ~LongWork();
  LongWork(const LongWork &) = delete;
  LongWork &operator=(const LongWork &) = delete;

private:
  bool isTimed = false;
};

} // namespace facet

#endif // FACET_LIB_DRIVER_VOLUME_H
