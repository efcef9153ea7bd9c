//===- MlirDiagnostics.h - MLIR's messages become ours --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_MLIRDIAGNOSTICS_H
#define FACET_LIB_DRIVER_MLIRDIAGNOSTICS_H

#include "facet/Support/Diagnostics.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

namespace facet {

/// The place a location leads to; without a file when it leads nowhere.
Place placeOf(mlir::Location location);

/// While it lives, what is reported to `context` goes to `diagnostics`.
class MlirDiagnostics {
public:
  MlirDiagnostics(mlir::MLIRContext *context, Diagnostics &diagnostics);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace facet

#endif // FACET_LIB_DRIVER_MLIRDIAGNOSTICS_H
