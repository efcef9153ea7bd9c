//===- OnText.h - a subcommand on a text in memory ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_ONTEXT_H
#define FACET_LIB_DRIVER_ONTEXT_H

#include "Invocation.h"
#include "facet/Driver/CompileText.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace facet {

/// Runs `subcommand` as a command line of `words` and the options of `request` would,
/// with its text as the input "-". True when it ends with Ok and no error;
/// `diagnostics` becomes what is to be told.
bool runOnText(std::vector<std::string> words, const TextRequest &request,
               Diagnostics &diagnostics,
               llvm::function_ref<ExitCode(Invocation &)> subcommand);

} // namespace facet

#endif // FACET_LIB_DRIVER_ONTEXT_H
