//===- Rings.cpp - who writes and who reads a ring ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds for every ring what synchronisation needs, from its slots' uses alone:
//
//   %a = acquire %r … dma_copy(dst = %a) on sync     writer: sync's transfers, 16 each
//   %b = wait %r    … matmul(moving = %b)            reader: tensor, 1 per round
//
//   -> full[slot]: 16 more every round, free[slot]: 1 more every round
//
// and holds the program to the rules: one writer, slots closed in the order they were
// opened, as many waited for as committed, nothing open at a barrier.
//
//===----------------------------------------------------------------------===//

#include "Rings.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

Agent engine::agentOf(IssueOp op) {
  return {Engine(op.getQueue()), op.isTransfer()};
}

int64_t engine::tripsWithin(Operation *op, Block *outermost) {
  int64_t trips = 1;
  for (Block *block = op->getBlock(); block != outermost;
       block = block->getParentOp()->getBlock())
    trips *= cast<ForOp>(block->getParentOp()).getTrips();
  return trips;
}

const Cursor *Ring::cursor(Engine queue, bool writes) const {
  auto at = llvm::find_if(cursors, [&](const Cursor &cursor) {
    return cursor.queue == queue && cursor.writes == writes;
  });
  return at == cursors.end() || at->registers.empty() ? nullptr : &*at;
}

namespace {
class Analysis {
public:
  Analysis(ProgramOp program, const Machine &machine)
      : program(program), machine(machine) {}
  LogicalResult run();
  Rings rings;

private:
  LogicalResult visitBlock(Block &block);
  LogicalResult visitSlot(Ring &ring, Value slot, bool written);
  LogicalResult checkSides();
  Ring &ringOf(Operation &op) {
    Ring &ring = rings[op.getOperand(0)];
    if (ring.firstStage < 0)
      ring.firstStage = stage;
    ring.lastStage = stage;
    return ring;
  }

  ProgramOp program;
  const Machine &machine;
  int stage = 0;
  /// Product of the trips around the block being visited.
  int64_t times = 1;
  /// Slots open on each side, by ring; what was opened since there was none.
  llvm::DenseMap<Value, std::array<unsigned, 2>> open, opened;
  llvm::DenseMap<Value, std::array<int64_t, 2>> total;
  /// Slots acquired and not yet released, in the order of the text.
  llvm::DenseMap<Value, int64_t> held;
};
} // namespace

/// The uses of a slot, through views.
static SmallVector<std::pair<IssueOp, unsigned>> usesOf(Value slot) {
  SmallVector<OpOperand *> newestFirst;
  for (OpOperand &use : slot.getUses())
    newestFirst.push_back(&use);
  SmallVector<std::pair<IssueOp, unsigned>> uses;
  for (OpOperand *use : llvm::reverse(newestFirst)) {
    if (auto view = dyn_cast<ViewOp>(use->getOwner()))
      llvm::append_range(uses, usesOf(view.getResult()));
    else if (auto issue = dyn_cast<IssueOp>(use->getOwner()))
      uses.push_back({issue, use->getOperandNumber()});
  }
  return uses;
}

/// The writer's or the readers' share in one slot of the ring.
LogicalResult Analysis::visitSlot(Ring &ring, Value slot, bool written) {
  StringRef name = ring.op.getName();
  llvm::SmallMapVector<unsigned, int64_t, 4> transfers; // by queue
  for (auto [issue, tile] : usesOf(slot)) {
    Agent agent = agentOf(issue);
    bool writes = issue.writes(tile);
    if (writes && !written)
      return issue.emitOpError("writes a slot of ring '")
             << name << "' that it waited for; acquire is for writing";
    if (agent.transfers) {
      if (issue.getCondition())
        return issue.emitOpError("is a transfer under a condition; how much of "
                                 "ring '")
               << name << "' it fills must be known";
      transfers[unsigned(agent.queue)] +=
          tripsWithin(issue, slot.getParentBlock());
    }
    if (written) {
      if (!ring.writer)
        ring.writer = agent;
      if (!(*ring.writer == agent))
        return issue.emitOpError("makes a second writer of ring '")
               << name << "'; one engine, or transfers of one queue, fill it";
      continue;
    }
    if (llvm::none_of(ring.readers,
                      [&](const Reader &r) { return r.agent == agent; }))
      ring.readers.push_back({agent, agent.transfers ? 0 : 1, std::nullopt});
  }
  int64_t engines = machine.dma.engines;
  for (auto [queue, count] : transfers) {
    if (written) {
      ring.perRound = std::max(ring.perRound, count * engines);
      continue;
    }
    for (Reader &reader : ring.readers)
      if (reader.agent == Agent{Engine(queue), true})
        reader.perRound = std::max(reader.perRound, count * engines);
  }
  return success();
}

