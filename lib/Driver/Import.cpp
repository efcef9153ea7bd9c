//===- Import.cpp - `facet import` ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   facet import --einsum=ij,jk->ik                 prints the kernel
//   facet import --einsum=ij,jk->ik -o ijk.facet    writes it
//
// The other subcommands take what import takes, without a file between. This one shows
// what it became, to be read, kept and changed.
//
//===----------------------------------------------------------------------===//

#include "facet/Import/Import.h"
#include "Sources.h"
#include "facet/Driver/Outputs.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace facet;
using namespace facet::options;

ExitCode facet::runImport(Invocation &invocation) {
  const CommandLine &line = invocation.line;
  Diagnostics &diagnostics = invocation.diagnostics;
  if (line.inputs().empty()) {
    diagnostics.error({},
                      "nothing to import; --einsum=ij,jk->ik is one kernel");
    return ExitCode::Usage;
  }
  if (line.inputs().size() > 1) {
    diagnostics.error({}, "one thing at a time: import makes one file, " +
                              Twine(line.inputs().size()) + " are given");
    return ExitCode::Usage;
  }
  const std::string &input = line.inputs().front();
  std::optional<StringRef> formula = einsumOf(input);
  if (!formula) {
    diagnostics.error({input}, "this is no kind of file that import knows; it "
                               "takes --einsum=FORMULA");
    return ExitCode::Rejected;
  }
  std::optional<std::string> text = importEinsum(input, *formula, diagnostics);
  if (!text)
    return ExitCode::Rejected;
  std::optional<StringRef> file = line.value(OPT_output);
  if (!file || *file == "-") {
    outs() << *text;
    return ExitCode::Ok;
  }
  Outputs outputs;
  if (std::string *contents = outputs.add(*file, {}, diagnostics))
    *contents = std::move(*text);
  outputs.commit(diagnostics);
  return ExitCode::Ok;
}
