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
#include "facet/Driver/CommandLine.h"
#include "facet/Isa/Container.h"
#include "facet/Pipelines/Engine.h"
#include "facet/Sim/Time.h"

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
  // An estimate is enough: it keeps check from large trials.
  double product = 1;
  for (int64_t size : sizes)
    product *= double(size);
  return 2 * product;
}

CallResult EngineRoad::call(const SizeValues &sizes, Arguments &arguments,
                            Workspace &) {
  CallResult result;
  result.error.axis = -1;
  result.error.kernel = kernel.name.c_str();
  if (std::optional<unsigned> broken = promises.firstBroken(sizes, arguments)) {
    result.code = result.error.code = FACET_E_REQUIRE - int(*broken);
    result.error.argument = kernel.promises[*broken].c_str();
    return result;
  }
  result.code = result.error.code = FACET_E_TASK;
  OwningOpRef<ModuleOp> module = ModuleOp::create(func.getLoc());
  OpBuilder builder(module->getBodyRegion());
  auto copy = cast<kernel::FuncOp>(builder.clone(*func));
  fixSizes(copy, sizes);
  FailureOr<engine::ProgramOp> lowered =
      lowerToEngine(copy, machine, [&](kernel::FuncOp simplified) {
        return planForEngine(simplified, machine, sources, diagnostics);
      });
  if (failed(lowered))
    return result;
  FailureOr<Program> program = emitEngineProgram(*lowered, machine);
  if (failed(program))
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
  sim::RunResult run = sim::runProgram(*program, memory);
  if (!run.ok()) {
    (void)writeProgram(*program);
    reportFindings(*program, run, kernel.name, diagnostics);
    return result;
  }
  forEach([&](Array &array, size_t i) {
    BufferKind kind = program->buffers[i].kind;
    if (kind == BufferKind::Out || kind == BufferKind::InOut)
      array.bytes = memory[i];
  });
  sim::TimeResult time = sim::timeProgram(*program);
  for (const sim::Finding &finding : time.findings)
    diagnostics.error({kernel.name}, finding.message);
  if (!time.findings.empty())
    return result;
  result.seconds = time.ns() * 1e-9;
  result.code = result.error.code = 0;
  return result;
}
