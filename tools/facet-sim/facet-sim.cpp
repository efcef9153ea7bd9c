//===- facet-sim.cpp - programs of the matrix engine, handled -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the verb and hands it the rest of the line.
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"

#include "facet/Isa/Assembler.h"
#include "facet/Isa/Container.h"
#include "facet/Support/Outputs.h"
#include "facet/Support/Process.h"
#include "facet/Support/ReadFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace facet;
using namespace facet::sim;
using llvm::StringRef;

static const Verb verbs[] = {
    {"as", "assembles text into a program", "FILE.s -o FILE.engine", runAs},
    {"dis", "prints a program as text", "FILE.engine [--source] [-o FILE.s]",
     runDis},
    {"info", "says what a program is", "FILE.engine [--json] [-o FILE]",
     runInfo},
    {"run", "runs a program and reports what it does wrong",
     "FILE.engine [BUFFER=FILE.npy ...] [--no-check] [--max-steps N] "
     "[--orders N] [--timing-only] [--clock-phase NS] [--machine FILE]\n"
     "       [--threads N] [--remarks] [--stats] [--json FILE] [--trace FILE] "
     "[--html FILE] [--explain "
     "QUEUE:PC] [--window FROM:TO]\n"
     "BUFFER=IN.npy:OUT.npy for a buffer that is given and written",
     runRun},
    {"diff", "compares two programs", "A.engine B.engine", runDiff},
    {"manual", "prints the reference tables, or keeps those of a page current",
     "instructions|machines | --check FILE.md | --update FILE.md", runManual},
};

//===----------------------------------------------------------------------===//
// What verbs share
//===----------------------------------------------------------------------===//

int sim::usageError(const Verb &verb, const llvm::Twine &message) {
  llvm::errs() << "facet-sim " << verb.name << ": error: " << message
               << "\nusage: facet-sim " << verb.name << ' ' << verb.usage
               << '\n';
  return 2;
}

std::optional<std::string> sim::readFile(StringRef file, Diagnostics &diags) {
  if (file != "-" && llvm::sys::fs::is_directory(file)) {
    diags.error({file.str()}, "is a folder");
    return std::nullopt;
  }
  std::string problem;
  std::optional<std::string> bytes = readWholeFile(file, problem);
  if (!bytes)
    diags.error({file.str()}, "cannot be read: " + problem);
  return bytes;
}

std::optional<Program> sim::readProgramOrText(StringRef file,
                                              Diagnostics &diags) {
  std::optional<std::string> bytes = readFile(file, diags);
  if (!bytes)
    return std::nullopt;
  llvm::ArrayRef<uint8_t> raw = llvm::arrayRefFromStringRef(*bytes);
  if (isProgramFile(raw))
    return readProgram(raw, file, diags);
  StringRef text = diags.addBuffer(file, std::move(*bytes));
  return assemble(text, file, diags);
}

int sim::report(const Diagnostics &diags) {
  renderDiagnostics(diags, DiagnosticFormat::Text,
                    llvm::sys::Process::StandardErrHasColors(), llvm::errs());
  return diags.hasErrors() ? 1 : 0;
}

int sim::parseFiles(const Verb &verb, llvm::ArrayRef<StringRef> args,
                    size_t numFiles, FileArguments &result,
                    llvm::function_ref<bool(StringRef)> other) {
  for (size_t i = 0; i != args.size(); ++i) {
    StringRef arg = args[i];
    if (arg == "-o") {
      if (++i == args.size())
        return usageError(verb, "-o wants a file");
      result.output = args[i];
    } else if (arg == "-" || !arg.starts_with("-")) {
      result.files.push_back(arg);
    } else if (!other || !other(arg)) {
      return usageError(verb, "unknown option '" + arg + "'");
    }
  }
  if (result.files.size() != numFiles)
    return usageError(verb, "want " + llvm::Twine(numFiles) +
                                (numFiles == 1 ? " file" : " files") +
                                ", got " + llvm::Twine(result.files.size()));
  return 0;
}

//===----------------------------------------------------------------------===//
// main
//===----------------------------------------------------------------------===//

static void printHelp(llvm::raw_ostream &os) {
  os << "facet-sim: programs of the matrix engine\n\nusage: facet-sim VERB "
        "...\n\n";
  for (const Verb &verb : verbs)
    os << "  " << llvm::left_justify(verb.name, 6) << verb.summary << '\n';
  os << "\nfacet-sim VERB --help says how a verb is used\n";
}

static int runVerb(llvm::ArrayRef<StringRef> args) {
  if (args.empty()) {
    printHelp(llvm::errs());
    return 2;
  }
  if (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    printHelp(llvm::outs());
    return 0;
  }
  for (const Verb &verb : verbs) {
    if (args[0] != verb.name)
      continue;
    llvm::ArrayRef<StringRef> rest = llvm::ArrayRef(args).drop_front();
    if (llvm::is_contained(rest, "--help") || llvm::is_contained(rest, "-h")) {
      llvm::outs() << verb.summary << "\nusage: facet-sim " << verb.name << ' '
                   << verb.usage << '\n';
      return 0;
    }
    return verb.run(verb, rest);
  }
  llvm::errs() << "facet-sim: error: no verb is called '" << args[0] << "'\n";
  printHelp(llvm::errs());
  return 2;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  meetLimits("facet-sim");
  setMachineExecutable(argv[0]);
  int code = runVerb(llvm::SmallVector<StringRef>(argv + 1, argv + argc));
  std::error_code lost = finishStandardOutput();
  if (!lost)
    return code;
  llvm::errs() << "facet-sim: error: cannot write to standard output: "
               << StringRef(lost.message()).lower() << '\n';
  return code ? code : 1;
}
