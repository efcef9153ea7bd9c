//===- Cpu.cpp - the targets of the CPU road, one per level ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   kernel.func ─ KernelToCpu ─▶ NAME.impl in vectors ─▶ LLVM dialect
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
#include "facet/abi.h"

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

static LogicalResult convert(kernel::FuncOp kernel, const Machine *machine) {
  return convertKernelToCpu(kernel, cast<cpu::PlanAttr>(kernel.getPlan()),
                            featuresOf(*machine));
}

/// A level is planned for the machine of its name.
static Target levelTarget(int32_t number, StringLiteral description) {
  const Level *level = findLevel(number);
  return {level->name, description, plan, convert,
          lowerToLLVM, level->name, level};
}

Target facet::x86V2Target() {
  return levelTarget(FACET_LEVEL_X86_64_V2, "vectors of SSE4.2");
}

Target facet::x86V3Target() {
  return levelTarget(FACET_LEVEL_X86_64_V3,
                     "vectors of AVX2, fused multiply-add");
}

Target facet::x86V4Target() {
  return levelTarget(FACET_LEVEL_X86_64_V4, "vectors of AVX-512");
}

Target facet::zen4Target() {
  return levelTarget(FACET_LEVEL_ZNVER4,
                     "AVX-512 with dot products of bf16 and i8");
}
