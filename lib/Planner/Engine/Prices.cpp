//===- Prices.cpp - what the instructions of a stage cost -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes an instruction of the shape that the lowering would emit and asks Isa/Timing,
// so that planner and simulator never disagree about one instruction:
//
//   matmul(bf16, 128, 512)   trn2: port 215.9 ns, done 379.3 ns
//
//===----------------------------------------------------------------------===//

#include "Prices.h"
#include "facet/Isa/Builder.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

/// `rows` partitions or rows of elements in the given dimensions.
static Access access(Space space, Type type, int64_t rows,
                     ArrayRef<int64_t> counts, ArrayRef<int64_t> steps) {
  Access result;
  result.space = space;
  result.dtype = *dtypeOf(type);
  result.partitions = uint32_t(rows);
  result.rank = uint8_t(counts.size());
  for (size_t d = 0; d < counts.size(); ++d) {
    result.count[d] = uint32_t(counts[d]);
    result.step[d] = steps[d];
  }
  return result;
}

Work Prices::price(Engine engine, const Instruction &instruction,
                   ArrayRef<Access> accesses, bool slow) const {
  Program program;
  program.accesses.assign(accesses.begin(), accesses.end());
  program.queues.push_back({0, engine, {}, {}});
  Cost cost = timing.cost(program, 0, instruction, slow);
  return {ns(cost.portFree), ns(cost.done)};
}

static Instruction instructionOf(Opcode opcode, unsigned operands) {
  Instruction result = ProgramBuilder::make(opcode);
  for (unsigned i = 0; i < operands; ++i)
    result.operands[i] = i + 1;
  return result;
}

Work Prices::loadWeights(Type type, int64_t columns) const {
  Access weights =
      access(Space::Sbuf, type, machine.tensor.rows, {columns}, {1});
  Program program;
  program.accesses = {weights};
  program.queues.push_back({0, Engine::Tensor, {}, {}});
  Cost cost =
      timing.cost(program, 0, instructionOf(Opcode::LoadWeights, 1), false);
  return {ns(cost.portFree), ns(cost.ready)};
}

Work Prices::matmul(Type type, int64_t rows, int64_t columns, bool slow) const {
  Type f32 = Float32Type::get(type.getContext());
  return price(Engine::Tensor, instructionOf(Opcode::Matmul, 2),
               {access(Space::Psum, f32, rows, {columns}, {1}),
                access(Space::Sbuf, type, machine.tensor.rows, {columns}, {1})},
               slow);
}

Work Prices::evict(QueueKind queue, Type to, int64_t columns) const {
  Type f32 = Float32Type::get(to.getContext());
  bool onScalar = queue == QueueKind::Scalar;
  return price(
      onScalar ? Engine::Scalar : Engine::Vector,
      instructionOf(onScalar ? Opcode::Activate : Opcode::Copy, 2),
      {access(Space::Sbuf, to, machine.core.partitions, {columns}, {1}),
       access(Space::Psum, f32, machine.core.partitions, {columns}, {1})});
}

Work Prices::addIntegers(int64_t columns) const {
  Access tile{};
  tile.space = Space::Sbuf;
  tile.dtype = DType::I32;
  tile.partitions = uint32_t(machine.core.partitions);
  tile.rank = 1;
  tile.count[0] = uint32_t(columns);
  tile.step[0] = 1;
  return price(Engine::Gpsimd, instructionOf(Opcode::TensorTensor, 3),
               {tile, tile, tile});
}

double Prices::hop(bool fromTransfer) const {
  return ns(timing.hop(fromTransfer, Instruction()));
}

Move Prices::price(QueueKind queue, Opcode opcode, const Access &dst,
                   const Access &src) const {
  Program program;
  program.accesses = {dst, src};
  program.queues.push_back({0, Engine(uint32_t(queue)), {}, {}});
  TransferCost cost = timing.transfer(program, 0, instructionOf(opcode, 2));
  // Rows of the first engine, which has the most.
  uint64_t group = uint64_t(machine.dma.partitionsPerEngine);
  uint64_t round = group * uint64_t(machine.dma.engines);
  uint64_t rounds = cost.rows / round;
  double rows = double(rounds * group + std::min(group, cost.rows % round));
  double packets =
      double(cost.row.full) *
          ns(timing.packetNext(cost.row.fullBytes, cost.ratePercent)) +
      double(cost.row.tails) *
          ns(timing.packetNext(cost.row.tailBytes, cost.ratePercent));
  Move move;
  move.bytes = double(cost.rows * cost.row.bytes());
  // 0: no cap.
  double sustained = double(machine.dma.sustainedMBs) / 1e3;
  move.busy =
      std::max(ns(cost.open) + rows * packets + ns(timing.semaphoreWrite()),
               sustained > 0 ? move.bytes / sustained : 0);
  move.issue = ns(std::max(cost.issue, cost.spacing));
  move.latency = ns(cost.wake + cost.firstData + cost.lag);
  return move;
}

Move Prices::load(const Factor &factor, Load how, QueueKind queue,
                  int64_t depth, int64_t steps, int64_t width) const {
  if (how == Load::Transpose) {
    // One instruction for each step.
    Move move = price(queue, Opcode::DmaTranspose,
                      access(Space::Sbuf, factor.type, depth, {width}, {1}),
                      access(Space::Hbm, factor.stored, width, {depth}, {1}));
    move.busy *= double(steps);
    move.bytes *= double(steps);
    move.issue *= double(steps);
    return move;
  }
  // Which stride does not matter as long as neighbours are none.
  int64_t apart = factor.isDense ? 1 : 2 * machine.tensor.rows;
  return price(
      queue, Opcode::DmaCopy,
      access(Space::Sbuf, factor.type, depth, {steps, width}, {2 * width, 1}),
      access(Space::Hbm, factor.stored, depth, {steps, width},
             {2 * width * apart, apart}));
}

Move Prices::loadTile(Type type, int64_t rows, int64_t columns,
                      bool dense) const {
  int64_t apart = dense ? 1 : 2 * machine.tensor.rows;
  return price(QueueKind::Sync, Opcode::DmaCopy,
               access(Space::Sbuf, type, rows, {columns}, {1}),
               access(Space::Hbm, type, rows, {columns}, {apart}));
}

Move Prices::store(Type type, int64_t rows, int64_t columns, bool dense,
                   QueueKind queue) const {
  int64_t apart = dense ? 1 : 2 * machine.tensor.rows;
  return price(queue, Opcode::DmaCopy,
               access(Space::Hbm, type, rows, {columns}, {apart}),
               access(Space::Sbuf, type, rows, {columns}, {1}));
}
