//===- Steps.cpp - quantities over time -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a recorded run does not hold as such, put together from what it holds:
//
//   semaphore full0   0 until 2153 ns, then 1, 2, ... 16   one per DMA engine
//   dma rate          0, 368 GB/s from 1250 ns, 0 from 1606 ns
//
// Which semaphore an update meant depends on the slot of its ring; so each queue
// is walked once more, and the k-th time it comes to an instruction belongs to
// the k-th span of that instruction.
//
//===----------------------------------------------------------------------===//

#include "../Stream.h"
#include "Trace.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <tuple>

using namespace facet;
using namespace facet::sim;

namespace {

/// A change of a semaphore, in the order in which changes are to be made.
struct Change {
  Ticks at;
  uint64_t order;
  uint32_t semaphore;
  int64_t amount;
  bool sets;
  bool operator<(const Change &other) const {
    return std::tie(at, order) < std::tie(other.at, other.order);
  }
};

} // namespace

/// For each execution of each instruction the two semaphores it updates, -1: none:
/// [queue][pc][k].
using Meant = std::vector<std::vector<std::vector<std::array<int, 2>>>>;

static Meant meantSemaphores(const Program &program) {
  Meant meant(program.queues.size());
  for (unsigned q = 0; q != program.queues.size(); ++q) {
    meant[q].resize(program.queues[q].code.size());
    for (Stream stream(program, q); !stream.done();) {
      bool enabled = stream.enabled();
      const Instruction &i = stream.now();
      if (enabled &&
          (i.updates[0].ref.present() || i.updates[1].ref.present())) {
        std::array<int, 2> both = {-1, -1};
        for (unsigned u = 0; u != 2; ++u)
          if (i.updates[u].ref.present())
            both[u] = int(i.updates[u].ref.base()) +
                      int(stream.slot(i.updates[u].ref.ring()));
        meant[q][stream.at()].push_back(both);
      }
      stream.step(enabled);
    }
  }
  return meant;
}

std::vector<std::vector<SemaphoreStep>>
sim::semaphoreSteps(const Program &program, const TimeResult &time) {
  Meant meant = meantSemaphores(program);
  std::vector<std::vector<uint32_t>> seen(program.queues.size());
  for (size_t q = 0; q != seen.size(); ++q)
    seen[q].resize(program.queues[q].code.size());
  std::vector<Change> changes;
  auto add = [&](Ticks at, int semaphore, int64_t amount, bool sets = false) {
    if (semaphore >= 0 && size_t(semaphore) < program.semaphores.size())
      changes.push_back(
          {at, changes.size(), uint32_t(semaphore), amount, sets});
  };
  // Of each span; a transfer's updates are those of its trigger.
  std::vector<std::array<int, 2>> ofSpan(time.spans.size(), {-1, -1});
  for (size_t s = 0; s != time.spans.size(); ++s) {
    const Span &span = time.spans[s];
    const Instruction &i = program.queues[span.queue].code[span.pc];
    if (i.op() == Opcode::SetSemaphore)
      add(span.done, int(i.imm[0]), int32_t(i.imm[1]), true);
    const auto &executions = meant[span.queue][span.pc];
    uint32_t &k = seen[span.queue][span.pc];
    if (k < executions.size())
      ofSpan[s] = executions[k++];
    if (!i.isTransfer())
      for (unsigned u = 0; u != 2; ++u)
        add(span.done, ofSpan[s][u], i.updates[u].amount);
  }
  // Each DMA engine updates; those that had nothing to move are not recorded and
  // have updated by the time the transfer is done.
  std::vector<uint64_t> updated(time.transfers.size());
  auto update = [&](size_t transfer, Ticks at, int64_t engines) {
    uint32_t s = time.transfers[transfer].span;
    const Span &span = time.spans[s];
    const Instruction &i = program.queues[span.queue].code[span.pc];
    for (unsigned u = 0; u != 2; ++u)
      add(at, ofSpan[s][u], engines * i.updates[u].amount);
  };
  for (const ShareSpan &share : time.shares) {
    ++updated[share.transfer];
    update(share.transfer, share.done, 1);
  }
  for (size_t t = 0; t != updated.size(); ++t)
    if (updated[t] < time.dma.size())
      update(t, time.transfers[t].done, int64_t(time.dma.size() - updated[t]));

  llvm::sort(changes);
  std::vector<std::vector<SemaphoreStep>> steps(program.semaphores.size());
  for (const Change &change : changes) {
    std::vector<SemaphoreStep> &of = steps[change.semaphore];
    int64_t before = of.empty() ? program.semaphores[change.semaphore].initial
                                : of.back().value;
    int64_t value = change.sets ? change.amount : before + change.amount;
    if (!of.empty() && of.back().at == change.at)
      of.back().value = value;
    else
      of.push_back({change.at, value});
  }
  return steps;
}

std::vector<RateStep> sim::dmaRateSteps(const TimeResult &time) {
  // Shares of several rings take turns on an engine, and how long each turn was
  // is not recorded: a stretch in which the engine is never idle has one rate.
  std::vector<uint32_t> order(time.shares.size());
  for (uint32_t s = 0; s != order.size(); ++s)
    order[s] = s;
  llvm::sort(order, [&](uint32_t a, uint32_t b) {
    const ShareSpan &x = time.shares[a], &y = time.shares[b];
    return std::tie(x.engine, x.start, a) < std::tie(y.engine, y.start, b);
  });
  struct Edge {
    Ticks at;
    double rate; // bytes per tick
    int moving;
  };
  std::vector<Edge> edges;
  for (size_t i = 0; i != order.size();) {
    const ShareSpan &first = time.shares[order[i]];
    Ticks done = first.done;
    uint64_t bytes = 0;
    for (; i != order.size(); ++i) {
      const ShareSpan &share = time.shares[order[i]];
      if (share.engine != first.engine || share.start > done)
        break;
      done = std::max(done, share.done);
      bytes += share.bytes;
    }
    if (done <= first.start || !bytes)
      continue;
    double rate = double(bytes) / double(done - first.start);
    edges.push_back({first.start, rate, 1});
    edges.push_back({done, -rate, -1});
  }
  llvm::sort(edges, [](const Edge &a, const Edge &b) {
    return std::tie(a.at, a.moving, a.rate) < std::tie(b.at, b.moving, b.rate);
  });
  std::vector<RateStep> steps;
  double rate = 0;
  int moving = 0; // so that the sum ends at 0, whatever was rounded
  for (const Edge &edge : edges) {
    moving += edge.moving;
    rate = moving ? rate + edge.rate : 0;
    double perSecond = rate * double(time.ticksPerNs) * 1e9;
    if (!steps.empty() && steps.back().at == edge.at)
      steps.back().bytesPerSecond = perSecond;
    else
      steps.push_back({edge.at, perSecond});
  }
  return steps;
}
