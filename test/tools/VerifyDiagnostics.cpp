//===- VerifyDiagnostics.cpp - messages against annotations ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both sides become lines of text, `3:8: error: unknown name`, and are compared
// as multisets: order does not matter, place, severity and every letter do.
//
//===----------------------------------------------------------------------===//

#include "VerifyDiagnostics.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace facet;
using llvm::StringRef;

using Messages = std::multiset<std::string>;

static std::string describe(StringRef where, StringRef severity,
                            StringRef message) {
  return (where + ": " + severity + ": " + message).str();
}

static void collect(const Diagnostic &diagnostic, StringRef file,
                    Messages &messages) {
  static constexpr StringRef severities[] = {"error", "warning", "remark",
                                             "note"};
  const Place &place = diagnostic.place;
  std::string where = "nowhere";
  if (!place.file.empty()) {
    where = std::to_string(place.line) + ":" + std::to_string(place.column);
    if (place.file != file)
      where = (llvm::sys::path::filename(place.file) + ":" + where).str();
  }
  messages.insert(
      describe(where, severities[static_cast<unsigned>(diagnostic.severity)],
               diagnostic.group.empty()
                   ? diagnostic.message
                   : diagnostic.message + " [-W" + diagnostic.group + "]"));
  for (const Diagnostic &note : diagnostic.notes)
    collect(note, file, messages);
}

/// The annotations; a malformed one is a difference of its own.
static Messages annotations(StringRef text) {
  static const llvm::Regex form(
      "expected-(error|warning|remark|note)@([^ ]+) \\{\\{(.*)\\}\\}");
  static const llvm::Regex relative("^([+-][0-9]+)?:([0-9]+)$");
  Messages messages;
  int number = 0;
  while (!text.empty()) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    ++number;
    if (!line.contains("expected-"))
      continue;
    llvm::SmallVector<StringRef, 4> part, place;
    if (!form.match(line, &part)) {
      messages.insert("malformed annotation: " + line.str());
      continue;
    }
    std::string where = part[2].str();
    if (relative.match(part[2], &place)) {
      int offset = 0;
      StringRef sign = place[1];
      sign.consume_front("+");
      if (!sign.empty() && sign.getAsInteger(10, offset))
        offset = 0;
      where = std::to_string(number + offset) + ":" + place[2].str();
    }
    messages.insert(describe(where, part[1], part[3]));
  }
  return messages;
}

bool facet::verifyDiagnostics(const Diagnostics &diagnostics, StringRef file,
                              StringRef text, llvm::raw_ostream &os) {
  Messages given, expected = annotations(text);
  for (const Diagnostic &diagnostic : diagnostics.all())
    collect(diagnostic, file, given);
  for (auto it = given.begin(); it != given.end();) {
    auto match = expected.find(*it);
    if (match == expected.end()) {
      ++it;
      continue;
    }
    expected.erase(match);
    it = given.erase(it);
  }
  for (const std::string &message : given)
    os << file << ": given, not expected: " << message << '\n';
  for (const std::string &message : expected)
    os << file << ": expected, not given: " << message << '\n';
  return given.empty() && expected.empty();
}
