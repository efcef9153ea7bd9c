//===- Check.cpp - `facet check` ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   facet check linear.facet
//
//   linear: 312 calls on 9 roads: all as they should be
//     y: 5120 elements, on average 0.08 and at most 0.52 of the bound, …
//
// Every way to call a kernel that this host has is held against the judge, which computes
// in f64 and says how far rounding may lead: Trials.cpp makes the calls, Roads.cpp knows
// the ways, Checker.cpp compares, Report.cpp tells.
//
//===----------------------------------------------------------------------===//

#include "../Crash.h"
#include "../MlirDiagnostics.h"
#include "Checker.h"
#include "Reproducer.h"
#include "facet/Conversion/KernelToLoops.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace facet;
using namespace facet::options;

/// The judge of every kernel of `module`, which it consumes.
static std::unique_ptr<Loaded>
loadJudge(ModuleOp module, Invocation &invocation, ExitCode &code) {
  SmallVector<kernel::FuncOp> kernels(module.getOps<kernel::FuncOp>());
  KernelToLoopsOptions options;
  options.judge = true;
  std::string error;
  std::unique_ptr<Loaded> loaded;
  for (kernel::FuncOp kernel : kernels)
    if (failed(convertKernelToLoops(kernel, options)))
      error = "the judge of '" + kernel.getSymName().str() + "' cannot be made";
  if (error.empty() && failed(findTarget("reference")->convertToLLVM(module)))
    error = "the conversion of the judge to LLVM gave up";
  ObjectOptions quick; // the judge runs once, on little data
  quick.effort = CodeEffort::Quick;
  if (error.empty())
    loaded = Loaded::create(module, quick, error);
  if (!loaded)
    code = internalError(invocation.line, error);
  return loaded;
}

namespace {

/// What the command line asks for.
struct Request {
  CheckSettings settings;
  std::vector<SizeBinding> sizes;
  std::chrono::milliseconds budget{0};
  std::string reproducers; ///< the folder to write wrong calls to; empty: none
  bool everything = false; ///< no --target
  TargetList targets;
  std::optional<Machine> engine;
};

} // namespace

/// "30s", "5m" or "2h"; an error for anything else.
static std::optional<std::chrono::milliseconds>
parseBudget(StringRef text, Diagnostics &diagnostics) {
  constexpr std::pair<StringLiteral, int64_t> units[] = {
      {"s", 1000}, {"m", 60 * 1000}, {"h", 60 * 60 * 1000}};
  for (auto [unit, milliseconds] : units) {
    StringRef number = text;
    uint32_t count;
    if (number.consume_back(unit) && !number.getAsInteger(10, count))
      return std::chrono::milliseconds(count * milliseconds);
  }
  diagnostics.error({}, "'--budget' takes a time like 30s, 5m or 2h, not '" +
                            text + "'");
  return std::nullopt;
}

/// Additions and multiplications of a call: as the object says it, else an estimate that
/// keeps trials small.
static double costOf(const HostKernel &kernel, const CheckedCode &compiled,
                     const SizeValues &sizes) {
  Loaded *code = compiled.levels.get();
  if (code)
    if (auto *info = reinterpret_cast<const facet_info *(*)()>(
            code->lookup(kernel.symbol() + "_info")))
      return info()->flops(sizes.data());
  double product = 2;
  for (int64_t size : sizes)
    product *= double(size);
  return product;
}

/// The command that checks `kernel` alone.
static std::string commandFor(const HostKernel &kernel,
                              const Invocation &invocation) {
  std::string command = "facet check";
  for (const std::string &input : invocation.line.inputs())
    command += " " + input;
  return command + " --kernel=" + kernel.name;
}

