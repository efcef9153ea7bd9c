//===- Crash.h - internal errors and their reproducers --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_CRASH_H
#define FACET_LIB_DRIVER_CRASH_H

#include "facet/Driver/CommandLine.h"
#include "facet/Driver/ExitCodes.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace facet {

/// Runs `body`. When it crashes, or LLVM gives up, prints what a report needs,
/// writes a reproducer and returns ExitCode::Internal.
ExitCode guarded(const CommandLine &line, llvm::function_ref<ExitCode()> body);

/// Says that this program is at fault and writes the reproducer. For faults found
/// without a crash (our own output does not verify, say).
ExitCode internalError(const CommandLine &line, const llvm::Twine &what);

} // namespace facet

#endif // FACET_LIB_DRIVER_CRASH_H
