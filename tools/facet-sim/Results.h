//===- Results.h - what facet-sim run writes about a run ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_TOOLS_FACET_SIM_RESULTS_H
#define FACET_TOOLS_FACET_SIM_RESULTS_H

#include "Verbs.h"

#include "facet/Sim/Report.h"

namespace facet::sim {

/// --stats --json --trace --html --explain --window, and how time is modelled.
struct ResultOptions {
  bool stats = false;
  llvm::StringRef json, trace, html;
  /// Engine and instruction of --explain, -1: not asked for.
  Engine explainEngine = Engine::Tensor;
  int64_t explainPc = -1;
  TraceOptions window;
  TimeOptions time;
};

/// The options that take a value and belong here.
bool isResultOption(llvm::StringRef option);
/// 0, or the exit code after a message.
int parseResultOption(const Verb &verb, llvm::StringRef option,
                      llvm::StringRef value, ResultOptions &options);
/// What can be seen only when all are known.
int checkResultOptions(const Verb &verb, const ResultOptions &options);

/// Times a program, recorded when a result needs that and it is not too long.
TimeResult timeForResults(const Program &program, const ResultOptions &options);

/// Everything that was asked for. Without `time` (something was found) there is
/// only what --json says without it.
void writeResults(const Program &program, llvm::StringRef file,
                  const ResultOptions &options, const RunResult &result,
                  const TimeResult *time, Diagnostics &diags);

} // namespace facet::sim

#endif // FACET_TOOLS_FACET_SIM_RESULTS_H
