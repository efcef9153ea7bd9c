//===- Diagnostics.h - errors, warnings and remarks with their places -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kind of message for everything a user can hand us: kernel source, machine
// files, program text, IR. Producers add diagnostics; the driver sorts, filters
// and prints them as text, JSON or SARIF. Messages are lower case, have no
// final stop, and say what was found and what is allowed.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_SUPPORT_DIAGNOSTICS_H
#define FACET_SUPPORT_DIAGNOSTICS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/SourceMgr.h"

#include <deque>
#include <string>
#include <vector>

namespace facet {

/// A place in a text: 1-based line and column (columns count bytes); line 0
/// means "the file as a whole", an empty file "no place at all" (a command-line
/// argument, say). `endColumn` is one past the last byte, 0 when unknown.
struct Place {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
  unsigned endColumn = 0;
};

enum class Severity { Error, Warning, Remark, Note };

struct Diagnostic {
  Severity severity = Severity::Error;
  /// The warning group without "-W" ("perf-stored"); empty for errors, which
  /// cannot be switched off.
  std::string group;
  Place place;
  std::string message;
  std::vector<Diagnostic> notes;

  Diagnostic &note(Place where, const llvm::Twine &text);
};

/// Collects diagnostics. Text of the files is kept so that a renderer can show
/// the line; a file that is not known is shown without it.
class Diagnostics {
public:
  /// Keeps the text of `file` for carets. Returns the buffer kept (stable).
  llvm::StringRef addBuffer(llvm::StringRef file, std::string text);
  /// The text of a file given to addBuffer, or empty.
  llvm::StringRef bufferFor(llvm::StringRef file) const;

  Diagnostic &error(Place where, const llvm::Twine &message);
  Diagnostic &warning(llvm::StringRef group, Place where,
                      const llvm::Twine &message);
  Diagnostic &remark(llvm::StringRef group, Place where,
                     const llvm::Twine &message);
  Diagnostic &add(Diagnostic diagnostic);

  bool hasErrors() const { return numErrors != 0; }
  unsigned errorCount() const { return numErrors; }
  /// True once `errorLimit` errors were added (0: no limit). A parser stops
  /// then.
  bool limitReached() const { return errorLimit && numErrors >= errorLimit; }
  unsigned errorLimit = 20;

  /// In the order added. References stay valid while the object lives.
  const std::deque<Diagnostic> &all() const { return list; }

private:
  std::deque<Diagnostic> list;
  std::deque<std::pair<std::string, std::string>> buffers;
  unsigned numErrors = 0;
};

enum class DiagnosticFormat { Text, Json, Sarif };

/// Prints all diagnostics. Text: `file:line:col: error: message [-Wgroup]`, the
/// line, a caret, notes. `-` as format file means the stream given.
void renderDiagnostics(const Diagnostics &diagnostics, DiagnosticFormat format,
                       bool colour, llvm::raw_ostream &os);

} // namespace facet

#endif // FACET_SUPPORT_DIAGNOSTICS_H
