//===- Simulate.cpp - the simulator inside another program ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `facet run --target=trn2` on tensors of the caller's instead of files:
//
//   text ─ Sources ─▶ kernel ─ sizes of the tensors ─▶ EngineRoad ─▶ tensors
//                                                          └─▶ Simulation: results
//
// A program is made for the sizes of the call. What it left is kept, so that each
// result can be asked for when it is wanted, and nothing is written to files.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "MlirDiagnostics.h"
#include "OnText.h"
#include "Road.h"
#include "Sources.h"
#include "Tensors.h"
#include "Values.h"
#include "facet/Driver/SimulateText.h"
#include "facet/Isa/Assembler.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace facet;
using namespace facet::options;

//===----------------------------------------------------------------------===//
// What is kept
//===----------------------------------------------------------------------===//

namespace {
class KeptRun : public Simulation {
public:
  KeptRun(EngineRun run, std::string name, llvm::json::Object about)
      : run(std::move(run)), name(std::move(name)), about(std::move(about)) {}
  bool result(StringRef kind, std::string &bytes) const override;

private:
  EngineRun run;
  std::string name;
  llvm::json::Object about;
};
} // namespace

bool KeptRun::result(StringRef kind, std::string &bytes) const {
  llvm::raw_string_ostream os(bytes);
  sim::Report report = sim::makeReport(run.program, run.timed, name);
  if (kind == "json") {
    llvm::json::Object all =
        sim::resultsToJson(run.program, run.outcome, &report);
    for (const auto &entry : about)
      all[entry.first] = entry.second;
    os << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(all)));
  } else if (kind == "stats") {
    sim::printStats(report, os);
  } else if (kind == "html") {
    sim::writeHtml(run.program, run.timed, report, {}, os);
  } else if (kind == "trace") {
    if (!report.recorded)
      return false;
    (void)sim::writePerfetto(run.program, run.timed, {}, os);
  } else if (kind == "asm") {
    disassemble(run.program, os);
  } else {
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------===//

namespace {
/// The tensors of one call, sorted out against the kernel.
class Call {
public:
  Call(const HostKernel &kernel, Invocation &invocation)
      : kernel(kernel), invocation(invocation),
        diagnostics(invocation.diagnostics) {}

  bool prepare(ArrayRef<const facet_dltensor *> in,
               ArrayRef<facet_dltensor *> out);
  std::unique_ptr<Simulation> run(EngineRoad &road);

private:
  bool addSizes(SizeSolver &solver);

  const HostKernel &kernel;
  Invocation &invocation;
  Diagnostics &diagnostics;
  SmallVector<const facet_dltensor *> tensors; ///< by parameter
  SizeValues sizes;
  Arguments arguments;
};
} // namespace

/// Those that no tensor says: -D M=512.
bool Call::addSizes(SizeSolver &solver) {
  for (const SizeBinding &size : parseSizeBindings(
           invocation.line.values(OPT_define_size), diagnostics)) {
    auto at = llvm::find(kernel.sizes, size.name);
    if (at == kernel.sizes.end())
      diagnostics.error({}, "'-D " + size.name + "': kernel '" + kernel.name +
                                "' has no such size");
    else if (size.general || size.values.size() != 1)
      diagnostics.error({}, "'-D " + size.name +
                                "': there is one call, which takes one value");
    else
      solver.set(at - kernel.sizes.begin(), size.values[0],
                 "-D " + size.name + "=" + std::to_string(size.values[0]),
                 diagnostics);
  }
  return !diagnostics.hasErrors();
}

bool Call::prepare(ArrayRef<const facet_dltensor *> in,
                   ArrayRef<facet_dltensor *> out) {
  size_t inputs = llvm::count_if(
      kernel.params, [](const HostParam &param) { return param.isInput(); });
  size_t results = kernel.params.size() - inputs;
  if (in.size() != inputs || out.size() != results) {
    diagnostics.error({}, "kernel '" + kernel.name + "' has " + Twine(inputs) +
                              " arguments and " + Twine(results) +
                              " results; " + Twine(in.size()) + " and " +
                              Twine(out.size()) + " tensors are given");
    return false;
  }
  SizeSolver solver(kernel);
  if (!addSizes(solver))
    return false;
  for (const HostParam &param : kernel.params) {
    const facet_dltensor *&tensor = tensors.emplace_back();
    if (param.isInput()) {
      tensor = in.front();
      in = in.drop_front();
    } else {
      tensor = out.front();
      out = out.drop_front();
      if (!tensor)
        diagnostics.error({}, "no memory for the result '" + param.name + "'");
    }
    if (tensor && checkTensor(*tensor, param, diagnostics))
      solver.useShape(param, ArrayRef(tensor->shape, size_t(tensor->ndim)),
                      "the tensor", diagnostics);
  }
  if (diagnostics.hasErrors())
    return false;
  std::optional<SizeValues> solved = solver.finish(diagnostics);
  if (!solved)
    return false;
  sizes = std::move(*solved);
  for (auto [param, tensor] : llvm::zip_equal(kernel.params, tensors)) {
    arguments.emplace_back();
    if (param.isInput() && tensor)
      arguments.back() = readTensor(*tensor, param);
    else if (!param.isInput())
      arguments.back() = allocate(kernel, param, sizes, diagnostics);
  }
  return !diagnostics.hasErrors();
}

std::unique_ptr<Simulation> Call::run(EngineRoad &road) {
  sim::ResultOptions recorded;
  recorded.json = "-"; // wants every instruction recorded
  road.record(recorded);
  Workspace none;
  CallResult result = road.call(sizes, arguments, none);
  if (result.code != 0) {
    if (!diagnostics.hasErrors())
      diagnostics.error({},
                        "the call was refused: " + describe(result, kernel));
    return nullptr;
  }
  if (std::string doubt = road.doubt(); !doubt.empty())
    diagnostics.remark("", {kernel.name}, doubt);
  for (unsigned i : outputsOf(kernel))
    if (arguments[i])
      writeTensor(*arguments[i], *tensors[i]);

  llvm::json::Object sizesByName;
  for (auto [name, value] : llvm::zip_equal(kernel.sizes, sizes))
    sizesByName[name] = value;
  return std::make_unique<KeptRun>(
      *road.take(), kernel.name,
      llvm::json::Object{{"flops", road.flops(sizes)},
                         {"kernel", kernel.name},
                         {"seconds", result.seconds},
                         {"sizes", std::move(sizesByName)}});
}

std::unique_ptr<Simulation>
facet::simulateText(const TextRequest &request,
                    ArrayRef<const facet_dltensor *> in,
                    ArrayRef<facet_dltensor *> out, Diagnostics &diagnostics) {
  std::unique_ptr<Simulation> simulation;
  auto simulate = [&](Invocation &invocation) {
    std::optional<Machine> engine = engineMachine(invocation);
    if (!engine && !invocation.diagnostics.hasErrors())
      invocation.diagnostics.error(
          {}, "'" + invocation.line.value(OPT_target).value_or("") +
                  "' is no matrix engine; give one: trn2, say");
    if (!engine)
      return ExitCode::NotAvailable;
    std::unique_ptr<MLIRContext> context = makeContext();
    MlirDiagnostics bridge(context.get(), invocation.diagnostics);
    std::optional<Sources> sources =
        loadSources({"-"}, {}, *context, invocation);
    if (!sources)
      return ExitCode::Rejected;
    kernel::FuncOp func = chooseKernel(*sources->module, invocation);
    if (!func)
      return ExitCode::Usage;
    keepOnly(func);
    HostKernel kernel(func);
    Call call(kernel, invocation);
    if (!call.prepare(in, out))
      return ExitCode::Rejected;
    EngineRoad road(func, kernel, *engine, *sources, invocation.diagnostics);
    simulation = call.run(road);
    return simulation ? ExitCode::Ok : ExitCode::Rejected;
  };
  if (!runOnText({"run", "-"}, request, diagnostics, simulate))
    simulation.reset();
  return simulation;
}
