//===- Driver.cpp - the program `facet` -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of events of every run: expand and parse the command line, find out how
// messages are to be printed, answer questions (`--version`, `--help`), run the
// subcommand under a guard, print the messages, choose the exit code. Results go to
// standard output, all else to standard error.
//
//===----------------------------------------------------------------------===//

#include "facet/Driver/Driver.h"
#include "Crash.h"
#include "Invocation.h"
#include "facet/Driver/BuildConfig.h"
#include "facet/Driver/Help.h"
#include "facet/Support/Outputs.h"
#include "facet/Target/Target.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace facet;
using namespace facet::options;

/// Options that ask for a text: true when one was given and answered.
static bool answerQuestion(const CommandLine &line, Diagnostics &diagnostics) {
  raw_ostream &os = outs();
  if (line.has(OPT_help)) {
    if (line.subcommand().empty())
      printHelp(os);
    else
      printSubcommandHelp(line.subcommand(), os);
  } else if (std::optional<StringRef> topic = line.value(OPT_help_eq)) {
    SmallVector<StringRef> topics(Table::subcommandNames());
    topics.append(table().values(OPT_help_eq));
    if (!printTopic(*topic, os))
      diagnostics.error({}, "there is no help on '" + *topic +
                                "'; there is on " + listOf(topics));
  } else if (line.has(OPT_version) || line.has(OPT_version_eq)) {
    printVersion(line.has(OPT_version_eq), os);
  } else if (line.has(OPT_dumpversion)) {
    os << versionNumber() << "\n";
  } else if (line.has(OPT_dumpmachine)) {
    os << defaultTriple() << "\n";
  } else if (line.has(OPT_print_targets)) {
    for (const Target &target : targets())
      os << target.name << "\n";
  } else if (line.has(OPT_print_include_dir)) {
    os << installPrefix() << "/" FACET_INCLUDE_DIR "\n";
  } else if (line.has(OPT_print_cmake_dir)) {
    os << installPrefix() << "/" FACET_CMAKE_DIR "\n";
  } else if (std::optional<StringRef> shell =
                 line.value(OPT_print_completion_eq)) {
    printCompletion(*shell, os);
  } else if (line.has(OPT_print_manual)) {
    printManual(os);
  } else {
    return false;
  }
  return true;
}

static ExitCode dispatch(Invocation &invocation) {
  static constexpr std::pair<StringLiteral, ExitCode (*)(Invocation &)>
      subcommands[] = {{"compile", runCompile},
                       {"run", runRun},
                       {"check", runCheck},
                       {"bench", runBench},
                       {"explain", runExplain},
                       {"fmt", runFmt},
                       {"import", runImport},
                       {"targets", runTargets},
                       {"print-config", runPrintConfig}};
  for (auto [name, function] : subcommands)
    if (invocation.line.subcommand() == name)
      return function(invocation);
  printHelp(errs());
  return ExitCode::Usage;
}

int facet::driverMain(int argc, const char *const *argv) {
  Diagnostics diagnostics;
  CommandLine line(ArrayRef<const char *>(argv, argc).drop_front(argc > 0),
                   diagnostics);
  Reporting reporting(line, diagnostics);

  ExitCode code = ExitCode::Ok;
  if (diagnostics.hasErrors()) {
    code = ExitCode::Usage;
  } else if (answerQuestion(line, diagnostics)) {
    if (diagnostics.hasErrors())
      code = ExitCode::Usage;
  } else {
    Invocation invocation{line, reporting, diagnostics};
    code = guarded(line, [&] {
      if (line.has(OPT_internal_crash))
        abort();
      return dispatch(invocation);
    });
  }

  if (!reporting.print(diagnostics) && code == ExitCode::Ok)
    code = ExitCode::Rejected;

  // A full disk or a closed pipe must not look like success.
  if (std::error_code lost = finishStandardOutput()) {
    errs() << "facet: error: cannot write to standard output: "
           << StringRef(lost.message()).lower() << "\n";
    if (code == ExitCode::Ok)
      code = ExitCode::Rejected;
  }
  return int(code);
}
