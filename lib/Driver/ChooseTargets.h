//===- ChooseTargets.h - from --target to targets -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_CHOOSETARGETS_H
#define FACET_LIB_DRIVER_CHOOSETARGETS_H

#include "Emission.h"
#include "Invocation.h"

#include "facet/Machine/Machine.h"

namespace facet {

/// The targets of `--target` for code that runs under `triple`; without it, the
/// ladder of all levels of the architecture, or `reference` where it has none. Empty
/// with an error.
TargetList chooseTargets(Invocation &invocation, llvm::StringRef triple);

/// The same, for code that is to run here: without `--target` this machine. Also
/// refuses what this machine cannot run.
TargetList chooseHostTargets(Invocation &invocation);

/// All levels that this machine can run, lowest first, or `reference`.
TargetList levelsHere();

/// Drops from a ladder that nobody asked for what would bring the kernels of `module`
/// nothing.
void dropIdleLevels(TargetList &ladder, mlir::ModuleOp module);

/// This machine as a target, or `reference` where it has no level. Null with an error:
/// a machine file in FACET_MACHINES is broken, say.
TargetRef nativeTarget(Diagnostics &diagnostics);

/// This machine, probed: nothing where it has no level, or with an error.
std::optional<Machine> nativeMachine(Diagnostics &diagnostics);

} // namespace facet

#endif // FACET_LIB_DRIVER_CHOOSETARGETS_H
