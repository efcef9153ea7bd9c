//===- TimeProgram.cpp - what happens next --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Goes from event to event: an update arrives at a semaphore, a DMA engine gets on,
// a queue has come to its next instruction.
//
//   sync    dma_copy ..., update(full += 1)   starts at 0, the engines move rows
//   tensor  load_weights, wait(full >= 16)    waits; the 16th update, 340 ns on
//                                             its way, starts it
//
// A semaphore is what its waiters see: an update counts from the instant it has
// reached them. At one instant updates come first, then the queues in the order
// in which they asked, then in their own order, so a run has one result.
//
//===----------------------------------------------------------------------===//

#include "Timer.h"

#include "../Deadlock.h"

#include <algorithm>

using namespace facet;
using namespace facet::sim;
using llvm::Twine;

const char *sim::stallName(Stall stall) {
  static const char *const names[numStalls] = {
      "semaphore", "transfer", "dependency", "weights", "port",    "table",
      "clock",     "fetch",    "issue",      "control", "spacing", "idle"};
  return names[unsigned(stall)];
}

Ticks EngineTime::sum() const {
  Ticks sum = busy;
  for (Ticks t : stalls)
    sum += t;
  return sum;
}

Timer::Timer(const Program &program, const TimeOptions &options,
             TimeResult &result)
    : program(program), machine(program.machine), options(options),
      result(result), timing(program.machine),
      clock(program.machine, timing, options, result),
      dma(program.machine, timing),
      lastOn(size_t(program.machine.dma.engines)) {
  result.ticksPerNs = timing.time().perNs();
  result.engines.resize(program.queues.size());
  for (unsigned q = 0; q != program.queues.size(); ++q)
    queues.emplace_back(program, q);
  for (const SemaphoreInfo &s : program.semaphores)
    counters.insert(counters.end(), 2, s.initial);
  weightView.resize(program.semaphores.size());
  for (unsigned q = 0; q != program.queues.size(); ++q) {
    findWeightViews(q);
    result.executed.emplace_back(program.queues[q].code.size());
    if (options.record)
      queues[q].visits.resize(program.queues[q].code.size());
  }
}

//===----------------------------------------------------------------------===//
// The order of events
//===----------------------------------------------------------------------===//

void Timer::run() {
  for (unsigned q = 0; q != queues.size() && !stopped; ++q)
    prepare(q);
  while (!stopped) {
    Ticks update = deliveries.empty() ? DmaEngines::never : deliveries.top().at;
    Ticks transfer = dma.next();
    int first = -1;
    for (unsigned q = 0; q != queues.size(); ++q)
      if (queues[q].phase == TimedQueue::Pending &&
          (first < 0 || std::tie(queues[q].at, queues[q].asked) <
                            std::tie(queues[unsigned(first)].at,
                                     queues[unsigned(first)].asked)))
        first = int(q);
    Ticks issue = first < 0 ? DmaEngines::never : queues[unsigned(first)].at;
    Ticks now = std::min({update, transfer, issue});
    if (now == DmaEngines::never)
      break;
    if (now > longestTime) {
      tooLong();
      break;
    }
    if (transfer <= update && transfer <= issue) {
      dma.advance(transfer, [&](const ShareDone &share) { shareDone(share); });
      postShares();
    } else if (update <= issue) {
      Delivery delivery = deliveries.top();
      deliveries.pop();
      deliver(delivery);
    } else {
      reach(unsigned(first), issue);
    }
  }
  finish();
}

void Timer::tooLong() {
  find("SIM-TIME",
       "the program takes longer than 2^60 ticks of simulated time");
  stopped = true;
}

void Timer::finish() {
  result.completed = !stopped;
  for (const TimedQueue &queue : queues)
    if (queue.phase == TimedQueue::Waiting && !stopped) {
      deadlock();
      break;
    }
  for (const TimedQueue &queue : queues)
    end = std::max(end, queue.accounted);
  result.total = end;
  Ticks cycle = timing.time().fromCycles(1, machine.tensor.clockMHz);
  result.cycles = (end + cycle - 1) / cycle;
  for (unsigned q = 0; q != queues.size(); ++q)
    account(q, end, Stall::Idle);
  result.dma = dma.times(end);
  clock.finish();
  countWork(program, result);
}

