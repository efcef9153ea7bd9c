//===- Verbs.h - the verbs of facet-sim -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each verb is a file of its own: As.cpp, Dis.cpp, Info.cpp, Diff.cpp, ... A new
// verb: its file, a declaration here, a line in facet-sim.cpp.
//
// Exit codes: 0 done · 1 input rejected (diff: programs differ) · 2 wrong usage.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_TOOLS_FACET_SIM_VERBS_H
#define FACET_TOOLS_FACET_SIM_VERBS_H

#include "facet/Sim/Results.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>

namespace facet::sim {

struct Verb {
  const char *name;
  const char *summary;
  /// Everything after `usage: facet-sim NAME`, may have several lines.
  const char *usage;
  int (*run)(const Verb &verb, llvm::ArrayRef<llvm::StringRef> args);
};

int runAs(const Verb &verb, llvm::ArrayRef<llvm::StringRef> args);
int runDis(const Verb &verb, llvm::ArrayRef<llvm::StringRef> args);
int runInfo(const Verb &verb, llvm::ArrayRef<llvm::StringRef> args);
int runDiff(const Verb &verb, llvm::ArrayRef<llvm::StringRef> args);
int runRun(const Verb &verb, llvm::ArrayRef<llvm::StringRef> args);
int runManual(const Verb &verb, llvm::ArrayRef<llvm::StringRef> args);

//===----------------------------------------------------------------------===//
// What verbs share (facet-sim.cpp)
//===----------------------------------------------------------------------===//

/// Prints `facet-sim NAME: error: message` and the usage; returns 2.
int usageError(const Verb &verb, const llvm::Twine &message);

/// The bytes of a file, or of standard input for `-`.
std::optional<std::string> readFile(llvm::StringRef file, Diagnostics &diags);

/// A program from a `.engine` file, or from text when it has no magic number.
std::optional<Program> readProgramOrText(llvm::StringRef file,
                                         Diagnostics &diags);

/// Prints what was collected to standard error; 1 when there was an error.
int report(const Diagnostics &diags);

/// The arguments of most verbs: files and `-o FILE`.
struct FileArguments {
  llvm::SmallVector<llvm::StringRef, 4> files;
  llvm::StringRef output = "-";
};
/// Takes -o, files, and calls `other` for other options (false: unknown).
/// Returns 0, or the exit code after a message.
int parseFiles(const Verb &verb, llvm::ArrayRef<llvm::StringRef> args,
               size_t numFiles, FileArguments &result,
               llvm::function_ref<bool(llvm::StringRef)> other = nullptr);

} // namespace facet::sim

#endif // FACET_TOOLS_FACET_SIM_VERBS_H
