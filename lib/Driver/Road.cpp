//===- Road.cpp - how run and check call a kernel -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On this machine a kernel is a C function; on a matrix engine it is a program for
// the sizes of the call, which the simulator runs:
//
//   facet run linear.facet --target=trn2 x=x.npy … y=y.npy
//   linear: M=512 K=512 N=512, 11.4 µs, …              simulated
//
//===----------------------------------------------------------------------===//

#include "Road.h"
#include "Planning.h"
#include "Values.h"
#include "facet/Dialect/Kernel/IR/Operations.h"
#include "facet/Driver/CommandLine.h"
#include "facet/Isa/Container.h"
#include "facet/Pipelines/Engine.h"
#include "facet/Sim/Origin.h"

#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace facet;
using namespace facet::options;

CallResult HostRoad::call(const SizeValues &sizes, Arguments &arguments,
                          Workspace &workspace) {
  return callKernel(code, kernel, sizes, arguments, workspace);
}

double HostRoad::flops(const SizeValues &sizes) {
  auto *info = reinterpret_cast<const facet_info *(*)()>(
      code.lookup(kernel.symbol() + "_info"));
  return info ? info()->flops(sizes.data()) : 0;
}

//===----------------------------------------------------------------------===//
// Matrix engines
//===----------------------------------------------------------------------===//

std::optional<Machine> facet::engineMachine(Invocation &invocation) {
  std::optional<StringRef> name = invocation.line.value(OPT_target);
  if (!name)
    return std::nullopt;
  // A list is of CPUs.
  if (name->contains(',') && !llvm::sys::fs::exists(*name))
    return std::nullopt;
  bool isFile = name->contains('/') || name->ends_with(".yaml");
  if (!isFile && findMachine(*name).empty())
    return std::nullopt;
  Diagnostics ignored;
  std::optional<Machine> machine =
      loadMachine(*name, isFile ? invocation.diagnostics : ignored);
  return machine && machine->isEngine() ? machine : std::nullopt;
}

void facet::fixSizes(kernel::FuncOp func, const SizeValues &sizes) {
  Builder builder(func.getContext());
  SmallVector<NamedAttribute> fixed;
  for (auto [name, value] : llvm::zip_equal(func.getSizes(), sizes))
    fixed.push_back(builder.getNamedAttr(
        cast<StringAttr>(name), builder.getDenseI64ArrayAttr({value})));
  func.setFixedAttr(builder.getDictionaryAttr(fixed));
}

double EngineRoad::flops(const SizeValues &sizes) {
  // What the kernel asks for, as the object of a CPU counts it. A program may do more:
  // products of zeros bring the array's clock to its full rate.
  double total = 0;
  func.walk([&](kernel::StructuredOpInterface op) {
    double points = kernel::operationsPerPoint(op);
    for (OpFoldResult extent : op.getMixedExtents()) {
      if (auto number = dyn_cast<Attribute>(extent)) {
        points *= double(cast<IntegerAttr>(number).getInt());
        continue;
      }
      auto size = cast<Value>(extent).getDefiningOp<kernel::SizeOp>();
      auto known =
          size ? llvm::find(kernel.sizes, size.getName()) : kernel.sizes.end();
      if (known != kernel.sizes.end())
        points *= double(sizes[known - kernel.sizes.begin()]);
    }
    total += points;
  });
  return total;
}

CallResult EngineRoad::begin(const SizeValues &sizes,
                             const Arguments &arguments) const {
  CallResult result;
  result.error.axis = -1;
  result.error.kernel = kernel.name.c_str();
  result.code = FACET_E_TASK;
  if (std::optional<unsigned> broken = promises.firstBroken(sizes, arguments)) {
    result.code = FACET_E_REQUIRE - int(*broken);
    result.error.argument = kernel.promises[*broken].c_str();
  } else {
    checkIndices(sizes, arguments, result);
  }
  result.error.code = result.code;
  return result;
}

/// Subscripts must lie in range, as nothing on the machine looks at them. Also those
/// that a condition of the kernel excludes: which these are is not known here.
void EngineRoad::checkIndices(const SizeValues &sizes,
                              const Arguments &arguments,
                              CallResult &result) const {
  for (auto [param, array] : llvm::zip_equal(kernel.params, arguments)) {
    std::optional<int64_t> bound = indexBound(kernel, param, sizes);
    if (!bound || !array)
      continue;
    for (int64_t i = 0, count = array->count(); i < count; ++i) {
      int64_t value = elementAsInteger(*array, i);
      if (value >= 0 && value < *bound)
        continue;
      result.code = FACET_E_INDEX;
      result.error.argument = param.name.c_str();
      result.error.found = value;
      result.error.wanted = *bound;
      return;
    }
  }
}

