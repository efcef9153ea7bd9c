//===- Explain.cpp - what is said about a race ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   SIM-RACE-RAW: queue tensor, instruction 1 (load_weights): weights reads bytes 0
//   to 255 of partitions 0 to 127 of sbuf, and nothing orders it after queue sync,
//   instruction 1 (dma_copy), which writes them, with i0 = 0
//   note: queue sync, instruction 1 (dma_copy): dst: bytes 0 to 255 of partitions ...
//   note: both touch bytes 0 to 255 of partitions 0 to 127 of sbuf
//   note: queue tensor knows nothing of queue sync by then
//   note: wait(full0 >= 16) in the former would order the two
//
// The wait is found, not guessed: its value is one more than the semaphore can
// reach before the first of the two is done, and it is reached without the second.
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace facet;
using namespace facet::sim;
using llvm::Twine;

/// The queue when an instruction comes up.
static Stream streamAt(const Program &program, unsigned queue, uint32_t step) {
  Stream stream(program, queue);
  while (step-- != 0)
    stream.step(stream.enabled());
  return stream;
}

static std::string nameOf(const Program &program, const Epoch &epoch) {
  const Queue &q = program.queues[epoch.queue];
  return (Twine("queue ") + engineName(q.engine) + ", instruction " +
          Twine(epoch.pc) + " (" +
          opcodeInfo(q.code[epoch.pc].opcode)->mnemonic + ")")
      .str();
}

static std::string with(const std::string &when) {
  return when.empty() ? "" : ", with " + when;
}

static std::string bytesText(const Program &program, const Access &access,
                             int64_t begin, int64_t end, uint32_t partition,
                             uint32_t partitions) {
  std::string text = "bytes " + std::to_string(begin) + " to " +
                     std::to_string(end - 1) + " of ";
  if (access.space == Space::Hbm)
    return text + "buffer '" + program.buffers[access.buffer].name + "'";
  text += partitions == 1 ? "partition " + std::to_string(partition)
                          : "partitions " + std::to_string(partition) + " to " +
                                std::to_string(partition + partitions - 1);
  return text + " of " + spaceName(access.space);
}

static const char *operandName(const Instruction &instruction, unsigned slot) {
  for (const OperandInfo &operand : opcodeInfo(instruction.opcode)->operands)
    if (operand.slot == slot)
      return operand.name;
  return "";
}

/// "dst: bytes 0 to 255 of partitions 0 to 127 of sbuf".
static std::string operandText(const Program &program, const Stream &stream,
                               unsigned slot, const char *verb) {
  const Access &access = *program.access(stream.now(), slot);
  Footprint f;
  (void)footprintOf(program, access, stream.value(access.affine), f);
  return operandName(stream.now(), slot) + std::string(verb) +
         bytesText(program, access, f.first, f.end, f.partition, f.partitions);
}

//===----------------------------------------------------------------------===//
// What would order them
//===----------------------------------------------------------------------===//

static uint32_t firstEventFrom(const Trace &trace, const Epoch &epoch) {
  const std::vector<Event> &events = trace.queues[epoch.queue];
  return uint32_t(
      llvm::partition_point(
          events, [&](const Event &e) { return e.step < epoch.step; }) -
      events.begin());
}

/// Not done when its instruction is: a transfer.
static bool isAsynchronous(const Epoch &epoch) {
  return epoch.component != epoch.queue;
}

/// By semaphore of the program.
static std::vector<bool> waitedFor(const Trace &trace) {
  std::vector<bool> waited(trace.lowered.size());
  for (const std::vector<Event> &events : trace.queues)
    for (const Event &event : events)
      for (uint32_t semaphore : event.waits)
        if (semaphore != none)
          waited[trace.origin[semaphore]] = true;
  return waited;
}

