//===- Order.cpp - what must happen before what ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x must happen before y when y cannot happen without x. Semaphores of a trace
// only grow, so what can happen without x is found by letting all queues go on as
// far as they can with x held back, in any order. One such run per queue answers
// for all its instructions: the queue is the laziest, and takes a step only when
// nobody else can move.
//
//   tensor (lazy)   update(done += 1)    update(done += 1)
//   vector          wait(done >= 1)      wait(done >= 2)
//
//   vector's first event happens after step 1 of tensor, the second after step 2
//
// A transfer triggered is not a transfer done. What it is known by are the sums of
// its increments, so it is held back by keeping one increment. Transfers with the
// same updates are one chain: which of those under way lacks the increment makes
// no difference, so one run keeps one increment of all of them together, and when
// nobody can move, all under way must be done for anything more to happen.
//
// This is exact, not an approximation: without x, y really can happen.
//
//===----------------------------------------------------------------------===//

#include "Order.h"

#include <algorithm>

using namespace facet;
using namespace facet::sim;

Advance::Advance(const Trace &trace)
    : trace(trace), values(trace.initial), sleepers(values.size()),
      next(trace.queues.size()), limits(trace.queues.size(), none),
      awake(uint8_t((1u << trace.queues.size()) - 1)) {}

void Advance::update(unsigned q, uint32_t index) {
  const Event &event = trace.queues[q][index];
  bool lacks = (event.chain != none && event.chain == held && !lacking) ||
               (q == heldQueue && index == heldEvent);
  if (lacks)
    lacking = &event;
  for (unsigned u = 0; u != 2; ++u)
    if (event.updates[u] != none)
      add(event.updates[u],
          event.amounts[u] - (lacks ? event.amounts[u] / trace.engines : 0));
}

bool Advance::release() {
  if (!lacking)
    return false;
  for (unsigned u = 0; u != 2; ++u)
    if (lacking->updates[u] != none)
      add(lacking->updates[u], lacking->amounts[u] / trace.engines);
  lacking = nullptr;
  return true;
}

Orders::Orders(Trace &trace) : Orders(trace, none, none, 0) {}

Orders::Orders(Trace &trace, unsigned q, uint32_t pc, unsigned wait)
    : trace(trace) {
  size_t queues = trace.queues.size();
  changes.resize(queues + trace.chains);
  for (auto &component : changes)
    component.resize(queues);
  Advance advance(trace);
  advance.drop(q, pc, wait);
  for (unsigned queue = 0; queue != queues; ++queue)
    holdBack(queue, advance);
  for (uint32_t chain = 0; chain != trace.chains; ++chain)
    holdIncrement(trace, chain, advance);
}

void Orders::holdBack(unsigned queue, Advance advance) {
  const std::vector<Event> &events = trace.queues[queue];
  auto &mine = changes[queue];
  uint32_t updates = 0;
  auto passed = [&](unsigned q, uint32_t event) {
    if (q == queue)
      updates += events[event].isUpdate();
    else if (updates && (mine[q].empty() || mine[q].back().value != updates))
      mine[q].push_back({event, updates});
  };
  for (uint32_t event = 0; event <= events.size(); ++event) {
    advance.stopAt(queue, event);
    advance.settle(passed);
    if (event == events.size() || advance.at(queue) != event)
      return;
    // All others have gone as far as they can without this event.
    for (unsigned w = 0; w != 2; ++w)
      if (uint32_t s = events[event].waits[w];
          s != none && events[event].equal[w] &&
          advance.value(s) > events[event].needs[w])
        overshot.push_back({queue, event, w, advance.value(s)});
  }
}

void Orders::holdIncrement(Trace &all, uint32_t chain, Advance advance) {
  auto &mine = changes[trace.queues.size() + chain];
  advance.holdChain(chain);
  uint32_t releases = 0;
  do {
    advance.settle([&](unsigned q, uint32_t event) {
      if (all.queues[q][event].chain == chain)
        all.queues[q][event].finished = releases + 1;
      if (releases && (mine[q].empty() || mine[q].back().value != releases))
        mine[q].push_back({event, releases});
    });
    ++releases;
  } while (advance.release());
}

void Clock::pass(uint32_t event) {
  for (unsigned c = 0; c != cursors.size(); ++c)
    for (const auto &changes = orders.of(c, queue);
         cursors[c] != changes.size() && changes[cursors[c]].event <= event;
         ++cursors[c])
      values[c] = changes[cursors[c]].value;
}
