//===- Timing.cpp - costs of compute and control instructions -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the four instants of an instruction from its shapes and the machine.
// On trn2 a matmul of 512 bf16 columns gives
//
//   streams 512 / 2.4 GHz = 213.3 ns; the next may start 2.6 ns later (gap);
//   the last sum is written 166 ns after the last column went in (latency):
//   sourceFree 213.3   portFree 215.9   done 379.3
//
// Every term is a parameter; set to 0 or off, it is gone, so that the closed
// forms of a systolic array come out of the same code.
//
//===----------------------------------------------------------------------===//

#include "facet/Isa/Timing.h"

#include <algorithm>

using namespace facet;

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

Cost Timing::controlCost(const Instruction &instruction) const {
  int64_t ps = 0;
  switch (instruction.op()) {
  case Opcode::Loop:
    ps = machine.core.loopEnterPs;
    break;
  case Opcode::End:
    ps = machine.core.loopBackPs;
    break;
  case Opcode::Advance:
    ps = machine.core.advancePs;
    break;
  default:
    ps = machine.semaphore.standalonePs;
    break;
  }
  Cost cost;
  cost.sourceFree = cost.portFree = cost.done = base.fromPs(ps);
  return cost;
}

//===----------------------------------------------------------------------===//
// Tensor engine
//===----------------------------------------------------------------------===//

Cost Timing::tensorCost(const Program &program, const Instruction &instruction,
                        bool slow, bool first) const {
  const TensorEngine &t = machine.tensor;
  int64_t stretch = slow ? t.slowFactor : 1;
  auto cycles = [&](int64_t n) {
    return base.fromCycles(n * stretch, t.clockMHz);
  };
  auto latency = [&](int64_t ps) {
    return base.fromPs(ps + (slow ? t.slowLatencyPs : 0));
  };
  Pass pass = Pass(instruction.sub[0]);
  Cost cost;

  if (instruction.op() == Opcode::LoadWeights) {
    const Access &weights = *program.access(instruction, 0);
    int64_t columns = int64_t(weights.elements());
    if (instruction.has(flag::weightsDoubleRow))
      columns /= 2;
    if (t.weightWholeArray)
      columns = t.rows;
    bool f32 = weights.dtype == DType::F32;
    bool transpose = instruction.has(flag::weightsForTranspose);
    int64_t each = !f32        ? t.weightCycles
                   : transpose ? t.weightF32TransposeCycles
                               : t.weightF32Cycles;
    int64_t passes = f32 && !transpose && pass == Pass::All ? t.f32Passes : 1;
    Ticks load = base.fromMilliCycles(columns * each * stretch, t.clockMHz);
    if (first && t.firstWeightCycles)
      load = cycles(t.firstWeightCycles);
    // The first pass may start when its weights are there; the others load while
    // it streams.
    cost.sourceFree = cost.portFree = load * passes;
    cost.ready = load + weightDelay();
    cost.done = load + latency(t.weightLatencyPs);
    return cost;
  }

  const Access &dst = *program.access(instruction, 0);
  int64_t stationary = dst.partitions;
  int64_t columns = 0, passes = 1;
  bool f32 = false;
  if (instruction.op() == Opcode::Matmul) {
    const Access &moving = *program.access(instruction, 1);
    columns = int64_t(moving.elements());
    if (instruction.has(flag::matmulDoubleRow))
      columns /= 2;
    f32 = moving.dtype == DType::F32;
    if (f32 && pass == Pass::All)
      passes = t.f32Passes;
  } else {
    columns = int64_t(dst.elements());
    f32 = dst.dtype == DType::F32;
  }
  int64_t floor =
      t.floorByStationary ? std::min(t.floorCycles, stationary) : t.floorCycles;
  int64_t perColumn = f32 ? t.f32CyclesPerColumn : 1;
  Ticks stream = cycles(std::max(columns, floor) * perColumn);
  Ticks gap = slow ? 0 : base.fromPs(t.gapPs);
  Ticks interval = stream + gap;
  // A later pass also waits for its own weights.
  Ticks reload = base.fromMilliCycles(stationary * t.weightF32Cycles * stretch,
                                      t.clockMHz);
  cost.portFree = (passes - 1) * std::max(interval, reload) + interval;
  cost.sourceFree = cost.portFree - gap;
  cost.done =
      cost.sourceFree + cycles(t.fillDrainCycles) + latency(t.latencyPs);
  cost.work = base.fromCycles(columns * perColumn * passes, t.clockMHz);
  return cost;
}

//===----------------------------------------------------------------------===//
// Vector, scalar, gpsimd
//===----------------------------------------------------------------------===//