//===----------------------------------------------------------------------===//
// Semaphores
//===----------------------------------------------------------------------===//

bool Timer::holds(unsigned q, const Wait &wait) const {
  const Stream &stream = queues[q].stream;
  bool weights = stream.now().op() == Opcode::LoadWeights;
  return !wait.ref.present() ||
         stream.holds(wait, counters[2 * stream.semaphore(wait.ref) + weights]);
}

bool Timer::waitsHold(unsigned q) const {
  const Instruction &i = queues[q].stream.now();
  return holds(q, i.waits[0]) && holds(q, i.waits[1]);
}

/// Loads of weights may see semaphores later than others.
void Timer::findWeightViews(unsigned q) {
  for (const Instruction &i : program.queues[q].code)
    for (const Wait &wait : i.waits) {
      if (i.op() != Opcode::LoadWeights || !wait.ref.present())
        continue;
      unsigned slots = wait.ref.ring() < 0
                           ? 1
                           : program.ringDepth(q, unsigned(wait.ref.ring()));
      for (unsigned s = 0; s != slots; ++s)
        weightView[wait.ref.base() + s] = true;
    }
}

/// An update happens at `done`; its waiters see it later.
void Timer::post(unsigned semaphore, int64_t amount, bool sets, Ticks done,
                 bool fromTransfer, Cause by) {
  Instruction other, weights;
  weights.opcode = uint16_t(Opcode::LoadWeights);
  Delivery delivery{done + timing.hop(fromTransfer, other),
                    order++,
                    2 * semaphore,
                    amount,
                    sets,
                    by};
  deliveries.push(delivery);
  if (weightView[semaphore]) {
    delivery.at = done + timing.hop(fromTransfer, weights);
    delivery.order = order++;
    ++delivery.counter;
    deliveries.push(delivery);
  }
}

void Timer::deliver(const Delivery &delivery) {
  int64_t &counter = counters[delivery.counter];
  counter = delivery.sets ? delivery.amount : counter + delivery.amount;
  unsigned semaphore = delivery.counter / 2;
  if (counter < 0 || counter > machine.semaphore.maxValue) {
    find("SIM-SEMAPHORE", "semaphore " + semaphoreName(program, semaphore) +
                              " comes to " + Twine(counter) +
                              ", allowed are 0 to " +
                              Twine(machine.semaphore.maxValue));
    stopped = true;
    return;
  }
  for (unsigned q = 0; q != queues.size(); ++q) {
    TimedQueue &queue = queues[q];
    if (queue.phase != TimedQueue::Waiting || !waitsHold(q))
      continue;
    Stall reason = delivery.by.kind == Cause::Transfer ? Stall::Transfer
                                                       : Stall::Semaphore;
    account(q, delivery.at, reason);
    queue.reason = reason;
    queue.cause = delivery.by;
    queue.semaphore = int32_t(semaphore);
    queue.at = delivery.at;
    compete(q, delivery.at);
  }
}

void Timer::update(unsigned q, const Instruction &i, Ticks done, Cause by) {
  const Stream &stream = queues[q].stream;
  for (const Update &u : i.updates)
    if (u.ref.present())
      post(stream.semaphore(u.ref), u.amount, false, done, false, by);
  if (i.op() == Opcode::SetSemaphore)
    post(i.imm[0], int32_t(i.imm[1]), true, done, false, by);
}

Finding &Timer::find(const char *code, const Twine &message, int queue) {
  result.findings.emplace_back();
  Finding &finding = result.findings.back();
  finding.code = code;
  finding.message = message.str();
  if (queue >= 0) {
    finding.queue = queue;
    finding.pc = int(queues[size_t(queue)].stream.at());
    finding.when = queues[size_t(queue)].stream.describe();
  }
  return finding;
}

void Timer::deadlock() {
  result.completed = false;
  std::vector<Stream> streams;
  for (const TimedQueue &queue : queues)
    streams.push_back(queue.stream);
  result.findings.push_back(
      deadlockOf(program, streams, [&](unsigned q, const Wait &wait) {
        bool weights = streams[q].now().op() == Opcode::LoadWeights;
        return counters[2 * streams[q].semaphore(wait.ref) + weights];
      }));
}

TimeResult sim::timeProgram(const Program &program,
                            const TimeOptions &options) {
  TimeResult result;
  Timer(program, options, result).run();
  return result;
}
