//===- main.cpp - facet, the compiler -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program is lib/Driver; this only hands it the command line.
//
//===----------------------------------------------------------------------===//

#include "facet/Driver/Driver.h"
#include "facet/Support/Process.h"

int main(int argc, char **argv) {
  facet::meetLimits("facet");
  return facet::driverMain(argc, argv);
}
