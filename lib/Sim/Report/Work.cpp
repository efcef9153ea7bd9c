//===- Work.cpp - what one execution of an instruction amounts to ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   matmul dst=psum.f32[0:64, 0, 512], moving=sbuf.bf16[0:128, 0, 512]
//     128 x 64 x 512 multiply-adds; on a full array of 128 x 128 they take 256
//     cycles (it takes 512: half of the columns are empty)
//
// The ideal counts f32 in all its passes, and 8-bit types two rows a cycle where
// the machine has that: what the array could do, not what the program asked for.
//
//===----------------------------------------------------------------------===//

#include "Work.h"

#include <algorithm>

using namespace facet;
using namespace facet::sim;

static bool isF8(DType dtype) {
  return dtype == DType::F8E4M3 || dtype == DType::F8E4M3FN ||
         dtype == DType::F8E5M2;
}

/// Cycles that a column of a full array takes.
static double cyclesPerColumn(const TensorEngine &tensor, DType dtype) {
  if (dtype == DType::F32)
    return double(tensor.f32Passes * tensor.f32CyclesPerColumn);
  return isF8(dtype) && tensor.doubleRow ? 0.5 : 1;
}

double sim::peakRate(const Machine &machine, DType dtype) {
  const TensorEngine &tensor = machine.tensor;
  return double(tensor.rows * tensor.columns) * double(tensor.clockMHz) * 1e6 /
         cyclesPerColumn(tensor, dtype);
}

static bool isElementwise(Opcode op) {
  switch (op) {
  case Opcode::Nop:
  case Opcode::Loop:
  case Opcode::End:
  case Opcode::Advance:
  case Opcode::SetSemaphore:
  case Opcode::Drain:
  case Opcode::LoadWeights:
  case Opcode::Matmul:
  case Opcode::Transpose:
    return false;
  default:
    return true;
  }
}

Work sim::workOf(const Program &program, const Timing &timing, unsigned queue,
                 const Instruction &instruction) {
  Work work;
  if (instruction.isTransfer()) {
    TransferCost cost = timing.transfer(program, queue, instruction);
    work.rows = cost.rows;
    work.bytes = cost.rows * cost.row.bytes();
    return work;
  }
  if (instruction.op() == Opcode::Matmul) {
    const Access &dst = *program.access(instruction, 0);
    const Access &moving = *program.access(instruction, 1);
    work.dtype = moving.dtype;
    work.type = isF8(moving.dtype)              ? MacType::F8
                : dtypeBits(moving.dtype) == 16 ? MacType::Bits16
                                                : MacType::F32;
    // The low pass belongs to the product that the high one completes.
    if (Pass(instruction.sub[0]) == Pass::Low)
      return work;
    const TensorEngine &tensor = program.machine.tensor;
    work.multiplyAdds =
        uint64_t(moving.partitions) * dst.partitions * moving.elements();
    work.idealCycles = double(work.multiplyAdds) /
                       double(tensor.rows * tensor.columns) *
                       cyclesPerColumn(tensor, moving.dtype);
    return work;
  }
  if (isElementwise(instruction.op()))
    for (const OperandInfo &operand : opcodeInfo(instruction.opcode)->operands)
      if (const Access *access = program.access(instruction, operand.slot))
        work.elements =
            std::max(work.elements, access->partitions * access->elements());
  return work;
}

unsigned sim::ringOf(const Instruction &instruction) {
  for (const FieldInfo &field : opcodeInfo(instruction.opcode)->fields)
    if (field.kind == FieldKind::DmaRing)
      return getField(instruction, field.place);
  return 0;
}
