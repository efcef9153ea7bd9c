//===- Trace.h - what queues do to semaphores, unrolled -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_RACE_TRACE_H
#define FACET_LIB_SIM_RACE_TRACE_H

#include "../Stream.h"

#include <vector>

namespace facet::sim {

constexpr uint32_t none = UINT32_MAX;

/// An instruction that waits or updates, at one of the times it comes up.
struct Event {
  /// How many instructions of its queue came up before.
  uint32_t step = 0;
  uint32_t pc = 0;
  /// Semaphores (numbers of Trace, not of the program), or `none`. A wait for
  /// what holds from the start is left out.
  uint32_t waits[2] = {none, none}, updates[2] = {none, none};
  int64_t needs[2] = {0, 0};
  /// Of a transfer: by all DMA engines together.
  int64_t amounts[2] = {0, 0};
  bool equal[2] = {false, false};
  /// Of a transfer that updates: which chain.
  uint32_t chain = none;
  /// Of a transfer: the chain's number from which on it is known to be done.
  uint32_t finished = 0;

  bool isUpdate() const { return updates[0] != none || updates[1] != none; }
};

/// All events of a program.
///
/// Where the program sets or decreases a semaphore it gets another number from
/// then on, so that values only ever grow; Race.cpp sees to it that what came
/// before and after is ordered in every execution.
///
/// A chain is the transfers with the same updates: losing an increment of one is
/// like losing it of another.
struct Trace {
  std::vector<std::vector<Event>> queues; // parallel to Program::queues
  std::vector<int64_t> initial;           // of each semaphore
  std::vector<unsigned> origin;           // its number in the program
  unsigned chains = 0;
  int64_t engines = 1; // increments of a transfer
  /// By semaphore of the program: something sets or decreases it.
  std::vector<bool> lowered;
  /// Some limit was met; nothing else is filled in then.
  bool tooLong = false;

  Trace(const Program &program, uint64_t maxSteps);

  /// What it takes to look at each component at each event.
  uint64_t work() const {
    uint64_t events = 0;
    for (const std::vector<Event> &queue : queues)
      events += queue.size();
    return events * (queues.size() + chains);
  }
};

/// Goes round the queues in the order of the usual run: see Run.cpp.
class Walk {
public:
  explicit Walk(const Program &program);

  /// Calls visit(queue) for each instruction that comes up, before it changes
  /// anything; false after `maxSteps` of them.
  template <typename Visit>
  bool run(uint64_t maxSteps, Visit visit) {
    for (bool moved = true; moved;) {
      moved = false;
      for (unsigned q = 0; q != streams.size(); ++q) {
        if (streams[q].done())
          continue;
        bool enabled = streams[q].enabled();
        if (enabled && !ready(q))
          continue;
        if (maxSteps-- == 0)
          return false;
        moved = true;
        if (enabled) {
          visit(q);
          update(q);
        }
        streams[q].step(enabled);
        ++steps[q];
      }
    }
    return true;
  }

  const Stream &stream(unsigned q) const { return streams[q]; }
  /// How many instructions of the queue came up before.
  uint32_t step(unsigned q) const { return steps[q]; }
  int64_t value(unsigned semaphore) const { return values[semaphore]; }
  unsigned semaphore(unsigned q, SemaphoreRef ref) const {
    return unsigned(ref.base() + streams[q].slot(ref.ring()));
  }
  int64_t need(unsigned q, const Wait &wait) const {
    return wait.value + wait.perRound * streams[q].round(wait.ref.ring());
  }
  int64_t amount(unsigned q, const Update &update) const {
    return update.amount * (streams[q].now().isTransfer() ? engines : 1);
  }

private:
  bool ready(unsigned q) const;
  void update(unsigned q);

  std::vector<Stream> streams;
  std::vector<uint32_t> steps;
  std::vector<int64_t> values;
  int64_t engines;
};

/// The semaphores that something sets or decreases.
std::vector<bool> loweredSemaphores(const Program &program);

} // namespace facet::sim

#endif // FACET_LIB_SIM_RACE_TRACE_H