std::optional<MissingWait> sim::findMissingWait(const Trace &trace,
                                                const Epoch &first,
                                                const Epoch &second) {
  const std::vector<Event> &events = trace.queues[first.queue];
  uint32_t from = firstEventFrom(trace, first),
           until = firstEventFrom(trace, second);
  Advance without(trace), with(trace);
  without.stopAt(second.queue, until);
  with.stopAt(second.queue, until);
  uint32_t candidates = 0; // events whose updates come after first
  if (isAsynchronous(first)) {
    if (from == events.size() || events[from].step != first.step)
      return std::nullopt;
    without.holdTransfer(first.queue, from);
    candidates = 1;
  } else {
    without.stopAt(first.queue,
                   first.queue == second.queue ? std::min(from, until) : from);
  }
  auto nothing = [](unsigned, uint32_t) {};
  without.settle(nothing);
  with.settle(nothing);
  // What is further away is no update of this instruction.
  constexpr uint32_t farthest = 64;
  if (!candidates)
    candidates = std::min(
        with.at(first.queue) - std::min(from, with.at(first.queue)), farthest);
  std::optional<MissingWait> best;
  std::vector<bool> waited = waitedFor(trace);
  for (uint32_t e = from; e != from + candidates; ++e)
    for (uint32_t semaphore : events[e].updates) {
      if (semaphore == none || trace.lowered[trace.origin[semaphore]] ||
          with.value(semaphore) <= without.value(semaphore))
        continue;
      MissingWait wait{trace.origin[semaphore], without.value(semaphore) + 1,
                       e};
      // What is updated for nobody is most likely what was forgotten.
      if (!waited[trace.origin[semaphore]])
        return wait;
      if (!best)
        best = wait;
    }
  return best;
}

/// How often its instruction came up, this time included.
static uint64_t timesOf(const Program &program, const Epoch &epoch) {
  Stream stream(program, epoch.queue);
  uint64_t times = 0;
  for (uint32_t step = 0; step <= epoch.step; ++step) {
    bool enabled = stream.enabled();
    times += enabled && stream.at() == epoch.pc;
    stream.step(enabled);
  }
  return times;
}

static void addMissingEdge(const Program &program, const Trace &trace,
                           const Epoch &first, const Epoch &second,
                           Finding &finding) {
  std::string before =
      " before " + nameOf(program, second) + " would order the two";
  if (auto wait = findMissingWait(trace, first, second)) {
    const Event &event = trace.queues[first.queue][wait->event];
    Epoch updater = first;
    updater.pc = event.pc;
    finding.notes.push_back(
        {-1, -1,
         "wait(" + semaphoreName(program, wait->semaphore) +
             " >= " + std::to_string(wait->value) + ")" + before +
             (event.step == first.step
                  ? ""
                  : "; " + nameOf(program, updater) + " makes that update")});
    return;
  }
  uint64_t value = timesOf(program, first) *
                   uint64_t(isAsynchronous(first) ? trace.engines : 1);
  finding.notes.push_back(
      {-1, -1,
       "no semaphore says that the former is done: update(NEW += 1) in " +
           nameOf(program, first) +
           " and wait(NEW >= " + std::to_string(value) + ")" + before});
}

/// The last update of first's queue that second's is sure of.
static void addLastCommon(const Program &program, const Trace &trace,
                          const Epoch &first, const Epoch &second,
                          Finding &finding) {
  if (first.queue == second.queue)
    return;
  // How far first's queue must have come for second to happen.
  const std::vector<Event> &events = trace.queues[first.queue];
  uint32_t until = firstEventFrom(trace, second);
  const std::vector<Event> &others = trace.queues[second.queue];
  bool atEvent = until != others.size() && others[until].step == second.step;
  uint32_t passed = until + atEvent; // events of second's queue
  Advance advance(trace);
  uint32_t known = 0;
  for (advance.stopAt(first.queue, 0);; advance.stopAt(first.queue, ++known)) {
    advance.settle([](unsigned, uint32_t) {});
    if (advance.at(second.queue) >= passed || known == events.size())
      break;
  }
  std::string knower =
      std::string("queue ") + engineName(program.queues[second.queue].engine);
  if (known == 0) {
    finding.notes.push_back(
        {-1, -1,
         knower + " has not waited for queue " +
             engineName(program.queues[first.queue].engine) + " by then"});
    return;
  }
  const Event &last = events[known - 1];
  finding.notes.push_back(
      {int(first.queue), int(last.pc),
       "the last that " + knower + " has waited for by then" +
           with(streamAt(program, first.queue, last.step).describe())});
}

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

