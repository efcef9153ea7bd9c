//===- EmitInterfacePass.cpp - emitInterface on a whole module ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs emitInterface on the kernels of a module, in order:
//
//   kernel.func @a, kernel.func @b, func.func @a.impl ...  ─▶  @a, @a_workspace, ...
//
// The names of all kernels are checked before the first is replaced, so that two
// kernels that need one C name are told about while both are there.
//
//===----------------------------------------------------------------------===//

#include "facet/Target/EmitInterface.h"
#include "facet/Target/Passes.h"

namespace facet {
#define GEN_PASS_DEF_EMITINTERFACEPASS
#include "facet/Target/Passes.h.inc"
} // namespace facet

using namespace mlir;
using namespace facet;

namespace {
struct EmitInterfacePass
    : facet::impl::EmitInterfacePassBase<EmitInterfacePass> {
  using EmitInterfacePassBase::EmitInterfacePassBase;

  void runOnOperation() override {
    InterfaceOptions options;
    options.nameSpace = nameSpace;
    auto kernels = llvm::to_vector(getOperation().getOps<kernel::FuncOp>());
    for (kernel::FuncOp kernel : kernels)
      if (failed(verifyInterface(kernel, options)))
        return signalPassFailure();
    for (kernel::FuncOp kernel : kernels)
      if (failed(emitInterface(kernel, options)))
        return signalPassFailure();
  }
};
} // namespace
