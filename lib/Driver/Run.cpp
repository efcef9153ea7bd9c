//===- Run.cpp - `facet run` ----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   facet run linear.facet x=x.npy w=w.npy b=random y=y.npy
//
//   linear: M=64 K=128 N=32, 412 µs, 1.27 GFLOP/s
//   y: written to y.npy
//
// Sizes come from the shapes of files and from `M=512`; everything else is filled
// as asked. The kernel is called through its C interface, so its own checks (sizes,
// promises, index ranges) are what refuses a bad call, here as in a C program.
//
//===----------------------------------------------------------------------===//

#include "Call.h"
#include "Crash.h"
#include "EngineResults.h"
#include "Kernels.h"
#include "MlirDiagnostics.h"
#include "Road.h"
#include "Sources.h"
#include "Summary.h"
#include "Values.h"
#include "facet/Driver/SizeBindings.h"
#include "facet/Support/Outputs.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <deque>

using namespace mlir;
using namespace facet;
using namespace facet::options;

namespace {

/// `NAME=VALUE`.
struct Binding {
  StringRef name, value;
};

/// What is to be told about a run.
struct Asked {
  std::optional<std::string> json; ///< a file, `-`: standard output
  bool timingOnly = false;         ///< no data: a matrix engine
  sim::ResultOptions engine;
};

/// The bindings of one run, sorted out against the kernel.
class Run {
public:
  Run(const HostKernel &kernel, Invocation &invocation, Asked asked)
      : kernel(kernel), invocation(invocation),
        diagnostics(invocation.diagnostics), asked(std::move(asked)),
        sources(kernel.params.size()), stores(kernel.params.size()),
        arguments(kernel.params.size()) {}

  /// Reads the bindings and files, finds the sizes, fills the arguments.
  bool prepare(ArrayRef<Binding> bindings);
  /// Calls the kernel and reports.
  ExitCode call(Road &road);
  /// The same on a matrix engine, with what else was asked for about it.
  ExitCode callEngine(EngineRoad &road);

private:
  bool sortOut(ArrayRef<Binding> bindings);
  bool sortOut(const Binding &binding);
  bool readFile(unsigned param);
  void refuse(const CallResult &result);
  bool store();
  bool isStandardOutputTaken() const;
  void reportText(const CallResult &result, double flops,
                  const std::string &near);
  std::string jsonText(const CallResult &result, double flops);

  const HostKernel &kernel;
  Invocation &invocation;
  Diagnostics &diagnostics;
  Asked asked;
  std::vector<std::optional<ValueSource>> sources; ///< by parameter: inputs
  std::vector<std::string>
      stores;                     ///< by parameter: file of an output, or empty
  std::vector<std::string> files; ///< that were read
  std::map<unsigned, int64_t> givenSizes;
  SizeValues sizes;
  Arguments arguments;
};

} // namespace

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

bool Run::sortOut(const Binding &binding) {
  std::string text = (binding.name + "=" + binding.value).str();
  if (auto size = llvm::find(kernel.sizes, binding.name);
      size != kernel.sizes.end()) {
    int64_t value;
    if (binding.value.getAsInteger(10, value) || value < 0) {
      diagnostics.error({}, "'" + text + "': a size is a number from 0 on");
      return false;
    }
    auto [at, isNew] =
        givenSizes.try_emplace(size - kernel.sizes.begin(), value);
    if (!isNew)
      diagnostics.error({}, "size " + binding.name + " is given twice");
    return isNew;
  }

  StringRef name = binding.name;
  bool isNew = name.consume_back(".new"); // where an inout's new value goes
  auto param = llvm::find_if(kernel.params, [&](const HostParam &candidate) {
    return candidate.name == name;
  });
  if (param == kernel.params.end() ||
      (isNew && param->mode != kernel::ParamMode::Inout)) {
    SmallVector<StringRef> names;
    for (const HostParam &candidate : kernel.params)
      names.push_back(candidate.name);
    names.append(kernel.sizes.begin(), kernel.sizes.end());
    diagnostics.error({},
                      "'" + text + "': kernel '" + kernel.name + "' has no " +
                          (isNew ? Twine("inout '") : Twine("'")) + name + "'" +
                          (isNew ? std::string() : didYouMean(name, names)) +
                          "; it has " + listOf(names));
    return false;
  }
  unsigned index = param - kernel.params.begin();
  if (isNew || param->mode == kernel::ParamMode::Out) {
    if (!binding.value.ends_with(".npy") && binding.value != "-") {
      diagnostics.error({}, "'" + text + "': '" + name +
                                "' is a result; it goes to a .npy file");
      return false;
    }
    if (!stores[index].empty()) {
      diagnostics.error({}, "'" + binding.name + "' is given twice");
      return false;
    }
    stores[index] = binding.value.str();
    return true;
  }
  if (sources[index]) {
    diagnostics.error({}, "'" + binding.name + "' is given twice");
    return false;
  }
  sources[index] = parseValue(name, binding.value, diagnostics);
  return sources[index].has_value();
}

