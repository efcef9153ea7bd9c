//===- SourceFile.cpp - text files that a user names ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading, with the failures that users meet named in their words. The size is
// limited so that places (32-bit lines and columns) cannot overflow.
//
//===----------------------------------------------------------------------===//

#include "facet/Support/SourceFile.h"
#include "facet/Support/ReadFile.h"

#include "llvm/Support/FileSystem.h"

using namespace facet;

static constexpr uint64_t largestFile = uint64_t(1) << 30;

std::optional<std::string> facet::readSourceFile(llvm::StringRef path,
                                                 std::string &problem) {
  if (path != "-" && llvm::sys::fs::is_directory(path)) {
    problem = "is a directory";
    return std::nullopt;
  }
  std::optional<std::string> text = readWholeFile(path, problem);
  if (text && text->size() > largestFile) {
    problem = "is larger than 1 GiB";
    return std::nullopt;
  }
  return text;
}
