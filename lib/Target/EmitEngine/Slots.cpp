//===- Slots.cpp - waits and updates of slots -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The four words of rings and barriers as waits, updates and steps of ring registers:
//
//   %a = acquire %r         the writer's first use of %a:  wait(free[r0] >= 1*round)
//   dma_copy(dst = %a)                                     update(full[r0] += 1)
//   commit %r                                              advance r0
//   %b = wait %r            the reader's first use of %b:  wait(full[r0] >= 16 + 16*round)
//   matmul(moving = %b)     the last use before release:   update(free[r0] += 1)
//   release %r                                             advance r0
//
// A wait in a loop whose slot is opened outside holds at once after the first time.
// What finds no place in an instruction rides on a nop.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

SemaphoreRef Emitter::semaphore(const Row &row, const Ring &ring,
                                const Slot &slot, Engine queue) {
  const Cursor *cursor = ring.cursor(queue, slot.writes);
  return SemaphoreRef::get(
      row.first, cursor ? int(cursor->registers[slot.position].number) : -1);
}

/// What `agent` waits for before it uses the slot for the first time.
SmallVector<Wait> Emitter::waitsOf(Slot &slot, Agent agent) {
  SmallVector<Wait> waits;
  if (llvm::is_contained(slot.waited, agent))
    return waits;
  slot.waited.push_back(agent);
  Ring &ring = *slot.ring;
  auto add = [&](const Row &row, int64_t first, int64_t perRound) {
    Wait wait;
    wait.ref = semaphore(row, ring, slot, agent.queue);
    wait.value = row.base + first;
    if (const Cursor *cursor = ring.cursor(agent.queue, slot.writes)) {
      wait.perRound = perRound;
      wait.value -= perRound * cursor->registers[slot.position].rounds;
    }
    waits.push_back(wait);
  };
  if (!slot.writes) {
    if (ring.full && !ring.inOrder(agent))
      add(*ring.full, ring.perRound, ring.perRound);
  } else if (ring.rounds > ring.slots()) {
    for (const Reader &reader : ring.readers)
      if (reader.free)
        add(*reader.free, 0, reader.perRound);
  }
  return waits;
}

void Emitter::open(Operation &op, bool writes) {
  Value key = op.getOperand(0), root = op.getResult(0);
  SmallVector<Value> &others = openSlots[writes][key];
  unsigned &since = opened[writes][key];
  since = others.empty() ? 1 : since + 1;
  others.push_back(root);
  Slot &slot = slots[root];
  slot = Slot();
  slot.ring = &rings[key];
  slot.writes = writes;
  slot.position = since - 1;
  slot.block = op.getBlock();
}

/// Puts an update on an instruction that was emitted, or on a nop.
void Emitter::addUpdate(Engine queue, int64_t pc, Update update,
                        mlir::Location location) {
  if (pc >= 0) {
    Instruction &instruction = builder.get().queue(queue).code[pc];
    for (Update &place : instruction.updates)
      if (!place.ref.present()) {
        place = update;
        return;
      }
  }
  Instruction nop = ProgramBuilder::make(Opcode::Nop);
  nop.updates[0] = update;
  builder.add(queue, nop, locationOf(location, "nop"));
}

void Emitter::advance(Engine queue, unsigned number, int64_t steps,
                      uint32_t location) {
  Instruction advance = ProgramBuilder::make(Opcode::Advance);
  advance.sub[0] = number;
  advance.imm[0] = steps;
  builder.add(queue, advance, location);
}

void Emitter::close(Operation &op, bool writes) {
  Value key = op.getOperand(0);
  Ring &ring = rings[key];
  SmallVector<Value> &others = openSlots[writes][key];
  Slot &slot = slots[others.front()];
  auto give = [&](Agent agent, const std::optional<Row> &row,
                  int64_t perRound) {
    if (!row)
      return;
    Update update{semaphore(*row, ring, slot, agent.queue), 1};
    unsigned queue = unsigned(agent.queue);
    if (!agent.transfers) {
      auto at = slot.last.find(queue);
      addUpdate(agent.queue, at == slot.last.end() ? -1 : at->second, update,
                op.getLoc());
      return;
    }
    // Transfers have counted themselves; a slot that took fewer of them than
    // others counts up to the same number.
    int64_t missing =
        perRound - slot.transfers.lookup(queue) * machine.dma.engines;
    if (missing) {
      update.amount = missing;
      addUpdate(agent.queue, -1, update, op.getLoc());
    }
  };
  if (writes) {
    filled[key] += times;
    if (ring.writer)
      give(*ring.writer, ring.full, ring.perRound);
  } else {
    for (const Reader &reader : ring.readers)
      give(reader.agent, reader.free, reader.perRound);
  }
  slots.erase(others.front());
  others.erase(others.begin());
  if (!others.empty())
    return;
  for (const Cursor &cursor : ring.cursors) {
    if (cursor.writes != writes)
      continue;
    for (const Register &own : cursor.registers)
      advance(cursor.queue, own.number, opened[writes][key],
              locationOf(op.getLoc(), "advance"));
  }
}

/// Transfers out of rings end, then every queue waits for every other.
void Emitter::emitBarrier(Operation &op) {
  uint32_t location = locationOf(op.getLoc(), "barrier");
  for (auto &[key, ring] : rings)
    for (const Reader &reader : ring.readers) {
      if (!reader.agent.transfers || ring.lastStage != stage)
        continue;
      for (int64_t slot = 0; slot < ring.slots(); ++slot) {
        Instruction nop = ProgramBuilder::make(Opcode::Nop);
        nop.waits[0].ref = SemaphoreRef::get(reader.free->first + slot);
        nop.waits[0].value = reader.free->base +
                             reader.perRound * ring.fillsOf(slot, filled[key]);
        builder.add(reader.agent.queue, nop, location);
      }
    }
  ++stage;
  SmallVector<Engine> queues;
  for (const Queue &queue : builder.get().queues)
    queues.push_back(queue.engine);
  barrierValue += queues.size();
  for (Engine queue : queues) {
    Instruction drain = ProgramBuilder::make(Opcode::Drain);
    drain.updates[0] = {SemaphoreRef::get(barrier), 1};
    builder.add(queue, drain, location);
  }
  for (unsigned queue = 0; queue < numEngines; ++queue) {
    Instruction nop = ProgramBuilder::make(Opcode::Nop);
    nop.waits[0].ref = SemaphoreRef::get(barrier);
    nop.waits[0].value = barrierValue;
    builder.add(Engine(queue), nop, location);
  }
  prepareCounters();
}

/// Brings the counters of the rings that begin in this stage to where they expect
/// them: registers one slot after the other, semaphores of a row to one value.
void Emitter::prepareCounters() {
  for (auto &entry : rings) {
    const Ring &ring = entry.second;
    if (ring.firstStage != stage)
      continue;
    for (const Cursor &cursor : ring.cursors)
      for (const Register &own : cursor.registers)
        if (own.steps)
          advance(cursor.queue, own.number, own.steps, 0);
    auto fill = [&](const std::optional<Row> &row) {
      for (auto [slot, amount] :
           llvm::enumerate(row ? ArrayRef(row->missing) : ArrayRef<int64_t>()))
        if (amount)
          addUpdate(ring.writer->queue, -1,
                    {SemaphoreRef::get(row->first + slot), int16_t(amount)},
                    RingOp(ring.op).getLoc());
    };
    fill(ring.full);
    for (const Reader &reader : ring.readers)
      fill(reader.free);
  }
}
