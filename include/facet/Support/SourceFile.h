//===- SourceFile.h - text files that a user names ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_SUPPORT_SOURCEFILE_H
#define FACET_SUPPORT_SOURCEFILE_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace facet {

/// The whole of the file `path`; `-` is the standard input. On failure nullopt,
/// and `problem` says why, for a message ("is a directory").
std::optional<std::string> readSourceFile(llvm::StringRef path,
                                          std::string &problem);

} // namespace facet

#endif // FACET_SUPPORT_SOURCEFILE_H
