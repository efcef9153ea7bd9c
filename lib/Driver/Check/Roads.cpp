//===- Roads.cpp - every way to call a kernel, for check ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One object holds every level of this host; max_level walks them, so what is checked is
// what a program links, its dispatch included:
//
//   reference · x86-64-v2 · x86-64-v3 · x86-64-v4 ─┬─ in tasks, last one first   (same bits)
//                                                  ├─ on 2 and on 3 threads      (same bits)
//                                                  ├─ constants packed
//                                                  └─ sizes fixed
//   trn2 on the simulator
//
// Tasks in a backward loop find an order that somebody relied on, and run on this thread,
// where a fault is caught; real threads find what that cannot.
//
//===----------------------------------------------------------------------===//

#include "Roads.h"
#include "../MlirDiagnostics.h"
#include "../Workers.h"
#include "Faults.h"

#include <csignal>
#include <cstring>

using namespace mlir;
using namespace facet;
using namespace facet::options;

//===----------------------------------------------------------------------===//
// Code in this process
//===----------------------------------------------------------------------===//

namespace {

class HostCheckedRoad : public CheckedRoad {
public:
  HostCheckedRoad(std::string name, Loaded &code, const HostKernel &kernel)
      : CheckedRoad(std::move(name)), code(code), kernel(kernel) {}
  Outcome call(const SizeValues &sizes, Arguments &arguments,
               Placement placement) override;
  bool isEntry() const override { return !twin; }

  facet_exec exec = FACET_EXEC_INIT;
  bool isPacked = false;
  Mischief mischief = Mischief::None;
  std::unique_ptr<Workers> workers; ///< that `exec` runs on

private:
  std::string faultText(const Fault &fault,
                        const PlacedArguments &placed) const;

  Loaded &code;
  const HostKernel &kernel;
  GuardedWorkspace workspace;
};

/// Code for the sizes of the call and no others, made for the first few it sees.
class StaticRoad : public CheckedRoad {
public:
  StaticRoad(const TargetRef &target, kernel::FuncOp func,
             const HostKernel &kernel, Sources &sources, Invocation &invocation)
      : CheckedRoad(target->name + ", sizes fixed"), target(target), func(func),
        kernel(kernel), sources(sources), invocation(invocation) {}
  bool wants(const SizeValues &sizes) override;
  Outcome call(const SizeValues &sizes, Arguments &arguments,
               Placement placement) override;
  bool isEntry() const override { return false; }

private:
  std::unique_ptr<Loaded> compile(const SizeValues &sizes, std::string &error);

  TargetRef target;
  kernel::FuncOp func;
  const HostKernel &kernel;
  Sources &sources;
  Invocation &invocation;
  struct Made {
    std::unique_ptr<Loaded> code;
    std::string error;
  };
  std::map<SizeValues, Made> made;
};

} // namespace

/// The message of the first error, or nothing.
static std::string firstError(const Diagnostics &diagnostics) {
  for (const facet::Diagnostic &diagnostic : diagnostics.all())
    if (diagnostic.severity == Severity::Error)
      return diagnostic.message;
  return "";
}

/// parallel_for in a loop, the last task first.
static int runBackwards(void *, int64_t n, int (*task)(void *, int64_t),
                        void *data) {
  int failed = 0;
  while (n-- > 0)
    if (int code = task(data, n))
      failed = code;
  return failed;
}

std::string HostCheckedRoad::faultText(const Fault &fault,
                                       const PlacedArguments &placed) const {
  if (fault.signal == SIGILL)
    return "it ran an instruction that this CPU does not have";
  if (fault.signal == SIGFPE)
    return "it was stopped by an arithmetic fault";
  std::string where = placed.whatLiesAt(fault.address);
  if (const GuardedMemory *scratch = workspace.current();
      where.empty() && scratch &&
      scratch->relationOf(fault.address) != GuardedMemory::Relation::Elsewhere)
    where = "outside its workspace";
  return "it read or wrote " +
         (where.empty() ? "memory that is nobody's" : where);
}