namespace {

/// What the element rate of an instruction depends on.
struct Shape {
  uint64_t elements = 0; // per partition, of the longest operand
  unsigned tensorInputs = 0;
  bool allSbuf = true;      // every tensor operand
  bool inputInPsum = false; // at least one
  bool all16 = true, all16or8 = true;
  bool all32 = true;
  bool contiguous = true;  // innermost step 1 everywhere
  bool wideStride = false; // innermost step of stride_bytes or more
  bool pointer = false;    // a scalar operand is read per partition
};

} // namespace

static bool isPerPartition(const OperandInfo &operand) {
  llvm::StringRef name = operand.name;
  return name == "s0" || name == "s1" || name == "scale" || name == "bias" ||
         name == "acc";
}

static Shape shapeOf(const Machine &machine, const Program &program,
                     const Instruction &instruction) {
  Shape shape;
  for (const OperandInfo &operand : opcodeInfo(instruction.opcode)->operands) {
    const Access *access = program.access(instruction, operand.slot);
    if (!access || access->space == Space::Index)
      continue;
    if (isPerPartition(operand)) {
      shape.pointer |= operand.mode == OperandMode::Read;
      continue;
    }
    shape.elements = std::max(shape.elements, access->elements());
    unsigned bits = dtypeBits(access->dtype);
    shape.all16 &= access->dtype == DType::BF16 || access->dtype == DType::F16;
    shape.all16or8 &= bits <= 16;
    shape.all32 &= bits == 32;
    shape.allSbuf &= access->space == Space::Sbuf;
    if (operand.mode == OperandMode::Read) {
      ++shape.tensorInputs;
      shape.inputInPsum |= access->space == Space::Psum;
    }
    if (access->rank == 0 || access->count[access->rank - 1] == 1)
      continue;
    int64_t step = access->step[access->rank - 1];
    shape.contiguous &= step == 1;
    if (step >= machine.sbuf.strideBytes || -step >= machine.sbuf.strideBytes ||
        std::abs(step) * int64_t(bits / 8) >= machine.sbuf.strideBytes)
      shape.wideStride = true;
  }
  return shape;
}

static bool usesRoot(const Instruction &instruction) {
  for (const FieldInfo &field : opcodeInfo(instruction.opcode)->fields)
    if (field.kind == FieldKind::Alu &&
        llvm::StringRef(field.name) != "acc_op") {
      Alu op = Alu(getField(instruction, field.place));
      if (op == Alu::Reciprocal || op == Alu::Sqrt || op == Alu::Rsqrt)
        return true;
    }
  return false;
}

/// Thousandths of a cycle per element on the vector engine.
static int64_t vectorRate(const Machine &machine,
                          const Instruction &instruction, const Shape &shape,
                          bool &fast) {
  const VectorEngine &v = machine.vector;
  if (usesRoot(instruction))
    return v.reciprocalCycles * 1000;
  switch (instruction.op()) {
  case Opcode::Copy:
  case Opcode::TensorScalar:
    if (!v.fastModes)
      return 1000;
    if (shape.all16) {
      fast = true;
      return shape.allSbuf && shape.contiguous ? 250 : 500;
    }
    fast = shape.allSbuf && shape.all32;
    return fast ? 500 : 1000;
  case Opcode::TensorTensor:
    if (shape.all16 && shape.allSbuf && shape.contiguous) {
      fast = v.fastModes;
      return fast ? 500 : 1000;
    }
    return shape.inputInPsum ? 1000 : v.twoInputCycles * 1000;
  case Opcode::ScalarTensorTensor:
    return shape.all16 ? 1000 : v.twoInputCycles * 1000;
  case Opcode::Select:
    return shape.allSbuf ? v.twoInputCycles * 1000 : 1000;
  case Opcode::Reduce: {
    Alu op = Alu(instruction.sub[0]);
    return shape.all16 && (op == Alu::Add || op == Alu::Max) ? 500 : 1000;
  }
  case Opcode::Fill:
    return shape.all16 && instruction.imm[0] == 0 ? 500 : 1000;
  default:
    return 1000;
  }
}