bool Run::sortOut(ArrayRef<Binding> bindings) {
  bool good = true;
  for (const Binding &binding : bindings)
    good &= sortOut(binding);
  if (asked.timingOnly)
    for (auto [i, param] : llvm::enumerate(kernel.params))
      if (sources[i] || !stores[i].empty())
        diagnostics.error({}, "'" + param.name +
                                  "' is given, with --timing-only none is");
  if (!good || diagnostics.hasErrors())
    return false;
  if (asked.timingOnly)
    return true;
  SmallVector<StringRef> missing;
  for (auto [i, param] : llvm::enumerate(kernel.params))
    if (param.isInput() && !sources[i])
      missing.push_back(param.name);
  if (!missing.empty())
    diagnostics.error({}, "no value for " + listOf(missing) + "; give " +
                              missing.front() +
                              "=FILE.npy, random, zeros, iota or a number");
  return missing.empty();
}

bool Run::readFile(unsigned index) {
  const HostParam &param = kernel.params[index];
  const std::string &file = sources[index]->file;
  std::optional<std::string> contents = readInput(file, diagnostics);
  if (!contents)
    return false;
  files.push_back(file);
  llvm::Expected<Array> array = readNpy(*contents, param.type);
  if (!array) {
    diagnostics.error({file}, "argument '" + param.name + "' of kernel '" +
                                  kernel.name +
                                  "': " + llvm::toString(array.takeError()));
    return false;
  }
  arguments[index] = std::move(*array);
  return true;
}

bool Run::prepare(ArrayRef<Binding> bindings) {
  if (!sortOut(bindings))
    return false;
  SizeSolver solver(kernel);
  for (auto [size, value] : givenSizes)
    solver.set(size, value, kernel.sizes[size] + "=" + std::to_string(value),
               diagnostics);
  for (auto [i, source] : llvm::enumerate(sources))
    if (source && source->kind == ValueSource::File && readFile(i))
      solver.useShape(kernel.params[i], arguments[i]->shape,
                      "'" + kernel.params[i].name + "' (" + source->file + ")",
                      diagnostics);
  if (diagnostics.hasErrors())
    return false;
  std::optional<SizeValues> solved = solver.finish(diagnostics);
  if (!solved)
    return false;
  sizes = std::move(*solved);
  if (asked.timingOnly)
    return true;

  facet::Random random(invocation.line.number(OPT_seed, 1, 0, diagnostics));
  for (auto [i, param] : llvm::enumerate(kernel.params)) {
    if (arguments[i] || (sources[i] && sources[i]->kind == ValueSource::None))
      continue;
    arguments[i] = allocate(kernel, param, sizes, diagnostics);
    if (arguments[i] && sources[i])
      fill(*arguments[i], *sources[i], kernel, param, sizes, random,
           diagnostics);
  }
  return !diagnostics.hasErrors();
}

//===----------------------------------------------------------------------===//
// Calling
//===----------------------------------------------------------------------===//

void Run::refuse(const CallResult &result) {
  if (!diagnostics.hasErrors())
    diagnostics.error({}, "the call was refused: " + describe(result, kernel));
}

