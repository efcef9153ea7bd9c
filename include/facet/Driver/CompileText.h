//===- CompileText.h - the compiler inside another program ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DRIVER_COMPILETEXT_H
#define FACET_DRIVER_COMPILETEXT_H

#include "facet/Support/Diagnostics.h"

#include <string>
#include <vector>

namespace facet {

/// One run of `facet compile` on a text in memory.
struct TextRequest {
  std::string text;
  /// Stands for a file in messages; imports are looked for beside it.
  std::string name = "<text>";
  /// As --emit takes it: obj, asm, header, ...
  std::string kind = "obj";
  /// Further options of `facet compile`.
  std::vector<std::string> options;
};

struct CompiledText {
  std::string bytes;
  std::vector<std::string> kernels; ///< their names, in the order of the text
};

/// Compiles without reading standard input or writing a file. False when the text is
/// rejected. `diagnostics` becomes the messages of this run, warnings too. Not for
/// several threads at once.
bool compileText(const TextRequest &request, CompiledText &result,
                 Diagnostics &diagnostics);

/// `facet explain` on a text. `request.kind` is "text", "json" or "schedule"; otherwise
/// as above.
bool explainText(const TextRequest &request, std::string &result,
                 Diagnostics &diagnostics);

} // namespace facet

#endif // FACET_DRIVER_COMPILETEXT_H
