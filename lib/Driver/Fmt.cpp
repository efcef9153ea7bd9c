//===- Fmt.cpp - `facet fmt` ----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   facet fmt a.facet b.facet    formats in place; a file that is fine keeps its time
//   facet fmt --check …          says which are not formatted, exit 1
//   facet fmt --stdout, or -     prints
//
// A file with errors stays as it is, the others are formatted all the same.
//
//===----------------------------------------------------------------------===//

#include "Invocation.h"
#include "facet/Frontend/Frontend.h"
#include "facet/Support/Outputs.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace facet;
using namespace facet::options;

ExitCode facet::runFmt(Invocation &invocation) {
  const CommandLine &line = invocation.line;
  Diagnostics &diagnostics = invocation.diagnostics;
  if (line.inputs().empty()) {
    diagnostics.error({}, "no file to format; '-' formats standard input");
    return ExitCode::Usage;
  }
  bool check = line.has(OPT_fmt_check), print = line.has(OPT_fmt_stdout);
  if (check && print) {
    diagnostics.error(
        {}, "'--check' writes nothing, '--stdout' prints; give one of them");
    return ExitCode::Usage;
  }

  Outputs outputs(/*writeIfChanged=*/true);
  bool unformatted = false;
  for (const std::string &input : line.inputs()) {
    std::optional<std::string> text = readInput(input, diagnostics);
    if (!text)
      continue;
    std::optional<std::string> formatted =
        formatSource(inputName(input, line), *text, diagnostics);
    if (!formatted)
      continue;
    if (check) {
      if (*formatted == *text)
        continue;
      unformatted = true;
      errs() << inputName(input, line) << ": not formatted\n";
    } else if (print || input == "-") {
      outs() << *formatted;
    } else if (std::string *contents = outputs.add(input, {}, diagnostics)) {
      *contents = std::move(*formatted);
    }
  }
  outputs.commit(diagnostics);
  return unformatted ? ExitCode::Rejected : ExitCode::Ok;
}
