//===- Crash.cpp - internal errors and their reproducers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No input should bring us here. When one does, the user gets exit code 70 and one
// shell script that holds the inputs and the command: sending that file is a
// complete report. It goes to the system's folder for temporary files, not among
// the user's own.
//
//   facet: internal error: segmentation fault; please send the reproducer …
//
//===----------------------------------------------------------------------===//

#include "Crash.h"
#include "facet/Driver/Help.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstring>

using namespace llvm;
using namespace facet;

static std::string shellQuoted(StringRef text) {
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// Whether a path stays inside the folder the script makes.
static bool staysInside(StringRef path) {
  return sys::path::is_relative(path) &&
         !is_contained(make_range(sys::path::begin(path), sys::path::end(path)),
                       "..");
}

/// The files that `text` imports, as written.
static SmallVector<StringRef> importsOf(StringRef text) {
  SmallVector<StringRef> imports;
  Regex pattern("(^|[^A-Za-z0-9_])import[ \t\r\n]*\"([^\"\n]+)\"");
  SmallVector<StringRef, 3> match;
  while (pattern.match(text, &match)) {
    imports.push_back(match[2]);
    text = text.drop_front(match[2].end() - text.begin());
  }
  return imports;
}

namespace {

/// Writes the commands that make the input files and what they import.
class FileWriter {
public:
  explicit FileWriter(raw_ostream &os) : os(os) {}

  /// Repeats the file at `path`; its name in the script.
  std::string add(StringRef path) {
    std::string name = staysInside(path)
                           ? path.str()
                           : "file" + std::to_string(++outside) + "-" +
                                 sys::path::filename(path).str();
    write(path, name);
    return name;
  }

private:
  void write(StringRef path, StringRef name) {
    auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                        /*RequiresNullTerminator=*/false);
    if (!buffer || !done.insert(name).second)
      return;
    StringRef text = (*buffer)->getBuffer();
    if (text.contains('\0')) {
      os << "# " << path << " holds NUL bytes and is not repeated here\n";
      return;
    }
    StringRef folder = sys::path::parent_path(name);
    if (!folder.empty())
      os << "mkdir -p " << shellQuoted(folder) << "\n";
    // printf keeps the bytes; a here-document would need an end nobody wrote.
    os << "printf %s " << shellQuoted(text) << " > " << shellQuoted(name)
       << "\n";
    for (StringRef import : importsOf(text)) {
      if (!staysInside(import))
        continue;
      SmallString<128> from(sys::path::parent_path(path)), to(folder);
      sys::path::append(from, import);
      sys::path::append(to, import);
      write(from, to);
    }
  }

  raw_ostream &os;
  StringSet<> done;
  unsigned outside = 0;
};

} // namespace

/// Writes the script and returns its name, or nothing.
static std::string writeReproducer(const CommandLine &line) {
  SmallString<128> path;
  int descriptor;
  if (sys::fs::createTemporaryFile("facet-reproducer", "sh", descriptor, path))
    return {};
  raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os << "#!/bin/sh\n# facet " << versionNumber()
     << "\nset -e\ncd \"$(mktemp -d)\"\n";
  FileWriter files(os);
  StringMap<std::string> names;
  for (const std::string &input : line.inputs())
    if (sys::fs::is_regular_file(input))
      names[input] = files.add(input);
  os << "facet";
  for (StringRef arg : line.expanded()) {
    auto file = names.find(arg);
    os << " " << shellQuoted(file == names.end() ? arg : file->second);
  }
  os << "\n";
  os.flush();
  if (os.has_error()) {
    os.clear_error();
    return {};
  }
  return path.str().str();
}

ExitCode facet::internalError(const CommandLine &line, const Twine &what) {
  errs() << "facet: internal error: " << what << "\n";
  std::string reproducer = writeReproducer(line);
  if (reproducer.empty())
    errs() << "facet: note: no reproducer could be written; please send the "
              "inputs and the "
              "command line\n";
  else
    errs() << "facet: note: please send the reproducer " << reproducer << "\n";
  return ExitCode::Internal;
}

/// LLVM's way to give up (no registers left, an instruction it cannot select):
/// leave `guarded` instead of the process.
static void onFatalError(void *what, const char *reason, bool) {
  *static_cast<std::string *>(what) = reason;
  if (CrashRecoveryContext *context = CrashRecoveryContext::GetCurrent())
    context->HandleExit(int(ExitCode::Internal));
}

ExitCode facet::guarded(const CommandLine &line,
                        function_ref<ExitCode()> body) {
  std::string reason;
  ScopedFatalErrorHandler handler(onFatalError, &reason);
  CrashRecoveryContext::Enable();
  CrashRecoveryContext context;
  ExitCode code = ExitCode::Internal;
  bool finished = context.RunSafely([&] { code = body(); });
  CrashRecoveryContext::Disable();
  if (finished)
    return code;
  if (reason.empty()) {
    // RetCode is 128 + the signal's number.
    const char *name =
        context.RetCode > 128 ? strsignal(context.RetCode - 128) : nullptr;
    reason = name ? StringRef(name).lower() : "unknown";
  }
  return internalError(line, reason);
}
