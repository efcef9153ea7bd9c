//===- Check.cpp - `facet check` ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   facet check linear.facet
//
//   linear: 16 calls agree with the judge
//     y: at most 0.52 of the bound, at [3, 1] of M=7 K=13 N=5
//
// Each trial (Trials.cpp) calls the kernel's C function, then the judge, which
// computes in f64 and says how far rounding may lead. Results start out as poison, so
// an element nobody wrote is seen. Then each promise and each index range is broken
// once: such a call must be refused with the right code, and must write nothing.
//
//===----------------------------------------------------------------------===//

#include "../Crash.h"
#include "../Kernels.h"
#include "../MlirDiagnostics.h"
#include "../Road.h"
#include "../Sources.h"
#include "../Summary.h"
#include "Trials.h"
#include "facet/Conversion/KernelToLoops.h"
#include "facet/Target/Judge.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"

#include <cmath>

using namespace mlir;
using namespace facet;
using namespace facet::options;

namespace {

/// One element and what the judge says of it.
struct Element {
  double ratio = -1; ///< of the bound; -1: none was judged
  double stored = 0, value = 0, bound = 0;
  SmallVector<int64_t> index;
  std::string where; ///< "M=7 K=13 N=5, wide values"
};

/// What is known about one output after all trials.
struct Verdict {
  Element worst;
  int64_t judged = 0, differ = 0;
};

/// Checks one kernel.
class Checker {
public:
  Checker(const HostKernel &kernel, Promises &promises, Road &road,
          Loaded &judge, ArrayRef<SizeBinding> given, Invocation &invocation);

  void run();
  bool agrees() const { return complaints.empty(); }
  void printText(llvm::raw_ostream &os) const;
  void printJson(llvm::json::OStream &out) const;

private:
  double cost(const SizeValues &sizes);
  void runTrial(Trial &trial);
  void judgeTrial(Trial &trial, Arguments &stored);
  void compare(unsigned output, const Array &stored, const Judged &judged,
               const Trial &trial);
  void breakPromise(unsigned promise);
  void breakIndex(unsigned param, const Trial &trial);
  /// Calls with `arguments` and complains unless the answer is one of `codes` and,
  /// for a refusal, nothing was written.
  void expectRefusal(Trial trial, ArrayRef<int> codes, const Twine &what);
  Arguments poisoned(const Trial &trial) const;
  std::vector<uint8_t> choose(int64_t count);
  std::string describe(const Trial &trial) const;
  void progress(size_t done, size_t all) const;
  void complain(const Twine &text) { complaints.push_back(text.str()); }

  const HostKernel &kernel;
  Promises &promises;
  Road &road;
  Loaded &judge;
  Invocation &invocation;
  SmallVector<unsigned> outputs;
  std::vector<Verdict> verdicts; ///< by output
  std::vector<std::string> complaints;
  std::vector<std::string> unbroken; ///< promises no call was found to break
  unsigned calls = 0, refusals = 0;
  std::optional<uint64_t> sample;
  Random random;
  TrialMaker maker;
  Workspace workspace;
};

} // namespace

Checker::Checker(const HostKernel &kernel, Promises &promises, Road &road,
                 Loaded &judge, ArrayRef<SizeBinding> given,
                 Invocation &invocation)
    : kernel(kernel), promises(promises), road(road), judge(judge),
      invocation(invocation), outputs(outputsOf(kernel)),
      verdicts(outputs.size()),
      random(invocation.line.number(OPT_seed, 1, 0, invocation.diagnostics)),
      maker(kernel, promises, given,
            invocation.line.number(OPT_seed, 1, 0, invocation.diagnostics),
            [this](const SizeValues &sizes) { return cost(sizes); }) {
  if (invocation.line.has(OPT_sample))
    sample = invocation.line.number(OPT_sample, 0, 1, invocation.diagnostics);
}

double Checker::cost(const SizeValues &sizes) { return road.flops(sizes); }

std::string Checker::describe(const Trial &trial) const {
  static constexpr llvm::StringLiteral draws[] = {
      "plain values", "values of all magnitudes", "inf, NaN and edges"};
  std::string text;
  for (auto [name, value] : llvm::zip_equal(kernel.sizes, trial.sizes))
    text += name + "=" + std::to_string(value) + " ";
  return text + "(" + draws[unsigned(trial.draw)].str() + ")";
}

