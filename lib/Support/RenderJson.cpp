//===- RenderJson.cpp - messages for programs -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One array, one object per diagnostic, in the order they were made:
//
//   {"severity": "error", "message": "…", "file": "k.facet", "line": 3,
//    "column": 8, "endColumn": 9, "group": "unused-let", "notes": [ … ]}
//
// `line`, `column` and `endColumn` are 1-based and count bytes; each is left
// out when unknown, as are an empty `file` and `group`. Notes have the same
// form. Text that is not UTF-8 is repaired with U+FFFD, which JSON demands.
//
//===----------------------------------------------------------------------===//

#include "RenderDiagnostics.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace facet;

static llvm::json::Object toJson(const Diagnostic &diagnostic) {
  using llvm::json::fixUTF8;
  llvm::json::Object object{
      {"severity", severityName(diagnostic.severity)},
      {"message", fixUTF8(diagnostic.message)},
  };
  const Place &place = diagnostic.place;
  if (!place.file.empty())
    object["file"] = fixUTF8(place.file);
  if (place.line)
    object["line"] = place.line;
  if (place.line && place.column)
    object["column"] = place.column;
  if (place.line && place.endColumn)
    object["endColumn"] = place.endColumn;
  if (!diagnostic.group.empty())
    object["group"] = diagnostic.group;
  llvm::json::Array notes;
  for (const Diagnostic &note : diagnostic.notes)
    notes.push_back(toJson(note));
  object["notes"] = std::move(notes);
  return object;
}

void facet::renderJson(const Diagnostics &diagnostics, llvm::raw_ostream &os) {
  llvm::json::Array all;
  for (const Diagnostic &diagnostic : diagnostics.all())
    all.push_back(toJson(diagnostic));
  os << llvm::formatv("{0:2}", llvm::json::Value(std::move(all))) << '\n';
}
