//===- KernelToLoops.cpp - kernel.func to plain loops over raw memory -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the two forms: OwnForm.cpp computes in the types of the text,
// JudgeForm.cpp in f64 with an error bound beside every value. Both walk the
// same ops in the same way (Demand, Point, Frame) and share nothing with any
// other road but the dialect.
//
//===----------------------------------------------------------------------===//

#include "facet/Conversion/KernelToLoops.h"
#include "Forms.h"
#include "facet/Conversion/Passes.h"

namespace facet {
#define GEN_PASS_DEF_CONVERTKERNELTOLOOPSPASS
#include "facet/Conversion/Passes.h.inc"
} // namespace facet

using namespace facet;
using namespace mlir;

LogicalResult facet::convertKernelToLoops(kernel::FuncOp kernel,
                                          const KernelToLoopsOptions &options) {
  auto module = kernel->getParentOfType<ModuleOp>();
  if (!module || kernel->getParentOp() != module)
    return kernel.emitOpError("stands in no module");
  kernel.getContext()
      ->loadDialect<arith::ArithDialect, func::FuncDialect, scf::SCFDialect,
                    LLVM::LLVMDialect>();
  loops::Functions functions(module);
  return options.judge ? loops::emitJudgeForm(kernel, functions)
                       : loops::emitOwnForm(kernel, functions);
}

namespace {

struct ConvertKernelToLoopsPass
    : facet::impl::ConvertKernelToLoopsPassBase<ConvertKernelToLoopsPass> {
  using ConvertKernelToLoopsPassBase::ConvertKernelToLoopsPassBase;

  void runOnOperation() override {
    KernelToLoopsOptions options;
    options.judge = judge;
    // Functions are added in front of the kernels that are walked.
    llvm::SmallVector<kernel::FuncOp> kernels(
        getOperation().getOps<kernel::FuncOp>());
    for (kernel::FuncOp kernel : kernels)
      if (failed(convertKernelToLoops(kernel, options)))
        return signalPassFailure();
  }
};

} // namespace
