//===- SourceFile.cpp - text files that a user names ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading, with the failures that users meet named in their words. The size is
// limited so that places (32-bit lines and columns) cannot overflow.
//
//===----------------------------------------------------------------------===//

#include "facet/Support/SourceFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace facet;

static constexpr uint64_t largestFile = uint64_t(1) << 30;

std::optional<std::string> facet::readSourceFile(llvm::StringRef path,
                                                 std::string &problem) {
  if (path != "-" && llvm::sys::fs::is_directory(path)) {
    problem = "is a directory";
    return std::nullopt;
  }
  auto buffer =
      llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/false, false);
  if (!buffer) {
    std::error_code code = buffer.getError();
    problem = code == std::errc::no_such_file_or_directory ? "no such file"
              : code == std::errc::permission_denied       ? "no permission"
                                                           : code.message();
    return std::nullopt;
  }
  if ((*buffer)->getBufferSize() > largestFile) {
    problem = "is larger than 1 GiB";
    return std::nullopt;
  }
  return (*buffer)->getBuffer().str();
}
