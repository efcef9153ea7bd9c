//===- Engines.cpp - when an engine starts its next instruction -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An instruction of a queue comes up (prepare), its engine is free for it and
// what it reads has been written (reach), its waits hold, nobody holds its port
// (compete), and it starts:
//
//   vector  copy 1   |stream 533 ns|gap 70|
//           copy 2                        |stream ...      its start: port free
//           add      reads what copy 2 wrote: starts 35 ns after copy 2 is done
//
// What lies between the end of one and the start of the next is put into the
// bucket of the reason at once, so the buckets of an engine have no hole.
//
//===----------------------------------------------------------------------===//

#include "Timer.h"

#include <algorithm>

using namespace facet;
using namespace facet::sim;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Buckets
//===----------------------------------------------------------------------===//

void Timer::account(unsigned q, Ticks until, Stall reason) {
  TimedQueue &queue = queues[q];
  if (until <= queue.accounted)
    return;
  result.engines[q].stalls[unsigned(reason)] += until - queue.accounted;
  queue.accounted = until;
}

/// The engine works until `until`, `slowed` of it because its clock is slow.
void Timer::busy(unsigned q, Ticks until, Ticks slowed) {
  TimedQueue &queue = queues[q];
  if (until <= queue.accounted)
    return;
  Ticks length = until - queue.accounted;
  slowed = std::min(slowed, length);
  result.engines[q].stalls[unsigned(Stall::Clock)] += slowed;
  result.engines[q].busy += length - slowed;
  queue.accounted = until;
}

void Timer::delay(TimedQueue &queue, Ticks until, Stall reason, Cause cause) {
  unsigned q = unsigned(&queue - queues.data());
  if (until <= queue.at)
    return;
  account(q, until, reason);
  queue.at = until;
  queue.reason = reason;
  queue.cause = cause;
}

//===----------------------------------------------------------------------===//
// What is known of an instruction beforehand
//===----------------------------------------------------------------------===//

void Timer::decode(unsigned q) {
  const Queue &queue = program.queues[q];
  result.executed.emplace_back(queue.code.size());
  if (options.record)
    queues[q].visits.resize(queue.code.size());
  for (size_t pc = 0; pc != queue.code.size(); ++pc) {
    const Instruction &i = queue.code[pc];
    Timed &t = queues[q].code[pc];
    t.silent = i.op() != Opcode::SetSemaphore && i.op() != Opcode::Drain;
    for (const Wait &wait : i.waits) {
      t.silent &= !wait.ref.present();
      if (i.op() == Opcode::LoadWeights && wait.ref.present()) {
        unsigned slots = wait.ref.ring() < 0
                             ? 1
                             : program.ringDepth(q, unsigned(wait.ref.ring()));
        for (unsigned s = 0; s != slots; ++s)
          if (wait.ref.base() + s < weightView.size())
            weightView[wait.ref.base() + s] = true;
      }
    }
    for (const Update &update : i.updates)
      t.silent &= !update.ref.present();
    switch (i.op()) {
    case Opcode::Nop:
    case Opcode::Loop:
    case Opcode::End:
    case Opcode::Advance:
    case Opcode::SetSemaphore:
    case Opcode::Drain:
      t.isControl = true;
      continue;
    default:
      break;
    }
    t.isTransfer = i.isTransfer();
    t.fillsTable =
        i.op() == Opcode::Activate && Timing::needsTable(Function(i.sub[0]));
    if (t.isTransfer || queue.engine == Engine::Tensor)
      continue;
    bool carries = i.op() == Opcode::Reduce ? i.has(flag::reduceCarry)
                                            : i.has(flag::accCarry);
    for (const OperandInfo &operand : opcodeInfo(i.opcode)->operands) {
      const Access *access = program.access(i, operand.slot);
      if (!access || access->space == Space::Index)
        continue;
      t.inPsum |= access->space == Space::Psum;
      uint8_t bit = uint8_t(1u << operand.slot);
      if (operand.mode != OperandMode::Read)
        t.writes |= bit;
      if (operand.mode == OperandMode::Read ||
          (operand.mode == OperandMode::Accumulate && carries))
        t.reads |= bit;
    }
  }
}

