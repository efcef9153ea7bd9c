//===- Orders.cpp - other orders that the semaphores allow ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the usual order (Run.cpp) does at once may happen much later:
//
//   sync    dma_copy x -> sbuf    no update        usual: sbuf has x by now
//   vector  copy sbuf -> ...      no wait          order 1: transfers come last,
//                                                  copy reads what was there before
//
// Queues and transfers under way are candidates, those whose waits do not hold are
// not; who comes next is decided by rule, by lot, or by time. By time means: the
// program is timed (Time.h) with every duration up to five times as long, each instruction
// gets an instant between its start and its result, each transfer one between its
// first packet and its last byte, and of the candidates the earliest comes first.
// A wait that matters on a machine somewhat faster or slower here and there is one
// whose absence shows in such an order.
//
//===----------------------------------------------------------------------===//

#include "Core.h"

#include "facet/Sim/Time.h"

#include <algorithm>
#include <random>

using namespace facet;
using namespace facet::sim;

namespace {
/// When things happen in a timed run with jitter.
class Instants {
public:
  /// Every second order from 4 on; without instants, the others and programs that
  /// are too long or do not come to their end.
  Instants(const Program &program, const RunOptions &options);
  bool empty() const { return queues.empty(); }

  /// Of the next instruction of a queue; one that is skipped has none of its own.
  Ticks next(unsigned queue, bool enabled) const {
    const Queue &q = queues[queue];
    return enabled && q.instruction != q.instructions.size()
               ? q.instructions[q.instruction]
               : q.last;
  }
  /// It has been issued; of its transfer.
  Ticks issued(unsigned queue, bool enabled, bool isTransfer) {
    Queue &q = queues[queue];
    q.last = next(queue, enabled);
    q.instruction += enabled && q.instruction != q.instructions.size();
    if (!isTransfer || q.transfer == q.transfers.size())
      return q.last;
    return q.transfers[q.transfer++];
  }

private:
  struct Queue {
    std::vector<Ticks> instructions, transfers; // in the queue's order
    size_t instruction = 0, transfer = 0;
    Ticks last = 0;
  };
  std::vector<Queue> queues;
};
} // namespace

Instants::Instants(const Program &program, const RunOptions &options) {
  constexpr uint64_t mostSteps = 1 << 22; // all are kept
  if (options.order < 4 || options.order % 2)
    return;
  TimeOptions time;
  time.record = true;
  time.jitterSeed = options.order;
  time.jitterQuarters = 16;
  time.maxSteps = std::min(options.maxSteps, mostSteps);
  TimeResult run = timeProgram(program, time);
  if (!run.ok())
    return;
  std::mt19937_64 random(options.order);
  auto between = [&](Ticks from, Ticks to) {
    return from + Ticks(random() % uint64_t(std::max<Ticks>(to - from, 0) + 1));
  };
  queues.resize(program.queues.size());
  for (const Span &span : run.spans) {
    std::vector<Ticks> &instants = queues[span.queue].instructions;
    Ticks at = between(span.start, span.done);
    instants.push_back(instants.empty() ? at : std::max(instants.back(), at));
  }
  for (const TransferSpan &transfer : run.transfers)
    queues[run.spans[transfer.span].queue].transfers.push_back(
        between(transfer.start, transfer.dataDone));
}

void Core::finishTransfer(size_t index) {
  Transfer t = std::move(transfers[index]);
  transfers.erase(transfers.begin() + int64_t(index));
  queue = t.queue;
  pc = t.pc;
  engine = program.queues[queue].engine;
  current = t.instruction;
  when = std::move(t.when);
  std::copy(std::begin(t.regions), std::end(t.regions), regions);
  execute();
  noteWritten();
  for (unsigned u = 0; u != 2; ++u)
    if (current->updates[u].ref.present() && !stopped)
      add(t.semaphores[u], current->updates[u].amount);
  when.clear();
}

/// Orders 1 and 2 let the first and the last queue run on as far as it can, and
/// transfers only when none can; of the others every second goes by time, the rest
/// draws what comes next.
void Core::runOtherwise() {
  std::mt19937_64 random(options.order);
  Instants instants(program, options);
  std::vector<unsigned> able;
  while (!stopped) {
    bool left = !transfers.empty();
    able.clear();
    for (unsigned q = 0; q != streams.size(); ++q) {
      if (streams[q].done())
        continue;
      left = true;
      if (!streams[q].enabled() || ready(q))
        able.push_back(q);
    }
    if (!left)
      break;
    size_t choices = able.size() + transfers.size();
    if (choices == 0)
      return reportDeadlock();
    size_t next = 0;
    if (options.order == 2)
      next = (able.empty() ? choices : able.size()) - 1;
    else if (options.order != 1 && instants.empty())
      next = size_t(random() % choices);
    else if (options.order != 1) {
      Ticks first = INT64_MAX;
      for (size_t choice = 0; choice != choices; ++choice) {
        Ticks at = INT64_MAX;
        if (choice < able.size())
          at = instants.next(able[choice], streams[able[choice]].enabled());
        else
          at = transfers[choice - able.size()].at;
        if (at < first) {
          first = at;
          next = choice;
        }
      }
    }
    if (next >= able.size()) {
      finishTransfer(next - able.size());
      continue;
    }
    unsigned q = able[next];
    size_t before = transfers.size();
    bool enabled = streams[q].enabled();
    issue(q);
    if (instants.empty())
      continue;
    bool begun = transfers.size() != before;
    Ticks at = instants.issued(q, enabled, begun);
    if (begun)
      transfers.back().at = at;
  }
  result.completed = !stopped;
}

RunResult sim::tryOrders(const Program &program,
                         const std::vector<std::vector<uint8_t>> &given,
                         const std::vector<std::vector<uint8_t>> &expected,
                         uint64_t orders, RunOptions options) {
  RunResult result;
  result.queues.resize(program.queues.size());
  result.completed = true;
  options.races = false; // a matter of the program, not of the order
  for (options.order = 1; options.order <= orders; ++options.order) {
    std::vector<std::vector<uint8_t>> memory = given;
    RunResult other = runProgram(program, memory, options);
    for (unsigned b = 0; b != program.buffers.size() && other.ok(); ++b) {
      const Buffer &buffer = program.buffers[b];
      if (buffer.kind != BufferKind::Out && buffer.kind != BufferKind::InOut)
        continue;
      auto [at, _] = std::mismatch(memory[b].begin(), memory[b].end(),
                                   expected[b].begin());
      if (at == memory[b].end())
        continue;
      Finding finding;
      finding.code = "SIM-ORDER";
      finding.message = "output '" + buffer.name + "' differs at byte " +
                        std::to_string(at - memory[b].begin()) +
                        " when its queues run in another order: a wait is "
                        "missing";
      other.findings.push_back(std::move(finding));
    }
    if (other.ok())
      continue;
    for (Finding &finding : other.findings)
      finding.when += (finding.when.empty() ? "in order " : ", in order ") +
                      std::to_string(options.order);
    return other;
  }
  return result;
}
