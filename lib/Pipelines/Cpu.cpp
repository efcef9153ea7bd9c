//===- Cpu.cpp - the targets x86-64-v3 and x86-64-v4 ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   kernel.func ─ simplify ─ KernelToCpu ─ EmitInterface ─▶ LLVM dialect
//
// One target per level of the architecture; all that differs is the machine file
// of that name, which says how wide a vector is, how many there are and which
// instructions exist.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"
#include "facet/Conversion/KernelToCpu.h"
#include "facet/Machine/Machine.h"
#include "facet/Pipelines/Pipelines.h"

using namespace mlir;
using namespace facet;

static std::optional<CpuTarget> cpuTarget(StringRef name, ModuleOp module) {
  Diagnostics diagnostics;
  std::optional<Machine> machine = loadMachine(name, diagnostics);
  if (!machine || !machine->isCpu()) {
    InFlightDiagnostic error = module.emitError("machine '")
                               << name << "' cannot be read";
    for (const facet::Diagnostic &diagnostic : diagnostics.all())
      error.attachNote() << diagnostic.message;
    return std::nullopt;
  }
  CpuTarget target;
  target.features.vectorBytes = machine->cpu.vectorBytes;
  target.features.fma = machine->cpu.fma;
  target.features.bf16Dot = machine->cpu.bf16Dot;
  target.features.i8Dot = machine->cpu.i8Dot;
  target.vectorRegisters = machine->cpu.vectorRegisters;
  target.l1Bytes = machine->cache.l1Bytes;
  target.l2Bytes = machine->cache.l2Bytes;
  return target;
}

static LogicalResult lowerFor(StringRef machine, ModuleOp module,
                              const InterfaceOptions &given) {
  std::optional<CpuTarget> target = cpuTarget(machine, module);
  if (!target)
    return failure();
  InterfaceOptions options = given;
  options.computeKernel = [&](kernel::FuncOp kernel) {
    return convertKernelToCpu(kernel, *target);
  };
  SmallVector<kernel::FuncOp> kernels(module.getOps<kernel::FuncOp>());
  for (kernel::FuncOp kernel : kernels)
    if (failed(convertKernelToCpu(kernel, *target)) ||
        failed(emitInterface(kernel, options)))
      return failure();
  return success();
}

Target facet::x86V3Target() {
  return {
      "x86-64-v3",
      "vectors of AVX2, fused multiply-add",
      [](kernel::FuncOp kernel, const Machine *) -> kernel::PlanAttrInterface {
        return cpu::PlanAttr::get(kernel.getContext(), "x86-64-v3");
      },
      [](ModuleOp module, const InterfaceOptions &options) {
        return lowerFor("x86-64-v3", module, options);
      },
      lowerToLLVM,
      /*cpu=*/"x86-64-v3",
      "x86_64",
      "avx2,fma,f16c,bmi2"};
}

Target facet::x86V4Target() {
  return {
      "x86-64-v4",
      "vectors of AVX-512",
      [](kernel::FuncOp kernel, const Machine *) -> kernel::PlanAttrInterface {
        return cpu::PlanAttr::get(kernel.getContext(), "x86-64-v4");
      },
      [](ModuleOp module, const InterfaceOptions &options) {
        return lowerFor("x86-64-v4", module, options);
      },
      lowerToLLVM,
      /*cpu=*/"x86-64-v4",
      "x86_64",
      "avx512f,avx512bw,avx512dq,avx512vl"};
}