const Cost &Timer::costOf(unsigned q, unsigned pc, bool slow) {
  Timed &t = queues[q].code[pc];
  if (!t.known[slow]) {
    const Instruction &i = program.queues[q].code[pc];
    t.cost[slow] = timing.cost(program, q, i, slow);
    if (t.isTransfer)
      t.transfer = timing.transfer(program, q, i);
    t.known[slow] = true;
  }
  return t.cost[slow];
}

static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// A time of the present instruction, with its jitter.
Ticks Timer::longer(unsigned q, Ticks time) const {
  if (!options.jitterSeed)
    return time;
  return time + time / 1024 * Ticks(queues[q].lot % 257);
}

/// The bytes that an operand spans.
Span2d Timer::spanOf(const TimedQueue &queue, const Access &access) const {
  Span2d span;
  span.space = access.space;
  span.firstPartition = access.partition;
  span.lastPartition = access.partition + access.partitions - 1;
  span.low = access.offset + int64_t(queue.stream.value(access.affine));
  span.high = span.low;
  int64_t bytes = dtypeBytes(access.dtype);
  for (unsigned d = 0; d != access.rank; ++d) {
    int64_t reach = access.step[d] * (int64_t(access.count[d]) - 1) * bytes;
    (reach < 0 ? span.low : span.high) += reach;
  }
  span.high += bytes;
  return span;
}

//===----------------------------------------------------------------------===//
// Before the waits
//===----------------------------------------------------------------------===//

/// Goes to the next instruction that others take notice of, and says when its
/// queue has come to it.
void Timer::prepare(unsigned q) {
  TimedQueue &queue = queues[q];
  const bool tensor = program.queues[q].engine == Engine::Tensor;
  for (;;) {
    if (queue.stream.done()) {
      queue.phase = TimedQueue::Ended;
      return;
    }
    unsigned pc = queue.stream.at();
    const Instruction &i = queue.stream.now();
    const Timed &t = queue.code[pc];
    if (++steps > options.maxSteps) {
      find("SIM-STEPS",
           "the program is not at its end after " + Twine(options.maxSteps) +
               " instructions",
           int(q));
      stopped = true;
      return;
    }
    if (Ticks there = queue.fetcher.available(pc, queue.sequencer);
        there > queue.sequencer) {
      queue.sequencer = there;
      account(q, there, Stall::Fetch);
    }
    if (options.jitterSeed)
      queue.lot = mix(queue.lot ^ options.jitterSeed * (q + 1));
    queue.at = queue.ready = queue.sequencer;
    queue.reason = Stall::Idle;
    queue.cause = queue.before;
    queue.semaphore = -1;
    bool enabled = queue.stream.enabled();
    if (enabled && !(t.isControl && t.silent)) {
      queue.phase = TimedQueue::Pending;
      queue.released = false;
      queue.asked = 0;
      if (i.op() == Opcode::Drain)
        delay(queue, tensor ? std::max(queue.allDone, drained) : queue.allDone,
              Stall::Dependency, queue.before);
      else if (t.isTransfer) {
        if (queue.triggered)
          delay(queue, queue.lastTrigger + queue.spacing, Stall::Spacing,
                queue.before);
        delay(queue, queue.allDone, Stall::Dependency, queue.before);
      } else if (tensor && !t.isControl)
        prepareTensor(queue, i, t);
      else if (!t.isControl) {
        findWrites(queue, i, t);
        findBanks(queue, i, t);
      }
      queue.asked = queue.at;
      return;
    }
    // Nobody else takes notice: done with it at once.
    Ticks begin = queue.sequencer, time = 0;
    queue.stream.step(enabled);
    if (!enabled)
      time = timing.skip();
    else if (i.op() != Opcode::End || queue.stream.at() == i.imm[1] + 1)
      time = longer(q, costOf(q, pc, false).portFree);
    queue.sequencer = begin + time;
    account(q, queue.sequencer, Stall::Control);
    queue.allDone = std::max(queue.allDone, queue.sequencer);
    end = std::max(end, queue.sequencer);
    if (queue.sequencer > longestTime)
      return tooLong();
    ++(enabled ? result.engines[q].executed : result.engines[q].skipped);
    result.executed[q][pc] += enabled;
    if (!options.record)
      continue;
    uint32_t visit = queue.visits[pc]++;
    if (!enabled)
      continue;
    Span span{q, pc, visit, Stall::Idle, queue.before};
    span.ready = span.start = begin;
    span.sourceFree = span.portFree = span.done = begin + time;
    queue.before = {Cause::Instruction, uint32_t(result.spans.size())};
    result.spans.push_back(span);
  }
}

