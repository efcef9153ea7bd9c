//===- RenderDiagnostics.h - the three forms of a message list ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SUPPORT_RENDERDIAGNOSTICS_H
#define FACET_LIB_SUPPORT_RENDERDIAGNOSTICS_H

#include "facet/Support/Diagnostics.h"
#include "llvm/ADT/StringMap.h"

namespace facet {

llvm::StringRef severityName(Severity severity);

/// The lines of the texts that messages point into, found once.
class SourceLines {
public:
  explicit SourceLines(const Diagnostics &diagnostics)
      : diagnostics(diagnostics) {}

  /// The line `place` is on, without its line end; empty when not known.
  llvm::StringRef operator()(const Place &place);

private:
  const Diagnostics &diagnostics;
  llvm::StringMap<std::vector<llvm::StringRef>> lines;
};

void renderText(const Diagnostics &diagnostics, bool colour,
                llvm::raw_ostream &os);
void renderJson(const Diagnostics &diagnostics, llvm::raw_ostream &os);
void renderSarif(const Diagnostics &diagnostics, llvm::raw_ostream &os);

} // namespace facet

#endif // FACET_LIB_SUPPORT_RENDERDIAGNOSTICS_H
