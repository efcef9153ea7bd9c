//===- TestEmitHeader.cpp - prints the header of a module's kernels -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `--test-emit-header=file=linear.h` prints to standard output what the driver
// would write to that file, so that headers are tested without the language.
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"

#include "facet/Target/EmitInterface.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {
struct TestEmitHeaderPass
    : PassWrapper<TestEmitHeaderPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestEmitHeaderPass)
  TestEmitHeaderPass() = default;
  TestEmitHeaderPass(const TestEmitHeaderPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "test-emit-header"; }
  StringRef getDescription() const final {
    return "prints the C header of the module's kernels";
  }

  Option<std::string> file{*this, "file", llvm::cl::desc("name of the header"),
                           llvm::cl::init("kernels.h")};
  Option<std::string> nameSpace{*this, "namespace",
                                llvm::cl::desc("prefix of C names")};

  void runOnOperation() override {
    facet::InterfaceOptions options;
    options.nameSpace = nameSpace;
    auto kernels =
        llvm::to_vector(getOperation().getOps<facet::kernel::FuncOp>());
    FailureOr<std::string> text =
        facet::emitHeader(kernels, file.getValue(), options);
    if (failed(text))
      return signalPassFailure();
    llvm::outs() << *text;
  }
};
} // namespace

void facet::test::registerEmitHeaderPass() {
  PassRegistration<TestEmitHeaderPass>();
}