/// The two ports of the tensor engine (see Timing.h).
void Timer::prepareTensor(TimedQueue &queue, const Instruction &i,
                          const Timed &) {
  if (i.op() != Opcode::LoadWeights) {
    if (queue.port > queue.at) {
      queue.ready = queue.at = queue.port;
      queue.cause = streamer;
    }
    delay(queue, loaded, Stall::Weights, loader);
    return;
  }
  if (weightPort > queue.at) {
    queue.ready = queue.at = weightPort;
    queue.cause = loader;
  }
  delay(queue, place, Stall::Weights, placeHolder);
  if (machine.tensor.serialiseOnDrain)
    delay(queue, drained, Stall::Weights, placeHolder);
}

/// Results of its own queue that the instruction reads and that are on their way.
void Timer::findWrites(TimedQueue &queue, const Instruction &i,
                       const Timed &t) {
  Ticks same = timing.time().fromPs(machine.semaphore.sameEnginePs);
  llvm::erase_if(queue.writes, [&](const TimedQueue::Write &write) {
    return write.done + same <= queue.at;
  });
  for (unsigned slot = 0; slot != 5 && !queue.writes.empty(); ++slot) {
    if (!(t.reads >> slot & 1u))
      continue;
    Span2d read = spanOf(queue, *program.access(i, slot));
    for (const TimedQueue::Write &write : queue.writes)
      if (write.where.meets(read))
        delay(queue, write.done + same, Stall::Dependency, write.by);
  }
}

void Timer::findBanks(TimedQueue &queue, const Instruction &i, const Timed &t) {
  queue.banks = 0;
  if (!t.inPsum ||
      !(machine.psum.bankConflicts || machine.psum.vectorScalarExclusive))
    return;
  for (unsigned slot = 0; slot != 5; ++slot)
    if ((t.reads | t.writes) >> slot & 1u) {
      const Access &access = *program.access(i, slot);
      queue.banks |= psumBanks(machine, access,
                               int64_t(queue.stream.value(access.affine)));
    }
}

//===----------------------------------------------------------------------===//
// Waits and ports
//===----------------------------------------------------------------------===//

/// The queue has come to its instruction.
void Timer::reach(unsigned q, Ticks now) {
  if (queues[q].released || waitsHold(q))
    compete(q, now);
  else
    queues[q].phase = TimedQueue::Waiting;
}

