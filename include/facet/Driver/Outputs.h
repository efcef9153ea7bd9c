//===- Outputs.h - all outputs, or none -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files one run writes. Contents are gathered first; `commit` writes each to a
// temporary beside its target and renames all of them at the end.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_DRIVER_OUTPUTS_H
#define FACET_DRIVER_OUTPUTS_H

#include "facet/Support/Diagnostics.h"

#include "llvm/ADT/ArrayRef.h"

#include <deque>

namespace facet {

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
  /// written: then no target has changed, save for a failure of rename itself.
  bool commit(Diagnostics &diagnostics);

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

#endif // FACET_DRIVER_OUTPUTS_H
