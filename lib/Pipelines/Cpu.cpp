//===- Cpu.cpp - the targets of the CPU road, one per level ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   kernel.func ─ KernelToCpu ─▶ NAME.impl in vectors ─▶ LLVM dialect
//
// One target per level of the architecture; all that differs is the machine file
// of that name, which says how wide a vector is, how many there are and which
// instructions exist. Any other machine file makes a target, too: planned for its
// caches and rates, in the instructions of the level that it names, so that what an
// object asks its CPU for is the same question.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"
#include "facet/Conversion/KernelToCpu.h"
#include "facet/Conversion/VerifyLowered.h"
#include "facet/Machine/Machine.h"
#include "facet/Pipelines/Pipelines.h"
#include "facet/Planner/Cpu/Planner.h"
#include "facet/Target/EmitObject.h"
#include "facet/abi.h"

using namespace mlir;
using namespace facet;

static CpuFeatures featuresOf(const Machine &machine) {
  CpuFeatures features;
  features.vectorBytes = machine.cpu.vectorBytes;
  features.fma = machine.cpu.fma;
  features.bf16Dot = machine.cpu.bf16Dot;
  features.i8Dot = machine.cpu.i8Dot;
  features.tileMatrix = machine.cpu.tileMatrix;
  return features;
}

static kernel::PlanAttrInterface plan(kernel::FuncOp kernel,
                                      const Machine *machine) {
  return cast<kernel::PlanAttrInterface>(cpu::planKernel(kernel, *machine));
}

static LogicalResult convert(kernel::FuncOp kernel, const Machine *machine) {
  if (failed(convertKernelToCpu(kernel, cast<cpu::PlanAttr>(kernel.getPlan()),
                                featuresOf(*machine))))
    return failure();
  return verifyLowered(kernel->getParentOfType<ModuleOp>());
}

/// A level is planned for the machine of its name.
static Target levelTarget(int32_t number, StringRef description) {
  const Level *level = findLevel(number);
  return {level->name.str(), description.str(), plan, convert,
          lowerToLLVM,       level->name.str(), level};
}

//===----------------------------------------------------------------------===//
// Targets from machine files
//===----------------------------------------------------------------------===//

/// Where the file states `key` of the group `cpu`.
static Place placeOf(const Machine &machine, StringRef key) {
  ArrayRef<MachineParameter> table = machineParameters();
  for (size_t i = 0; i != table.size(); ++i)
    if (StringRef(table[i].group) == "cpu" && key == table[i].key)
      return machine.origins[i].place;
  return {machine.path};
}

std::optional<Target> facet::targetOnMachine(Machine machine,
                                             Diagnostics &diagnostics) {
  auto refuse = [&](StringRef key, const Twine &message) {
    diagnostics.error(placeOf(machine, key), message);
  };
  const Level *level = findLevel(int32_t(machine.cpu.level));
  if (!level) {
    std::string all;
    for (const Level &known : levels())
      all += (all.empty() ? "" : ", ") + std::to_string(known.number) + " (" +
             known.name.str() + ")";
    refuse("level", "there is no level " + Twine(machine.cpu.level) +
                        "; there are " + all);
    return std::nullopt;
  }
  if (machine.cpu.arch != level->arch)
    refuse("arch", "level '" + level->name + "' is one of " + level->arch +
                       ", and 'cpu.arch' is " + machine.cpu.arch);
  SmallVector<StringRef> features = featuresOf(*level);
  auto has = [&](StringRef feature) {
    return llvm::is_contained(features, feature);
  };
  int64_t widest = has("avx512f") ? 64 : has("avx2") ? 32 : 16;
  int64_t bytes = machine.cpu.vectorBytes;
  if (bytes > widest || (bytes != 16 && bytes != 32 && bytes != 64))
    refuse("vector_bytes", "'cpu.vector_bytes' is " + Twine(bytes) +
                               ", and code for level '" + level->name +
                               "' has vectors of 16" +
                               (widest >= 32 ? ", 32" : "") +
                               (widest >= 64 ? ", 64" : "") + " bytes");
  int64_t registers = has("avx512f") || has("neon") ? 32 : 16;
  if (machine.cpu.vectorRegisters > registers)
    refuse("vector_registers",
           "'cpu.vector_registers' is " + Twine(machine.cpu.vectorRegisters) +
               ", and level '" + level->name + "' has " + Twine(registers));
  if (!isKnownCpu(level->arch, machine.cpu.llvmCpu))
    refuse("llvm_cpu", "LLVM knows no " + level->arch + " CPU '" +
                           machine.cpu.llvmCpu + "'");
  auto needs = [&](bool isOn, StringRef key, bool hasIt) {
    if (isOn && !hasIt)
      refuse(key, "'cpu." + key + "' is on, and level '" + level->name +
                      "' has no such instructions");
  };
  needs(machine.cpu.fma, "fma", has("fma") || has("neon"));
  needs(machine.cpu.bf16Dot, "bf16_dot", has("avx512bf16"));
  needs(machine.cpu.i8Dot, "i8_dot",
        has("avx512vnni") || (has("avxvnni") && bytes <= 32));
  needs(machine.cpu.tileMatrix, "tile_matrix", has("amx-tile"));
  if (diagnostics.hasErrors())
    return std::nullopt;

  Target target{machine.name, machine.about, plan, convert, lowerToLLVM};
  target.level = level;
  target.given = std::make_shared<const Machine>(std::move(machine));
  return target;
}

//===----------------------------------------------------------------------===//
// The levels
//===----------------------------------------------------------------------===//

Target facet::x86V2Target() {
  return levelTarget(FACET_LEVEL_X86_64_V2, "vectors of SSE4.2");
}

Target facet::x86V3Target() {
  return levelTarget(FACET_LEVEL_X86_64_V3,
                     "vectors of AVX2, fused multiply-add");
}

Target facet::x86V3VnniTarget() {
  return levelTarget(FACET_LEVEL_X86_64_V3_VNNI,
                     "AVX2 with dot products of i8");
}

Target facet::x86V4Target() {
  return levelTarget(FACET_LEVEL_X86_64_V4, "vectors of AVX-512");
}

Target facet::zen4Target() {
  return levelTarget(FACET_LEVEL_ZNVER4,
                     "AVX-512 with dot products of bf16 and i8");
}

Target facet::sapphireRapidsTarget() {
  return levelTarget(FACET_LEVEL_SAPPHIRERAPIDS,
                     "the same with tile registers (AMX)");
}

Target facet::aarch64Target() {
  return levelTarget(FACET_LEVEL_AARCH64, "vectors of NEON");
}
