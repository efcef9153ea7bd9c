//===- EmitKernel.h - from checked kernels to the kernel dialect ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_FRONTEND_EMITKERNEL_H
#define FACET_FRONTEND_EMITKERNEL_H

#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "facet/Frontend/CheckedKernel.h"
#include "mlir/IR/BuiltinOps.h"

#include <map>

namespace facet {

/// Values allowed for a size (`-D M=1,16`); a size that keeps its general
/// variant (`-D M=1,16,*`) is not listed.
using FixedSizes = std::map<std::string, std::vector<int64_t>>;

/// The element type a tensor of `type` has in the dialect: unsigned narrow
/// integers are `ui8`, `ui4`; all others signless.
mlir::Type elementType(mlir::MLIRContext *context, ScalarType type);
/// Its inverse; nothing for a type the language does not have.
std::optional<ScalarType> scalarTypeOf(mlir::Type type);

/// Appends one kernel.func for `kernel` to `module`. The checker has settled
/// every question, so this cannot fail on input; the module should be verified
/// all the same. Sizes in `fixed` that the kernel does not have are ignored.
kernel::FuncOp emitKernel(mlir::ModuleOp module, const checked::Kernel &kernel,
                          const FixedSizes &fixed = {});

} // namespace facet

#endif // FACET_FRONTEND_EMITKERNEL_H
