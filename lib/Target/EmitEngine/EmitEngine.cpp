//===- EmitEngine.cpp - engine programs become queues ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk in the order of the text adds every instruction to the queue of its
// engine, and loops to every queue that has something inside:
//
//   for 8 {                      sync:  loop 8 { dma_copy …; advance }
//     sync dma_copy              vector: loop 8 { tensor_tensor …; advance }
//     vector tensor_tensor
//   }
//
// Slots.cpp makes waits and updates of what rings say, Instructions.cpp the operands.
//
//===----------------------------------------------------------------------===//

#include "facet/Target/EmitEngine.h"
#include "Emitter.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

LogicalResult Emitter::emitIssue(IssueOp op) {
  const OpcodeInfo &info = *opcodeByMnemonic(op.getMnemonic());
  Engine queue = Engine(op.getQueue());
  Agent agent = agentOf(op);
  Instruction instruction = ProgramBuilder::make(info.opcode);
  for (NamedAttribute field : op.getFields().getValue())
    if (failed(setField(op, info, field, instruction)))
      return failure();

  SmallVector<Wait> waits;
  SmallVector<Update> updates;
  SmallVector<Slot *> touched;
  for (auto [i, tile] : llvm::enumerate(op.getTiles())) {
    auto view = tile.getDefiningOp<ViewOp>();
    Value root = view ? view.getSource() : tile;
    auto at = slots.find(root);
    Memory memory = cast<TileType>(root.getType()).getMemory();
    bool onChip = memory == Memory::Sbuf || memory == Memory::Psum;
    if (onChip && at == slots.end())
      return op.emitOpError("uses a slot after it was closed");
    setOperand(op, i, instruction);
    if (!onChip)
      continue;
    Slot &slot = at->second;
    if (llvm::is_contained(touched, &slot))
      continue;
    touched.push_back(&slot);
    waits.append(waitsOf(slot, agent));
    if (!agent.transfers)
      continue;
    const Ring &ring = *slot.ring;
    const std::optional<Row> &row =
        slot.writes ? ring.full
                    : llvm::find_if(ring.readers, [&](const Reader &reader) {
                        return reader.agent == agent;
                      })->free;
    if (row)
      updates.push_back({semaphore(*row, ring, slot, queue), 1});
    slot.transfers[unsigned(queue)] += tripsWithin(op, slot.block);
  }

  bool conditional = op.getCondition().has_value();
  instruction.predicate = predicateOf(op);
  uint32_t location = locationOf(op.getLoc(), op.getMnemonic());
  // An instruction under a condition must not be the one that waits for others.
  size_t room = conditional ? 0 : 2, next = 0;
  while (waits.size() - next > room) {
    Instruction nop = ProgramBuilder::make(Opcode::Nop);
    for (unsigned i = 0; i < 2 && next < waits.size(); ++i)
      nop.waits[i] = waits[next++];
    builder.add(queue, nop, location);
  }
  for (unsigned i = 0; next < waits.size(); ++i)
    instruction.waits[i] = waits[next++];
  if (updates.size() > 2)
    return op.emitOpError("touches more rings than an instruction can update");
  for (auto [i, update] : llvm::enumerate(updates))
    instruction.updates[i] = update;
  uint32_t pc = builder.add(queue, instruction, location);
  for (Slot *slot : touched)
    if (!agent.transfers)
      slot->last[unsigned(queue)] =
          op->getBlock() == slot->block && !conditional ? int64_t(pc) : -1;
  return success();
}

void Emitter::collectQueues(Block &block, llvm::SmallSet<unsigned, 8> &queues) {
  for (Operation &op : block) {
    if (auto issue = dyn_cast<IssueOp>(op))
      queues.insert(unsigned(issue.getQueue()));
    else if (auto loop = dyn_cast<ForOp>(op))
      collectQueues(*loop.getBody(), queues);
    else if (isa<AcquireOp, CommitOp>(op)) {
      if (const Ring &ring = rings[op.getOperand(0)]; ring.writer)
        queues.insert(unsigned(ring.writer->queue));
    } else if (isa<WaitOp, ReleaseOp>(op)) {
      for (const Reader &reader : rings[op.getOperand(0)].readers)
        queues.insert(unsigned(reader.agent.queue));
    }
  }
}

LogicalResult Emitter::emitLoop(ForOp loop) {
  llvm::SmallSet<unsigned, 8> queues;
  collectQueues(*loop.getBody(), queues);
  if (loop.getTrips() > UINT32_MAX)
    return loop.emitOpError("runs more often than a loop can count");
  for (unsigned queue : queues) {
    if (loops[queue].size() == maxLoops)
      return loop.emitOpError("is nested deeper than ")
             << maxLoops << " loops on " << engineName(Engine(queue));
    loops[queue].push_back(loop);
    builder.loop(Engine(queue), loop.getTrips(),
                 locationOf(loop.getLoc(), "loop"));
  }
  times *= int64_t(loop.getTrips());
  LogicalResult result = emitBlock(*loop.getBody());
  times /= int64_t(loop.getTrips());
  for (unsigned queue : queues) {
    loops[queue].pop_back();
    builder.end(Engine(queue));
  }
  return result;
}

LogicalResult Emitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    if (isa<AcquireOp, WaitOp>(op))
      open(op, isa<AcquireOp>(op));
    else if (isa<CommitOp, ReleaseOp>(op))
      close(op, isa<CommitOp>(op));
    else if (isa<BarrierOp>(op))
      emitBarrier(op);
    else if (auto loop = dyn_cast<ForOp>(op)) {
      if (failed(emitLoop(loop)))
        return failure();
    } else if (auto issue = dyn_cast<IssueOp>(op)) {
      if (failed(emitIssue(issue)))
        return failure();
    }
  }
  return success();
}

FailureOr<Program> Emitter::run() {
  unsigned numSemaphores = 0;
  bool barriers = !program.getBody()->getOps<BarrierOp>().empty();
  if (barriers)
    barrier = numSemaphores++;
  FailureOr<Rings> analysed = analyseRings(program, machine);
  if (failed(analysed))
    return failure();
  rings = std::move(*analysed);
  if (failed(giveCounters(rings, machine, numSemaphores)) ||
      failed(placeRings(rings, machine)) || failed(declareBuffers()))
    return failure();
  declareSemaphores(numSemaphores);
  declareCursors();
  builder.note("kernel", program.getSymName().str());
  prepareCounters();
  if (failed(emitBlock(*program.getBody())))
    return failure();
  Program result = builder.finish();
  if (barriers) {
    result.semaphores[barrier].name = "barrier";
    result.semaphores[barrier].final = int32_t(barrierValue);
  }
  return result;
}

FailureOr<Program> facet::emitEngine(ProgramOp program,
                                     const Machine &machine) {
  if (!machine.isEngine())
    return program.emitOpError("is for machine '")
           << machine.name << "', which is no matrix engine";
  return Emitter(program, machine).run();
}

FailureOr<double> facet::lackOfRoom(ProgramOp program, const Machine &machine) {
  FailureOr<Rings> rings = analyseRings(program, machine);
  unsigned numSemaphores = 1; // the barrier's
  if (failed(rings) || failed(giveCounters(*rings, machine, numSemaphores)) ||
      failed(placeRings(*rings, machine)))
    return failure();
  return lossOf(*rings);
}
