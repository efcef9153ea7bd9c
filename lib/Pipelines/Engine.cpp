//===- Engine.cpp - the road to a matrix engine ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   kernel.func ─ simplify, decompose softmax ─ plan ─ KernelToEngine ─ EmitEngine ─▶ Program
//
//===----------------------------------------------------------------------===//

#include "facet/Pipelines/Engine.h"
#include "facet/Conversion/KernelToEngine.h"
#include "facet/Dialect/Kernel/Transforms/Passes.h"
#include "facet/Isa/Check.h"
#include "facet/Planner/Engine/Planner.h"
#include "facet/Target/EmitEngine.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace facet;

FailureOr<engine::ProgramOp> facet::lowerToEngine(kernel::FuncOp kernel,
                                                  const Machine &machine) {
  auto module = kernel->getParentOfType<ModuleOp>();
  StringAttr name = kernel.getSymNameAttr();
  PassManager passes(module.getContext());
  OpPassManager &each = passes.nest<kernel::FuncOp>();
  each.addPass(kernel::createDecomposeSoftmaxPass());
  each.addPass(kernel::createSimplifyKernelPass());
  if (failed(passes.run(module)))
    return failure();
  kernel = module.lookupSymbol<kernel::FuncOp>(name);
  FailureOr<engine::PlanAttr> plan = engine::planKernel(kernel, machine);
  if (failed(plan))
    return failure();
  FailureOr<engine::ProgramOp> program =
      convertKernelToEngine(kernel, *plan, machine);
  if (succeeded(program))
    kernel.erase();
  return program;
}

FailureOr<Program> facet::emitEngineProgram(engine::ProgramOp op,
                                            const Machine &machine) {
  FailureOr<Program> program = emitEngine(op, machine);
  if (failed(program))
    return failure();
  Diagnostics diagnostics;
  if (checkProgram(*program, diagnostics, op.getSymName()))
    return program;
  return op.emitError("the program made breaks a rule of the instruction set: ")
         << diagnostics.all().front().message;
}
