//===- TestEmitEngine.cpp - prints an engine program's queues -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `facet-opt --test-emit-engine` emits every engine.program of a module and prints
// it as `facet-sim dis` would.
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"
#include "facet/Isa/Assembler.h"
#include "facet/Isa/Check.h"
#include "facet/Target/EmitEngine.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace facet;

namespace {
struct TestEmitEnginePass
    : PassWrapper<TestEmitEnginePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestEmitEnginePass)
  StringRef getArgument() const override { return "test-emit-engine"; }
  StringRef getDescription() const override {
    return "prints the queues of every engine.program";
  }
  void runOnOperation() override {
    for (auto op : getOperation().getOps<engine::ProgramOp>()) {
      Diagnostics diagnostics;
      std::optional<Machine> machine =
          loadMachine(op.getMachine(), diagnostics);
      if (!machine) {
        op.emitError(diagnostics.all().front().message);
        return signalPassFailure();
      }
      FailureOr<Program> program = emitEngine(op, *machine);
      if (failed(program))
        return signalPassFailure();
      checkProgram(*program, diagnostics, op.getSymName());
      for (const facet::Diagnostic &diagnostic : diagnostics.all())
        op.emitError(diagnostic.message);
      if (diagnostics.hasErrors())
        return signalPassFailure();
      disassemble(*program, llvm::outs());
    }
  }
};
} // namespace

void test::registerEmitEnginePass() { PassRegistration<TestEmitEnginePass>(); }
