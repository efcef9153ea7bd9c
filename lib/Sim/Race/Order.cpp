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
// nobody can move, all under way must be done for anything more to happen. Most
// chains are in one queue, and that queue's run comes past its first transfer with
// everybody else as far as possible without it: from there the increment is
// followed, until each queue has been seen behind the last one, and undone. A
// program that resets a semaphore in each iteration has a chain in each.
//
// This is exact, not an approximation: without x, y really can happen.
//
//===----------------------------------------------------------------------===//

#include "Order.h"

#include <algorithm>
#include <tuple>

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

void Advance::mark() {
  marked = true;
  log.clear();
  markedNext = next;
  markedLimits = limits;
  markedAwake = awake;
}

void Advance::undo() {
  for (; !log.empty(); log.pop_back()) {
    values[log.back().semaphore] = log.back().value;
    sleepers[log.back().semaphore] = log.back().sleepers;
  }
  marked = false;
  next = markedNext;
  limits = markedLimits;
  awake = markedAwake;
  held = none;
  lacking = nullptr;
}

Orders::Orders(Trace &trace) : Orders(trace, none, none, 0) {}

Orders::Orders(Trace &trace, unsigned q, uint32_t pc, unsigned wait)
    : trace(trace), growths(trace.queues.size()) {
  Advance advance(trace);
  advance.drop(q, pc, wait);
  std::vector<Chain> chains = findChains();
  // Those in several queues are followed through the whole program.
  uint64_t several = 0, events = 0;
  for (const Chain &chain : chains)
    several += chain.inSeveral;
  for (const std::vector<Event> &queue : trace.queues)
    events += queue.size();
  if (several * events > mostPassed) {
    passed = mostPassed + 1;
    return;
  }
  for (unsigned queue = 0; queue != trace.queues.size(); ++queue)
    holdBack(trace, queue, chains, advance);
  for (uint32_t chain = 0; chain != trace.chains && !tooLong(); ++chain) {
    if (!chains[chain].inSeveral)
      continue;
    Advance all = advance;
    holdIncrement(trace, chain, chains[chain], all);
  }
  for (std::vector<Growth> &growth : growths)
    std::sort(growth.begin(), growth.end(),
              [](const Growth &a, const Growth &b) {
                return std::tie(a.event, a.component, a.value) <
                       std::tie(b.event, b.component, b.value);
              });
}

std::vector<Orders::Chain> Orders::findChains() const {
  std::vector<Chain> chains(trace.chains);
  for (unsigned q = 0; q != trace.queues.size(); ++q)
    for (uint32_t e = 0; e != trace.queues[q].size(); ++e) {
      if (trace.queues[q][e].chain == none)
        continue;
      Chain &chain = chains[trace.queues[q][e].chain];
      chain.inSeveral |= chain.transfers && chain.queue != q;
      chain.queue = q;
      chain.first = std::min(chain.first, e);
      ++chain.transfers;
    }
  return chains;
}

void Orders::holdBack(Trace &all, unsigned queue,
                      const std::vector<Chain> &chains, Advance advance) {
  const std::vector<Event> &events = trace.queues[queue];
  Notes notes(*this, queue);
  uint32_t updates = 0;
  auto pass = [&](unsigned q, uint32_t event) {
    if (q == queue)
      updates += events[event].isUpdate();
    else if (updates)
      notes.note(q, event, updates);
    return ++passed <= mostPassed;
  };
  for (uint32_t event = 0; event <= events.size(); ++event) {
    advance.stopAt(queue, event);
    advance.settle(pass);
    if (tooLong() || event == events.size() || advance.at(queue) != event)
      return;
    // All others have gone as far as they can without this event.
    for (unsigned w = 0; w != 2; ++w)
      if (uint32_t s = events[event].waits[w];
          s != none && events[event].equal[w] &&
          advance.value(s) > events[event].needs[w])
        overshot.push_back({queue, event, w, advance.value(s)});
    if (uint32_t chain = events[event].chain; chain != none &&
                                              !chains[chain].inSeveral &&
                                              chains[chain].first == event) {
      advance.mark();
      advance.stopAt(queue, none);
      holdIncrement(all, chain, chains[chain], advance);
      advance.undo();
    }
  }
}

void Orders::holdIncrement(Trace &all, uint32_t chain, const Chain &where,
                           Advance &advance) {
  Notes notes(*this, uint32_t(trace.queues.size()) + chain);
  advance.holdChain(chain);
  uint32_t releases = 0, transfers = 0;
  // Nothing more can be learned: no transfer is left, and each queue has come past
  // the last one that was under way, or is at its end.
  auto allSeen = [&] {
    for (unsigned q = 0; q != trace.queues.size(); ++q)
      if (!notes.has(q, releases) && advance.at(q) != trace.queues[q].size())
        return false;
    return true;
  };
  auto pass = [&](unsigned q, uint32_t event) {
    if (all.queues[q][event].chain == chain) {
      all.queues[q][event].finished = releases + 1;
      ++transfers;
    }
    bool isNew = releases && !notes.has(q, releases);
    if (isNew)
      notes.note(q, event, releases);
    bool over = isNew && transfers == where.transfers &&
                !advance.isUnderWay() && allSeen();
    return ++passed <= mostPassed && !over;
  };
  do {
    advance.settle(pass);
    ++releases;
  } while (!tooLong() && advance.release());
}