Finding sim::explainRace(const Program &program, const Trace &trace,
                         const RacingPair &pair) {
  const Epoch &first = pair.first, &second = pair.second;
  Stream early = streamAt(program, first.queue, first.step),
         late = streamAt(program, second.queue, second.step);
  Finding finding;
  finding.code = pair.code;
  finding.queue = int(second.queue);
  finding.pc = int(second.pc);
  finding.when = late.describe();
  finding.message =
      operandText(program, late, second.slot,
                  second.write ? " writes " : " reads ") +
      ", and nothing orders it after " + nameOf(program, first) + ", which " +
      (isAsynchronous(first)
           ? first.write ? "may still write them" : "may still read them"
       : first.write ? "writes them"
                     : "reads them");
  finding.notes.push_back({int(first.queue), int(first.pc),
                           operandText(program, early, first.slot,
                                       first.write ? " writes " : " reads ") +
                               with(early.describe())});
  finding.notes.push_back(
      {-1, -1,
       "both touch " +
           bytesText(program, *program.access(late.now(), second.slot),
                     pair.begin, pair.end, pair.partition, pair.partitions)});
  addLastCommon(program, trace, first, second, finding);
  addMissingEdge(program, trace, first, second, finding);
  return finding;
}

/// What an instruction does to a semaphore.
static const char *semaphoreVerb(const Program &program, const Epoch &epoch,
                                 unsigned semaphore) {
  const Instruction &i = program.queues[epoch.queue].code[epoch.pc];
  if (!epoch.write)
    for (const Update &u : i.updates) {
      if (!u.ref.present() || u.ref.base() > semaphore)
        continue;
      int ring = u.ref.ring();
      unsigned depth =
          ring < 0 ? 1 : program.ringDepth(epoch.queue, unsigned(ring));
      if (semaphore < u.ref.base() + depth)
        return "updates";
    }
  return !epoch.write                     ? "waits for"
         : i.op() == Opcode::SetSemaphore ? "sets"
                                          : "decreases";
}

Finding sim::explainSemaphoreRace(const Program &program, const Trace &trace,
                                  unsigned semaphore, const RacingPair &pair) {
  const Epoch &first = pair.first, &second = pair.second;
  Stream early = streamAt(program, first.queue, first.step),
         late = streamAt(program, second.queue, second.step);
  Finding finding;
  finding.code = pair.code;
  finding.queue = int(second.queue);
  finding.pc = int(second.pc);
  finding.when = late.describe();
  finding.message = std::string(semaphoreVerb(program, second, semaphore)) +
                    " semaphore " + semaphoreName(program, semaphore) +
                    ", and nothing before it orders it after " +
                    nameOf(program, first) + ", which " +
                    semaphoreVerb(program, first, semaphore) + " it";
  finding.notes.push_back(
      {int(first.queue), int(first.pc),
       std::string(semaphoreVerb(program, first, semaphore)) + " it" +
           with(early.describe())});
  addLastCommon(program, trace, first, second, finding);
  return finding;
}

Finding sim::explainOvershot(const Program &program, const Trace &trace,
                             const Orders::Overshot &overshot) {
  const Event &event = trace.queues[overshot.queue][overshot.event];
  Finding finding;
  finding.code = "SIM-RACE-OVERSHOT";
  finding.queue = int(overshot.queue);
  finding.pc = int(event.pc);
  finding.when = streamAt(program, overshot.queue, event.step).describe();
  finding.message =
      "waits for " +
      semaphoreName(program, trace.origin[event.waits[overshot.wait]]) +
      " to be " + std::to_string(event.needs[overshot.wait]) +
      ", and it may be " + std::to_string(overshot.value) +
      " before the wait looks; `>=` cannot miss it";
  return finding;
}
