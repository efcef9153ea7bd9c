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
#include "OnText.h"
#include "Planning.h"
#include "Road.h"
#include "Volume.h"
#include "facet/Dialect/Kernel/IR/Plan.h"
#include "facet/Driver/Help.h"
#include "facet/Pipelines/Engine.h"
#include "facet/Planner/Engine/Planner.h"
#include "facet/Sim/Time.h"

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

namespace {

/// What is printed of each plan, in the form that was asked for.
class Answers {
public:
  Answers(const CommandLine &line, llvm::raw_ostream &os)
      : json(line.has(OPT_json)), schedule(line.has(OPT_schedule)), os(os) {}
  void add(kernel::PlanAttrInterface plan, kernel::FuncOp kernel,
           StringRef target, const kernel::Explanation &explanation) {
    if (json) {
      all.push_back(llvm::json::Object{{"kernel", kernel.getSymName()},
                                       {"target", target},
                                       {"key", plan.key()},
                                       {"plan", explanation.toJson()}});
      return;
    }
    if (!isFirst)
      os << "\n";
    isFirst = false;
    if (schedule)
      plan.printSchedule(kernel, os);
    else
      explanation.print(os);
  }
  void finish() {
    if (json)
      os << llvm::formatv("{0:2}", llvm::json::Value(std::move(all))) << "\n";
  }

private:
  bool json, schedule, isFirst = true;
  llvm::raw_ostream &os;
  llvm::json::Array all;
};

} // namespace

/// What a ring holds, by the name that the lowering gave it: `t_3` is a value of a map.
static StringRef contentsOf(engine::RingOp ring) {
  StringRef name = ring.getName().rtrim("0123456789");
  name.consume_back("_");
  return name == "out" ? "results" : name == "t" ? "values" : name;
}

/// The rings of each stage, as the lowering made them. Barriers part the stages.
static void addMemories(engine::ProgramOp program, engine::PlanAttr plan,
                        kernel::FuncOp kernel, const Machine &machine,
                        kernel::Explanation &explanation) {
  std::vector<kernel::Explanation::Stage> &stages =
      explanation.variants.front().stages;
  llvm::DenseMap<Operation *, size_t> stageOf; // of the ops of the body
  size_t stage = 0;
  for (Operation &op : *program.getBody()) {
    stageOf[&op] = stage;
    stage += isa<engine::BarrierOp>(op);
  }
  // Where the lowering put stages of its own before some, their places tell.
  bool isOneEach = stage + 1 == stages.size();
  SmallVector<kernel::StructuredOpInterface> ops = engine::numberedOps(kernel);
  auto stageAt = [&](mlir::Location place) {
    ArrayRef<engine::StageAttr> all = plan.getStages();
    return size_t(
        llvm::find_if(all,
                      [&](engine::StageAttr candidate) {
                        return ops[candidate.getOps().back()].getLoc() == place;
                      }) -
        all.begin());
  };
  for (auto ring : program.getBody()->getOps<engine::RingOp>()) {
    if (ring->use_empty())
      continue;
    // All uses of a ring are in one stage.
    Operation *user =
        program.getBody()->findAncestorOpInBlock(**ring->user_begin());
    size_t number = isOneEach ? stageOf.lookup(user) : stageAt(ring.getLoc());
    if (number >= stages.size())
      continue;
    bool inPsum = ring.getType().getTile().getMemory() == engine::Memory::Psum;
    StringRef name = inPsum ? "PSUM" : "SBUF";
    auto &memories = stages[number].memories;
    auto found = llvm::find_if(
        memories, [&](auto &memory) { return memory.name == name; });
    if (found == memories.end()) {
      int64_t capacity = inPsum ? machine.psum.banks * machine.psum.bankBytes
                                : machine.sbuf.partitionBytes;
      memories.push_back({name.str(), double(capacity), {}});
      found = std::prev(memories.end());
    }
    found->buffers.push_back({contentsOf(ring).str(), ring.getType().getDepth(),
                              double(ring.getType().getTile().getRowBytes())});
  }
}

