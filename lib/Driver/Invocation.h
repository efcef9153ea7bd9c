//===- Invocation.h - one run of `facet` ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_INVOCATION_H
#define FACET_LIB_DRIVER_INVOCATION_H

#include "facet/Driver/CommandLine.h"
#include "facet/Driver/ExitCodes.h"
#include "facet/Driver/Reporting.h"

namespace facet {

/// What every subcommand gets. It adds to `diagnostics` and returns the exit code;
/// the caller prints, and turns Ok into Rejected when an error was reported.
struct Invocation {
  const CommandLine &line;
  const Reporting &reporting;
  Diagnostics &diagnostics;
  /// What the input "-" stands for; null: standard input.
  const std::string *text = nullptr;
};

ExitCode runCompile(Invocation &invocation);
ExitCode runRun(Invocation &invocation);
ExitCode runCheck(Invocation &invocation);
ExitCode runBench(Invocation &invocation);
ExitCode runExplain(Invocation &invocation);
ExitCode runFmt(Invocation &invocation);
ExitCode runImport(Invocation &invocation);
ExitCode runTargets(Invocation &invocation);
ExitCode runPrintConfig(Invocation &invocation);

/// Reads the file `path`, or standard input for "-". An error with the file as its
/// place when it cannot be read.
std::optional<std::string> readInput(llvm::StringRef path,
                                     Diagnostics &diagnostics);

/// The name of an input in messages: itself, or --input-name for "-".
std::string inputName(llvm::StringRef path, const CommandLine &line);

/// The folder the running program's installation begins at: PREFIX of PREFIX/bin.
std::string installPrefix();

} // namespace facet

#endif // FACET_LIB_DRIVER_INVOCATION_H
