//===- Results.h - what a run of a program leaves -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The results that `facet-sim run` and `facet run` on a matrix engine write, by the
// same words:
//
//   --stats --json FILE --trace FILE --html FILE --explain QUEUE:PC --window FROM:TO
//
//===----------------------------------------------------------------------===//

#ifndef FACET_SIM_RESULTS_H
#define FACET_SIM_RESULTS_H

#include "facet/Sim/Report.h"
#include "facet/Sim/Simulator.h"

namespace facet::sim {

/// What was asked for, and how time is modelled. Files are empty, or `-` for
/// standard output.
struct ResultOptions {
  bool stats = false;
  std::string json, trace, html;
  /// Engine and instruction of --explain, -1: not asked for.
  Engine explainEngine = Engine::Tensor;
  int64_t explainPc = -1;
  TraceOptions window;
  TimeOptions time;
  /// What the caller adds to --json.
  llvm::json::Object about;
};

/// The options that take a value and belong here.
bool isResultOption(llvm::StringRef option);
/// Takes the value of one of them; what is wrong with it, or "".
std::string parseResultOption(llvm::StringRef option, llvm::StringRef value,
                              ResultOptions &options);
/// What can be seen only when all are known, or "".
std::string checkResultOptions(const ResultOptions &options);
/// One of them goes to standard output.
bool takesStandardOutput(const ResultOptions &options);

/// Times a program, recorded when a result needs that and it is not too long.
TimeResult timeForResults(const Program &program, const ResultOptions &options);

/// What --json says; `report` null: something was found.
llvm::json::Object resultsToJson(const Program &program,
                                 const RunResult &result, const Report *report);

/// Everything that was asked for. Without `time` (something was found) there is
/// only what --json says without it.
void writeResults(const Program &program, llvm::StringRef file,
                  const ResultOptions &options, const RunResult &result,
                  const TimeResult *time, Diagnostics &diags);

/// Writes a file whole or not at all, and over none of `inputs`; `-` is standard
/// output.
bool writeFile(llvm::StringRef file, std::string bytes, Diagnostics &diags,
               llvm::ArrayRef<llvm::StringRef> inputs = {});

} // namespace facet::sim

#endif // FACET_SIM_RESULTS_H
