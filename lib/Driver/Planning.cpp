//===- Planning.cpp - kernels get their plans -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   kernel ─ target.plan(machine) ─ schedules ─ verify ─▶ attribute kernel.plan
//
// compile, run, check and explain plan alike. What a plan stores instead of
// computing it inside its user is told under -Wperf-stored.
//
//===----------------------------------------------------------------------===//

#include "Planning.h"
#include "MlirDiagnostics.h"
#include "Schedules.h"
#include "facet/Dialect/Kernel/IR/Operations.h"
#include "facet/Dialect/Kernel/IR/Plan.h"
#include "facet/Driver/CommandLine.h"

using namespace mlir;
using namespace facet;

FailureOr<LoadedTargets> facet::loadTargets(ArrayRef<const Target *> targets,
                                            Diagnostics &diagnostics) {
  LoadedTargets result;
  for (const Target *target : targets) {
    const Machine *machine = nullptr;
    if (!target->machine.empty()) {
      std::optional<Machine> loaded = loadMachine(target->machine, diagnostics);
      if (!loaded)
        return failure();
      result.machines.push_back(std::make_unique<Machine>(std::move(*loaded)));
      machine = result.machines.back().get();
    }
    result.list.push_back({target, machine});
  }
  return result;
}

void facet::checkSchedules(const Sources &sources, Diagnostics &diagnostics) {
  SmallVector<StringRef> kernels, machines;
  for (auto kernel : sources.module.get().getOps<kernel::FuncOp>())
    kernels.push_back(kernel.getSymName());
  for (const Target &target : targets())
    machines.push_back(target.name);
  std::vector<std::string> files = machineNames();
  machines.append(files.begin(), files.end());
  for (const syntax::Schedule &schedule : sources.schedules) {
    StringRef name = schedule.kernel.text, on = schedule.target;
    // Imports bring schedules for the kernels of many files.
    if (!llvm::is_contained(sources.inputNames, schedule.file))
      continue;
    if (!llvm::is_contained(kernels, name))
      diagnostics.warning("unused-schedule",
                          syntax::placeIn(schedule.file, schedule.kernel.span),
                          "there is no kernel '" + name + "'" +
                              didYouMean(name, kernels) +
                              "; the schedule is not used");
    else if (!llvm::is_contained(machines, on))
      diagnostics.warning("unused-schedule",
                          syntax::placeIn(schedule.file, schedule.targetSpan),
                          "there is no target or machine '" + on + "'" +
                              didYouMean(on, machines) +
                              "; the schedule is not used");
  }
}

static void tellStored(kernel::FuncOp kernel,
                       const kernel::Explanation &explanation,
                       Diagnostics &diagnostics) {
  for (const kernel::Explanation::Let &let : explanation.lets) {
    if (!let.isStored)
      continue;
    Location place = kernel.getLoc();
    kernel.walk([&](kernel::StructuredOpInterface op) {
      if (op.getName() == std::optional<StringRef>(let.name))
        place = op.getLoc();
    });
    diagnostics.remark("perf-stored", placeOf(place),
                       "'" + let.name + "' is " + let.where);
  }
}

kernel::PlanAttrInterface facet::planKernel(kernel::FuncOp kernel,
                                            const TargetOnMachine &on,
                                            const Sources &sources,
                                            Diagnostics &diagnostics) {
  kernel::PlanAttrInterface plan = on.target->plan(kernel, on.machine);
  plan = applySchedules(plan, kernel, on.machine, on.target->name,
                        sources.schedules, diagnostics);
  if (!plan || failed(plan.verify(kernel, on.machine)))
    return nullptr;
  kernel::Explanation explanation;
  plan.explain(kernel, on.machine, explanation);
  tellStored(kernel, explanation, diagnostics);
  return plan;
}