ExitCode Run::call(Road &road) {
  uint64_t repeat = invocation.line.number(OPT_repeat, 1, 1, diagnostics);
  Workspace workspace;
  CallResult best;
  Arguments given = arguments;
  for (uint64_t i = 0; i < repeat; ++i) {
    arguments = given; // an inout begins with its old value every time
    CallResult result = road.call(sizes, arguments, workspace);
    if (result.code != 0) {
      refuse(result);
      return ExitCode::Rejected;
    }
    if (i == 0 || result.seconds < best.seconds)
      best = result;
  }
  if (!store())
    return ExitCode::Rejected;
  std::string json = jsonText(best, road.flops(sizes));
  if (!asked.json)
    reportText(best, road.flops(sizes), "");
  else if (*asked.json == "-")
    llvm::outs() << json;
  else
    (void)sim::writeFile(*asked.json, json, diagnostics);
  return ExitCode::Ok;
}

ExitCode Run::callEngine(EngineRoad &road) {
  road.record(asked.engine);
  Workspace workspace;
  CallResult result = asked.timingOnly ? road.time(sizes)
                                       : road.call(sizes, arguments, workspace);
  if (result.code != 0) {
    refuse(result);
    road.write(asked.engine); // what was found is a result as well
    return ExitCode::Rejected;
  }
  if (!asked.timingOnly && !store())
    return ExitCode::Rejected;
  if (std::string doubt = road.doubt(); !doubt.empty())
    diagnostics.remark("", {kernel.name}, doubt);
  llvm::Expected<llvm::json::Value> about =
      llvm::json::parse(jsonText(result, road.flops(sizes)));
  assert(about && "we wrote it");
  asked.engine.about = std::move(*about->getAsObject());
  if (!isStandardOutputTaken()) {
    auto [bound, resource] = road.bound();
    std::string near;
    if (bound > 0)
      near = llvm::formatv(", {0:f1} % of it the bound of {1}",
                           100 * bound / result.seconds, resource);
    reportText(result, road.flops(sizes), near);
    if (asked.engine.stats || asked.engine.explainPc >= 0)
      llvm::outs() << "\n";
  }
  road.write(asked.engine);
  return diagnostics.hasErrors() ? ExitCode::Rejected : ExitCode::Ok;
}

/// Results that were asked for as files; an inout may go where it came from.
bool Run::store() {
  Outputs outputs;
  for (auto [i, file] : llvm::enumerate(stores)) {
    if (file.empty())
      continue;
    std::vector<std::string> others;
    for (auto [j, source] : llvm::enumerate(sources))
      if (j != i && source && source->kind == ValueSource::File)
        others.push_back(source->file);
    if (std::string *contents = outputs.add(file, others, diagnostics))
      *contents = writeNpy(*arguments[i]);
  }
  return !diagnostics.hasErrors() && outputs.commit(diagnostics);
}

/// By an array or by a file about the run; lines for people are no trouble.
bool Run::isStandardOutputTaken() const {
  const sim::ResultOptions &engine = asked.engine;
  return llvm::is_contained(stores, "-") || asked.json == "-" ||
         engine.trace == "-" || engine.html == "-";
}

void Run::reportText(const CallResult &result, double flops,
                     const std::string &near) {
  if (isStandardOutputTaken())
    return;
  llvm::raw_ostream &os = llvm::outs();
  os << kernel.name << ":";
  for (auto [name, value] : llvm::zip_equal(kernel.sizes, sizes))
    os << " " << name << "=" << value;
  os << (sizes.empty() ? " " : ", ") << timeText(result.seconds);
  if (flops > 0 && result.seconds > 0)
    os << llvm::formatv(", {0:g3} GFLOP/s", flops / result.seconds * 1e-9);
  os << near << "\n";
  if (asked.timingOnly)
    return;
  for (unsigned i : outputsOf(kernel)) {
    os << kernel.params[i].name << ": ";
    if (stores[i].empty())
      os << summaryText(*arguments[i]) << "\n";
    else
      os << "written to " << stores[i] << "\n";
  }
}

std::string Run::jsonText(const CallResult &result, double flops) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream out(os, /*IndentSize=*/2);
  out.object([&] {
    out.attribute("flops", flops);
    out.attribute("kernel", kernel.name);
    if (!asked.timingOnly)
      out.attributeObject("results", [&] {
        for (unsigned i : outputsOf(kernel))
          out.attributeObject(kernel.params[i].name, [&] {
            summaryJson(*arguments[i], out);
            if (!stores[i].empty())
              out.attribute("file", stores[i]);
          });
      });
    out.attribute("seconds", result.seconds);
    out.attributeObject("sizes", [&] {
      for (auto [name, value] : llvm::zip_equal(kernel.sizes, sizes))
        out.attribute(name, value);
    });
  });
  os << "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// The subcommand
