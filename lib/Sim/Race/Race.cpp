//===- Race.cpp - proves that a program has no races ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Goes through the program once in the usual order, without its data. Each byte
// remembers who wrote it last and who read it since; whoever comes next must know
// that they are done:
//
//   sync    dma_copy dst=A, update(full += 1)    A: written by a transfer of chain 0
//   tensor  load_weights A, wait(full >= 16)     knows chain 0 up to there: fine
//   vector  copy dst=A                           does not know that tensor has read A:
//                                                SIM-RACE-WAR
//
// What a queue knows, at each of its instructions, is what must have happened
// before in every execution (Order.cpp), so that a pair without a finding is in
// order in all of them, not only in this one. Of accesses by one component it is
// enough to remember the last: who knows that it is done knows the earlier ones.
//
// Semaphores that are set or decreased are treated like bytes: waits and updates
// read, set_semaphore and negative updates write. That is what makes the renaming
// of Trace right. A wait must be behind the write by something earlier in its
// queue: the wait itself may have been met by the old value.
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include "facet/Sim/Race.h"

#include <map>
#include <tuple>

using namespace facet;
using namespace facet::sim;
using llvm::Twine;

/// After so many pairs the rest are only counted.
constexpr size_t maxPairs = 20;

/// Cells of memory that are kept apart, a few hundred MiB.
constexpr size_t maxCells = size_t(1) << 21;
/// Stretches of bytes that are looked at, some seconds.
constexpr uint64_t maxStretches = uint64_t(1) << 27;

namespace {
class Prover {
public:
  Prover(const Program &program, Trace &trace)
      : program(program), trace(trace), orders(trace), shadow(program),
        semaphores(program.semaphores.size()), nextEvent(program.queues.size()),
        updates(program.queues.size()) {
    for (unsigned q = 0; q != program.queues.size(); ++q) {
      clocks.emplace_back(orders, q);
      touches.emplace_back();
      for (const Instruction &i : program.queues[q].code)
        touches.back().push_back(touchesOf(program, i));
    }
  }

  std::vector<Finding> run(uint64_t maxSteps);

private:
  bool ordered(const Epoch &first) const {
    return first.component == queue ||
           clocks[queue][first.component] >= first.value;
  }
  void visit(const Walk &walk);
  void touch(const Touch &touch, __int128 form);
  void touchSemaphore(uint32_t semaphore, bool write, bool transfer);
  void race(const RacingPair &pair, int semaphore = -1);

  const Program &program;
  Trace &trace;
  Orders orders;
  Shadow shadow;
  std::vector<Cell> semaphores; // those of Trace::lowered
  std::vector<Clock> clocks;
  std::vector<uint32_t> nextEvent;
  std::vector<uint32_t> updates; // updating events so far
  std::vector<std::vector<llvm::SmallVector<Touch, 5>>> touches;

  size_t cells = 0; // of all lines
  uint64_t stretches = 0;
  bool tooManyPieces = false; // nothing is looked at any more
  // The instruction being looked at.
  unsigned queue = 0;
  Epoch now;

  /// By code and the two instructions: the finding and when it was last counted.
  struct Seen {
    size_t finding;
    std::pair<uint32_t, uint32_t> when;
  };
  using Static = std::pair<uint32_t, uint32_t>; // queue, pc
  std::map<std::tuple<std::string, Static, Static>, Seen> seen;
  std::vector<Finding> findings;
};
} // namespace

void Prover::race(const RacingPair &pair, int semaphore) {
  Static a{pair.first.queue, pair.first.pc},
      b{pair.second.queue, pair.second.pc};
  std::pair<uint32_t, uint32_t> when{now.queue, now.step};
  auto [at, isNew] = seen.try_emplace(
      {pair.code, std::min(a, b), std::max(a, b)}, Seen{findings.size(), when});
  if (isNew) {
    if (seen.size() <= maxPairs)
      findings.push_back(semaphore < 0
                             ? explainRace(program, trace, pair)
                             : explainSemaphoreRace(program, trace,
                                                    unsigned(semaphore), pair));
    return;
  }
  if (at->second.finding < findings.size() && at->second.when != when)
    ++findings[at->second.finding].times;
  at->second.when = when;
}

void Prover::touch(const Touch &t, __int128 form) {
  Footprint f;
  if (shadow.isConstant(*t.access) || !footprintOf(program, *t.access, form, f))
    return;
  now.slot = uint8_t(t.operand->slot);
  now.write = t.writes;
  shadow.forEachLine(f, [&](uint32_t partition, ShadowLine &line) {
    stretches += uint64_t(f.stretches());
    tooManyPieces |= cells > maxCells || f.stretches() > int64_t(maxCells) ||
                     stretches > maxStretches;
    if (tooManyPieces)
      return;
    cells -= line.size();
    f.forEach([&](int64_t begin, int64_t end) {
      line.visit(begin, end, [&](int64_t first, Cell &cell) {
        RacingPair pair{"", {}, now, first, cell.end, partition, f.partitions};
        auto found = [&](const char *code, const Epoch &other) {
          pair.code = code;
          pair.first = other;
          race(pair);
        };
        if (cell.hasWriter && !ordered(cell.writer))
          found(t.reads ? "SIM-RACE-RAW" : "SIM-RACE-WAW", cell.writer);
        if (!t.writes) {
          cell.addReader(now);
          return;
        }
        for (const Epoch &reader : cell.readers) {
          if (ordered(reader))
            continue;
          if (cell.written) {
            found("SIM-RACE-WAR", reader);
            continue;
          }
          // Nothing was there to be read: the reader came too early.
          pair.first = now;
          pair.second = reader;
          pair.code = "SIM-RACE-RAW";
          race(pair);
        }
      });
      if (t.writes)
        line.write(begin, end, now);
    });
    cells += line.size();
  });
}

