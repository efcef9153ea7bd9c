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
#include "facet/Pipelines/Engine.h"

using namespace mlir;
using namespace facet;

FailureOr<LoadedTargets> facet::loadTargets(ArrayRef<TargetRef> targets,
                                            const CommandLine &line,
                                            Diagnostics &diagnostics) {
  bool keep = line.value(options::OPT_subnormals) == StringRef("keep");
  LoadedTargets result;
  for (const TargetRef &target : targets) {
    std::shared_ptr<const Machine> machine = target->given;
    if (!machine && !target->machine.empty()) {
      std::optional<Machine> loaded = loadMachine(target->machine, diagnostics);
      if (!loaded)
        return failure();
      machine = std::make_shared<const Machine>(std::move(*loaded));
    }
    if (keep && machine && machine->cpu.bf16Dot) {
      // These take subnormal operands and sums for 0, whatever the mode of the CPU.
      auto without = std::make_shared<Machine>(*machine);
      without->cpu.bf16Dot = 0;
      machine = std::move(without);
    }
    result.list.push_back({target.get(), machine.get()});
    result.targets.push_back(target);
    result.machines.push_back(std::move(machine));
  }
  return result;
}

void facet::checkSchedules(const Sources &sources, ArrayRef<StringRef> chosen,
                           Diagnostics &diagnostics) {
  SmallVector<StringRef> kernels(sources.kernelNames.begin(),
                                 sources.kernelNames.end()),
      machines;
  for (const Target &target : targets())
    machines.push_back(target.name);
  llvm::append_range(machines, chosen);
  machines.push_back("native");
  std::vector<std::string> files = machineNames();
  machines.append(files.begin(), files.end());
  // The schedule for all sizes that ends the search, and how many stand behind it.
  struct Last {
    Place place;
    unsigned hidden = 0;
    Place firstHidden;
  };
  llvm::MapVector<std::pair<StringRef, StringRef>, Last> last;
  for (const syntax::Schedule &schedule : sources.schedules) {
    StringRef name = schedule.kernel.text, on = schedule.target;
    Place place = syntax::placeIn(schedule.file, schedule.kernel.span);
    if (auto known = last.find({name, on}); known != last.end()) {
      if (!known->second.hidden++)
        known->second.firstHidden = place;
    } else if (!schedule.when) {
      last.insert({{name, on}, {place, 0, {}}});
    }
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
  for (auto &[key, schedule] : last)
    if (schedule.hidden)
      diagnostics
          .warning("unused-schedule", schedule.firstHidden,
                   (schedule.hidden == 1
                        ? "this schedule is"
                        : "this and " + Twine(schedule.hidden - 1) +
                              " more schedules are") +
                       " never taken: one before it is for all sizes")
          .note(schedule.place, "it stands here");
}

void facet::tellStored(kernel::PlanAttrInterface plan, kernel::FuncOp kernel,
                       const Machine *machine, Diagnostics &diagnostics) {
  kernel::Explanation explanation;
  plan.explain(kernel, machine, explanation);
  for (const kernel::Explanation::Let &let : explanation.lets) {
    if (!let.isStored)
      continue;
    mlir::Location place = kernel.getLoc();
    kernel.walk([&](kernel::StructuredOpInterface op) {
      if (op.getName() == std::optional<StringRef>(let.name))
        place = op.getLoc();
    });
    diagnostics.remark("perf-stored", placeOf(place),
                       "'" + let.name + "' is " + let.where);
  }
  for (const std::string &cost : explanation.costs)
    diagnostics.remark("perf", placeOf(kernel.getLoc()), cost);
}

/// `plan` as schedules on one of `targets` override it, checked.
static kernel::PlanAttrInterface
finishPlan(kernel::PlanAttrInterface plan, kernel::FuncOp kernel,
           const Machine *machine, ArrayRef<StringRef> targets,
           const Sources &sources, Diagnostics &diagnostics) {
  plan = applySchedules(plan, kernel, machine, targets, sources.schedules,
                        diagnostics);
  if (!plan || failed(plan.verify(kernel, machine)))
    return nullptr;
  return plan;
}

kernel::PlanAttrInterface facet::planKernel(kernel::FuncOp kernel,
                                            const TargetOnMachine &on,
                                            const Sources &sources,
                                            Diagnostics &diagnostics) {
  // A schedule for the level of this machine is one for this machine.
  SmallVector<StringRef, 2> names{on.target->name};
  if (on.target->name == "native" && on.target->level)
    names.push_back(on.target->level->name);
  kernel::PlanAttrInterface plan =
      finishPlan(on.target->plan(kernel, on.machine), kernel, on.machine, names,
                 sources, diagnostics);
  if (plan)
    tellStored(plan, kernel, on.machine, diagnostics);
  return plan;
}

kernel::PlanAttrInterface facet::planForEngine(kernel::FuncOp kernel,
                                               const Machine &machine,
                                               const Sources &sources,
                                               Diagnostics &diagnostics) {
  FailureOr<engine::PlanAttr> plan = planThatFits(kernel, machine);
  if (failed(plan))
    return nullptr;
  return finishPlan(cast<kernel::PlanAttrInterface>(*plan), kernel, &machine,
                    StringRef(machine.name), sources, diagnostics);
}

kernel::PlanAttrInterface facet::planForEngineAloud(kernel::FuncOp kernel,
                                                    const Machine &machine,
                                                    const Sources &sources,
                                                    Diagnostics &diagnostics) {
  kernel::PlanAttrInterface plan =
      planForEngine(kernel, machine, sources, diagnostics);
  if (plan)
    tellStored(plan, kernel, &machine, diagnostics);
  return plan;
}
