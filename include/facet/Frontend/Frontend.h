//===- Frontend.h - from source text to checked kernels -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the language: parse (with recovery), check, format. Emission of
// the kernel dialect from checked kernels is in EmitKernel.h.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_FRONTEND_FRONTEND_H
#define FACET_FRONTEND_FRONTEND_H

#include "facet/Frontend/CheckedKernel.h"
#include "facet/Frontend/Syntax.h"

namespace facet {

/// Whether `name` is a word of the language, so that nothing can be called so.
bool isReserved(llvm::StringRef name);

/// A type's word (`tf32` included); nullopt for others.
std::optional<ScalarType> typeByName(llvm::StringRef text);

struct FrontendOptions {
  std::vector<std::string> includeDirs; // -I, in order
};

/// The checked form of one file and everything it imports.
struct CheckedModule {
  std::vector<std::unique_ptr<checked::Kernel>>
      kernels; // of the main file, in order
  std::vector<syntax::Schedule>
      schedules; // imports first, then the main file's
  /// Every file read, as it was opened, the main file first: the depfile's list.
  std::vector<std::string> filesRead;
};

/// Parses and checks `text`, which came from `file` (the name used in messages
/// and for relative imports). Null when an error was reported.
std::unique_ptr<CheckedModule> parseAndCheck(llvm::StringRef file,
                                             std::string text,
                                             const FrontendOptions &options,
                                             Diagnostics &diagnostics);

/// Checks what a schedule says of its kernel: the statements it names and its
/// `when`. parseAndCheck does so for kernels of the main file; this is for
/// schedules that stand in another file. False when an error was reported.
bool checkSchedule(const checked::Kernel &kernel,
                   const syntax::Schedule &schedule, Diagnostics &diagnostics);

/// A reading form of the checked kernel, with all types and conversions.
void print(const checked::Kernel &kernel, llvm::raw_ostream &os);

/// Canonical formatting; keeps comments and blank lines between items.
/// nullopt when the text does not parse.
std::optional<std::string> formatSource(llvm::StringRef file, std::string text,
                                        Diagnostics &diagnostics);

} // namespace facet

#endif // FACET_FRONTEND_FRONTEND_H
