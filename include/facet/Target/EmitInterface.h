//===- EmitInterface.h - what a compiled kernel shows to C ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C functions of a kernel NAME and the header that declares them:
//
//   int NAME(dim_..., arguments, results, const facet_exec *)   checks, then runs
//   size_t NAME_workspace(dim_..., int threads)
//   size_t NAME_pack_W_bytes(W's dim_...)                       for each const array W
//   int NAME_pack_W(W's dim_..., W, strides, void *dst)
//   int NAME_packed(...)                                        NAME with packed operands
//   int NAME_dl(const facet_dltensor *const *in, facet_dltensor *const *out, exec)
//   const facet_info *NAME_info(void)
//
// docs/Interface.md is the contract with the caller, facet/abi.h its types.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_TARGET_EMITINTERFACE_H
#define FACET_TARGET_EMITINTERFACE_H

#include "facet/Dialect/Kernel/IR/Kernel.h"

#include <functional>
#include <string>
#include <vector>

namespace facet {

struct InterfaceOptions {
  /// Set in front of every C name, with an underscore: `--namespace`.
  std::string nameSpace;
  /// Set behind the kernel's name in every C name: "_trn2".
  std::string suffix;
  /// Of the compiler, for the header and NAME_info.
  std::string version = "0.1.0";
  /// How the kernel is computed, for NAME_info; free text.
  std::string plan = "reference";
  /// FACET_LEVEL_* that the object holds code for, lowest first. Any but 0 makes
  /// NAME ask the CPU (Levels.h) and refuse one that has none of them; of several,
  /// the one chosen is handed to NAME.impl and NAME.workspace.
  std::vector<int32_t> levels = {0};
  /// Adds NAME.impl for a kernel without axes, `NAME.promise.0` say, as the reference
  /// road does, whatever the levels: promises that need functions like exp are
  /// computed by it. Where it is not set, such promises are an error.
  std::function<mlir::LogicalResult(kernel::FuncOp)> computeKernel;
};

/// Says whether `kernel` can have a C interface: names that are C identifiers,
/// clash neither with the C library nor with each other. Reports errors.
mlir::LogicalResult verifyInterface(kernel::FuncOp kernel,
                                    const InterfaceOptions &options);

/// Replaces `kernel` by its C functions, as func.func over arith, cf, scf and the
/// LLVM dialect. `NAME.impl` and `NAME.workspace` (Conversion/KernelToLoops.h) must
/// stand in the module; they become local symbols. A road that runs in parallel
/// takes the facet_exec, never null, behind the error of NAME.impl, and the
/// number of threads, an i32 of at least 1, behind the sizes of NAME.workspace.
/// Where options.levels has several, both take the level, an i32, at their end.
/// Call it last: `kernel` is erased.
mlir::LogicalResult emitInterface(kernel::FuncOp kernel,
                                  const InterfaceOptions &options);

/// Adds NAME.impl and NAME.workspace for `kernel`, whose sizes are all fixed to one value:
/// they hand a call to facet_sim_call (facet/sim.h) with `program`, the bytes of an .engine
/// file. `below` has a bound for each argument and result whose elements are subscripts, and
/// -1 for the others.
mlir::LogicalResult callSimulator(kernel::FuncOp kernel,
                                  llvm::StringRef program,
                                  llvm::ArrayRef<int64_t> below);

/// The header of some kernels, in their order. `fileName` names the include guard
/// and the first line; the same input gives the same bytes.
mlir::FailureOr<std::string> emitHeader(llvm::ArrayRef<kernel::FuncOp> kernels,
                                        llvm::StringRef fileName,
                                        const InterfaceOptions &options);

} // namespace facet

#endif // FACET_TARGET_EMITINTERFACE_H
