//===- EmitObject.h - LLVM dialect to object, assembly, LLVM text ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_TARGET_EMITOBJECT_H
#define FACET_TARGET_EMITOBJECT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace facet {

/// How much time code generation takes.
enum class CodeEffort {
  Quick,   ///< fast compilation, for code that runs once on little data
  Plain,   ///< what plain loops gain from
  Thorough ///< full scheduling and allocation, for loops chosen with care
};

struct ObjectOptions {
  /// Where the code runs; empty: this machine.
  std::string triple;
  /// A CPU or level of LLVM; empty: the baseline (x86-64-v2, or generic).
  std::string cpu;
  /// LLVM feature string, "+avx2,-fma".
  std::string features;
  CodeEffort effort = CodeEffort::Plain;
  /// Line tables that lead back to the kernel's source.
  bool debugLines = false;
};

enum class ObjectKind { Object, Assembly, LLVMText };

/// Compiles `module` (LLVM dialect) into `out`. Position independent; equal
/// modules and options give equal bytes. The module gets the data layout of the
/// target. On failure returns false and says why in `error`: an unknown triple or
/// CPU, or an error inside code generation, which never ends the process.
bool emitObject(mlir::ModuleOp module, ObjectKind kind,
                const ObjectOptions &options, llvm::SmallVectorImpl<char> &out,
                std::string &error);

/// The triple of this machine, as an empty `triple` means it.
std::string hostTriple();

} // namespace facet

#endif // FACET_TARGET_EMITOBJECT_H
