//===- Emission.h - from kernels to the bytes of one output ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_EMISSION_H
#define FACET_LIB_DRIVER_EMISSION_H

#include "Sources.h"
#include "facet/Support/Diagnostics.h"
#include "facet/Target/EmitObject.h"
#include "facet/Target/Target.h"

namespace facet {

enum class EmitKind {
  Kernel, ///< the kernel dialect
  Mlir,   ///< what the target makes of it
  Llvm,   ///< LLVM IR
  Assembly,
  Object,
  Static, ///< an archive with one object
  Shared,
  Header,
  Engine ///< a program for a matrix engine
};

/// What one object is made for.
using TargetList = llvm::SmallVector<TargetRef, 4>;

struct Emission {
  /// One, or several levels, lowest first.
  TargetList targets;
  std::string triple;
  InterfaceOptions interface;
  /// The matrix engine whose programs the functions run; null: they compute themselves.
  const Machine *engine = nullptr;
  /// Name of the output: archives name their member after it.
  std::string output;
};

/// Writes `sources` as `kind` (any but Header and Engine) to `text`. Consumes the kernels.
ExitCode emit(Sources &sources, EmitKind kind, const Emission &emission,
              Invocation &invocation, std::string &text);

/// Where each kernel stands: lowering consumes them.
using KernelPlaces = std::vector<std::pair<std::string, Place>>;
KernelPlaces placesOfKernels(mlir::ModuleOp module);

/// Warns (-Wperf-spills) of loops whose registers did not suffice.
void tellSpills(llvm::ArrayRef<LoopSpill> spills, const KernelPlaces &kernels,
                Diagnostics &diagnostics);

/// How code for `targets` is generated; the triple is left open.
ObjectOptions codeOptions(llvm::ArrayRef<TargetRef> targets);

/// Replaces the kernels by functions of upstream dialects.
ExitCode lowerKernels(Sources &sources, const Emission &emission,
                      Invocation &invocation);

/// Whether code can be made for `triple` here; reports an error otherwise.
bool checkTriple(llvm::StringRef triple, Diagnostics &diagnostics);

} // namespace facet

#endif // FACET_LIB_DRIVER_EMISSION_H