/// The waits hold; whoever holds a port that it needs, and until when.
void Timer::compete(unsigned q, Ticks now) {
  TimedQueue &queue = queues[q];
  queue.phase = TimedQueue::Pending;
  const Timed &t = queue.code[queue.stream.at()];
  if (!queue.released)
    queue.asked = now;
  queue.released = true;
  if (t.fillsTable && table != queue.stream.now().sub[0]) {
    table = queue.stream.now().sub[0];
    delay(queue, now + timing.tableLoad(), Stall::Table, queue.before);
    if (queue.at > now)
      return;
  }
  // The engine's program has to take up a transfer that does not follow another.
  if (t.isTransfer && !queue.awake) {
    (void)costOf(q, queue.stream.at(), false);
    queue.awake = true;
    if (t.transfer.wake &&
        (!queue.triggered || now > queue.lastTrigger + queue.spacing)) {
      delay(queue, now + t.transfer.wake, Stall::Spacing, queue.before);
      return;
    }
  }
  Cause holder;
  Ticks free = conflict(q, now, holder);
  if (free > now)
    delay(queue, free, Stall::Port, holder);
  else
    start(q, now);
}

/// The instant from which the ports and banks that the next instruction of a
/// queue needs are free.
Ticks Timer::conflict(unsigned q, Ticks now, Cause &holder) const {
  const TimedQueue &queue = queues[q];
  const Timed &t = queue.code[queue.stream.at()];
  Engine engine = program.queues[q].engine;
  if (t.isControl || t.isTransfer || engine == Engine::Tensor)
    return now;
  Ticks free = now;
  for (unsigned o = 0; o != queues.size(); ++o) {
    const TimedQueue &other = queues[o];
    if (o == q || other.holdEnd <= free)
      continue;
    Engine its = program.queues[o].engine;
    auto pair = [&](Engine a, Engine b) {
      return (engine == a && its == b) || (engine == b && its == a);
    };
    bool fast = engine == Engine::Vector ? t.cost[0].fastMode : other.holdFast;
    bool excluded = false;
    if (pair(Engine::Vector, Engine::Gpsimd))
      excluded = machine.sbuf.vectorGpsimdExclusive ||
                 (machine.sbuf.fastModeExclusive && fast);
    else if (pair(Engine::Vector, Engine::Scalar))
      excluded =
          (machine.psum.vectorScalarExclusive && queue.banks &&
           other.holdBanks) ||
          (machine.psum.bankConflicts && (queue.banks & other.holdBanks));
    if (excluded) {
      free = other.holdEnd;
      holder = other.holder;
    }
  }
  return free;
}

//===----------------------------------------------------------------------===//
// The start
//===----------------------------------------------------------------------===//

void Timer::start(unsigned q, Ticks now) {
  TimedQueue &queue = queues[q];
  const Instruction &i = queue.stream.now();
  unsigned pc = queue.stream.at();
  const Timed &t = queue.code[pc];
  EngineTime &engine = result.engines[q];
  const bool tensor = program.queues[q].engine == Engine::Tensor;

  Cause self;
  if (options.record)
    self = {Cause::Instruction, uint32_t(result.spans.size())};
  Cost full = costOf(q, pc, false), cost = full;
  if (tensor && !t.isControl) {
    bool slow = clock.slowAt(now);
    if (i.op() == Opcode::LoadWeights && firstLoad)
      cost = full = timing.firstLoadCost(program, q, i, slow);
    else if (slow)
      cost = costOf(q, pc, true);
    if (i.op() != Opcode::LoadWeights) {
      ++result.matmuls;
      result.matmulsAtFullRate += !slow;
    }
  }
  if (options.jitterSeed)
    for (Ticks Cost::*instant :
         {&Cost::issue, &Cost::sourceFree, &Cost::portFree, &Cost::done})
      cost.*instant = longer(q, cost.*instant);
  account(q, now + cost.issue, Stall::Issue);

  ++engine.executed;
  ++result.executed[q][pc];
  if (tensor && !t.isControl)
    startTensor(q, i, now, cost, full);
  else {
    queue.sequencer = now + cost.portFree;
    if (t.isControl)
      account(q, queue.sequencer, Stall::Control);
    else
      busy(q, queue.sequencer, 0);
  }
  if (t.isTransfer)
    startTransfer(q, i, t, now, self);
  else {
    queue.allDone = std::max(queue.allDone, now + cost.done);
    end = std::max(end, now + std::max(cost.done, cost.portFree));
    update(q, i, now + cost.done, self);
  }
  for (unsigned slot = 0; slot != 5; ++slot)
    if (t.writes >> slot & 1u)
      queue.writes.push_back(
          {spanOf(queue, *program.access(i, slot)), now + cost.done, self});
  if (t.reads | t.writes) {
    queue.holdEnd = now + cost.sourceFree;
    queue.holdFast = cost.fastMode;
    queue.holdBanks = queue.banks;
    queue.holder = self;
  }

  if (options.record) {
    Span span{
        q, pc, queue.visits[pc]++, queue.reason, queue.cause, queue.semaphore};
    span.ready = queue.ready;
    span.start = now;
    span.sourceFree = now + cost.sourceFree;
    span.portFree = now + cost.portFree;
    span.done = now + cost.done;
    result.spans.push_back(span);
    queue.before = self;
  }
  queue.stream.step(true);
  prepare(q);
}