/// Programs are made, too: what cannot be compiled is refused, memory is told as it is,
/// and the simulator says whether the prediction holds.
static ExitCode explainEngine(Sources &sources, const Machine &machine,
                              Diagnostics &diagnostics, Answers &answers) {
  SmallVector<StringAttr> names;
  for (auto kernel : sources.module->getOps<kernel::FuncOp>())
    names.push_back(kernel.getSymNameAttr());
  for (StringAttr name : names) {
    kernel::Explanation explanation;
    kernel::PlanAttrInterface plan;
    OwningOpRef<kernel::FuncOp> planned;
    FailureOr<engine::ProgramOp> program = lowerToEngine(
        sources.module->lookupSymbol<kernel::FuncOp>(name), machine,
        [&](kernel::FuncOp kernel) {
          plan = planForEngineAloud(kernel, machine, sources, diagnostics);
          if (plan) {
            plan.explain(kernel, &machine, explanation);
            planned = kernel.clone();
          }
          return plan;
        });
    if (failed(program))
      return ExitCode::Rejected;
    FailureOr<Program> emitted = emitEngineProgram(*program, machine);
    if (failed(emitted))
      return ExitCode::Rejected;
    explanation.variants.front().simulated =
        sim::timeProgram(*emitted).ns() * 1e-9;
    addMemories(*program, cast<engine::PlanAttr>(Attribute(plan)), *planned,
                machine, explanation);
    answers.add(plan, *planned, machine.name, explanation);
  }
  answers.finish();
  return ExitCode::Ok;
}

static ExitCode explain(Invocation &invocation, llvm::raw_ostream &os) {
  const CommandLine &line = invocation.line;
  Diagnostics &diagnostics = invocation.diagnostics;
  std::vector<SizeBinding> sizes =
      parseSizeBindings(line.values(OPT_define_size), diagnostics);
  if (ExitCode code = readInputs(invocation); code != ExitCode::Ok)
    return code;
  // As run and check: without a target, the best that this machine has.
  std::optional<Machine> engine = engineMachine(invocation);
  TargetList targets;
  if (!engine)
    targets = line.has(OPT_target) ? chooseTargets(invocation, defaultTriple())
                                   : chooseHostTargets(invocation);
  if (diagnostics.hasErrors() || (!engine && targets.empty()))
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
  FailureOr<LoadedTargets> loaded = loadTargets(targets, line, diagnostics);
  if (failed(loaded))
    return ExitCode::Rejected;
  checkSchedules(
      *sources, engine ? SmallVector<StringRef>{engine->name} : loaded->names(),
      diagnostics);

  Answers answers(line, os);
  // Plans for CPUs are quick.
  if (engine && !checkVolume(*sources->module, 1, diagnostics))
    return ExitCode::Rejected;
  if (engine)
    return explainEngine(*sources, *engine, diagnostics, answers);
  for (const TargetOnMachine &on : loaded->list)
    for (auto kernel : sources->module->getOps<kernel::FuncOp>()) {
      kernel::PlanAttrInterface plan =
          planKernel(kernel, on, *sources, diagnostics);
      if (!plan)
        return ExitCode::Rejected;
      kernel::Explanation explanation;
      plan.explain(kernel, on.machine, explanation);
      answers.add(plan, kernel, on.target->name, explanation);
    }
  answers.finish();
  return ExitCode::Ok;
}

ExitCode facet::runExplain(Invocation &invocation) {
  return explain(invocation, llvm::outs());
}

bool facet::explainText(const TextRequest &request, std::string &result,
                        Diagnostics &diagnostics) {
  std::vector<std::string> words = {"explain", "-"};
  if (request.kind != "text")
    words.push_back("--" + request.kind);
  llvm::raw_string_ostream os(result);
  return runOnText(
      std::move(words), request, diagnostics,
      [&](Invocation &invocation) { return explain(invocation, os); });
}