LogicalResult Analysis::visitBlock(Block &block) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<ForOp>(op)) {
      llvm::DenseMap<Value, int64_t> before = held;
      times *= int64_t(loop.getTrips());
      if (failed(visitBlock(*loop.getBody())))
        return failure();
      times /= int64_t(loop.getTrips());
      // What a loop leaves behind grows with its trips.
      for (auto [key, count] : held)
        if (count != before.lookup(key))
          rings[key].least = rings[key].depth();
      continue;
    }
    if (isa<BarrierOp>(op)) {
      for (auto &[ring, sides] : open)
        if (sides[0] || sides[1])
          return op.emitOpError("finds slots of ring '")
                 << rings[ring].op.getName() << "' open";
      ++stage;
      continue;
    }
    if (!isa<AcquireOp, CommitOp, WaitOp, ReleaseOp>(op))
      continue;
    Ring &ring = ringOf(op);
    Value key = op.getOperand(0);
    bool reads = isa<WaitOp, ReleaseOp>(op);
    if (isa<AcquireOp, WaitOp>(op)) {
      unsigned now = ++open[key][reads];
      unsigned &since = opened[key][reads];
      // Slots are counted from the moment when none was open: another may only be
      // opened while the first still is.
      since = now == 1 ? 1 : since + 1;
      ring.window[reads] = std::max(ring.window[reads], since);
      total[key][reads] += times;
      if (now > ring.depth())
        return op.emitOpError("opens slot ")
               << now << " of ring '" << ring.op.getName() << "', which has "
               << ring.depth();
      if (!reads)
        ring.least = std::max(ring.least, ++held[key]);
      if (failed(visitSlot(ring, op.getResult(0), !reads)))
        return failure();
    } else if (open[key][reads]-- == 0) {
      return op.emitOpError("closes a slot of ring '")
             << ring.op.getName() << "'; none is open";
    }
    if (isa<ReleaseOp>(op))
      --held[key];
  }
  return success();
}

LogicalResult Analysis::checkSides() {
  for (auto &[key, ring] : rings) {
    if (open[key][0] || open[key][1])
      return ring.op.emitOpError("has slots open at the end");
    if (total[key][0] != total[key][1])
      return ring.op.emitOpError("is filled ")
             << total[key][0] << " times and read " << total[key][1]
             << " times";
    ring.rounds = total[key][0];
    if (ring.rounds && !ring.writer)
      return ring.op.emitOpError("is read, but nothing writes it");
    // At full speed a reader at the far end needs the counters for every round.
    int64_t most = std::max<int64_t>(ring.perRound, 1);
    for (Reader &reader : ring.readers)
      most = std::max(most, reader.perRound);
    if (most > INT16_MAX)
      return ring.op.emitOpError("takes ")
             << most / machine.dma.engines << " transfers for a slot; at most "
             << INT16_MAX / machine.dma.engines << " can be counted";
    if (most * ring.fillsOf(0, ring.rounds) > machine.semaphore.maxValue)
      return ring.op.emitOpError("is filled ")
             << ring.rounds << " times; a semaphore counts to "
             << machine.semaphore.maxValue << " only";
  }
  return success();
}

LogicalResult Analysis::run() {
  for (auto ring : program.getBody()->getOps<RingOp>()) {
    rings[ring.getResult()].op = ring;
    rings[ring.getResult()].most = rings[ring.getResult()].depth();
  }
  return success(succeeded(visitBlock(*program.getBody())) &&
                 succeeded(checkSides()));
}

FailureOr<Rings> engine::analyseRings(ProgramOp program,
                                      const Machine &machine) {
  Analysis analysis(program, machine);
  if (failed(analysis.run()))
    return failure();
  return std::move(analysis.rings);
}
