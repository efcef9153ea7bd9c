//===- Outputs.cpp - all outputs, or none ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `-o x.o --header x.h -MD` writes x.o.tmp-1f…, x.h.tmp-9a…, x.d.tmp-02… and then
// renames the three. A reader sees the old file or the new one, an interrupted run
// leaves nothing (the temporaries go with the signal), and two runs at once do not
// meet. Where a later rename fails, the earlier ones are taken back. A device or pipe (`-o /dev/null`) cannot be renamed over: it is written to.
// A symbolic link is followed, as `cc` does.
//
//===----------------------------------------------------------------------===//

#include "facet/Support/Outputs.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>

using namespace llvm;
using namespace facet;

std::error_code facet::finishStandardOutput() {
  outs().flush();
  std::error_code lost = outs().error();
  outs().clear_error();
  return lost;
}

bool facet::isSamePlace(StringRef a, StringRef b) {
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
      if (input != "-" && isSamePlace(path, input)) {
        diagnostics.error({}, "the output '" + path + "' is one of the inputs");
        return nullptr;
      }
  }
  bool device =
      path != "-" && sys::fs::exists(path) && !sys::fs::is_regular_file(path);
  for (const File &other : files)
    if (!device && isSamePlace(path, other.path)) {
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

/// Writes to an open descriptor and closes it; an empty error code when all went
/// well.
static std::error_code writeTo(int descriptor, StringRef contents) {
  raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << contents;
  stream.close();
  std::error_code error = stream.error();
  stream.clear_error();
  return error;
}

namespace {

/// Files that wait beside their targets, and what was there before.
class Replacement {
public:
  ~Replacement() {
    for (Entry &entry : entries) {
      consumeError(entry.temporary.discard());
      forget(entry);
    }
  }

  void add(sys::fs::TempFile temporary, StringRef target) {
    entries.push_back({std::move(temporary), target.str(), {}, false});
  }

  /// Renames all of them; on failure none, as far as the file system lets us.
  std::optional<Outputs::Failure> run() {
    // A signal comes before the first rename or after the last one.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    scope_exit unblock([&] { pthread_sigmask(SIG_SETMASK, &before, nullptr); });
    for (size_t i = 0; i != entries.size(); ++i) {
      Entry &entry = entries[i];
      entry.isNew = !sys::fs::exists(entry.target);
      if (!entry.isNew && i + 1 != entries.size())
        remember(entry); // the last one needs no way back
      // Not TempFile::keep(target): where it cannot rename it copies, and a
      // reader sees half of the copy.
      if (std::error_code code =
              sys::fs::rename(entry.temporary.TmpName, entry.target)) {
        takeBack(i);
        return Outputs::Failure{entry.target, code};
      }
      consumeError(entry.temporary.keep()); // there is nothing left to close
    }
    return std::nullopt;
  }

private:
  struct Entry {
    sys::fs::TempFile temporary;
    std::string target;
    std::string old; ///< a second name of what was at `target`, or empty
    bool isNew;
  };

  static void remember(Entry &entry) {
    SmallString<128> name;
    sys::fs::createUniquePath(entry.target + ".tmp-%%%%%%%%", name,
                              /*MakeAbsolute=*/false);
    if (sys::fs::create_hard_link(entry.target, name))
      return; // a file system without links
    entry.old = name.str().str();
    sys::RemoveFileOnSignal(name);
  }

  static void forget(Entry &entry) {
    if (entry.old.empty())
      return;
    sys::fs::remove(entry.old);
    sys::DontRemoveFileOnSignal(entry.old);
    entry.old.clear();
  }

  void takeBack(size_t count) {
    for (Entry &entry : MutableArrayRef(entries).take_front(count))
      if (!entry.old.empty())
        sys::fs::rename(entry.old, entry.target);
      else if (entry.isNew)
        sys::fs::remove(entry.target);
  }

  std::vector<Entry> entries;
};

} // namespace

std::optional<Outputs::Failure> Outputs::tryCommit() {
  Replacement replacement;
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
        return Failure{file.path, code};
      if (std::error_code code = writeTo(descriptor, file.contents))
        return Failure{file.path, code};
      continue;
    }
    unsigned mode = sys::fs::all_read | sys::fs::all_write;
    if (file.executable)
      mode |= sys::fs::all_exe;
    auto temporary = sys::fs::TempFile::create(target + ".tmp-%%%%%%%%", mode);
    if (!temporary)
      return Failure{file.path, errorToErrorCode(temporary.takeError())};
    // Closed at once: some file systems tell only then what did not fit.
    int descriptor = std::exchange(temporary->FD, -1);
    replacement.add(std::move(*temporary), target);
    if (std::error_code code = writeTo(descriptor, file.contents))
      return Failure{file.path, code};
  }

  // Standard output cannot be taken back, so it comes before the renames, which
  // rarely fail, and after everything that may.
  for (const File &file : files)
    if (file.path == "-") {
      outs() << file.contents;
      if (std::error_code code = finishStandardOutput())
        return Failure{"-", code};
    }
  return replacement.run();
}

bool Outputs::commit(Diagnostics &diagnostics) {
  std::optional<Failure> failure = tryCommit();
  if (!failure)
    return true;
  diagnostics.error({}, "cannot write " +
                            (failure->path == "-"
                                 ? Twine("to standard output")
                                 : "'" + Twine(failure->path) + "'") +
                            ": " + StringRef(failure->code.message()).lower());
  return false;
}
