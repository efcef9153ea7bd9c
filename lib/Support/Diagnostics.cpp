//===- Diagnostics.cpp - errors, warnings and remarks with their places ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The collecting half; the three renderers have a file each. Containers are
// deques, so that a reference to a diagnostic or a buffer stays good while more
// are added: `diagnostics.error(...).note(...)` from anywhere.
//
//===----------------------------------------------------------------------===//

#include "facet/Support/Diagnostics.h"
#include "RenderDiagnostics.h"

using namespace facet;
using llvm::StringRef;
using llvm::Twine;

Diagnostic &Diagnostic::note(Place where, const Twine &text) {
  notes.push_back({Severity::Note, "", std::move(where), text.str(), {}});
  return *this;
}

StringRef Diagnostics::addBuffer(StringRef file, std::string text) {
  buffers.emplace_back(file.str(), std::move(text));
  return buffers.back().second;
}

StringRef Diagnostics::bufferFor(StringRef file) const {
  for (const auto &[name, text] : buffers)
    if (name == file)
      return text;
  return {};
}

Diagnostic &Diagnostics::error(Place where, const Twine &message) {
  return add({Severity::Error, "", std::move(where), message.str(), {}});
}

Diagnostic &Diagnostics::warning(StringRef group, Place where,
                                 const Twine &message) {
  return add(
      {Severity::Warning, group.str(), std::move(where), message.str(), {}});
}

Diagnostic &Diagnostics::remark(StringRef group, Place where,
                                const Twine &message) {
  return add(
      {Severity::Remark, group.str(), std::move(where), message.str(), {}});
}

Diagnostic &Diagnostics::add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::Error)
    ++numErrors;
  list.push_back(std::move(diagnostic));
  return list.back();
}

StringRef facet::severityName(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Remark:
    return "remark";
  case Severity::Note:
    return "note";
  }
  return "";
}

StringRef SourceLines::operator()(const Place &place) {
  auto [known, isNew] = lines.try_emplace(place.file);
  if (isNew) {
    StringRef text = diagnostics.bufferFor(place.file);
    while (!text.empty()) {
      auto [line, rest] = text.split('\n');
      known->second.push_back(line.rtrim('\r'));
      text = rest;
    }
  }
  if (!place.line || place.line > known->second.size())
    return {};
  return known->second[place.line - 1];
}

void facet::renderDiagnostics(const Diagnostics &diagnostics,
                              DiagnosticFormat format, bool colour,
                              llvm::raw_ostream &os) {
  switch (format) {
  case DiagnosticFormat::Text:
    return renderText(diagnostics, colour, os);
  case DiagnosticFormat::Json:
    return renderJson(diagnostics, os);
  case DiagnosticFormat::Sarif:
    return renderSarif(diagnostics, os);
  }
}
