//===- Kernels.h - choosing and loading kernels, for run and check --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_KERNELS_H
#define FACET_LIB_DRIVER_KERNELS_H

#include "Emission.h"
#include "Loaded.h"

namespace facet {

/// The target of `--target`, or the first; null with an error.
const Target *chooseTarget(Invocation &invocation);
/// The same, for code that is to run here: also refuses what this machine cannot
/// run.
const Target *chooseHostTarget(Invocation &invocation);
/// Whether code for `target` runs under `triple`; else an error.
bool checkArchitecture(const Target &target, llvm::StringRef triple,
                       Diagnostics &diagnostics);

/// The kernel of --kernel, or the only one; null with an error.
kernel::FuncOp chooseKernel(mlir::ModuleOp module, Invocation &invocation);

/// Erases all kernels of its module but `kernel`.
void keepOnly(kernel::FuncOp kernel);

/// Compiles all kernels of `sources` for this machine; null with `code` set.
/// C names get HostKernel::nameSpace.
std::unique_ptr<Loaded> loadKernels(Sources &sources, const Target &target,
                                    Invocation &invocation, ExitCode &code);

} // namespace facet

#endif // FACET_LIB_DRIVER_KERNELS_H