static ExitCode check(Sources &sources, const Request &request,
                      Invocation &invocation) {
  // Promises are read from the kernels, which the judge consumes.
  OwningOpRef<ModuleOp> kernels = sources.module->clone();
  OwningOpRef<ModuleOp> judged = sources.module->clone();
  ExitCode code = ExitCode::Ok;
  CheckedCode compiled;
  if (!compileRoads(sources, request.targets, request.everything, compiled,
                    invocation, code))
    return code;
  std::unique_ptr<Loaded> judge = loadJudge(*judged, invocation, code);
  if (!judge)
    return code;

  bool json = invocation.line.has(OPT_json), agree = true;
  llvm::json::OStream out(llvm::outs(), /*IndentSize=*/2);
  if (json)
    out.arrayBegin();
  SmallVector<kernel::FuncOp> funcs(kernels->getOps<kernel::FuncOp>());
  auto begin = Checker::Clock::now();
  unsigned wrongCalls = 0;
  for (auto [i, func] : llvm::enumerate(funcs)) {
    HostKernel kernel(func);
    Promises promises(func, kernel);
    CheckedRoads roads = roadsOf(
        func, kernel, request.targets, compiled, request.engine,
        request.everything, request.settings.mischief, sources, invocation);
    Checker checker(
        kernel, promises, roads, *judge, request.sizes, request.settings,
        commandFor(kernel, invocation),
        [&](const SizeValues &sizes) {
          return costOf(kernel, compiled, sizes);
        },
        [&](const WrongCall &wrong) {
          if (!request.reproducers.empty())
            writeReproducer(request.reproducers,
                            kernel.name + "-" + std::to_string(++wrongCalls),
                            kernel, wrong, invocation.line.inputs(),
                            invocation.diagnostics);
        });
    // Each kernel has its share of the budget.
    checker.run(begin + request.budget * (i + 1) / funcs.size());
    if (invocation.diagnostics.hasErrors())
      return ExitCode::Rejected;
    agree &= checker.agrees();
    if (json)
      checker.printJson(out);
    else
      checker.printText(llvm::outs());
  }
  if (json) {
    out.arrayEnd();
    llvm::outs() << "\n";
  }
  return agree ? ExitCode::Ok : ExitCode::Differs;
}

/// Levels and machine of --target; without it everything this host has.
static ExitCode chooseRoads(Request &request, Invocation &invocation) {
  request.engine = engineMachine(invocation);
  if (request.engine)
    return ExitCode::Ok;
  request.everything = !invocation.line.has(OPT_target);
  request.targets =
      request.everything ? levelsHere() : chooseHostTargets(invocation);
  if (request.targets.empty())
    return ExitCode::NotAvailable;
  if (request.everything) {
    request.engine = loadMachine("trn2", invocation.diagnostics);
    if (!request.engine)
      return ExitCode::NotAvailable;
  }
  return ExitCode::Ok;
}

ExitCode facet::runCheck(Invocation &invocation) {
  const CommandLine &line = invocation.line;
  Diagnostics &diagnostics = invocation.diagnostics;
  if (line.inputs().empty())
    diagnostics.error({}, "no input file");
  Request request;
  request.sizes = parseSizeBindings(line.values(OPT_define_size), diagnostics);
  request.settings.seed = line.number(OPT_seed, 1, 0, diagnostics);
  if (line.has(OPT_sample))
    request.settings.sample = line.number(OPT_sample, 0, 1, diagnostics);
  request.settings.isQuiet = line.has(OPT_quiet);
  request.settings.mischief =
      llvm::StringSwitch<Mischief>(line.value(OPT_internal_wrong).value_or(""))
          .Case("value", Mischief::Value)
          .Case("again", Mischief::Again)
          .Case("past", Mischief::Past)
          .Case("gap", Mischief::Gap)
          .Case("input", Mischief::Input)
          .Default(Mischief::None);
  request.reproducers = line.value(OPT_reproducer).value_or("").str();
  if (std::optional<StringRef> budget = line.value(OPT_budget))
    if (auto time = parseBudget(*budget, diagnostics))
      request.budget = *time;
  if (diagnostics.hasErrors())
    return ExitCode::Usage;
  if (ExitCode code = chooseRoads(request, invocation); code != ExitCode::Ok)
    return code;

  std::unique_ptr<MLIRContext> context = makeContext();
  MlirDiagnostics bridge(context.get(), diagnostics);
  std::optional<Sources> sources =
      loadSources(line.inputs(), request.sizes, *context, invocation);
  if (!sources)
    return ExitCode::Rejected;
  if (!sources->hasKernels) {
    diagnostics.error({},
                      "check needs kernels; these inputs are lowered already");
    return ExitCode::Rejected;
  }
  if (line.has(OPT_kernel)) {
    kernel::FuncOp wanted = chooseKernel(*sources->module, invocation);
    if (!wanted)
      return ExitCode::Usage;
    keepOnly(wanted);
  }
  if (request.everything)
    dropIdleLevels(request.targets, *sources->module);
  return check(*sources, request, invocation);
}