/// On a terminal, one line that is written over.
void Checker::progress(size_t done, size_t all) const {
  if (invocation.line.has(OPT_quiet) ||
      !llvm::sys::Process::StandardErrIsDisplayed())
    return;
  llvm::errs() << "\r\x1b[K";
  if (done < all)
    llvm::errs() << kernel.name << ": " << done << "/" << all;
  llvm::errs().flush();
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

/// The inputs, and results full of a pattern that no kernel writes by chance.
Arguments Checker::poisoned(const Trial &trial) const {
  Arguments arguments = trial.arguments;
  Diagnostics ignored;
  for (auto [i, param] : llvm::enumerate(kernel.params))
    if (param.mode == kernel::ParamMode::Out) {
      arguments[i] = allocate(kernel, param, trial.sizes, ignored);
      if (arguments[i])
        llvm::fill(arguments[i]->bytes,
                   param.type == ScalarType::Bool ? 1 : 0xa5);
    }
  return arguments;
}

/// Which elements of an output with `count` are judged.
std::vector<uint8_t> Checker::choose(int64_t count) {
  uint64_t wanted = sample.value_or(4096);
  if (uint64_t(count) <= wanted)
    return std::vector<uint8_t>(count, 1);
  std::vector<uint8_t> chosen(count, 0);
  chosen.front() = chosen.back() = 1;
  for (uint64_t i = 0; i < wanted; ++i)
    chosen[random.below(count)] = 1;
  return chosen;
}

void Checker::runTrial(Trial &trial) {
  if (!road.takes(trial.sizes))
    return;
  Arguments arguments = poisoned(trial);
  for (unsigned output : outputs)
    if (!arguments[output])
      return; // larger than memory
  CallResult result = road.call(trial.sizes, arguments, workspace);
  ++calls;
  if (result.code != 0) {
    complain("a good call was refused at " + describe(trial) + ": " +
             facet::describe(result, kernel));
    return;
  }
  if (invocation.line.has(OPT_internal_wrong))
    for (unsigned output : outputs)
      if (std::vector<uint8_t> &bytes = arguments[output]->bytes;
          !bytes.empty())
        bytes[std::max<size_t>(bitWidth(kernel.params[output].type) / 8, 1) -
              1] ^= 1;
  judgeTrial(trial, arguments);
}

void Checker::judgeTrial(Trial &trial, Arguments &stored) {
  std::vector<Judged> judged(outputs.size());
  for (auto [output, entry] : llvm::zip_equal(outputs, judged)) {
    int64_t count = stored[output]->count();
    entry.demanded = choose(count);
    entry.value.resize(count);
    entry.bound.resize(count);
  }
  CallResult result = callJudge(judge, kernel, trial.sizes, trial.arguments,
                                stored, judged, workspace);
  if (result.code != 0) {
    complain("the judge refused a good call at " + describe(trial) + ": " +
             facet::describe(result, kernel));
    return;
  }
  for (unsigned i = 0; i < outputs.size(); ++i)
    compare(i, *stored[outputs[i]], judged[i], trial);
}

/// Position of element `flat`, one number per axis in memory.
static SmallVector<int64_t> indexOf(int64_t flat, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return index;
}

void Checker::compare(unsigned output, const Array &stored,
                      const Judged &judged, const Trial &trial) {
  Verdict &verdict = verdicts[output];
  for (int64_t i = 0, count = stored.count(); i < count; ++i) {
    if (!judged.demanded[i])
      continue;
    double found = elementAsDouble(stored, i);
    Judgement judgement =
        compareWithJudge(found, judged.value[i], judged.bound[i]);
    ++verdict.judged;
    verdict.differ += !judgement.agrees;
    // A disagreement is worse than any ratio, whatever became of its number.
    double ratio =
        judgement.agrees ? judgement.ratio : std::max(judgement.ratio, 1.0);
    if (std::isnan(ratio))
      ratio = INFINITY;
    if (ratio > verdict.worst.ratio)
      verdict.worst = {ratio,
                       found,
                       judged.value[i],
                       judged.bound[i],
                       indexOf(i, stored.shape),
                       describe(trial)};
  }
}

//===----------------------------------------------------------------------===//
// Broken calls
//===----------------------------------------------------------------------===//

void Checker::expectRefusal(Trial trial, ArrayRef<int> codes,
                            const Twine &what) {
  Arguments arguments = poisoned(trial);
  Arguments before = arguments;
  CallResult result = road.call(trial.sizes, arguments, workspace);
  ++refusals;
  if (!llvm::is_contained(codes, result.code)) {
    complain(what + " at " + describe(trial) + ": the call " +
             (result.code == 0 ? Twine("was not refused")
                               : "returned " + Twine(result.code) + ", not " +
                                     Twine(codes.front())));
    return;
  }
  if (result.code == 0)
    return;
  for (unsigned output : outputs)
    if (arguments[output] && arguments[output]->bytes != before[output]->bytes)
      complain(what + " at " + describe(trial) + ": the refused call wrote '" +
               kernel.params[output].name + "'");
}

void Checker::breakPromise(unsigned promise) {
  std::optional<Trial> trial = maker.breaking(promise);
  if (!trial) {
    unbroken.push_back(kernel.promises[promise]);
    return;
  }
  expectRefusal(std::move(*trial), {FACET_E_REQUIRE - int(promise)},
                "broken promise " + kernel.promises[promise]);
}

void Checker::breakIndex(unsigned index, const Trial &trial) {
  const HostParam &param = kernel.params[index];
  std::optional<int64_t> bound = indexBound(kernel, param, trial.sizes);
  if (!bound || !trial.arguments[index] ||
      trial.arguments[index]->bytes.empty())
    return;
  // Filters may leave no use; an empty result uses nothing either.
  SmallVector<int> codes = {FACET_E_INDEX};
  bool empty = llvm::any_of(trial.sizes, [](int64_t s) { return s == 0; });
  if (!param.indexAlwaysUsed || empty)
    codes.push_back(0);
  auto [low, high] = rangeOf(param.type);
  for (int64_t wrong : {int64_t(-1), *bound}) {
    if (wrong < low || wrong > high)
      continue;
    Trial broken = trial;
    Array &array = *broken.arguments[index];
    for (int64_t i = 0, count = array.count(); i < count; ++i)
      setElement(array, i, wrong);
    expectRefusal(std::move(broken), codes,
                  "subscripts '" + param.name + "' of " + Twine(wrong));
  }
}

void Checker::run() {
  std::vector<Trial> trials = maker.make();
  if (trials.empty()) {
    complain("no sizes were found that keep the promises; -D gives some");
    return;
  }
  for (size_t i = 0; i < trials.size(); ++i) {
    progress(i, trials.size());
    runTrial(trials[i]);
    if (invocation.diagnostics.hasErrors())
      return; // said already: the kernel is refused, or the simulator complains
  }
  progress(1, 1);
  for (unsigned promise = 0; promise < promises.size(); ++promise)
    breakPromise(promise);
  for (unsigned i = 0; i < kernel.params.size(); ++i)
    if (!kernel.params[i].indexBelow.empty())
      breakIndex(i, trials.front());
  for (auto [output, verdict] : llvm::zip_equal(outputs, verdicts))
    if (verdict.differ) {
      const Element &worst = verdict.worst;
      ScalarType type = kernel.params[output].type;
      complain("'" + kernel.params[output].name + "' differs in " +
               Twine(verdict.differ) + " of " + Twine(verdict.judged) +
               " elements; the worst is " + shapeText(worst.index) + " at " +
               worst.where + ": found " + numberText(worst.stored, type) +
               ", the judge says " + numberText(worst.value, ScalarType::F64) +
               " within " + numberText(worst.bound, ScalarType::F64));
    }
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

void Checker::printText(llvm::raw_ostream &os) const {
  os << kernel.name << ": " << calls << (calls == 1 ? " call" : " calls");
  if (refusals)
    os << " and " << refusals << " that must be refused";
  os << (agrees() ? ": all as they should be\n" : ": something is wrong\n");
  for (auto [output, verdict] : llvm::zip_equal(outputs, verdicts)) {
    os << "  " << kernel.params[output].name << ": " << verdict.judged
       << " elements";
    if (verdict.judged && !verdict.differ) {
      const Element &worst = verdict.worst;
      if (worst.ratio == 0)
        os << ", all exact";
      else
        os << llvm::format(", at most %.3g of the bound", worst.ratio) << ", "
           << shapeText(worst.index) << " at " << worst.where;
    }
    os << "\n";
  }
  for (const std::string &promise : unbroken)
    os << "  no small call breaks the promise " << promise << "\n";
  for (const std::string &complaint : complaints)
    os << "  " << complaint << "\n";
}

void Checker::printJson(llvm::json::OStream &out) const {
  auto number = [&](StringRef name, double value) {
    if (std::isfinite(value))
      out.attribute(name, value);
    else
      out.attribute(name, numberText(value, ScalarType::F64));
  };
  out.object([&] {
    out.attribute("agrees", agrees());
    out.attribute("calls", calls);
    out.attributeArray("complaints", [&] {
      for (const std::string &complaint : complaints)
        out.value(complaint);
    });
    out.attribute("kernel", kernel.name);
    out.attribute("refusals", refusals);
    out.attributeObject("results", [&] {
      for (unsigned i = 0; i < outputs.size(); ++i)
        out.attributeObject(kernel.params[outputs[i]].name, [&] {
          const Verdict &verdict = verdicts[i];
          out.attribute("differ", verdict.differ);
          out.attribute("judged", verdict.judged);
          if (!verdict.judged)
            return;
          out.attributeObject("worst", [&] {
            number("bound", verdict.worst.bound);
            out.attributeArray("index", [&] {
              for (int64_t extent : verdict.worst.index)
                out.value(extent);
            });
            number("ratio", verdict.worst.ratio);
            number("stored", verdict.worst.stored);
            number("value", verdict.worst.value);
            out.attribute("where", verdict.worst.where);
          });
        });
    });
  });
}

//===----------------------------------------------------------------------===//
// The subcommand
//===----------------------------------------------------------------------===//

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

static ExitCode check(Sources &sources, const TargetList &targets,
                      const std::optional<Machine> &engine,
                      ArrayRef<SizeBinding> sizes, Invocation &invocation) {
  // Promises are read from the kernels, which both roads consume.
  OwningOpRef<ModuleOp> kernels = sources.module->clone();
  OwningOpRef<ModuleOp> judged = sources.module->clone();
  ExitCode code = ExitCode::Ok;
  std::unique_ptr<Loaded> compiled;
  if (!engine) {
    compiled = loadKernels(sources, targets, invocation, code);
    if (!compiled)
      return code;
  }
  std::unique_ptr<Loaded> judge = loadJudge(*judged, invocation, code);
  if (!judge)
    return code;

  bool json = invocation.line.has(OPT_json), agree = true;
  llvm::json::OStream out(llvm::outs(), /*IndentSize=*/2);
  if (json)
    out.arrayBegin();
  for (auto func : kernels->getOps<kernel::FuncOp>()) {
    HostKernel kernel(func);
    Promises promises(func, kernel);
    std::unique_ptr<Road> road;
    if (engine)
      road = std::make_unique<EngineRoad>(func, kernel, *engine,
                                          invocation.diagnostics);
    else
      road = std::make_unique<HostRoad>(*compiled, kernel);
    Checker checker(kernel, promises, *road, *judge, sizes, invocation);
    checker.run();
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

ExitCode facet::runCheck(Invocation &invocation) {
  const CommandLine &line = invocation.line;
  Diagnostics &diagnostics = invocation.diagnostics;
  if (line.inputs().empty())
    diagnostics.error({}, "no input file");
  std::vector<SizeBinding> sizes =
      parseSizeBindings(line.values(OPT_define_size), diagnostics);
  line.number(OPT_seed, 1, 0, diagnostics);
  line.number(OPT_sample, 1, 1, diagnostics);
  if (diagnostics.hasErrors())
    return ExitCode::Usage;
  std::optional<Machine> engine = engineMachine(invocation);
  TargetList targets;
  if (!engine)
    targets = chooseHostTargets(invocation);
  if (!engine && targets.empty())
    return ExitCode::NotAvailable;

  std::unique_ptr<MLIRContext> context = makeContext();
  MlirDiagnostics bridge(context.get(), diagnostics);
  std::optional<Sources> sources =
      loadSources(line.inputs(), sizes, *context, invocation);
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
  return check(*sources, targets, engine, sizes, invocation);
}
