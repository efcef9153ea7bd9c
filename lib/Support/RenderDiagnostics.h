//===- RenderDiagnostics.h - the three forms of a message list ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SUPPORT_RENDERDIAGNOSTICS_H
#define FACET_LIB_SUPPORT_RENDERDIAGNOSTICS_H

#include "facet/Support/Diagnostics.h"

namespace facet {

llvm::StringRef severityName(Severity severity);

void renderText(const Diagnostics &diagnostics, bool colour,
                llvm::raw_ostream &os);
void renderJson(const Diagnostics &diagnostics, llvm::raw_ostream &os);
void renderSarif(const Diagnostics &diagnostics, llvm::raw_ostream &os);

} // namespace facet

#endif // FACET_LIB_SUPPORT_RENDERDIAGNOSTICS_H