//===----------------------------------------------------------------------===//

/// Splits the positional arguments: `NAME=VALUE` binds, everything else is a file.
/// A file whose name looks like a binding is written ./NAME=VALUE.
static void splitInputs(ArrayRef<std::string> inputs,
                        std::vector<std::string> &files,
                        SmallVectorImpl<Binding> &bindings) {
  for (StringRef input : inputs) {
    auto [name, value] = input.split('=');
    bool isName = !name.empty() && llvm::all_of(name, [](char c) {
      return llvm::isAlnum(c) || c == '_' || c == '.';
    });
    if (input.contains('=') && isName)
      bindings.push_back({name, value});
    else
      files.push_back(input.str());
  }
}

/// `-D M=512` is `M=512`: one value, so that there is one call. `texts` keeps the
/// values.
static void addSizes(Invocation &invocation, std::deque<std::string> &texts,
                     SmallVectorImpl<Binding> &bindings) {
  for (const SizeBinding &size : parseSizeBindings(
           invocation.line.values(OPT_define_size), invocation.diagnostics)) {
    if (size.general || size.values.size() != 1) {
      invocation.diagnostics.error({}, "'-D " + size.name +
                                           "': run makes one call and takes "
                                           "one value");
      continue;
    }
    StringRef name = texts.emplace_back(size.name);
    bindings.push_back(
        {name, texts.emplace_back(llvm::itostr(size.values[0]))});
  }
}

ExitCode facet::runRun(Invocation &invocation) {
  Diagnostics &diagnostics = invocation.diagnostics;
  std::vector<std::string> inputs = invocation.line.inputs(), files;
  Asked asked;
  asked.json = takeJsonFile(invocation.line, inputs);
  asked.timingOnly = invocation.line.has(OPT_timing_only);
  std::deque<std::string> texts;
  SmallVector<Binding> bindings;
  splitInputs(inputs, files, bindings);
  addSizes(invocation, texts, bindings);
  invocation.line.number(OPT_seed, 1, 0, diagnostics);
  invocation.line.number(OPT_repeat, 1, 1, diagnostics);
  if (files.empty())
    diagnostics.error({}, "no input file");
  if (diagnostics.hasErrors())
    return ExitCode::Usage;
  std::optional<Machine> engine = engineMachine(invocation);
  if (diagnostics.hasErrors())
    return ExitCode::NotAvailable;
  asked.engine = engineResults(invocation, engine.has_value(), asked.json);
  if (diagnostics.hasErrors())
    return ExitCode::Usage;
  TargetList targets;
  if (!engine)
    targets = chooseHostTargets(invocation);
  if (diagnostics.hasErrors() || (!engine && targets.empty()))
    return ExitCode::NotAvailable;

  std::unique_ptr<MLIRContext> context = makeContext();
  MlirDiagnostics bridge(context.get(), diagnostics);
  std::optional<Sources> sources = loadSources(files, {}, *context, invocation);
  if (!sources)
    return ExitCode::Rejected;
  if (!sources->hasKernels) {
    diagnostics.error({},
                      "run needs kernels; these inputs are lowered already");
    return ExitCode::Rejected;
  }
  kernel::FuncOp func = chooseKernel(*sources->module, invocation);
  if (!func)
    return ExitCode::Usage;
  keepOnly(func); // the others need no code

  HostKernel kernel(func);
  Run run(kernel, invocation, std::move(asked));
  if (!run.prepare(bindings))
    return ExitCode::Rejected;
  if (engine) {
    EngineRoad road(func, kernel, *engine, *sources, diagnostics);
    return run.callEngine(road);
  }
  ExitCode code = ExitCode::Ok;
  std::unique_ptr<Loaded> loaded =
      loadKernels(*sources, targets, invocation, code);
  if (!loaded)
    return code;
  HostRoad road(*loaded, kernel);
  return run.call(road);
}