void Prover::touchSemaphore(uint32_t number, bool write, bool transfer) {
  unsigned semaphore = trace.origin[number];
  if (!trace.lowered[semaphore])
    return;
  Epoch me = now;
  if (!transfer) { // a wait is over when its instruction is issued
    me.component = queue;
    me.value = updates[queue] + 1;
  }
  me.write = write;
  Cell &cell = semaphores[semaphore];
  auto check = [&](const Epoch &other) {
    if (!ordered(other))
      race({"SIM-RACE-SEMAPHORE", other, me, 0, 0, 0, 0}, int(semaphore));
  };
  if (cell.hasWriter)
    check(cell.writer);
  if (!write)
    return cell.addReader(me);
  for (const Epoch &reader : cell.readers)
    check(reader);
  cell.hasWriter = true;
  cell.writer = me;
  cell.readers.clear();
}

void Prover::visit(const Walk &walk) {
  const Stream &stream = walk.stream(queue);
  const Instruction &i = stream.now();
  uint32_t step = walk.step(queue);
  const std::vector<Event> &events = trace.queues[queue];
  uint32_t index = nextEvent[queue];
  const Event *event = index != events.size() && events[index].step == step
                           ? &events[index]
                           : nullptr;
  now = {};
  now.queue = uint8_t(queue);
  now.step = step;
  now.pc = stream.at();
  if (event) {
    for (uint32_t semaphore : event->waits)
      if (semaphore != none)
        touchSemaphore(semaphore, /*write=*/false, /*transfer=*/false);
    clocks[queue].pass(index);
  }
  if (!i.isTransfer()) {
    now.component = queue;
    now.value = updates[queue] + 1;
  } else if (event && event->chain != none && event->finished) {
    now.component = uint32_t(trace.queues.size()) + event->chain;
    now.value = event->finished;
  } else { // nothing ever says that it is done
    now.component = orders.components();
    now.value = none;
  }
  for (const Touch &t : touches[queue][now.pc])
    touch(t, stream.value(t.access->affine));
  if (!event)
    return;
  if (i.op() == Opcode::SetSemaphore)
    touchSemaphore(i.imm[0], /*write=*/true, /*transfer=*/false);
  for (const Update &u : i.updates)
    if (u.ref.present())
      touchSemaphore(walk.semaphore(queue, u.ref), u.amount < 0,
                     i.isTransfer());
  updates[queue] += event->isUpdate();
  ++nextEvent[queue];
}

static Finding notProved(const Twine &why) {
  Finding finding;
  finding.code = "SIM-RACE-SIZE";
  finding.message =
      ("the program " + why + ", nothing is proved about races").str();
  return finding;
}

std::vector<Finding> Prover::run(uint64_t maxSteps) {
  if (orders.tooLong())
    return {notProved("sets or decreases semaphores of transfers too often (" +
                      Twine(trace.chains) +
                      " kinds of transfers, by what they update)")};
  for (const Orders::Overshot &overshot : orders.overshot) {
    const Event &event = trace.queues[overshot.queue][overshot.event];
    Static at{overshot.queue, event.pc};
    auto [known, isNew] =
        seen.try_emplace({"", at, at}, Seen{findings.size(), {0, 0}});
    if (isNew && seen.size() <= maxPairs)
      findings.push_back(explainOvershot(program, trace, overshot));
    else if (!isNew && known->second.finding < findings.size())
      ++findings[known->second.finding].times;
  }
  Walk walk(program);
  (void)walk.run(maxSteps, [&](unsigned q) {
    queue = q;
    if (!tooManyPieces)
      visit(walk);
  });
  size_t more = seen.size() - findings.size();
  if (tooManyPieces)
    findings.push_back(notProved("touches its memory in too many separate "
                                 "pieces (" +
                                 Twine(maxCells) + " are kept, " +
                                 Twine(maxStretches) +
                                 " looked at); for so many"));
  if (more) {
    Finding rest;
    rest.code = "SIM-RACE-MORE";
    rest.message =
        std::to_string(more) +
        (more == 1 ? " more race was found" : " more races were found");
    findings.push_back(std::move(rest));
  }
  return std::move(findings);
}

std::vector<Finding> sim::proveRaceFree(const Program &program,
                                        uint64_t maxSteps) {
  uint64_t steps = std::min(maxSteps, maxProvedInstructions);
  Trace trace(program, steps);
  if (!trace.tooLong)
    return Prover(program, trace).run(steps);
  if (maxSteps <= maxProvedInstructions)
    return {};
  return {notProved("runs more than " + Twine(maxProvedInstructions) +
                    " instructions; for so many")};
}
