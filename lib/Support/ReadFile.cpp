//===- ReadFile.cpp - all bytes of a file that a user names ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   x.npy     ─▶ its bytes, or "it changed while it was read"
//   /dev/zero ─▶ "it is no file, and has no end within 256 MiB"
//
// LLVM's MemoryBuffer maps larger files into memory. When another program then
// shortens one (an editor that saves, a disk that goes away), the next look at it
// is a bus error, and there is no end to a device. So the bytes are read once, and
// what the system knows about the file is asked for before and after.
//
//===----------------------------------------------------------------------===//

#include "facet/Support/ReadFile.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace facet;
namespace fs = llvm::sys::fs;

/// What a pipe or device may bring: an array, not all that there is.
static constexpr uint64_t longestStream = uint64_t(256) << 20;

static bool isUnchanged(const fs::file_status &a, const fs::file_status &b) {
  return a.getSize() == b.getSize() &&
         a.getLastModificationTime() == b.getLastModificationTime();
}

std::optional<std::string> facet::readWholeFile(StringRef path,
                                                std::string &problem) {
  auto fail = [&](std::error_code code) {
    problem = StringRef(code.message()).lower();
    return std::nullopt;
  };
  fs::file_t file = fs::getStdinHandle();
  if (path != "-") {
    Expected<fs::file_t> opened = fs::openNativeFileForRead(path);
    if (!opened)
      return fail(errorToErrorCode(opened.takeError()));
    file = *opened;
  }
  scope_exit close([&] {
    if (path != "-")
      (void)fs::closeFile(file);
  });
  fs::file_status before, after;
  if (std::error_code code = fs::status(file, before))
    return fail(code);
  bool isFile = before.type() == fs::file_type::regular_file;
  // The size is where to begin, not what to believe: files of /proc have none.
  std::string bytes(isFile ? before.getSize() + 1 : 1 << 16, '\0');
  size_t done = 0;
  for (;;) {
    if (done == bytes.size())
      bytes.resize(2 * bytes.size());
    Expected<size_t> more = fs::readNativeFile(
        file, MutableArrayRef(bytes.data() + done, bytes.size() - done));
    if (!more)
      return fail(errorToErrorCode(more.takeError()));
    if (*more == 0)
      break;
    done += *more;
    if (!isFile && done > longestStream) {
      problem = "it is no file, and has no end within 256 MiB";
      return std::nullopt;
    }
  }
  bytes.resize(done);
  if (std::error_code code = fs::status(file, after))
    return fail(code);
  if (isFile && !isUnchanged(before, after)) {
    problem = "it changed while it was read";
    return std::nullopt;
  }
  return bytes;
}
