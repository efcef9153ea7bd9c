//===- EmitObject.h - LLVM dialect to object, assembly, LLVM text ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_TARGET_EMITOBJECT_H
#define FACET_TARGET_EMITOBJECT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace facet {

/// How much time code generation takes.
enum class CodeEffort {
  Quick,   ///< fast compilation, for code that runs once on little data
  Plain,   ///< what plain loops gain from
  Thorough ///< full scheduling and allocation, for loops chosen with care
};

/// Registers that the innermost loop of a function keeps in memory, for want of more.
struct LoopSpill {
  std::string function;
  unsigned sums = 0;              ///< vectors that the loop carries
  unsigned stores = 0, loads = 0; ///< at each step
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
  /// Where to say what was spilled in loops, in the order of the code; null: nowhere.
  std::vector<LoopSpill> *spills = nullptr;
};

enum class ObjectKind { Object, Assembly, LLVMText };

/// Compiles `module` (LLVM dialect) into `out`. Position independent; equal
/// modules and options give equal bytes. The module gets the data layout of the
/// target. On failure returns false and says why in `error`: an unknown triple or
/// CPU, or an error inside code generation, which never ends the process.
bool emitObject(mlir::ModuleOp module, ObjectKind kind,
                const ObjectOptions &options, llvm::SmallVectorImpl<char> &out,
                std::string &error);

/// Whether LLVM has a CPU of that name for the architecture that begins `triple`.
bool isKnownCpu(llvm::StringRef triple, llvm::StringRef cpu);

/// The triple of this machine, as an empty `triple` means it.
std::string hostTriple();

} // namespace facet

#endif // FACET_TARGET_EMITOBJECT_H
