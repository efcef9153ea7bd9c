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

} // namespace

static bool isRedundant(Trace &trace, unsigned q, uint32_t pc, unsigned wait) {
  bool waits = false;
  for (const Event &event : trace.queues[q]) {
    if (event.pc != pc || event.waits[wait] == none)
      continue;
    // Where a semaphore goes down, or is waited for by equality, a wait may be
    // what keeps the order of that.
    if (trace.lowered[trace.origin[event.waits[wait]]] || event.equal[wait])
      return false;
    waits = true;
  }
  if (!waits) // holds from the start, or never comes up: nothing is lost by it
    return false;

  Orders orders(trace, q, pc, wait);
  Clock clock(orders, q);
  std::map<uint32_t, Sums> sums;
  uint32_t updates = 0; // of this queue
  for (uint32_t e = 0; e != trace.queues[q].size(); ++e) {
    const Event &event = trace.queues[q][e];
    clock.pass(e);
    uint32_t semaphore = event.waits[wait];
    if (event.pc == pc && semaphore != none) {
      const Sums &sum =
          sums.try_emplace(semaphore, trace, semaphore, orders.components())
              .first->second;
      int64_t value = trace.initial[semaphore];
      for (unsigned c = 0; c != orders.components(); ++c)
        value += sum.upTo(c, c == q ? updates : clock[c]);
      if (value < event.needs[wait])
        return false;
    }
    updates += event.isUpdate();
  }
  return true;
}

std::vector<Finding> sim::redundantWaits(const Program &program) {
  std::vector<Finding> findings;
  Trace trace(program, maxProvedInstructions);
  if (trace.tooLong)
    return findings;
  for (unsigned q = 0; q != program.queues.size(); ++q)
    for (uint32_t pc = 0; pc != program.queues[q].code.size(); ++pc)
      for (unsigned w = 0; w != 2; ++w) {
        const Wait &wait = program.queues[q].code[pc].waits[w];
        if (!wait.ref.present() || !isRedundant(trace, q, pc, w))
          continue;
        int ring = wait.ref.ring();
        Finding finding;
        finding.code = "SIM-REDUNDANT";
        finding.queue = int(q);
        finding.pc = int(pc);
        finding.message =
            "its wait for " + semaphoreName(program, wait.ref.base()) +
            (ring < 0 || program.ringDepth(q, unsigned(ring)) == 1
                 ? ""
                 : "[r" + std::to_string(ring) + "]") +
            " orders nothing: what its queue has waited for before implies it";
        findings.push_back(std::move(finding));
      }
  return findings;
}
