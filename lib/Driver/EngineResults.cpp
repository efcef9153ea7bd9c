//===- EngineResults.cpp - options for results of a matrix engine ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of `facet-sim run`, handed to the same code:
//
//   facet run mm.facet --target=trn2 M=512 … --stats --trace t.pftrace
//
//===----------------------------------------------------------------------===//

#include "EngineResults.h"

using namespace llvm;
using namespace facet;
using namespace facet::options;

std::optional<std::string>
facet::takeJsonFile(const CommandLine &line, std::vector<std::string> &inputs) {
  if (std::optional<StringRef> file = line.value(OPT_json_eq))
    return file->str();
  if (!line.has(OPT_json))
    return std::nullopt;
  // No kernel and no array ends so, hence nothing else can be meant.
  auto file = llvm::find_if(inputs, [](StringRef input) {
    return input.ends_with(".json") && !input.contains('=');
  });
  if (file == inputs.end())
    return "-";
  std::string name = std::move(*file);
  inputs.erase(file);
  return name;
}

sim::ResultOptions
facet::engineResults(Invocation &invocation, bool hasEngine,
                     const std::optional<std::string> &json) {
  const CommandLine &line = invocation.line;
  Diagnostics &diagnostics = invocation.diagnostics;
  sim::ResultOptions options;
  options.stats = line.has(OPT_stats);
  options.json = json.value_or("");
  for (ID id : {OPT_trace, OPT_html, OPT_explain_one, OPT_window})
    if (std::optional<StringRef> value = line.value(id)) {
      std::string wrong = sim::parseResultOption(
          table().getOptionPrefixedName(id), *value, options);
      if (!wrong.empty())
        diagnostics.error({}, wrong);
    }
  for (ID id : {OPT_stats, OPT_trace, OPT_html, OPT_explain_one, OPT_window,
                OPT_timing_only})
    if (!hasEngine && line.has(id))
      diagnostics.error({}, "'" + table().getOptionPrefixedName(id) +
                                "' is about a matrix engine; give one: "
                                "--target=trn2, say");
  if (std::string wrong = sim::checkResultOptions(options); !wrong.empty())
    diagnostics.error({}, wrong);
  return options;
}
