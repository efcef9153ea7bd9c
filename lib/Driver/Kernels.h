//===- Kernels.h - choosing and loading kernels, for run and check --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_KERNELS_H
#define FACET_LIB_DRIVER_KERNELS_H

#include "ChooseTargets.h"
#include "Emission.h"
#include "Loaded.h"

namespace facet {

/// The kernel of --kernel, or the only one; null with an error.
kernel::FuncOp chooseKernel(mlir::ModuleOp module, Invocation &invocation);

/// Erases all kernels of its module but `kernel`.
void keepOnly(kernel::FuncOp kernel);

/// Compiles all kernels of `sources` for this machine; null with `code` set.
/// C names get HostKernel::nameSpace.
std::unique_ptr<Loaded> loadKernels(Sources &sources, const TargetList &targets,
                                    Invocation &invocation, ExitCode &code);

} // namespace facet

#endif // FACET_LIB_DRIVER_KERNELS_H
