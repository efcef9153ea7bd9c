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

FailureOr<kernel::FuncOp> facet::simplifyForEngine(kernel::FuncOp kernel,
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
  engine::separateFactors(kernel);
  bool changed = engine::separateFilters(kernel, machine);
  changed |= engine::separateIntegers(kernel);
  // What is left of such a sum merges with the map that reads it.
  if (changed) {
    PassManager again(module.getContext());
    again.nest<kernel::FuncOp>().addPass(kernel::createSimplifyKernelPass());
    if (failed(again.run(module)))
      return failure();
    kernel = module.lookupSymbol<kernel::FuncOp>(name);
  }
  engine::hoistTerms(kernel);
  return kernel;
}

/// How much room the program of `plan` lacks; nullopt: it does not fit. What cannot be
/// lowered at all is not its fault.
static std::optional<double>
lackOf(kernel::FuncOp kernel, engine::PlanAttr plan, const Machine &machine) {
  ScopedDiagnosticHandler quiet(kernel.getContext(),
                                [](mlir::Diagnostic &) { return success(); });
  FailureOr<engine::ProgramOp> program =
      convertKernelToEngine(kernel, plan, machine);
  if (failed(program))
    return 0;
  FailureOr<double> lack = lackOfRoom(*program, machine);
  program->erase();
  return succeeded(lack) ? std::optional(*lack) : std::nullopt;
}

FailureOr<engine::PlanAttr> facet::planThatFits(kernel::FuncOp kernel,
                                                const Machine &machine) {
  FailureOr<engine::PlanAttr> best = engine::planKernel(kernel, machine);
  if (failed(best))
    return best;
  std::optional<double> least = lackOf(kernel, *best, machine);
  for (const engine::PlanLimits &limits : engine::planLimits().drop_front()) {
    if (least && *least < brokenPipeline)
      break;
    ScopedDiagnosticHandler quiet(kernel.getContext(),
                                  [](mlir::Diagnostic &) { return success(); });
    FailureOr<engine::PlanAttr> plan =
        engine::planKernel(kernel, machine, limits);
    if (failed(plan))
      continue;
    std::optional<double> lack = lackOf(kernel, *plan, machine);
    if (!lack || (least && *lack >= *least))
      continue;
    best = plan;
    least = lack;
  }
  return best; // or, where none fits, its program says what it does not find
}

static engine::PlanAttr planFor(kernel::FuncOp kernel, const Machine &machine,
                                EnginePlanFunction plan) {
  if (plan)
    return cast_or_null<engine::PlanAttr>(Attribute(plan(kernel)));
  FailureOr<engine::PlanAttr> own = planThatFits(kernel, machine);
  return succeeded(own) ? *own : engine::PlanAttr();
}

FailureOr<engine::ProgramOp> facet::lowerToEngine(kernel::FuncOp kernel,
                                                  const Machine &machine,
                                                  EnginePlanFunction plan) {
  FailureOr<kernel::FuncOp> simplified = simplifyForEngine(kernel, machine);
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

FailureOr<Program> facet::makeEngineProgram(OwningOpRef<kernel::FuncOp> kernel,
                                            const Machine &machine,
                                            EnginePlanFunction plan) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel->getLoc());
  kernel::FuncOp inside = kernel.release();
  module->push_back(inside);
  FailureOr<engine::ProgramOp> lowered = lowerToEngine(inside, machine, plan);
  if (failed(lowered))
    return failure();
  return emitEngineProgram(*lowered, machine);
}
