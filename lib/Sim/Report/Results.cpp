//===- Results.cpp - what a run of a program leaves -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   --stats            one screen on standard output
//   --json FILE        the same numbers and the findings
//   --trace FILE       every instruction: for ui.perfetto.dev, or Chrome's format
//                      when FILE ends in .json
//   --html FILE        a page with timeline, memory map and roofline
//   --explain QUEUE:PC one instruction
//
// With several of them the program is timed once.
//
//===----------------------------------------------------------------------===//

#include "facet/Sim/Results.h"
#include "facet/Support/Outputs.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace facet;
using namespace facet::sim;
using llvm::StringRef;
using llvm::Twine;

bool sim::isResultOption(StringRef option) {
  return option == "--json" || option == "--trace" || option == "--html" ||
         option == "--explain" || option == "--window";
}

/// "1500:2500", in ns.
static bool parseWindow(StringRef text, TraceOptions &window) {
  auto [from, to] = text.split(':');
  return text.contains(':') && !from.getAsDouble(window.fromNs) &&
         !to.getAsDouble(window.toNs) && window.fromNs >= 0 &&
         window.toNs > window.fromNs;
}

/// "tensor:3".
static bool parseInstruction(StringRef text, ResultOptions &options) {
  auto [engine, pc] = text.split(':');
  for (unsigned e = 0; e != numEngines; ++e)
    if (engine == engineName(Engine(e))) {
      options.explainEngine = Engine(e);
      return !pc.getAsInteger(10, options.explainPc) && options.explainPc >= 0;
    }
  return false;
}

std::string sim::parseResultOption(StringRef option, StringRef value,
                                   ResultOptions &options) {
  if (option == "--window") {
    if (!parseWindow(value, options.window))
      return ("--window wants FROM:TO in ns, got '" + value + "'").str();
  } else if (option == "--explain") {
    if (!parseInstruction(value, options))
      return ("--explain wants QUEUE:PC, as tensor:3, got '" + value + "'")
          .str();
  } else {
    (option == "--json"    ? options.json
     : option == "--trace" ? options.trace
                           : options.html) = value;
  }
  return "";
}

/// Standard output takes one thing.
static int standardOutputs(const ResultOptions &options) {
  return (options.json == "-") + (options.trace == "-") +
         (options.html == "-") + options.stats + (options.explainPc >= 0);
}

/// Something shows single instructions.
static bool wantsSpans(const ResultOptions &options) {
  return options.stats || options.explainPc >= 0 || !options.json.empty() ||
         !options.trace.empty() || !options.html.empty();
}

bool sim::takesStandardOutput(const ResultOptions &options) {
  return standardOutputs(options) > 0;
}

std::string sim::checkResultOptions(const ResultOptions &options) {
  return standardOutputs(options) > 1
             ? "more than one result is to go to standard output"
             : "";
}

/// Spans and shares are some 100 bytes for each instruction and each engine of a
/// transfer.
constexpr uint64_t maxRecorded = 4'000'000;

TimeResult sim::timeForResults(const Program &program,
                               const ResultOptions &options) {
  TimeResult time = timeProgram(program, options.time);
  uint64_t executed = 0;
  for (const EngineTime &engine : time.engines)
    executed += engine.executed;
  if (!wantsSpans(options) || !time.ok() || executed > maxRecorded)
    return time;
  TimeOptions recorded = options.time;
  recorded.record = true;
  return timeProgram(program, recorded);
}

bool sim::writeFile(StringRef file, std::string bytes, Diagnostics &diags,
                    llvm::ArrayRef<StringRef> inputs) {
  for (StringRef input : inputs)
    if (file != "-" && input != "-" && isSamePlace(file, input)) {
      diags.error({file.str()}, "the output is one of the inputs");
      return false;
    }
  Outputs outputs;
  std::string *contents = outputs.add(file, {}, diags);
  if (!contents)
    return false;
  *contents = std::move(bytes);
  std::optional<Outputs::Failure> failure = outputs.tryCommit();
  if (failure)
    diags.error({file.str()}, "cannot be written: " +
                                  StringRef(failure->code.message()).lower());
  return !failure;
}

static void writeTrace(const Program &program, const ResultOptions &options,
                       const TimeResult &time, StringRef file,
                       Diagnostics &diags) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  std::string leftOut =
      (StringRef(options.trace).ends_with(".json")
           ? writeChromeTrace
           : writePerfetto)(program, time, options.window, os);
  if (writeFile(options.trace, bytes, diags) && !leftOut.empty())
    diags.remark("", {file.str()}, leftOut);
}

/// Places in a program are known when it has been read.
static void explain(const Program &program, const ResultOptions &options,
                    const TimeResult &time, StringRef file,
                    Diagnostics &diags) {
  unsigned queue = 0;
  while (queue != program.queues.size() &&
         program.queues[queue].engine != options.explainEngine)
    ++queue;
  StringRef name = engineName(options.explainEngine);
  if (queue == program.queues.size()) {
    diags.error({file.str()}, "has no queue '" + name + "' to explain");
    return;
  }
  size_t size = program.queues[queue].code.size();
  if (uint64_t(options.explainPc) >= size) {
    diags.error({file.str()}, "queue " + name + " has " + Twine(size) +
                                  " instructions, none is number " +
                                  Twine(options.explainPc));
    return;
  }
  printExplanation(program, time, queue, unsigned(options.explainPc),
                   options.window, llvm::outs());
}

llvm::json::Object sim::resultsToJson(const Program &program,
                                      const RunResult &result,
                                      const Report *report) {
  llvm::json::Object object = runToJson(program, result);
  if (report)
    for (auto &entry : reportToJson(*report))
      object[entry.first] = std::move(entry.second);
  return object;
}

void sim::writeResults(const Program &program, StringRef file,
                       const ResultOptions &options, const RunResult &result,
                       const TimeResult *time, Diagnostics &diags) {
  std::optional<Report> report;
  if (time && time->ok())
    report = makeReport(program, *time, file);
  if (!options.json.empty()) {
    llvm::json::Object object =
        resultsToJson(program, result, report ? &*report : nullptr);
    for (const auto &entry : options.about)
      object[entry.first] = entry.second;
    (void)writeFile(
        options.json,
        llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object))).str(),
        diags);
  }
  if (!report)
    return;
  if (wantsSpans(options) && !report->recorded)
    diags.remark("", {file.str()},
                 "its queues execute more than " + Twine(maxRecorded) +
                     " instructions; results hold no single instructions: no "
                     "trace, timeline, critical path, waits and explanation");
  if (options.stats)
    printStats(*report, llvm::outs());
  if (!options.trace.empty() && report->recorded)
    writeTrace(program, options, *time, file, diags);
  if (options.explainPc >= 0 && report->recorded)
    explain(program, options, *time, file, diags);
  if (!options.html.empty()) {
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    writeHtml(program, *time, *report, options.window, os);
    (void)writeFile(options.html, bytes, diags);
  }
}
