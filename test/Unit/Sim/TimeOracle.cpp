//===- TimeOracle.cpp - when instructions start, a second opinion ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unrolls every queue, then goes over the queues again and again: the starts of a
// queue follow from its own order and from the updates of the others as last
// computed. All begin at 0 and only grow, until nothing changes.
//
//===----------------------------------------------------------------------===//

#include "TimeOracle.h"

#include <algorithm>
#include <map>

using namespace facet;
using namespace facet::test;

namespace {

/// One execution of an instruction.
struct Step {
  unsigned pc = 0;
  bool enabled = true;
  bool backEdge = false; // of an `end`
  struct Wanted {
    unsigned semaphore;
    int64_t value;
  };
  std::vector<Wanted> waits;
  std::vector<std::pair<unsigned, int64_t>> updates; // semaphore, amount
  std::vector<int64_t> offsets; // of the operand slots, with their forms
};

/// Where a queue is when it is unrolled.
struct Walk {
  const Program &program;
  unsigned queue;
  std::vector<int64_t> counters;
  std::map<int, std::pair<int64_t, int64_t>> rings; // slot, round
  std::vector<Step> steps;

  int64_t form(const AffineForm &f) {
    int64_t sum = f.base;
    for (size_t d = 0; d != counters.size(); ++d)
      sum += f.coefficients[d] * counters[d];
    return f.ring < 0 ? sum : sum + f.slotStride * rings[f.ring].first;
  }
  bool holds(const Predicate &p) {
    for (unsigned c = 0; c != p.conditions; ++c) {
      int64_t v = form(program.affines[p.forms[c]]);
      bool ok[] = {v == 0, v != 0, v < 0, v <= 0, v > 0, v >= 0};
      if (!ok[p.compares[c]])
        return false;
    }
    return true;
  }
  void add(unsigned pc, bool backEdge = false) {
    const Instruction &i = program.queues[queue].code[pc];
    Step step;
    step.pc = pc;
    step.backEdge = backEdge;
    if (i.predicate)
      step.enabled = holds(program.predicates[i.predicate - 1u]);
    if (step.enabled) {
      for (const Wait &w : i.waits)
        if (w.ref.present()) {
          auto [slot, round] = rings[w.ref.ring()];
          step.waits.push_back(
              {unsigned(w.ref.base() + slot), w.value + w.perRound * round});
        }
      for (const Update &u : i.updates)
        if (u.ref.present())
          step.updates.push_back(
              {unsigned(u.ref.base() + rings[u.ref.ring()].first), u.amount});
      for (unsigned slot = 0; slot != 5; ++slot) {
        const Access *a = program.access(i, slot);
        step.offsets.push_back(
            !a ? 0
               : a->offset +
                     (a->affine ? form(program.affines[a->affine - 1]) : 0));
      }
    }
    steps.push_back(step);
  }
  /// The instructions from `begin` to the end of their loop (or of the queue).
  unsigned block(unsigned begin) {
    const std::vector<Instruction> &code = program.queues[queue].code;
    unsigned pc = begin;
    while (pc < code.size() && code[pc].op() != Opcode::End) {
      const Instruction &i = code[pc];
      add(pc);
      if (i.op() == Opcode::Loop) {
        for (uint32_t n = 0; n != i.imm[0]; ++n) {
          counters.push_back(n);
          unsigned end = block(pc + 1);
          add(end, n + 1 != i.imm[0]);
          counters.pop_back();
        }
        pc = i.imm[1] + 1;
        continue;
      }
      if (i.op() == Opcode::Advance && steps.back().enabled) {
        auto &[slot, round] = rings[i.sub[0]];
        int64_t depth = program.ringDepth(queue, i.sub[0]);
        int64_t all = slot + round * depth + i.imm[0];
        slot = all % depth;
        round = all / depth;
      }
      ++pc;
    }
    return pc;
  }
};

struct Oracle {
  explicit Oracle(const Program &program);
  OracleResult solve();

private:
  void queuePass(unsigned q);
  Ticks reached(unsigned semaphore, int64_t value, bool weights);

  struct Signal {
    unsigned queue;
    int64_t amount;
    Ticks seen, seenByWeights;
  };
  void signal(unsigned queue, unsigned semaphore, int64_t amount, Ticks seen,
              Ticks seenByWeights) {
    signals[semaphore].push_back({queue, amount, seen, seenByWeights});
  }

