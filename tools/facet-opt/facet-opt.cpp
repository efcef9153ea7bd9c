//===- facet-opt.cpp - runs passes on IR, for tests and debugging ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "facet/InitAll.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#ifdef FACET_TEST_PASSES
#include "TestPasses.h"
#endif

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  facet::registerAllDialects(registry);
  facet::registerAllPasses();
#ifdef FACET_TEST_PASSES
  facet::test::registerTestPasses();
#endif
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Facet's optimiser driver\n", registry));
}
