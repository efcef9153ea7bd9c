//===- VerifyDiagnostics.h - messages against annotations -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares all messages, exactly, with annotations in the source:
//
//   // expected-error@+1:8 {{unknown name `z`}}
//   y[m] = z
//
// `+1` is relative to the annotation's line, 8 the column. A message in another
// file is written `@other.facet:3:8`, one without a place `@nowhere`; a warning
// ends in its group, `[-Wunused-let]`.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_TEST_TOOLS_VERIFYDIAGNOSTICS_H
#define FACET_TEST_TOOLS_VERIFYDIAGNOSTICS_H

#include "facet/Support/Diagnostics.h"

namespace facet {

/// True when the messages and the annotations in `text`, the text of `file`,
/// are the same; prints what differs.
bool verifyDiagnostics(const Diagnostics &diagnostics, llvm::StringRef file,
                       llvm::StringRef text, llvm::raw_ostream &os);

} // namespace facet

#endif // FACET_TEST_TOOLS_VERIFYDIAGNOSTICS_H
