//===- Order.h - what must happen before what -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_RACE_ORDER_H
#define FACET_LIB_SIM_RACE_ORDER_H

#include "Trace.h"

#include <type_traits>
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
  /// A transfer of the chain is under way.
  bool isUnderWay() const { return lacking != nullptr; }
  /// The chain's transfers under way are done; false when there is none.
  bool release();
  /// A wait that is not there: index `wait` of instruction `pc` of queue `q`.
  void drop(unsigned q, uint32_t pc, unsigned wait) {
    dropQueue = q;
    dropPc = pc;
    dropWait = wait;
  }

  /// From here on changes are written down, and undo() takes them back.
  void mark();
  void undo();

  /// Calls passed(queue, event index) for each event that happens; it may return
  /// false to stop, of which nothing can be continued but undo().
  template <typename Passed>
  void settle(Passed passed) {
    while (awake) {
      unsigned q = unsigned(__builtin_ctz(awake));
      awake &= uint8_t(awake - 1);
      const std::vector<Event> &events = trace.queues[q];
      for (uint32_t end = std::min(limits[q], uint32_t(events.size()));
           next[q] < end && ready(q, events[next[q]]);) {
        update(q, next[q]);
        if constexpr (std::is_void_v<decltype(passed(q, uint32_t(0)))>)
          passed(q, next[q]++);
        else if (!passed(q, next[q]++))
          return;
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
        note(s);
        sleepers[s] |= uint8_t(1u << q);
        return false;
      }
    return true;
  }
  void add(uint32_t semaphore, int64_t amount) {
    note(semaphore);
    values[semaphore] += amount;
    awake |= sleepers[semaphore];
    sleepers[semaphore] = 0;
  }
  void update(unsigned q, uint32_t index);
  void note(uint32_t semaphore) {
    if (marked)
      log.push_back({semaphore, sleepers[semaphore], values[semaphore]});
  }

  const Trace &trace;
  std::vector<int64_t> values;
  std::vector<uint8_t> sleepers; // by semaphore: a bit for each queue
  std::vector<uint32_t> next, limits;
  uint8_t awake = 0;
  /// Since mark(): what semaphores were before, and the queues at it.
  struct Before {
    uint32_t semaphore;
    uint8_t sleepers;
    int64_t value;
  };
  std::vector<Before> log;
  bool marked = false;
  std::vector<uint32_t> markedNext, markedLimits;
  uint8_t markedAwake = 0;
  uint32_t held = none, heldQueue = none, heldEvent = none;
  uint32_t dropQueue = none, dropPc = none;
  unsigned dropWait = 0;
  /// Whose updates lack an increment.
  const Event *lacking = nullptr;
};

/// Events that Orders goes through at most: some seconds.
constexpr uint64_t mostPassed = uint64_t(1) << 29;

/// For every event and each component: how much of the component must have
/// happened before. Component q is queue q, counted in its updating events;
/// component `queues + c` is chain c, counted in how often it had to be released.
class Orders {
public:
  /// Numbers the transfers of the trace (Event::finished). With a wait dropped:
  /// as if it were not there.
  explicit Orders(Trace &trace);
  Orders(Trace &trace, unsigned q, uint32_t pc, unsigned wait);

  unsigned components() const {
    return unsigned(trace.queues.size()) + trace.chains;
  }
  /// More than mostPassed events: nothing is known.
  bool tooLong() const { return passed > mostPassed; }
  /// Events gone through.
  uint64_t work() const { return passed; }

  struct Growth {
    uint32_t event, component, value;
  };
  /// Where components grow in a queue, in the order of events.
  const std::vector<Growth> &of(unsigned queue) const { return growths[queue]; }

  /// A wait for one very value that the semaphore may have passed.
  struct Overshot {
    unsigned queue;
    uint32_t event;
    unsigned wait;
    int64_t value;
  };
  std::vector<Overshot> overshot;

private:
  /// Where the transfers of a chain are.
  struct Chain {
    uint32_t transfers = 0, queue = none, first = none;
    bool inSeveral = false; // queues
  };
  /// Notes the first event of each queue that comes with a component's new value.
  class Notes {
  public:
    Notes(Orders &orders, uint32_t component)
        : orders(orders), component(component), last(orders.growths.size()) {}
    void note(unsigned queue, uint32_t event, uint32_t value) {
      if (last[queue] == value)
        return;
      last[queue] = value;
      orders.growths[queue].push_back({event, component, value});
    }
    bool has(unsigned queue, uint32_t value) const {
      return last[queue] == value;
    }

  private:
    Orders &orders;
    uint32_t component;
    std::vector<uint32_t> last; // by queue
  };

  std::vector<Chain> findChains() const;
  void holdBack(Trace &trace, unsigned queue, const std::vector<Chain> &chains,
                Advance advance);
  void holdIncrement(Trace &trace, uint32_t chain, const Chain &where,
                     Advance &advance);

  const Trace &trace;
  std::vector<std::vector<Growth>> growths; // by queue
  uint64_t passed = 0;
};

/// What one queue knows of all components, event by event.
class Clock {
public:
  Clock(const Orders &orders, unsigned queue)
      : growths(orders.of(queue)), values(orders.components() + 1) {}
  /// Learns what event `event` brings; events in ascending order.
  void pass(uint32_t event) {
    for (; next != growths.size() && growths[next].event <= event; ++next)
      values[growths[next].component] = growths[next].value;
  }
  /// The last component never grows: what nothing can be told of.
  uint32_t operator[](unsigned component) const { return values[component]; }

private:
  const std::vector<Orders::Growth> &growths;
  std::vector<uint32_t> values;
  size_t next = 0; // of growths
};

} // namespace facet::sim

#endif // FACET_LIB_SIM_RACE_ORDER_H
