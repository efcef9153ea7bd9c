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

/// The next instruction cannot start before `until`.
void Timer::delay(unsigned q, Ticks until, Stall reason, Cause cause) {
  TimedQueue &queue = queues[q];
  if (until <= queue.at)
    return;
  account(q, until, reason);
  queue.at = until;
  queue.reason = reason;
  queue.cause = cause;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

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
  return time +
         time / 1024 * Ticks(queues[q].lot % 257) * options.jitterQuarters;
}

//===----------------------------------------------------------------------===//
// Before the waits
//===----------------------------------------------------------------------===//

/// Goes to the next instruction that others take notice of, and says when its
/// queue has come to it.
void Timer::prepare(unsigned q) {
  TimedQueue &queue = queues[q];
  while (!stopped) {
    if (queue.stream.done()) {
      queue.phase = TimedQueue::Ended;
      return;
    }
    if (++steps > options.maxSteps) {
      find("SIM-STEPS",
           "the program is not at its end after " + Twine(options.maxSteps) +
               " instructions",
           int(q));
      stopped = true;
      return;
    }
    if (Ticks there =
            queue.fetcher.available(queue.stream.at(), queue.sequencer);
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
    const Timed &t = queue.code[queue.stream.at()];
    bool enabled = queue.stream.enabled();
    if (!enabled || t.isSilent) {
      finishSilent(q, enabled);
      continue;
    }
    queue.phase = TimedQueue::Pending;
    queue.released = false;
    if (queue.stream.now().op() == Opcode::Drain)
      delay(q, queue.allDone, Stall::Dependency, queue.before);
    else if (t.isTransfer)
      prepareTransfer(q);
    else if (!t.isControl)
      program.queues[q].engine == Engine::Tensor ? prepareTensor(q)
                                                 : prepareElements(q);
    queue.asked = queue.at;
    return;
  }
}

/// Nobody else takes notice of the next instruction: done with it at once.
void Timer::finishSilent(unsigned q, bool enabled) {
  TimedQueue &queue = queues[q];
  const Instruction &i = queue.stream.now();
  unsigned pc = queue.stream.at();
  Ticks begin = queue.sequencer;
  queue.stream.step(enabled);
  Cost cost;
  if (!enabled)
    cost.portFree = timing.skip();
  else if (i.op() != Opcode::End || queue.stream.at() == i.imm[1] + 1)
    cost.portFree = costOf(q, pc, false).portFree;
  cost.portFree = longer(q, cost.portFree);
  cost.sourceFree = cost.done = cost.portFree;
  queue.sequencer = begin + cost.portFree;
  account(q, queue.sequencer, Stall::Control);
  queue.allDone = std::max(queue.allDone, queue.sequencer);
  end = std::max(end, queue.sequencer);
  if (queue.sequencer > longestTime)
    tooLong();
  ++(enabled ? result.engines[q].executed : result.engines[q].skipped);
  result.executed[q][pc] += enabled;
  if (!options.record)
    return;
  if (enabled)
    record(q, pc, begin, cost);
  else
    ++queue.visits[pc];
}

/// The two ports of the tensor engine (see Timing.h).
void Timer::prepareTensor(unsigned q) {
  TimedQueue &queue = queues[q];
  bool load = queue.stream.now().op() == Opcode::LoadWeights;
  if (Ticks port = load ? weightPort : queue.port; port > queue.at) {
    queue.ready = queue.at = port;
    queue.cause = load ? loader : streamer;
  }
  if (!load)
    return delay(q, loaded, Stall::Weights, loader);
  delay(q, place, Stall::Weights, placeOwner);
  if (machine.tensor.serialiseOnDrain)
    delay(q, drained, Stall::Weights, placeOwner);
}

void Timer::prepareTransfer(unsigned q) {
  TimedQueue &queue = queues[q];
  if (queue.triggered)
    delay(q, queue.lastTrigger + queue.spacing, Stall::Spacing, queue.before);
  delay(q, queue.allDone, Stall::Dependency, queue.before);
}

/// Results of its own queue that the instruction reads and that are on their way;
/// the banks that it will hold.
void Timer::prepareElements(unsigned q) {
  TimedQueue &queue = queues[q];
  const Instruction &i = queue.stream.now();
  const Timed &t = queue.code[queue.stream.at()];
  Ticks same = timing.time().fromPs(machine.semaphore.sameEnginePs);
  llvm::erase_if(queue.writes, [&](const TimedQueue::Write &write) {
    return write.done + same <= queue.at;
  });
  for (unsigned slot = 0; slot != 5 && !queue.writes.empty(); ++slot) {
    if (!(t.reads >> slot & 1u))
      continue;
    ByteRange read = byteRange(queue.stream, *program.access(i, slot));
    for (const TimedQueue::Write &write : queue.writes)
      if (write.where.meets(read))
        delay(q, write.done + same, Stall::Dependency, write.by);
  }
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
  if (t.needsTable && table != queue.stream.now().sub[0]) {
    table = queue.stream.now().sub[0];
    delay(q, now + timing.tableLoad(), Stall::Table, queue.cause);
    if (queue.at > now)
      return;
  }
  // The engine's program has to take up a transfer that does not follow another.
  if (t.isTransfer && !queue.awake) {
    (void)costOf(q, queue.stream.at(), false);
    queue.awake = true;
    if (t.transfer.wake &&
        (!queue.triggered || now > queue.lastTrigger + queue.spacing)) {
      delay(q, now + t.transfer.wake, Stall::Spacing, queue.cause);
      return;
    }
  }
  Cause holder;
  Ticks free = conflict(q, now, holder);
  if (free > now)
    delay(q, free, Stall::Port, holder);
  else
    start(q, now);
}

/// The instant from which the ports and banks that the next instruction of a
/// queue needs are free.
Ticks Timer::conflict(unsigned q, Ticks now, Cause &holder) {
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
    bool fast = engine == Engine::Vector
                    ? costOf(q, queue.stream.at(), false).fastMode
                    : other.holdFast;
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
  const bool onTensor =
      program.queues[q].engine == Engine::Tensor && !t.isControl;

  Cause self;
  if (options.record)
    self = {Cause::Instruction, uint32_t(result.spans.size())};
  Cost full = costOf(q, pc, false), cost = full;
  if (onTensor) {
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
    for (Ticks Cost::*instant : {&Cost::issue, &Cost::sourceFree,
                                 &Cost::portFree, &Cost::done, &Cost::ready})
      cost.*instant = longer(q, cost.*instant);

  ++result.engines[q].executed;
  ++result.executed[q][pc];
  account(q, now + cost.issue, Stall::Issue);
  if (onTensor) {
    startTensor(q, now, cost, full, self);
  } else {
    queue.sequencer = now + cost.portFree;
    if (t.isControl)
      account(q, queue.sequencer, Stall::Control);
    else
      busy(q, queue.sequencer, 0);
  }
  for (unsigned slot = 0; slot != 5; ++slot)
    if (t.writes >> slot & 1u)
      queue.writes.push_back({byteRange(queue.stream, *program.access(i, slot)),
                              now + cost.done, self});
  if (t.reads | t.writes) {
    queue.holdEnd = now + cost.sourceFree;
    queue.holdFast = cost.fastMode;
    queue.holdBanks = queue.banks;
    queue.holder = self;
  }
  if (t.isTransfer) {
    trigger(q, now, self);
  } else {
    queue.allDone = std::max(queue.allDone, now + cost.done);
    update(q, i, now + cost.done, self);
  }
  end = std::max(end, now + std::max(cost.done, cost.portFree));
  if (options.record)
    record(q, pc, now, cost);
  queue.stream.step(true);
  prepare(q);
}

void Timer::record(unsigned q, unsigned pc, Ticks now, const Cost &cost) {
  TimedQueue &queue = queues[q];
  Span span{
      q, pc, queue.visits[pc]++, queue.reason, queue.cause, queue.semaphore};
  span.ready = queue.ready;
  span.start = now;
  span.sourceFree = now + cost.sourceFree;
  span.portFree = now + cost.portFree;
  span.done = now + cost.done;
  queue.before = {Cause::Instruction, uint32_t(result.spans.size())};
  result.spans.push_back(span);
}

void Timer::startTensor(unsigned q, Ticks now, const Cost &cost,
                        const Cost &full, Cause self) {
  TimedQueue &queue = queues[q];
  EngineTime &engine = result.engines[q];
  queue.sequencer = now + cost.issue;
  if (queue.stream.now().op() == Opcode::LoadWeights) {
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
  busy(q, queue.port, std::max<Ticks>(0, cost.portFree - full.portFree));
  engine.work += full.work;
  clock.stream(now + cost.issue, now + cost.sourceFree, cost.work);
  drained = std::max(drained, now + cost.done);
  if (!machine.tensor.shadowWeights) {
    place = queue.port;
    placeOwner = self;
  } else if (!loadUsed) {
    place = now + timing.weightDelay();
    placeOwner = self;
  }
  loadUsed = true;
}
