//===- OnText.cpp - a subcommand on a text in memory ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler inside another program goes the way of the command line, so that both
// understand options alike and say the same:
//
//   "kernel f…", target "trn2"  ─▶  facet explain - --target=trn2  ─▶  messages
//
// What belongs to a whole process stays the program's: nothing is printed, and signal
// handlers are given back.
//
//===----------------------------------------------------------------------===//

#include "OnText.h"

#include "llvm/Support/CrashRecoveryContext.h"

using namespace llvm;
using namespace facet;

bool facet::runOnText(std::vector<std::string> words,
                      const TextRequest &request, Diagnostics &diagnostics,
                      function_ref<ExitCode(Invocation &)> subcommand) {
  words.push_back("--input-name=" + request.name);
  words.insert(words.end(), request.options.begin(), request.options.end());
  SmallVector<const char *, 16> argv;
  for (const std::string &word : words)
    argv.push_back(word.c_str());

  Diagnostics all;
  CommandLine line(argv, all);
  Reporting reporting(line, all);
  Invocation invocation{line, reporting, all, &request.text};
  ExitCode code = ExitCode::Usage;
  if (!all.hasErrors())
    code = subcommand(invocation);
  CrashRecoveryContext::Disable();
  if (code == ExitCode::Internal)
    all.error({request.name}, "an internal error of the compiler; please send "
                              "this text and the options");
  diagnostics = reporting.filter(all);
  return code == ExitCode::Ok && !diagnostics.hasErrors();
}