bool EngineRoad::makeProgram(const SizeValues &sizes) {
  program.reset();
  timed.reset();
  OwningOpRef<kernel::FuncOp> copy = func.clone();
  fixSizes(*copy, sizes);
  FailureOr<Program> made = makeEngineProgram(
      std::move(copy), machine, [&](kernel::FuncOp simplified) {
        return planForEngine(simplified, machine, sources, diagnostics);
      });
  if (failed(made))
    return false;
  program = std::move(*made);
  return true;
}

bool EngineRoad::timeIt(CallResult &result) {
  timed = sim::timeForResults(*program, results);
  for (const sim::Finding &finding : timed->findings)
    diagnostics.error({kernel.name}, finding.message);
  if (!timed->findings.empty())
    return false;
  result.seconds = timed->ns() * 1e-9;
  result.code = result.error.code = 0;
  return true;
}

CallResult EngineRoad::time(const SizeValues &sizes) {
  CallResult result = begin(sizes, Arguments(kernel.params.size()));
  if (result.code != FACET_E_TASK || !makeProgram(sizes))
    return result;
  if (timeIt(result))
    outcome = sim::countsOf(*program, *timed);
  return result;
}

std::string EngineRoad::doubt() const {
  return outcome.isUsable() && !outcome.ok() ? outcome.findings.front().message
                                             : "";
}

std::vector<std::string> EngineRoad::origin(unsigned param,
                                            int64_t element) const {
  std::vector<std::string> lines;
  if (!program)
    return lines;
  const HostParam &wanted = kernel.params[param];
  int64_t byte = element * int64_t(bitWidth(wanted.type)) / 8;
  // Results that need another pass over memory are made of many.
  constexpr size_t most = 16;
  for (auto [i, buffer] : llvm::enumerate(program->buffers)) {
    if (buffer.space != Space::Hbm || buffer.name != wanted.name)
      continue;
    std::vector<sim::OriginStep> steps =
        sim::originOf(*program, unsigned(i), byte);
    for (const sim::OriginStep &step : ArrayRef(steps).take_front(most))
      for (auto [n, line] :
           llvm::enumerate(sim::describeOrigin(*program, step)))
        lines.push_back((n ? "  " : "") + line);
    if (steps.size() > most)
      lines.push_back(std::to_string(steps.size() - most) +
                      " instructions before");
  }
  return lines;
}

CallResult EngineRoad::call(const SizeValues &sizes, Arguments &arguments,
                            Workspace &) {
  CallResult result = begin(sizes, arguments);
  if (result.code != FACET_E_TASK || !makeProgram(sizes))
    return result;
  std::vector<std::vector<uint8_t>> memory(program->buffers.size());
  auto forEach = [&](llvm::function_ref<void(Array &, size_t)> visit) {
    for (size_t i = 0; i < program->buffers.size(); ++i)
      for (auto [param, array] : llvm::zip_equal(kernel.params, arguments))
        if (program->buffers[i].space == Space::Hbm && array &&
            program->buffers[i].name == param.name)
          visit(*array, i);
  };
  forEach([&](Array &array, size_t i) {
    if (program->buffers[i].kind != BufferKind::Out)
      memory[i] = array.bytes;
  });
  outcome = sim::runProgram(*program, memory);
  if (!outcome.isUsable()) {
    (void)writeProgram(*program);
    reportFindings(*program, outcome, kernel.name, diagnostics);
    return result;
  }
  forEach([&](Array &array, size_t i) {
    BufferKind kind = program->buffers[i].kind;
    if (kind == BufferKind::Out || kind == BufferKind::InOut)
      array.bytes = memory[i];
  });
  timeIt(result);
  return result;
}

std::optional<EngineRun> EngineRoad::take() {
  if (!program || !timed || !timed->ok())
    return std::nullopt;
  (void)writeProgram(*program); // results name its build id
  EngineRun run{std::move(*program), std::move(outcome), std::move(*timed)};
  program.reset();
  timed.reset();
  return run;
}

bool EngineRoad::write(const sim::ResultOptions &options) {
  if (!program)
    return false;
  (void)writeProgram(*program); // results name its build id
  writeResults(*program, kernel.name, options, outcome,
               timed ? &*timed : nullptr, diagnostics);
  return true;
}

std::pair<double, StringRef> EngineRoad::bound() const {
  if (!program || !timed || !timed->ok())
    return {0, ""};
  sim::Report report = sim::makeReport(*program, *timed, kernel.name);
  return {report.ns(report.bound()) * 1e-9,
          report.resources[report.limit].name};
}
