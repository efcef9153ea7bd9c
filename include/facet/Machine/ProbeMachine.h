//===- ProbeMachine.h - the CPU this program runs on ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_MACHINE_PROBEMACHINE_H
#define FACET_MACHINE_PROBEMACHINE_H

#include "facet/Machine/Machine.h"

namespace facet {

/// The machine "native": `nearest`, with what this system tells of its own caches,
/// cores and pages in the place of what the file says. `cpuName` is LLVM's name of
/// the CPU; the caches are read from `cacheFolder`, laid out as Linux does.
Machine probeMachine(
    Machine nearest, llvm::StringRef cpuName,
    llvm::StringRef cacheFolder = "/sys/devices/system/cpu/cpu0/cache");

} // namespace facet

#endif // FACET_MACHINE_PROBEMACHINE_H
