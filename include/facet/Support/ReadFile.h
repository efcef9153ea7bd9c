//===- ReadFile.h - all bytes of a file that a user names -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_SUPPORT_READFILE_H
#define FACET_SUPPORT_READFILE_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace facet {

/// The whole of the file `path`; `-` is the standard input. The bytes are those
/// of one moment: a file that changes meanwhile is refused, as is a device or
/// pipe that does not end. On failure nullopt, and `problem` says why, for a
/// message ("no such file or directory").
std::optional<std::string> readWholeFile(llvm::StringRef path,
                                         std::string &problem);

} // namespace facet

#endif // FACET_SUPPORT_READFILE_H
