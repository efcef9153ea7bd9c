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

FailureOr<kernel::FuncOp> facet::simplifyForEngine(kernel::FuncOp kernel) {
  auto module = kernel->getParentOfType<ModuleOp>();
  StringAttr name = kernel.getSymNameAttr();
  PassManager passes(module.getContext());
  OpPassManager &each = passes.nest<kernel::FuncOp>();
  each.addPass(kernel::createDecomposeSoftmaxPass());
  each.addPass(kernel::createSimplifyKernelPass());
  if (failed(passes.run(module)))
    return failure();
  kernel = module.lookupSymbol<kernel::FuncOp>(name);
  engine::separateFactors(kernel);
  return kernel;
}

static engine::PlanAttr planFor(kernel::FuncOp kernel, const Machine &machine,
                                EnginePlanFunction plan) {
  if (plan)
    return cast_or_null<engine::PlanAttr>(Attribute(plan(kernel)));
  FailureOr<engine::PlanAttr> own = engine::planKernel(kernel, machine);
  return succeeded(own) ? *own : engine::PlanAttr();
}

FailureOr<engine::ProgramOp> facet::lowerToEngine(kernel::FuncOp kernel,
                                                  const Machine &machine,
                                                  EnginePlanFunction plan) {
  FailureOr<kernel::FuncOp> simplified = simplifyForEngine(kernel);
  if (failed(simplified))
    return failure();
  engine::PlanAttr chosen = planFor(*simplified, machine, plan);
  if (!chosen)
    return failure();
  FailureOr<engine::ProgramOp> program =
      convertKernelToEngine(*simplified, chosen, machine);
  if (succeeded(program))
    simplified->erase();
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
