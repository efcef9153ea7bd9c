//===- MlirDiagnostics.cpp - MLIR's messages become ours ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One renderer for the checker and for everything behind it: a verifier's message
// on an op made from line 3 of k.facet is printed as `k.facet:3:8: error: …`, with
// the line, in text, JSON and SARIF alike.
//
//===----------------------------------------------------------------------===//

#include "MlirDiagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

using namespace mlir;
using namespace facet;

Place facet::placeOf(Location location) {
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return {file.getFilename().str(), file.getLine(), file.getColumn()};
  if (auto range = dyn_cast<FileLineColRange>(location)) {
    Place place{range.getFilename().str(), range.getStartLine(),
                range.getStartColumn()};
    if (range.getEndLine() == range.getStartLine())
      place.endColumn = range.getEndColumn();
    return place;
  }
  if (auto name = dyn_cast<NameLoc>(location))
    return placeOf(name.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return placeOf(call.getCallee());
  if (auto opaque = dyn_cast<OpaqueLoc>(location))
    return placeOf(opaque.getFallbackLocation());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (Place place = placeOf(part); !place.file.empty())
        return place;
  return {};
}

static Severity severityOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return Severity::Error;
  case DiagnosticSeverity::Warning:
    return Severity::Warning;
  case DiagnosticSeverity::Remark:
    return Severity::Remark;
  case DiagnosticSeverity::Note:
    return Severity::Note;
  }
  return Severity::Error;
}

static facet::Diagnostic convert(mlir::Diagnostic &from) {
  facet::Diagnostic to;
  to.severity = severityOf(from.getSeverity());
  to.place = placeOf(from.getLocation());
  to.message = from.str();
  for (mlir::Diagnostic &note : from.getNotes())
    to.notes.push_back(convert(note));
  return to;
}

MlirDiagnostics::MlirDiagnostics(MLIRContext *context, Diagnostics &diagnostics)
    : handler(context, [&diagnostics](mlir::Diagnostic &diagnostic) {
        diagnostics.add(convert(diagnostic));
        return success();
      }) {}
