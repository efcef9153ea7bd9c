//===- EngineCalls.cpp - C functions that run programs --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   kernel ─ copy ─ lowerToEngine ─▶ program ─ callSimulator, emitInterface ─▶ linear_trn2
//
// An object for a matrix engine has the functions that one for a CPU has. They check
// their arguments alike, and then run the program that the kernel became.
//
//===----------------------------------------------------------------------===//

#include "EngineCalls.h"
#include "HostKernel.h"
#include "Planning.h"
#include "Values.h"
#include "facet/Conversion/KernelToLoops.h"
#include "facet/Isa/Container.h"
#include "facet/Pipelines/Engine.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace facet;

std::string facet::suffixFor(const Machine &machine) {
  std::string suffix = "_" + machine.name;
  for (char &c : suffix)
    if (!llvm::isAlnum(c))
      c = '_';
  return suffix;
}

ExitCode facet::lowerToEngineCalls(Sources &sources, const Machine &machine,
                                   InterfaceOptions options,
                                   Invocation &invocation) {
  Diagnostics &diagnostics = invocation.diagnostics;
  checkSchedules(sources, StringRef(machine.name), diagnostics);
  // A promise that needs functions like exp is computed here, not on the machine.
  options.computeKernel = [](kernel::FuncOp kernel) {
    return convertKernelToLoops(kernel, {});
  };
  SmallVector<kernel::FuncOp> kernels(sources.module->getOps<kernel::FuncOp>());
  for (kernel::FuncOp kernel : kernels) {
    FailureOr<Program> program = makeEngineProgram(
        kernel.clone(), machine, [&](kernel::FuncOp simplified) {
          kernel::PlanAttrInterface plan =
              planForEngineAloud(simplified, machine, sources, diagnostics);
          if (plan)
            options.plan = plan.key();
          return plan;
        });
    if (failed(program))
      return ExitCode::Rejected;
    HostKernel host(kernel);
    SizeValues sizes;
    for (const std::vector<int64_t> &values : host.fixed)
      sizes.push_back(values.front()); // or there were no program
    SmallVector<int64_t> below;
    for (const HostParam &param : host.params)
      below.push_back(indexBound(host, param, sizes).value_or(-1));
    std::vector<uint8_t> bytes = writeProgram(*program);
    StringRef text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    if (failed(callSimulator(kernel, text, below)) ||
        failed(emitInterface(kernel, options)))
      return ExitCode::Rejected;
  }
  return ExitCode::Ok;
}
