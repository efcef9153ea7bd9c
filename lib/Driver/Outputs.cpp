//===- Outputs.cpp - all outputs, or none ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `-o x.o --header x.h -MD` writes x.o.tmp-1f…, x.h.tmp-9a…, x.d.tmp-02… and then
// renames the three. A reader sees the old file or the new one, an interrupted run
// leaves nothing (the temporaries go with the signal), and two runs at once do not
// meet. A device or pipe (`-o /dev/null`) cannot be renamed over: it is written to.
// A symbolic link is followed, as `cc` does.
//
//===----------------------------------------------------------------------===//

#include "facet/Driver/Outputs.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace facet;

/// The same file on disk, or the same name of one that is not there yet.
static bool samePlace(StringRef a, StringRef b) {
  bool equal = false;
  if (!sys::fs::equivalent(a, b, equal))
    return equal;
  SmallString<128> first(a), second(b);
  sys::path::remove_dots(first, /*remove_dot_dot=*/false);
  sys::path::remove_dots(second, /*remove_dot_dot=*/false);
  return first == second;
}

std::string *Outputs::add(StringRef path, ArrayRef<std::string> inputs,
                          Diagnostics &diagnostics, bool executable) {
  if (path.empty()) {
    diagnostics.error({}, "the name of an output is empty");
    return nullptr;
  }
  if (path != "-") {
    if (sys::fs::is_directory(path)) {
      diagnostics.error({}, "the output '" + path + "' is a directory");
      return nullptr;
    }
    for (const std::string &input : inputs)
      if (input != "-" && samePlace(path, input)) {
        diagnostics.error({}, "the output '" + path + "' is one of the inputs");
        return nullptr;
      }
  }
  bool device =
      path != "-" && sys::fs::exists(path) && !sys::fs::is_regular_file(path);
  for (const File &other : files)
    if (!device && samePlace(path, other.path)) {
      diagnostics.error({}, "two outputs go to '" + path + "'");
      return nullptr;
    }
  files.push_back({path.str(), {}, executable});
  return &files.back().contents;
}

static bool hasContents(StringRef path, StringRef contents) {
  uint64_t size;
  if (sys::fs::file_size(path, size) || size != contents.size())
    return false;
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  return buffer && (*buffer)->getBuffer() == contents;
}

/// Writes to an open descriptor; an empty error code when all went well.
static std::error_code writeTo(int descriptor, StringRef contents, bool close) {
  raw_fd_ostream stream(descriptor, close);
  stream << contents;
  stream.flush();
  std::error_code error = stream.error();
  stream.clear_error();
  return error;
}

bool Outputs::commit(Diagnostics &diagnostics) {
  std::vector<std::pair<sys::fs::TempFile, std::string>> ready;
  scope_exit leaveNothing([&] {
    for (auto &entry : ready)
      consumeError(entry.first.discard());
  });
  auto fail = [&](const File &file, std::error_code code) {
    diagnostics.error({},
                      "cannot write " +
                          (file.path == "-" ? Twine("to standard output")
                                            : "'" + Twine(file.path) + "'") +
                          ": " + StringRef(code.message()).lower());
    return false;
  };

  for (const File &file : files) {
    if (file.path == "-" ||
        (writeIfChanged && hasContents(file.path, file.contents)))
      continue;
    SmallString<128> target(file.path);
    if (sys::fs::is_symlink_file(file.path))
      (void)sys::fs::real_path(file.path,
                               target); // a dangling link is replaced
    if (sys::fs::exists(target) && !sys::fs::is_regular_file(target)) {
      int descriptor;
      if (std::error_code code = sys::fs::openFileForWrite(
              target, descriptor, sys::fs::CD_OpenExisting))
        return fail(file, code);
      if (std::error_code code =
              writeTo(descriptor, file.contents, /*close=*/true))
        return fail(file, code);
      continue;
    }
    unsigned mode = sys::fs::all_read | sys::fs::all_write;
    if (file.executable)
      mode |= sys::fs::all_exe;
    auto temporary = sys::fs::TempFile::create(target + ".tmp-%%%%%%%%", mode);
    if (!temporary)
      return fail(file, errorToErrorCode(temporary.takeError()));
    int descriptor = temporary->FD;
    ready.emplace_back(std::move(*temporary), target.str().str());
    if (std::error_code code =
            writeTo(descriptor, file.contents, /*close=*/false))
      return fail(file, code);
  }

  // Standard output cannot be taken back, so it comes before the renames, which
  // rarely fail, and after everything that may.
  for (const File &file : files)
    if (file.path == "-") {
      outs() << file.contents;
      outs().flush();
      if (outs().has_error()) {
        std::error_code code = outs().error();
        outs().clear_error();
        return fail(file, code);
      }
    }

  for (auto &[temporary, target] : ready)
    if (Error error = temporary.keep(target)) {
      std::error_code code = errorToErrorCode(std::move(error));
      return fail({target, {}, false}, code);
    }
  ready.clear();
  return true;
}
