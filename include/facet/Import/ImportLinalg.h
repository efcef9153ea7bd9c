//===- ImportLinalg.h - linalg on tensors, as Facet source ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_IMPORT_IMPORTLINALG_H
#define FACET_IMPORT_IMPORTLINALG_H

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace facet {

/// Whether `module` has functions on tensors, which importLinalg takes.
bool hasTensorFunctions(mlir::ModuleOp module);

/// One kernel for every function of `module`, in their order: structured ops of linalg on
/// tensors, named, contract or generic, whose maps are projected permutations. Arguments
/// are x0, x1, …, results y0, … (y when there is one), sizes of `?` D0, D1, ….
/// Emits an error at the op that is outside the subset and returns nothing.
std::optional<std::string> importLinalg(mlir::ModuleOp module);

/// Registers the dialects that such a module is read with.
void registerImportDialects(mlir::DialectRegistry &registry);

} // namespace facet

#endif // FACET_IMPORT_IMPORTLINALG_H
