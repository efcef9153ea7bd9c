//===- EngineCalls.h - C functions that run programs ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_ENGINECALLS_H
#define FACET_LIB_DRIVER_ENGINECALLS_H

#include "Emission.h"
#include "facet/Machine/Machine.h"

namespace facet {

/// "_trn2": what C names of a kernel end in that runs on `machine`.
std::string suffixFor(const Machine &machine);

/// Replaces the kernels of `sources`, whose sizes must all be fixed to one value, by C
/// functions that run their programs for `machine` on the simulator (facet/sim.h).
ExitCode lowerToEngineCalls(Sources &sources, const Machine &machine,
                            InterfaceOptions options, Invocation &invocation);

} // namespace facet

#endif // FACET_LIB_DRIVER_ENGINECALLS_H