Outcome HostCheckedRoad::call(const SizeValues &sizes, Arguments &arguments,
                              Placement placement) {
  Outcome outcome;
  std::optional<PlacedArguments> placed =
      PlacedArguments::create(kernel, arguments, placement);
  if (!placed) {
    outcome.impossible = "there is not enough memory";
    return outcome;
  }
  std::vector<View> views = placed->views();
  std::unique_ptr<PreparedCall> call;
  std::optional<Fault> fault = catchFaults([&] {
    call = std::make_unique<PreparedCall>(code, kernel, sizes, views, workspace,
                                          exec, isPacked);
    outcome.result.code = call->run();
    placed->misbehave(mischief);
  });
  if (fault) {
    outcome.fault = faultText(*fault, *placed);
    return outcome;
  }
  outcome.result.error = call->error();
  bool isRefused = outcome.result.code != 0;
  std::string disturbed = placed->disturbed(isRefused);
  if (!disturbed.empty())
    outcome.fault = (isRefused ? "the refused call " : "it ") + disturbed;
  if (!isRefused)
    placed->readOutputs(arguments);
  return outcome;
}

//===----------------------------------------------------------------------===//
// Fixed sizes
//===----------------------------------------------------------------------===//

bool StaticRoad::wants(const SizeValues &sizes) {
  // Compiling takes much longer than calling.
  constexpr size_t enough = 2;
  return made.size() < enough || made.count(sizes);
}

std::unique_ptr<Loaded> StaticRoad::compile(const SizeValues &sizes,
                                            std::string &error) {
  Diagnostics heard;
  MlirDiagnostics bridge(func.getContext(), heard);
  Invocation quiet{invocation.line, invocation.reporting, heard,
                   invocation.text};
  OwningOpRef<ModuleOp> whole = std::move(sources.module);
  sources.module = ModuleOp::create(func.getLoc());
  OpBuilder builder(sources.module->getBodyRegion());
  fixSizes(cast<kernel::FuncOp>(builder.clone(*func)), sizes);
  ExitCode code = ExitCode::Ok;
  std::unique_ptr<Loaded> loaded = loadKernels(sources, {target}, quiet, code);
  sources.module = std::move(whole);
  error = firstError(heard);
  if (!loaded && error.empty())
    error = "it cannot be compiled";
  return loaded;
}

Outcome StaticRoad::call(const SizeValues &sizes, Arguments &arguments,
                         Placement placement) {
  auto [entry, isNew] = made.try_emplace(sizes);
  Made &here = entry->second;
  if (isNew)
    here.code = compile(sizes, here.error);
  if (!here.code) {
    Outcome outcome;
    outcome.fault = "its code for these sizes alone: " + here.error;
    return outcome;
  }
  return HostCheckedRoad(name, *here.code, kernel)
      .call(sizes, arguments, placement);
}

//===----------------------------------------------------------------------===//
// Matrix engines
//===----------------------------------------------------------------------===//

namespace {
class SimulatedRoad : public CheckedRoad {
public:
  SimulatedRoad(kernel::FuncOp func, const HostKernel &kernel,
                const Machine &machine, bool mayRefuse, const Sources &sources,
                Invocation &invocation)
      : CheckedRoad(machine.name), func(func), mayRefuse(mayRefuse),
        invocation(invocation), road(func, kernel, machine, sources, found) {}
  bool takes(const SizeValues &sizes) override { return road.takes(sizes); }
  bool hasPlacements() const override { return false; }
  Outcome call(const SizeValues &sizes, Arguments &arguments,
               Placement placement) override;
  std::vector<std::string> origin(unsigned param, int64_t element) override {
    return road.origin(param, element);
  }

private:
  kernel::FuncOp func;
  bool mayRefuse;
  Invocation &invocation;
  Diagnostics found; ///< by the simulator
  EngineRoad road;
  Workspace none;
};
} // namespace

