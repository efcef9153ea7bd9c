//===- facet-lsp-server.cpp - answers editors about IR --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's language server, told about Facet's dialects: definitions, hovers and
// diagnostics in .mlir files that hold kernels.
//
//===----------------------------------------------------------------------===//

#include "facet/InitAll.h"
#include "facet/Support/Process.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  facet::meetLimits("facet-lsp-server");
  mlir::DialectRegistry registry;
  facet::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
