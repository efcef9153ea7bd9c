//===- Explain.cpp - `facet explain` --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and plans kernels as compile does, and instead of lowering them prints what
// the plans say: for people, as JSON, or as schedule blocks, whose use gives the
// same plans.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "MlirDiagnostics.h"
#include "Planning.h"
#include "facet/Dialect/Kernel/IR/Plan.h"
#include "facet/Driver/Help.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace facet;
using namespace facet::options;

static ExitCode readInputs(Invocation &invocation) {
  const CommandLine &line = invocation.line;
  if (line.inputs().empty())
    invocation.diagnostics.error({}, "no input file");
  if (line.has(OPT_json) && line.has(OPT_schedule))
    invocation.diagnostics.error({}, "--json and --schedule are two answers; "
                                     "ask for one");
  return invocation.diagnostics.hasErrors() ? ExitCode::Usage : ExitCode::Ok;
}

ExitCode facet::runExplain(Invocation &invocation) {
  const CommandLine &line = invocation.line;
  Diagnostics &diagnostics = invocation.diagnostics;
  std::vector<SizeBinding> sizes =
      parseSizeBindings(line.values(OPT_define_size), diagnostics);
  if (ExitCode code = readInputs(invocation); code != ExitCode::Ok)
    return code;
  // As run and check: without a target, the best that this machine has.
  TargetList targets = line.has(OPT_target)
                           ? chooseTargets(invocation, defaultTriple())
                           : TargetList{nativeTarget()};
  if (targets.empty())
    return ExitCode::NotAvailable;

  std::unique_ptr<MLIRContext> context = makeContext();
  MlirDiagnostics bridge(context.get(), diagnostics);
  std::optional<Sources> sources =
      loadSources(line.inputs(), sizes, *context, invocation);
  if (!sources)
    return ExitCode::Rejected;
  if (!sources->hasKernels) {
    diagnostics.error({}, "these inputs are lowered already; a plan is made "
                          "from kernels");
    return ExitCode::Rejected;
  }
  if (line.has(OPT_kernel)) {
    kernel::FuncOp kernel = chooseKernel(*sources->module, invocation);
    if (!kernel)
      return ExitCode::Rejected;
    keepOnly(kernel);
  }
  FailureOr<LoadedTargets> loaded = loadTargets(targets, diagnostics);
  if (failed(loaded))
    return ExitCode::Rejected;
  checkSchedules(*sources, diagnostics);

  std::vector<llvm::json::Value> all;
  bool isFirst = true;
  for (const TargetOnMachine &on : loaded->list)
    for (auto kernel : sources->module->getOps<kernel::FuncOp>()) {
      kernel::PlanAttrInterface plan =
          planKernel(kernel, on, *sources, diagnostics);
      if (!plan)
        return ExitCode::Rejected;
      kernel::Explanation explanation;
      plan.explain(kernel, on.machine, explanation);
      if (line.has(OPT_json)) {
        all.push_back(llvm::json::Object{{"kernel", kernel.getSymName()},
                                         {"target", on.target->name},
                                         {"key", plan.key()},
                                         {"plan", explanation.toJson()}});
        continue;
      }
      if (!isFirst)
        llvm::outs() << "\n";
      isFirst = false;
      if (line.has(OPT_schedule))
        plan.printSchedule(kernel, llvm::outs());
      else
        explanation.print(llvm::outs());
    }
  if (line.has(OPT_json))
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(all)))
                 << "\n";
  return ExitCode::Ok;
}