  const Program &program;
  const Machine &m;
  Timing timing;
  std::vector<std::vector<Step>> steps;
  std::vector<std::vector<Signal>> signals; // per semaphore
  OracleResult result;
  Ticks last = 0;
  bool unreachable = false;
  std::map<std::pair<unsigned, unsigned>, Cost> costs;
};

Oracle::Oracle(const Program &program)
    : program(program), m(program.machine), timing(m),
      signals(program.semaphores.size()) {
  for (unsigned q = 0; q != program.queues.size(); ++q) {
    Walk walk{program, q, {}, {}, {}};
    walk.block(0);
    // The least that is known of an update: not before the start.
    for (const Step &step : walk.steps)
      for (auto [semaphore, amount] : step.updates)
        signal(q, semaphore,
               amount * (program.queues[q].code[step.pc].isTransfer()
                             ? m.dma.engines
                             : 1),
               0, 0);
    steps.push_back(std::move(walk.steps));
  }
  result.starts.resize(steps.size());
}

/// When a semaphore is seen to hold a value.
Ticks Oracle::reached(unsigned semaphore, int64_t value, bool weights) {
  int64_t sum = program.semaphores[semaphore].initial;
  if (sum >= value)
    return 0;
  std::vector<std::pair<Ticks, int64_t>> seen;
  for (const Signal &s : signals[semaphore])
    seen.push_back({weights ? s.seenByWeights : s.seen, s.amount});
  std::sort(seen.begin(), seen.end());
  for (auto [when, amount] : seen)
    if ((sum += amount) >= value)
      return when;
  unreachable = true;
  return 0;
}

/// Two accesses share a byte of a partition, by the bytes they span.
bool overlap(const Access &a, int64_t offsetA, const Access &b,
             int64_t offsetB) {
  auto bytes = [](const Access &x) {
    int64_t first = 0, last = 0;
    for (unsigned d = 0; d != x.rank; ++d) {
      int64_t way = x.step[d] * (int64_t(x.count[d]) - 1);
      first += std::min<int64_t>(way, 0);
      last += std::max<int64_t>(way, 0);
    }
    return std::pair(first * int64_t(dtypeBytes(x.dtype)),
                     (last + 1) * int64_t(dtypeBytes(x.dtype)));
  };
  auto [beginA, endA] = bytes(a);
  auto [beginB, endB] = bytes(b);
  return a.space == b.space && a.partition < b.partition + b.partitions &&
         b.partition < a.partition + a.partitions &&
         offsetA + beginA < offsetB + endB && offsetB + beginB < offsetA + endA;
}

void Oracle::queuePass(unsigned q) {
  const TimeBase &base = timing.time();
  const bool tensor = program.queues[q].engine == Engine::Tensor;
  Ticks hop = base.fromPs(m.semaphore.hopPs);
  Ticks hopWeights = base.fromPs(m.semaphore.hopToWeightsPs);
  Ticks hopDma = base.fromPs(m.semaphore.hopFromDmaPs);
  Ticks same = base.fromPs(m.semaphore.sameEnginePs);

  Ticks next = 0;     // the instruction before has been issued
  Ticks streamed = 0; // the stream port is free
  Ticks allDone = 0, matmulsDone = 0;
  // Weights: the port is free; they are ready; their place is free.
  Ticks loadPort = 0, ready = 0, place = 0;
  bool fresh = false, any = false;
  Ticks trigger = -1, spacing = 0;
  int table = -1;
  std::vector<Ticks> dma(size_t(m.dma.engines), 0);
  struct Written {
    const Access *access;
    int64_t offset;
    Ticks done;
  };
  std::vector<Written> written;
  std::vector<Ticks> &starts = result.starts[q];
  starts.clear();
  result.serial = q ? result.serial : 0;

  for (const Step &step : steps[q]) {
    const Instruction &i = program.queues[q].code[step.pc];
    if (!step.enabled) {
      next += timing.skip();
      allDone = std::max(allDone, next);
      last = std::max(last, next);
      result.serial += timing.skip();
      continue;
    }
    Opcode op = i.op();
    auto [entry, isNew] = costs.try_emplace({q, step.pc});
    if (isNew)
      entry->second = timing.cost(program, q, i);
    Cost cost = entry->second;
    if (op == Opcode::LoadWeights && !any)
      cost = timing.firstLoadCost(program, q, i);
    if (op == Opcode::End && !step.backEdge)
      cost = Cost();
    const bool load = op == Opcode::LoadWeights;
    const bool matmul = op == Opcode::Matmul;

    Ticks start = next;
    if (matmul)
      start = std::max({start, streamed, ready});
    if (load) {
      start = std::max({start, loadPort, place});
      if (m.tensor.serialiseOnDrain)
        start = std::max(start, matmulsDone);
    }
    if (op == Opcode::Drain || i.isTransfer())
      start = std::max(start, allDone);
    if (i.isTransfer() && trigger >= 0)
      start = std::max(start, trigger + spacing);
    if (!tensor && !i.isTransfer())
      for (const OperandInfo &operand : opcodeInfo(i.opcode)->operands)
        if (const Access *a = program.access(i, operand.slot);
            a && operand.mode == OperandMode::Read)
          for (const Written &w : written)
            if (overlap(*w.access, w.offset, *a, step.offsets[operand.slot]))
              start = std::max(start, w.done + same);
    for (const Step::Wanted &w : step.waits)
      start = std::max(start, reached(w.semaphore, w.value, load));
    if (op == Opcode::Activate && Timing::needsTable(Function(i.sub[0])) &&
        table != i.sub[0]) {
      table = i.sub[0];
      start += timing.tableLoad();
      result.serial += timing.tableLoad();
    }
    TransferCost t;
    if (i.isTransfer()) {
      t = timing.transfer(program, q, i);
      if (trigger < 0 || start > trigger + spacing)
        start += t.wake;
    }
    starts.push_back(start);

    Ticks done = start + cost.done;
    next = start + (load || matmul ? cost.issue : cost.portFree);
    result.serial += std::max(cost.done, cost.portFree);
    result.serial += std::max({hop, hopWeights, same});
    if (load) {
      any = fresh = true;
      loadPort = start + cost.portFree;
      ready = start + cost.ready;
      place = 0;
    }
    if (matmul) {
      streamed = start + cost.portFree;
      matmulsDone = std::max(matmulsDone, done);
      if (!m.tensor.shadowWeights)
        place = streamed;
      else if (fresh)
        place = start + timing.weightDelay();
      fresh = false;
    }
    last = std::max({last, done, start + cost.portFree});
    if (!i.isTransfer()) {
      allDone = std::max(allDone, done);
      for (auto [semaphore, amount] : step.updates)
        signal(q, semaphore, amount, done + hop, done + hopWeights);
      if (!tensor)
        for (const OperandInfo &operand : opcodeInfo(i.opcode)->operands)
          if (const Access *a = program.access(i, operand.slot);
              a && operand.mode != OperandMode::Read)
            written.push_back({a, step.offsets[operand.slot], done});
      continue;
    }
    // A transfer: every DMA engine takes it after the one before.
    trigger = start;
    spacing = t.spacing;
    Ticks first = start + t.firstData + t.lag;
    last = std::max(last, first);
    result.serial += t.wake + t.firstData + t.lag + t.spacing + hopDma;
    Ticks longest = 0;
    for (unsigned e = 0; e != dma.size(); ++e) {
      Ticks time = 0, lag = 0;
      for (uint64_t row = 0; row != t.rows; ++row)
        if (timing.engineOfRow(row) == e) {
          time += Ticks(t.row.full) * timing.packetNext(t.row.fullBytes);
          if (t.row.tails)
            time += Ticks(t.row.tails) * timing.packetNext(t.row.tailBytes);
          uint64_t bytes = t.row.tails ? t.row.tailBytes : t.row.fullBytes;
          lag = timing.packetDone(bytes) - timing.packetNext(bytes);
        }
      if (time)
        time += t.open;
      if (!step.updates.empty())
        time += timing.semaphoreWrite();
      else if (!time)
        continue;
      dma[e] = std::max(dma[e], first) + time;
      longest = std::max(longest, time + lag);
      last = std::max(last, dma[e] + lag);
      for (auto [semaphore, amount] : step.updates)
        signal(q, semaphore, amount, dma[e] + lag + hopDma,
               dma[e] + lag + hopDma);
    }
    result.serial += longest;
  }
}

OracleResult Oracle::solve() {
  // A circle of waits grows until something outside it is earlier; in a deadlock
  // it grows past all durations together.
  for (size_t pass = 0; !pass || last <= result.serial; ++pass) {
    std::vector<std::vector<Ticks>> before = result.starts;
    last = 0;
    unreachable = false;
    for (unsigned q = 0; q != steps.size(); ++q) {
      for (std::vector<Signal> &list : signals)
        list.erase(
            std::remove_if(list.begin(), list.end(),
                           [&](const Signal &s) { return s.queue == q; }),
            list.end());
      // Its own signals are made as it goes.
      queuePass(q);
    }
    if (pass && before == result.starts) {
      result.completed = !unreachable;
      result.total = last;
      return result;
    }
  }
  return result;
}

} // namespace

OracleResult test::oracleTimes(const Program &program) {
  return Oracle(program).solve();
}