void Timer::startTensor(unsigned q, const Instruction &i, Ticks now,
                        const Cost &cost, const Cost &full) {
  TimedQueue &queue = queues[q];
  EngineTime &engine = result.engines[q];
  queue.sequencer = now + cost.issue;
  Cause self = options.record
                   ? Cause{Cause::Instruction, uint32_t(result.spans.size())}
                   : Cause{};
  if (i.op() == Opcode::LoadWeights) {
    firstLoad = false;
    weightPort = now + cost.portFree;
    loaded = now + cost.ready;
    loader = self;
    loadUsed = false;
    place = 0;
    engine.loading += cost.portFree - cost.issue;
    return;
  }
  queue.port = now + cost.portFree;
  streamer = self;
  busy(q, queue.port, cost.portFree - full.portFree);
  engine.work += full.work;
  clock.stream(now + cost.issue, now + cost.sourceFree, cost.work);
  drained = std::max(drained, now + cost.done);
  if (!machine.tensor.shadowWeights) {
    place = queue.port;
    placeHolder = self;
  } else if (!loadUsed) {
    place = now + timing.weightDelay();
    placeHolder = self;
  }
  loadUsed = true;
}

void Timer::startTransfer(unsigned q, const Instruction &i, const Timed &t,
                          Ticks now, Cause self) {
  TimedQueue &queue = queues[q];
  queue.triggered = true;
  queue.awake = false;
  queue.lastTrigger = now;
  queue.spacing = t.transfer.spacing;
  Transfer transfer{&i, q, {}, 0};
  bool updates = false;
  for (unsigned u = 0; u != 2; ++u) {
    updates |= i.updates[u].ref.present();
    transfer.semaphores[u] = queue.stream.semaphore(i.updates[u].ref);
  }
  uint64_t engines = uint64_t(machine.dma.engines);
  uint64_t perEngine = uint64_t(machine.dma.partitionsPerEngine);
  transfer.shares = int64_t(
      updates
          ? engines
          : std::min(engines, (t.transfer.rows + perEngine - 1) / perEngine));
  uint32_t id = uint32_t(transfers.size());
  if (unused.empty()) {
    transfers.push_back(transfer);
  } else {
    id = unused.back();
    unused.pop_back();
    transfers[id] = transfer;
  }
  if (++underWay > mostUnderWay) {
    find("SIM-MEMORY",
         "more than " + Twine(mostUnderWay) +
             " transfers are under way at once",
         int(q));
    stopped = true;
    return;
  }
  Ticks ready = now + longer(q, t.transfer.firstData + t.transfer.lag);
  end = std::max({end, ready, now + t.transfer.issue});
  if (options.record) {
    TransferSpan span;
    span.span = self.index;
    span.ring = i.sub[0];
    span.ready = span.start = span.dataDone = span.done = ready;
    span.cause = self;
    result.transfers.push_back(span);
  }
  dma.add(id, t.transfer, i.sub[0], updates, ready);
}
