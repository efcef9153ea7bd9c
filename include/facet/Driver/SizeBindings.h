//===- SizeBindings.h - `-D M=1,16,*` -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DRIVER_SIZEBINDINGS_H
#define FACET_DRIVER_SIZEBINDINGS_H

#include "facet/Support/Diagnostics.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace facet {

/// What one `-D` says: the size is one of `values`, or anything when `general`.
struct SizeBinding {
  std::string name;
  llvm::SmallVector<int64_t, 4> values; ///< ascending, each once
  bool general = false;
};

/// Parses the arguments of `-D`. An error names the argument.
std::vector<SizeBinding>
parseSizeBindings(llvm::ArrayRef<std::string> arguments,
                  Diagnostics &diagnostics);

/// Whether `text` is a size of the language: ASCII, with a capital in front.
bool isSizeName(llvm::StringRef text);

} // namespace facet

#endif // FACET_DRIVER_SIZEBINDINGS_H