Cost Timing::elementCost(const Program &program, Engine engine,
                         const Instruction &instruction) const {
  Shape shape = shapeOf(machine, program, instruction);
  const bool acc = instruction.operand(4) >= 0;
  int64_t clock = 0, floor = 0, rate = 1000, startCycles = 0;
  int64_t latencyPs = 0, gapPs = 0;
  Cost cost;
  switch (engine) {
  case Engine::Vector: {
    const VectorEngine &v = machine.vector;
    clock = v.clockMHz;
    floor = v.floorCycles;
    rate = vectorRate(machine, instruction, shape, cost.fastMode);
    int64_t extra = (shape.pointer ? v.pointerPs : 0) + (acc ? v.reducePs : 0);
    latencyPs = v.latencyPs + extra;
    gapPs = v.gapPs + extra;
    break;
  }
  case Engine::Scalar: {
    const ScalarEngine &s = machine.scalar;
    clock = s.clockMHz;
    floor = s.floorCycles;
    bool activate = instruction.op() == Opcode::Activate;
    bool bias = activate && instruction.operand(3) >= 0;
    bool scale = activate ? instruction.operand(2) >= 0 : shape.pointer;
    int64_t extra = (scale ? s.pointerPs : 0) + (acc ? s.reducePs : 0);
    latencyPs = s.latencyPs + extra + (bias ? s.biasLatencyPs : 0);
    gapPs = s.gapPs + extra + (bias ? s.biasGapPs : 0);
    if (shape.all16or8 && !activate)
      rate = 1000 / s.wideElements;
    break;
  }
  default: {
    const GpsimdEngine &g = machine.gpsimd;
    clock = g.clockMHz;
    floor = g.floorCycles;
    latencyPs = g.latencyPs;
    gapPs = g.gapPs;
    if (shape.tensorInputs > 1)
      rate = g.twoInputCycles * 1000;
    if (usesRoot(instruction))
      rate = g.reciprocalCycles * 1000;
    if (instruction.op() == Opcode::Iota ||
        instruction.op() == Opcode::AffineSelect)
      startCycles = g.indexCycles;
    break;
  }
  }
  if (machine.sbuf.strideCost && shape.wideStride)
    rate *= 2;
  Ticks stream = base.fromMilliCycles(
      int64_t(shape.elements) * rate + startCycles * 1000, clock);
  cost.sourceFree = stream;
  cost.portFree =
      std::max(base.fromCycles(floor, clock), stream + base.fromPs(gapPs));
  cost.done = stream + base.fromPs(latencyPs);
  return cost;
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

Cost Timing::cost(const Program &program, unsigned queue,
                  const Instruction &instruction, bool slow) const {
  Cost cost;
  Engine engine = program.queues[queue].engine;
  switch (instruction.op()) {
  case Opcode::Nop:
  case Opcode::Loop:
  case Opcode::End:
  case Opcode::Advance:
  case Opcode::SetSemaphore:
  case Opcode::Drain:
    cost = controlCost(instruction);
    break;
  case Opcode::LoadWeights:
  case Opcode::Matmul:
  case Opcode::Transpose:
    cost = tensorCost(program, instruction, slow, /*first=*/false);
    break;
  case Opcode::DmaCopy:
  case Opcode::DmaTranspose:
  case Opcode::DmaGather:
    cost.portFree = cost.sourceFree = cost.done =
        transfer(program, queue, instruction).issue;
    return cost; // its issue includes everything
  default:
    cost = elementCost(program, engine, instruction);
    break;
  }
  return addIssue(program, instruction, cost);
}

Cost Timing::firstLoadCost(const Program &program, unsigned queue,
                           const Instruction &instruction, bool slow) const {
  (void)queue;
  return addIssue(program, instruction,
                  tensorCost(program, instruction, slow, /*first=*/true));
}

Ticks Timing::issueTime(const Program &program,
                        const Instruction &instruction) const {
  int64_t ps = machine.core.dispatchPs;
  if (machine.core.addressUpdatePs)
    for (unsigned slot = 0; slot != 5; ++slot)
      if (const Access *access = program.access(instruction, slot))
        if (access->affine)
          ps += machine.core.addressUpdatePs;
  return base.fromPs(ps);
}

Cost Timing::addIssue(const Program &program, const Instruction &instruction,
                      Cost cost) const {
  cost.issue = issueTime(program, instruction);
  cost.sourceFree += cost.issue;
  cost.portFree += cost.issue;
  cost.done += cost.issue;
  cost.ready += cost.issue;
  return cost;
}

Ticks Timing::hop(bool fromTransfer, const Instruction &waiting) const {
  const SemaphoreUnit &s = machine.semaphore;
  if (fromTransfer)
    return base.fromPs(s.hopFromDmaPs);
  return base.fromPs(waiting.op() == Opcode::LoadWeights ? s.hopToWeightsPs
                                                         : s.hopPs);
}

uint64_t facet::psumBanks(const Machine &machine, const Access &access,
                          int64_t affineBytes) {
  if (access.space != Space::Psum)
    return 0;
  int64_t low = access.offset + affineBytes, high = low;
  int64_t bytes = dtypeBytes(access.dtype);
  for (unsigned d = 0; d != access.rank; ++d) {
    int64_t span = access.step[d] * (int64_t(access.count[d]) - 1) * bytes;
    (span < 0 ? low : high) += span;
  }
  uint64_t banks = 0;
  int64_t last = (high + bytes - 1) / machine.psum.bankBytes;
  for (int64_t bank = std::max<int64_t>(low, 0) / machine.psum.bankBytes;
       bank <= last && bank < machine.psum.banks; ++bank)
    banks |= uint64_t(1) << bank;
  return banks;
}
