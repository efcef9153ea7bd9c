//===- RenderSarif.cpp - messages for code scanning -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SARIF 2.1.0, the form that continuous integration shows beside the source:
// one run, a rule per warning group, notes as related locations. Columns count
// bytes here and UTF-16 units there, so they are converted with the source line
// at hand; a place without known text keeps its byte columns.
//
//===----------------------------------------------------------------------===//

#include "RenderDiagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace facet;
using llvm::StringRef;
namespace json = llvm::json;

/// A file name as a URI reference: bytes outside the unreserved set and `/`
/// are percent-encoded.
static std::string toUri(StringRef file) {
  std::string uri = llvm::sys::path::is_absolute(file) ? "file://" : "";
  for (char c : file) {
    if (llvm::isAlnum(c) || StringRef("-._~/").contains(c))
      uri += c;
    else
      uri += "%" + llvm::utohexstr(static_cast<unsigned char>(c), false, 2);
  }
  return uri;
}

/// 1-based UTF-16 column of the byte column `column` in `line`.
static unsigned utf16Column(StringRef line, unsigned column) {
  unsigned units = 1;
  for (size_t i = 0; i + 1 < column && i < line.size(); ++i) {
    unsigned char c = line[i];
    if ((c & 0xc0) != 0x80)
      units += c >= 0xf0 ? 2 : 1;
  }
  if (column > line.size() + 1)
    units += column - line.size() - 1;
  return units;
}

static json::Object location(SourceLines &lines, const Diagnostic &diagnostic,
                             bool withMessage) {
  const Place &place = diagnostic.place;
  json::Object result;
  if (!place.file.empty()) {
    json::Object physical{
        {"artifactLocation", json::Object{{"uri", toUri(place.file)}}}};
    if (place.line) {
      StringRef line = lines(place);
      json::Object region{{"startLine", place.line}};
      if (place.column)
        region["startColumn"] = utf16Column(line, place.column);
      if (place.endColumn)
        region["endColumn"] = utf16Column(line, place.endColumn);
      physical["region"] = std::move(region);
    }
    result["physicalLocation"] = std::move(physical);
  }
  if (withMessage)
    result["message"] =
        json::Object{{"text", json::fixUTF8(diagnostic.message)}};
  return result;
}

void facet::renderSarif(const Diagnostics &diagnostics, llvm::raw_ostream &os) {
  json::Array results;
  SourceLines lines(diagnostics);
  std::set<std::string> groups;
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    bool isRemark = diagnostic.severity == Severity::Remark;
    json::Object result{
        {"level", isRemark ? "note" : severityName(diagnostic.severity)},
        {"message", json::Object{{"text", json::fixUTF8(diagnostic.message)}}},
    };
    if (!diagnostic.group.empty()) {
      result["ruleId"] = diagnostic.group;
      groups.insert(diagnostic.group);
    }
    if (!diagnostic.place.file.empty())
      result["locations"] = json::Array{location(lines, diagnostic, false)};
    json::Array related;
    for (const Diagnostic &note : diagnostic.notes)
      related.push_back(location(lines, note, true));
    if (!related.empty())
      result["relatedLocations"] = std::move(related);
    results.push_back(std::move(result));
  }
  json::Array rules;
  for (const std::string &group : groups)
    rules.push_back(json::Object{{"id", group}});
  json::Object driver{{"name", "facet"}, {"rules", std::move(rules)}};
  json::Object run{{"tool", json::Object{{"driver", std::move(driver)}}},
                   {"columnKind", "utf16CodeUnits"},
                   {"results", std::move(results)}};
  json::Object sarif{
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", json::Array{std::move(run)}}};
  os << llvm::formatv("{0:2}", json::Value(std::move(sarif))) << '\n';
}
