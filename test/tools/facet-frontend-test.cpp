//===- facet-frontend-test.cpp - the frontend alone, for tests ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses, checks, prints or formats a file without the rest of the compiler:
//
//   facet-frontend-test --check k.facet      messages, then the checked form
//   facet-frontend-test --verify k.facet     messages against annotations
//   facet-frontend-test --format k.facet     canonical text
//   facet-frontend-test --schedules k.facet  the schedules, printed
//
//===----------------------------------------------------------------------===//

#include "VerifyDiagnostics.h"
#include "facet/Frontend/Frontend.h"
#include "facet/Support/SourceFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace facet;
namespace cl = llvm::cl;

namespace {
enum class Action { Check, Verify, Format, Schedules };
} // namespace

static cl::opt<std::string> input(cl::Positional, cl::Required);
static cl::opt<Action> action(
    cl::values(clEnumValN(Action::Check, "check", "print the checked form"),
               clEnumValN(Action::Verify, "verify", "compare annotations"),
               clEnumValN(Action::Format, "format", "print canonical text"),
               clEnumValN(Action::Schedules, "schedules", "print schedules")),
    cl::init(Action::Check));
static cl::list<std::string> includeDirs("I", cl::Prefix);
static cl::opt<unsigned> errorLimit("error-limit", cl::init(20));
static cl::opt<bool> quiet("quiet", cl::desc("print messages only"));
static cl::opt<bool> colour("colour");
static cl::opt<DiagnosticFormat>
    messages("messages", cl::init(DiagnosticFormat::Text),
             cl::values(clEnumValN(DiagnosticFormat::Text, "text", ""),
                        clEnumValN(DiagnosticFormat::Json, "json", ""),
                        clEnumValN(DiagnosticFormat::Sarif, "sarif", "")));

static void act(std::string text, Diagnostics &diagnostics) {
  if (action == Action::Format) {
    auto formatted = formatSource(input, std::move(text), diagnostics);
    if (formatted && !quiet)
      llvm::outs() << *formatted;
    return;
  }
  FrontendOptions options;
  options.includeDirs.assign(includeDirs.begin(), includeDirs.end());
  std::unique_ptr<CheckedModule> module =
      parseAndCheck(input, std::move(text), options, diagnostics);
  if (!module || quiet)
    return;
  if (action == Action::Schedules)
    for (const syntax::Schedule &schedule : module->schedules)
      print(schedule, llvm::outs());
  if (action == Action::Check)
    for (const auto &kernel : module->kernels)
      print(*kernel, llvm::outs());
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv);
  Diagnostics diagnostics;
  diagnostics.errorLimit = action == Action::Verify ? 0 : errorLimit;
  std::string problem;
  std::optional<std::string> text = readSourceFile(input, problem);
  if (text)
    act(*text, diagnostics);
  else
    diagnostics.error({input, 0, 0, 0}, "cannot read the file: " + problem);
  if (action == Action::Verify)
    return !verifyDiagnostics(diagnostics, input, text.value_or(""),
                              llvm::errs());
  renderDiagnostics(diagnostics, messages, colour, llvm::errs());
  return diagnostics.hasErrors();
}