Outcome SimulatedRoad::call(const SizeValues &sizes, Arguments &arguments,
                            Placement) {
  Outcome outcome;
  Diagnostics refused;
  size_t known = found.all().size();
  {
    MlirDiagnostics bridge(func.getContext(), refused);
    outcome.result = road.call(sizes, arguments, none);
  }
  if (found.all().size() > known) {
    outcome.fault = found.all()[known].message;
    return outcome;
  }
  outcome.impossible = firstError(refused);
  if (!mayRefuse && !invocation.diagnostics.hasErrors())
    for (const facet::Diagnostic &diagnostic : refused.all())
      invocation.diagnostics.add(diagnostic);
  return outcome;
}

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

/// Compiles all kernels of `sources`, which keeps them.
static std::unique_ptr<Loaded> compileCopy(Sources &sources,
                                           const TargetList &targets,
                                           Invocation &invocation,
                                           ExitCode &code) {
  OwningOpRef<ModuleOp> whole = sources.module->clone();
  std::unique_ptr<Loaded> loaded =
      loadKernels(sources, targets, invocation, code);
  sources.module = std::move(whole);
  return loaded;
}

bool facet::compileRoads(Sources &sources, const TargetList &targets,
                         bool everything, CheckedCode &compiled,
                         Invocation &invocation, ExitCode &code) {
  if (!targets.empty()) {
    compiled.levels = compileCopy(sources, targets, invocation, code);
    if (!compiled.levels)
      return false;
  }
  if (everything && targets.front()->level) {
    // What is to be said of the kernels has been said.
    Diagnostics heard;
    MlirDiagnostics bridge(sources.module->getContext(), heard);
    Invocation quiet{invocation.line, invocation.reporting, heard,
                     invocation.text};
    compiled.reference =
        compileCopy(sources, {findTarget("reference")}, quiet, code);
    if (!compiled.reference) {
      for (const facet::Diagnostic &diagnostic : heard.all())
        invocation.diagnostics.add(diagnostic);
      return false;
    }
  }
  return true;
}

CheckedRoads facet::roadsOf(kernel::FuncOp func, const HostKernel &kernel,
                            const TargetList &targets, CheckedCode &compiled,
                            const std::optional<Machine> &engine,
                            bool everything, Mischief mischief,
                            Sources &sources, Invocation &invocation) {
  CheckedRoads roads;
  auto add = [&](const TargetRef &target, Twine suffix,
                 Loaded &code) -> HostCheckedRoad & {
    auto road = std::make_unique<HostCheckedRoad>(
        (Twine(target->name) + suffix).str(), code, kernel);
    road->options = "--target=" + target->name;
    road->mischief = mischief;
    if (target->level)
      road->exec.max_level = target->level->number;
    roads.push_back(std::move(road));
    return static_cast<HostCheckedRoad &>(*roads.back());
  };
  if (compiled.reference)
    add(findTarget("reference"), "", *compiled.reference);
  for (const TargetRef &target : targets)
    add(target, "", *compiled.levels);
  if (!targets.empty()) {
    const TargetRef &best = targets.back();
    unsigned original = roads.size() - 1;
    if (best->level) {
      HostCheckedRoad &tasks = add(best, ", tasks backwards", *compiled.levels);
      tasks.exec.threads = 4;
      tasks.exec.parallel_for = runBackwards;
      tasks.twin = original;
      for (unsigned count : {2u, 3u}) {
        HostCheckedRoad &threads =
            add(best, ", " + Twine(count) + " threads", *compiled.levels);
        threads.workers = std::make_unique<Workers>(count);
        int32_t level = threads.exec.max_level;
        threads.exec = threads.workers->exec();
        threads.exec.max_level = level;
        threads.twin = original;
      }
    }
    if (llvm::any_of(kernel.params, [](const HostParam &param) {
          return param.mode == kernel::ParamMode::Const && !param.axes.empty();
        }))
      add(best, ", constants packed", *compiled.levels).isPacked = true;
    if (everything && best->level && !kernel.sizes.empty()) {
      roads.push_back(std::make_unique<StaticRoad>(best, func, kernel, sources,
                                                   invocation));
      roads.back()->options = "--target=" + best->name;
    }
  }
  if (engine) {
    roads.push_back(std::make_unique<SimulatedRoad>(
        func, kernel, *engine, everything, sources, invocation));
    roads.back()->options = "--target=" + engine->name;
  }
  return roads;
}
