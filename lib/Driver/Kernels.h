//===- Kernels.h - choosing and loading kernels, for run and check --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_KERNELS_H
#define FACET_LIB_DRIVER_KERNELS_H

#include "Emission.h"
#include "Loaded.h"

namespace facet {

/// The best target that this machine can run.
const Target *nativeTarget();
/// All levels that this machine can run, lowest first, or `reference`.
TargetList levelsHere();
/// The targets of `--target` for code that runs under `triple`; without it, the
/// ladder of all levels of the architecture, or `reference` where it has none.
/// Empty with an error.
TargetList chooseTargets(Invocation &invocation, llvm::StringRef triple);
/// Drops from a ladder that nobody asked for what would bring the kernels of `module`
/// nothing.
void dropIdleLevels(TargetList &ladder, mlir::ModuleOp module);
/// The same, for code that is to run here: without `--target` the highest level of
/// this machine. Also refuses what this machine cannot run.
TargetList chooseHostTargets(Invocation &invocation);

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
