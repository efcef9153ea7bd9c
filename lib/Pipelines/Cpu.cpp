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
#include "facet/Planner/Cpu/Planner.h"

using namespace mlir;
using namespace facet;

static CpuFeatures featuresOf(const Machine &machine) {
  CpuFeatures features;
  features.vectorBytes = machine.cpu.vectorBytes;
  features.fma = machine.cpu.fma;
  features.bf16Dot = machine.cpu.bf16Dot;
  features.i8Dot = machine.cpu.i8Dot;
  return features;
}

static kernel::PlanAttrInterface plan(kernel::FuncOp kernel,
                                      const Machine *machine) {
  return cast<kernel::PlanAttrInterface>(cpu::planKernel(kernel, *machine));
}

static LogicalResult lower(ModuleOp module, const Machine *machine,
                           const InterfaceOptions &given) {
  CpuFeatures features = featuresOf(*machine);
  InterfaceOptions options = given;
  options.computeKernel = [&](kernel::FuncOp kernel) {
    return convertKernelToCpu(kernel, cpu::planKernel(kernel, *machine),
                              features);
  };
  SmallVector<kernel::FuncOp> kernels(module.getOps<kernel::FuncOp>());
  for (kernel::FuncOp kernel : kernels) {
    options.plan = kernel.getPlan().key();
    if (failed(convertKernelToCpu(kernel, cast<cpu::PlanAttr>(kernel.getPlan()),
                                  features)) ||
        failed(emitInterface(kernel, options)))
      return failure();
  }
  return success();
}

Target facet::x86V3Target() {
  return {"x86-64-v3",
          "vectors of AVX2, fused multiply-add",
          plan,
          lower,
          lowerToLLVM,
          /*machine=*/"x86-64-v3",
          /*cpu=*/"x86-64-v3",
          "x86_64",
          "avx2,fma,f16c,bmi2"};
}

Target facet::x86V4Target() {
  return {"x86-64-v4",
          "vectors of AVX-512",
          plan,
          lower,
          lowerToLLVM,
          /*machine=*/"x86-64-v4",
          /*cpu=*/"x86-64-v4",
          "x86_64",
          "avx512f,avx512bw,avx512dq,avx512vl"};
}
