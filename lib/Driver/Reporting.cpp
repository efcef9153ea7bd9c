//===- Reporting.cpp - which messages are shown, how and where ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Producers report everything; what the user sees is decided here, once, at the
// end: `-Wno-perf` drops, `-Werror=perf` turns into errors, `-w` silences. The
// command line is obeyed from left to right, so that a build can add to flags it
// was given. A group nobody knows is an error: a slip in `-Wno-…` must not pass.
//
//===----------------------------------------------------------------------===//

#include "facet/Driver/Reporting.h"
#include "facet/Support/Outputs.h"

#include "llvm/Option/Arg.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace facet;
using namespace facet::options;

ArrayRef<WarningGroup> facet::warningGroups() {
  static constexpr WarningGroup groups[] = {
      {"literal-underflow", true, "a literal that is 0 in its type"},
      {"perf", true, "what costs speed, and the way out"},
      {"perf-spills", false, "sums of a loop that the registers do not hold"},
      {"perf-stored", false, "what a plan stores instead of fusing it"},
      {"redundant-conversion", true, "a conversion to the type a value has"},
      {"redundant-wait", true,
       "a wait that others imply (facet-sim --remarks)"},
      {"unused-argument", true, "an argument that no statement reads"},
      {"unused-index", true, "a reduction over an index its body does not use"},
      {"unused-let", true, "a let that nothing reads"},
      {"unused-parameter", true, "a parameter that its fn does not use"},
      {"unused-schedule", true,
       "a schedule for a kernel or target that is not there"},
  };
  return groups;
}

/// Whether `-Wname` governs `group`.
static bool governs(StringRef name, StringRef group) {
  return group == name ||
         (group.starts_with(name) && group.drop_front(name.size())[0] == '-');
}

bool facet::wantsColour(StringRef when, bool isTerminal) {
  if (when == "always" || when == "never")
    return when == "always";
  auto get = [](const char *name) {
    return sys::Process::GetEnv(name).value_or("");
  };
  if (!get("NO_COLOR").empty())
    return false;
  if (std::string force = get("CLICOLOR_FORCE"); !force.empty() && force != "0")
    return true;
  if (get("CLICOLOR") == "0")
    return false;
  std::string term = get("TERM");
  return isTerminal && !term.empty() && term != "dumb";
}

Reporting::Reporting(const CommandLine &line, Diagnostics &diagnostics) {
  StringRef formatName = line.value(OPT_diagnostics_format).value_or("text");
  if (formatName == "json")
    format = DiagnosticFormat::Json;
  else if (formatName == "sarif")
    format = DiagnosticFormat::Sarif;
  file = line.value(OPT_diagnostics_file).value_or("").str();
  StringRef when = line.value(OPT_color).value_or("auto");
  colourAlways = when == "always";
  useColour = wantsColour(when, sys::Process::StandardErrIsDisplayed());
  silent = line.has(OPT_no_warnings);
  diagnostics.errorLimit = unsigned(std::min<uint64_t>(
      line.number(OPT_error_limit, diagnostics.errorLimit, 0, diagnostics),
      UINT_MAX));

  for (const WarningGroup &group : warningGroups())
    states[group.name] = {group.onByDefault, false};
  for (const std::string &text : line.values(OPT_warning))
    warningOption(text, diagnostics);
}

void Reporting::warningOption(StringRef text, Diagnostics &diagnostics) {
  StringRef whole = text;
  bool on = !text.consume_front("no-");
  bool error = text == "error" || text.starts_with("error=");
  if (text == "error") {
    allErrors = on;
    return;
  }
  if (error)
    text.consume_front("error=");
  bool known = false;
  for (const WarningGroup &group : warningGroups())
    if (governs(text, group.name)) {
      State &state = states[group.name];
      known = true;
      // -Werror=x switches x on; -Wno-error=x leaves it a warning.
      if (error)
        state = {on || state.on, on};
      else
        state.on = on;
    }
  if (known)
    return;
  SmallVector<StringRef> names;
  for (const WarningGroup &group : warningGroups())
    names.push_back(group.name);
  diagnostics.error({}, "'-W" + whole + "': there is no group '" + text + "'" +
                            didYouMean(text, names) +
                            "; 'facet --help=warnings' lists them");
}

Reporting::State Reporting::stateOf(StringRef group) const {
  State state{true, false};
  size_t longest = 0;
  for (const auto &entry : states)
    if (governs(entry.first(), group) && entry.first().size() >= longest) {
      state = entry.second;
      longest = entry.first().size();
    }
  return state;
}

/// Copies the texts that `diagnostic` and its notes point into.
static void keepTexts(const Diagnostic &diagnostic, const Diagnostics &from,
                      Diagnostics &to) {
  const std::string &file = diagnostic.place.file;
  if (!file.empty() && to.bufferFor(file).empty() &&
      !from.bufferFor(file).empty())
    to.addBuffer(file, from.bufferFor(file).str());
  for (const Diagnostic &note : diagnostic.notes)
    keepTexts(note, from, to);
}

Diagnostics Reporting::filter(const Diagnostics &all) const {
  Diagnostics kept;
  kept.errorLimit = 0;
  for (Diagnostic diagnostic : all.all()) {
    if (diagnostic.severity != Severity::Error) {
      State state = stateOf(diagnostic.group);
      if (silent || !state.on)
        continue;
      if (state.isError ||
          (allErrors && diagnostic.severity == Severity::Warning))
        diagnostic.severity = Severity::Error;
    }
    keepTexts(diagnostic, all, kept);
    kept.add(std::move(diagnostic));
  }
  return kept;
}

bool Reporting::allows(const Diagnostics &all) const {
  return !filter(all).hasErrors();
}

bool Reporting::print(const Diagnostics &all) const {
  Diagnostics shown = filter(all);
  if (file.empty()) {
    if (!shown.all().empty() || format != DiagnosticFormat::Text)
      renderDiagnostics(shown, format, useColour, errs());
    if (all.limitReached() && format == DiagnosticFormat::Text)
      errs() << "facet: note: stopped after " << all.errorLimit
             << (all.errorLimit == 1 ? " error" : " errors")
             << "; --error-limit=0 shows all\n";
    return !shown.hasErrors();
  }

  Outputs outputs;
  Diagnostics problems;
  if (std::string *text = outputs.add(file, {}, problems)) {
    raw_string_ostream stream(*text);
    renderDiagnostics(shown, format, colourAlways, stream);
    stream.flush();
    outputs.commit(problems);
  }
  if (problems.hasErrors())
    renderDiagnostics(problems, DiagnosticFormat::Text, useColour, errs());
  return !shown.hasErrors() && !problems.hasErrors();
}
