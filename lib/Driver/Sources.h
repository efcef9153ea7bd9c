//===- Sources.h - the kernels of the input files -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_SOURCES_H
#define FACET_LIB_DRIVER_SOURCES_H

#include "Invocation.h"
#include "facet/Driver/SizeBindings.h"
#include "facet/Frontend/Syntax.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace facet {

enum class InputKind { Facet, Mlir, Llvm, Einsum, Onnx };

/// What the inputs hold, merged: kernels of the kernel dialect, or functions that
/// an earlier run lowered already (LLVM IR becomes the LLVM dialect).
struct Sources {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Whether `module` has kernels still to be lowered.
  bool hasKernels = false;
  /// Of all files, in order, those of imports before the file's own.
  std::vector<syntax::Schedule> schedules;
  /// Of all kernels read; `module` may keep fewer.
  std::vector<std::string> kernelNames;
  /// The names of the inputs in messages.
  std::vector<std::string> inputNames;
  /// Every file read, inputs first, then imports; "-" is not among them.
  std::vector<std::string> filesRead;
};

/// The formula when `input` is what `--einsum` made of one, "einsum:FORMULA".
std::optional<llvm::StringRef> einsumOf(llvm::StringRef input);

/// The kind of `input` by -x or its suffix; an error when neither says.
std::optional<InputKind> kindOf(llvm::StringRef input, Invocation &invocation);

/// The module of an .mlir text or bytecode, with errors when it cannot be read.
mlir::OwningOpRef<mlir::ModuleOp> parseMlir(llvm::StringRef name,
                                            std::string text,
                                            mlir::MLIRContext &context,
                                            Diagnostics &diagnostics);

/// A context that can read and print every stage; made without threads.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Reads `inputs`. Nothing, with errors, when one is rejected.
std::optional<Sources> loadSources(llvm::ArrayRef<std::string> inputs,
                                   llvm::ArrayRef<SizeBinding> sizes,
                                   mlir::MLIRContext &context,
                                   Invocation &invocation);

} // namespace facet

#endif // FACET_LIB_DRIVER_SOURCES_H
