//===- EngineResults.h - options for results of a matrix engine -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_ENGINERESULTS_H
#define FACET_LIB_DRIVER_ENGINERESULTS_H

#include "Invocation.h"
#include "facet/Sim/Results.h"

namespace facet {

/// Where --json goes: nullopt when it is not given, `-` when it names no file.
/// `inputs` loses the FILE.json that stands behind it as a word of its own.
std::optional<std::string> takeJsonFile(const CommandLine &line,
                                        std::vector<std::string> &inputs);

/// What the command line asks for about a run on a matrix engine; errors for what
/// it asks wrongly, or for `hasEngine` false at all.
sim::ResultOptions engineResults(Invocation &invocation, bool hasEngine,
                                 const std::optional<std::string> &json);

} // namespace facet

#endif // FACET_LIB_DRIVER_ENGINERESULTS_H
