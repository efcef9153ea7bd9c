//===- Order.h - what must happen before what -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_RACE_ORDER_H
#define FACET_LIB_SIM_RACE_ORDER_H

#include "Trace.h"

#include <vector>

namespace facet::sim {

/// Lets queues go on as far as they can while something is held back.
class Advance {
public:
  explicit Advance(const Trace &trace);

  /// Queue q may not go beyond this event.
  void stopAt(unsigned q, uint32_t event) {
    limits[q] = event;
    awake |= uint8_t(1u << q);
  }
  /// From now on the transfers of this chain lack one increment between them.
  void holdChain(uint32_t chain) { held = chain; }
  /// Only this one lacks it.
  void holdTransfer(unsigned q, uint32_t event) {
    heldQueue = q;
    heldEvent = event;
  }
  /// The chain's transfers under way are done; false when there is none.
  bool release();
  /// A wait that is not there: index `wait` of instruction `pc` of queue `q`.
  void drop(unsigned q, uint32_t pc, unsigned wait) {
    dropQueue = q;
    dropPc = pc;
    dropWait = wait;
  }

  /// Calls passed(queue, event index) for each event that happens.
  template <typename Passed>
  void settle(Passed passed) {
    while (awake) {
      unsigned q = unsigned(__builtin_ctz(awake));
      awake &= uint8_t(awake - 1);
      const std::vector<Event> &events = trace.queues[q];
      for (uint32_t end = std::min(limits[q], uint32_t(events.size()));
           next[q] < end && ready(q, events[next[q]]);) {
        update(q, next[q]);
        passed(q, next[q]++);
      }
    }
  }

  /// The event a queue is at.
  uint32_t at(unsigned q) const { return next[q]; }
  int64_t value(uint32_t semaphore) const { return values[semaphore]; }

private:
  bool ready(unsigned q, const Event &event) {
    for (unsigned w = 0; w != 2; ++w)
      if (uint32_t s = event.waits[w];
          s != none && values[s] < event.needs[w] &&
          !(q == dropQueue && event.pc == dropPc && w == dropWait)) {
        sleepers[s] |= uint8_t(1u << q);
        return false;
      }
    return true;
  }
  void add(uint32_t semaphore, int64_t amount) {
    values[semaphore] += amount;
    awake |= sleepers[semaphore];
    sleepers[semaphore] = 0;
  }
  void update(unsigned q, uint32_t index);

  const Trace &trace;
  std::vector<int64_t> values;
  std::vector<uint8_t> sleepers; // by semaphore: a bit for each queue
  std::vector<uint32_t> next, limits;
  uint8_t awake = 0;
  uint32_t held = none, heldQueue = none, heldEvent = none;
  uint32_t dropQueue = none, dropPc = none;
  unsigned dropWait = 0;
  /// Whose updates lack an increment.
  const Event *lacking = nullptr;
};

/// For every event and each component: how much of the component must have
/// happened before. Component q is queue q, counted in its updating events;
/// component `queues + c` is chain c, counted in how often it had to be released.
class Orders {
public:
  /// Numbers the transfers of the trace (Event::finished). With a wait dropped:
  /// as if it were not there.
  explicit Orders(Trace &trace);
  Orders(Trace &trace, unsigned q, uint32_t pc, unsigned wait);

  unsigned components() const { return unsigned(changes.size()); }

  struct Change {
    uint32_t event, value;
  };
  /// Where a component grows in a queue.
  const std::vector<Change> &of(unsigned component, unsigned queue) const {
    return changes[component][queue];
  }

  /// A wait for one very value that the semaphore may have passed.
  struct Overshot {
    unsigned queue;
    uint32_t event;
    unsigned wait;
    int64_t value;
  };
  std::vector<Overshot> overshot;

private:
  void holdBack(unsigned queue, Advance advance);
  void holdIncrement(Trace &trace, uint32_t chain, Advance advance);

  const Trace &trace;
  std::vector<std::vector<std::vector<Change>>> changes;
};

/// What one queue knows of all components, event by event.
class Clock {
public:
  Clock(const Orders &orders, unsigned queue)
      : orders(orders), queue(queue), values(orders.components() + 1),
        cursors(orders.components()) {}
  /// Learns what event `event` brings; events in ascending order.
  void pass(uint32_t event);
  /// The last component never grows: what nothing can be told of.
  uint32_t operator[](unsigned component) const { return values[component]; }

private:
  const Orders &orders;
  unsigned queue;
  std::vector<uint32_t> values, cursors;
};

} // namespace facet::sim

#endif // FACET_LIB_SIM_RACE_ORDER_H
