//===- SimulateText.h - the simulator inside another program --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DRIVER_SIMULATETEXT_H
#define FACET_DRIVER_SIMULATETEXT_H

#include "facet/Driver/CompileText.h"
#include "facet/abi.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <memory>

namespace facet {

/// A run of a kernel on a matrix engine that came to its end.
class Simulation {
public:
  virtual ~Simulation() = default;
  /// A result by the word that `facet run` has for it: "json", "stats", "html",
  /// "trace" (Perfetto's bytes); "asm" is the program. False: there is none such.
  virtual bool result(llvm::StringRef kind, std::string &bytes) const = 0;
};

/// Runs a kernel of `request.text` on the matrix engine that its options name, with
/// the sizes that the tensors have: arguments in `in`, results in `out`, in the
/// order of the text; null leaves an argument out. Strides may be any; an inout of
/// `in` is written to. Null, with errors, when something is refused or found.
/// `request.kind` has no meaning here.
std::unique_ptr<Simulation>
simulateText(const TextRequest &request,
             llvm::ArrayRef<const facet_dltensor *> in,
             llvm::ArrayRef<facet_dltensor *> out, Diagnostics &diagnostics);

} // namespace facet

#endif // FACET_DRIVER_SIMULATETEXT_H
