//===- Results.cpp - what facet-sim run writes about a run ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   --stats            one screen on standard output
//   --json FILE        the same numbers and the findings
//
// Without any of them, one line: the time. With several, the program is timed
// once.
//
//===----------------------------------------------------------------------===//

#include "Results.h"

#include "llvm/Support/FormatVariadic.h"

using namespace facet;
using namespace facet::sim;
using llvm::StringRef;
using llvm::Twine;

bool sim::isResultOption(StringRef option) { return option == "--json"; }

int sim::parseResultOption(const Verb &, StringRef, StringRef value,
                           ResultOptions &options) {
  options.json = value;
  return 0;
}

/// Standard output takes one thing.
static int standardOutputs(const ResultOptions &options) {
  return (options.json == "-") + options.stats;
}

int sim::checkResultOptions(const Verb &verb, const ResultOptions &options) {
  if (standardOutputs(options) > 1)
    return usageError(verb, "more than one result is to go to standard output");
  return 0;
}

/// Spans and shares are some 100 bytes for each instruction and each engine of a
/// transfer.
constexpr uint64_t maxRecorded = 4'000'000;

TimeResult sim::timeForResults(const Program &program,
                               const ResultOptions &options) {
  TimeResult time = timeProgram(program, options.time);
  bool wanted = options.stats || !options.json.empty();
  uint64_t executed = 0;
  for (const EngineTime &engine : time.engines)
    executed += engine.executed;
  if (!wanted || !time.ok() || executed > maxRecorded)
    return time;
  TimeOptions recorded = options.time;
  recorded.record = true;
  return timeProgram(program, recorded);
}

void sim::writeResults(const Program &program, StringRef file,
                       const ResultOptions &options, const RunResult &result,
                       const TimeResult *time, Diagnostics &diags) {
  std::optional<Report> report;
  if (time && time->ok())
    report = makeReport(program, *time, file);
  if (!options.json.empty()) {
    llvm::json::Object object = runToJson(program, result);
    if (report)
      for (auto &entry : reportToJson(*report))
        object[entry.first] = std::move(entry.second);
    (void)writeFile(
        options.json,
        llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object))).str(),
        diags);
  }
  if (!report)
    return;
  if ((options.stats || !options.json.empty()) && !report->recorded)
    diags.remark("", {file.str()},
                 "its queues execute more than " + Twine(maxRecorded) +
                     " instructions; there is no "
                     "critical path and are no waits");
  if (options.stats)
    printStats(*report, llvm::outs());
  if (!standardOutputs(options))
    llvm::outs() << llvm::formatv("{0:f1} ns, {1} cycles\n", time->ns(),
                                  time->cycles);
}
