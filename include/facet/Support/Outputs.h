//===- Outputs.h - all outputs, or none -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files one run writes. Contents are gathered first; `commit` writes each to a
// temporary beside its target and renames all of them at the end.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_SUPPORT_OUTPUTS_H
#define FACET_SUPPORT_OUTPUTS_H

#include "facet/Support/Diagnostics.h"

#include "llvm/ADT/ArrayRef.h"

#include <deque>
#include <optional>
#include <system_error>

namespace facet {

/// Flushes standard output; what went wrong with it up to here, once.
std::error_code finishStandardOutput();

/// The same file on disk, or the same name of one that is not there yet.
bool isSamePlace(llvm::StringRef a, llvm::StringRef b);

class Outputs {
public:
  /// `writeIfChanged`: a file that already has the contents keeps its time stamp.
  explicit Outputs(bool writeIfChanged = false)
      : writeIfChanged(writeIfChanged) {}

  /// A new output at `path` ("-" is standard output); fill the string returned.
  /// Null, with an error, when `path` is a directory, one of `inputs` or another
  /// output. `executable` asks for the mode bits of a shared library.
  std::string *add(llvm::StringRef path, llvm::ArrayRef<std::string> inputs,
                   Diagnostics &diagnostics, bool executable = false);

  /// Puts all contents in place. False, with an error, when one cannot be
  /// written: then no target has changed.
  bool commit(Diagnostics &diagnostics);

  struct Failure {
    std::string path;
    std::error_code code;
  };
  /// The same for who has other words for it.
  std::optional<Failure> tryCommit();

private:
  struct File {
    std::string path;
    std::string contents;
    bool executable;
  };
  bool writeIfChanged;
  std::deque<File> files;
};

} // namespace facet

#endif // FACET_SUPPORT_OUTPUTS_H
