//===- RedundantWaits.cpp - waits that order nothing ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A wait is redundant when its semaphore has surely got there by the time the
// instruction comes up anyway:
//
//   vector  wait(loaded >= 16)     by then the transfer is done
//   vector  wait(loaded >= 16)     redundant
//
// For each wait of the program text, what must happen before its instruction is
// worked out as if the wait were not there. The updates among that are a value
// below which the semaphore cannot be. When this is enough each time the
// instruction comes up, the wait can go.
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include "facet/Sim/Race.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <tuple>

using namespace facet;
using namespace facet::sim;

namespace {

/// What is added to one semaphore, by component: after `value` of it, `total`.
class Sums {
public:
  Sums(const Trace &trace, uint32_t semaphore, unsigned components)
      : steps(components) {
    unsigned queues = unsigned(trace.queues.size());
    for (unsigned q = 0; q != queues; ++q) {
      uint32_t updates = 0;
      for (const Event &event : trace.queues[q]) {
        updates += event.isUpdate();
        for (unsigned u = 0; u != 2; ++u)
          if (event.updates[u] == semaphore)
            add(event.chain == none ? q : queues + event.chain,
                event.chain == none ? updates : event.finished,
                event.amounts[u]);
      }
    }
    for (auto &component : steps) {
      llvm::sort(component);
      int64_t total = 0;
      for (auto &[value, amount] : component)
        amount = total += amount;
    }
  }

  /// Surely added by what knows `value` of a component.
  int64_t upTo(unsigned component, uint32_t value) const {
    const auto &of = steps[component];
    auto after = llvm::partition_point(
        of, [&](const auto &step) { return step.first <= value; });
    return after == of.begin() ? 0 : std::prev(after)->second;
  }

private:
  void add(unsigned component, uint32_t value, int64_t amount) {
    steps[component].push_back({value, amount});
  }
  std::vector<std::vector<std::pair<uint32_t, int64_t>>> steps;
};

/// What each semaphore has surely got to, where a queue is.
class SureValues {
public:
  SureValues(const Trace &trace, const Orders &orders, unsigned queue)
      : trace(trace), orders(orders), queue(queue), clock(orders, queue) {}

  /// Learns what event `event` of the queue waits for.
  void pass(uint32_t event) { clock.pass(event); }
  /// Its updates have happened.
  void update(const Event &event) { updates += event.isUpdate(); }

  int64_t of(uint32_t semaphore, std::map<uint32_t, Sums> &sums) const {
    const Sums &sum =
        sums.try_emplace(semaphore, trace, semaphore, orders.components())
            .first->second;
    int64_t value = trace.initial[semaphore];
    for (unsigned c = 0; c != orders.components(); ++c)
      value += sum.upTo(c, c == queue ? updates : clock[c]);
    return value;
  }

private:
  const Trace &trace;
  const Orders &orders;
  unsigned queue;
  Clock clock;
  uint32_t updates = 0; // of this queue
};

/// Index `wait` of instruction `pc` of queue `queue`.
struct StaticWait {
  unsigned queue;
  uint32_t pc;
  unsigned wait;
  bool operator<(const StaticWait &o) const {
    return std::tie(queue, pc, wait) < std::tie(o.queue, o.pc, o.wait);
  }
};

} // namespace

/// Leaves out most of those that are needed: a wait alone at its instruction says
/// nothing new only if the event before said it.
static std::vector<StaticWait> candidates(Trace &trace) {
  std::map<StaticWait, bool> waits; // may be redundant
  Orders orders(trace);
  std::map<uint32_t, Sums> sums;
  for (unsigned q = 0; q != trace.queues.size(); ++q) {
    SureValues sure(trace, orders, q);
    for (uint32_t e = 0; e != trace.queues[q].size(); ++e) {
      const Event &event = trace.queues[q][e];
      for (unsigned w = 0; w != 2; ++w) {
        uint32_t semaphore = event.waits[w];
        if (semaphore == none)
          continue;
        bool &may = waits.try_emplace({q, event.pc, w}, true).first->second;
        // Where a semaphore goes down, or is waited for by equality, a wait may
        // be what keeps the order of that.
        if (trace.lowered[trace.origin[semaphore]] || event.equal[w])
          may = false;
        if (may && event.waits[1 - w] == none)
          may = sure.of(semaphore, sums) >= event.needs[w];
      }
      sure.pass(e);
      sure.update(event);
    }
  }
  std::vector<StaticWait> result;
  for (auto [wait, may] : waits)
    if (may)
      result.push_back(wait);
  return result;
}

/// Without the wait, the semaphore has got there each time.
static bool isRedundant(Trace &trace, const StaticWait &at) {
  Orders orders(trace, at.queue, at.pc, at.wait);
  std::map<uint32_t, Sums> sums;
  SureValues sure(trace, orders, at.queue);
  for (uint32_t e = 0; e != trace.queues[at.queue].size(); ++e) {
    const Event &event = trace.queues[at.queue][e];
    sure.pass(e);
    uint32_t semaphore = event.waits[at.wait];
    if (event.pc == at.pc && semaphore != none &&
        sure.of(semaphore, sums) < event.needs[at.wait])
      return false;
    sure.update(event);
  }
  return true;
}

static Finding notLookedAt(const llvm::Twine &which) {
  Finding finding;
  finding.code = "SIM-REDUNDANT";
  finding.message = ("the program is too long to say of " + which +
                     " whether they are redundant")
                        .str();
  return finding;
}

std::vector<Finding> sim::redundantWaits(const Program &program) {
  std::vector<Finding> findings;
  Trace trace(program, maxProvedInstructions);
  if (trace.tooLong || trace.work() > mostPassed)
    return {notLookedAt("its waits")};
  std::vector<StaticWait> waits = candidates(trace);
  // Each of them goes through all events.
  uint64_t most = mostPassed / std::max<uint64_t>(trace.work(), 1);
  for (size_t n = 0; n != waits.size(); ++n) {
    const StaticWait &at = waits[n];
    if (n == most) {
      findings.push_back(
          notLookedAt(llvm::Twine(waits.size() - n) + " of its waits"));
      break;
    }
    if (!isRedundant(trace, at))
      continue;
    const Wait &wait = program.queues[at.queue].code[at.pc].waits[at.wait];
    int ring = wait.ref.ring();
    Finding finding;
    finding.code = "SIM-REDUNDANT";
    finding.queue = int(at.queue);
    finding.pc = int(at.pc);
    finding.message =
        "its wait for " + semaphoreName(program, wait.ref.base()) +
        (ring < 0 || program.ringDepth(at.queue, unsigned(ring)) == 1
             ? ""
             : "[r" + std::to_string(ring) + "]") +
        " orders nothing: what its queue has waited for before implies it";
    findings.push_back(std::move(finding));
  }
  return findings;
}
