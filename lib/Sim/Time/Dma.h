//===- Dma.h - the DMA engines at work ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_TIME_DMA_H
#define FACET_LIB_SIM_TIME_DMA_H

#include "DmaEngine.h"
#include "SharedRate.h"

#include "facet/Isa/Timing.h"
#include "facet/Sim/Time.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <queue>

namespace facet::sim {

/// What became of the share of a transfer, on each of these engines.
struct ShareDone {
  uint32_t transfer = 0;
  llvm::ArrayRef<unsigned> engines;
  /// Its first packet was taken; its last byte arrived; the semaphore has its
  /// update.
  Ticks start = 0, dataDone = 0, done = 0;
  uint64_t bytes = 0, packets = 0;
};

/// No run takes longer, so that times can be added without care.
constexpr Ticks longestTime = Ticks(1) << 60;

class DmaEngines {
public:
  DmaEngines(const Machine &machine, const Timing &timing);

  /// Packets of the transfer may be taken from `ready` on. Every engine updates a
  /// semaphore when `updates`.
  void add(uint32_t transfer, const TransferCost &cost, unsigned ring,
           bool updates, Ticks ready);
  static constexpr Ticks never = INT64_MAX;
  /// When something happens next.
  Ticks next() const;
  /// Does what happens at `now`, which is next(). `finished` hears of every share,
  /// not after it is done.
  void advance(Ticks now, llvm::function_ref<void(const ShareDone &)> finished);
  /// Sums up; the run took `total`.
  std::vector<DmaEngineTime> times(Ticks total) const;

private:
  struct Arrival {
    Ticks ready;
    uint64_t order;
    uint32_t transfer;
    unsigned ring;
    bool updates;
    TransferCost cost;
    bool operator<(const Arrival &other) const {
      return std::tie(ready, order) > std::tie(other.ready, other.order);
    }
  };
  /// Engines that have been doing the same; in most programs all are one group.
  struct Group {
    llvm::SmallVector<unsigned, 16> members;
    RingSchedule schedule;
    /// The schedule and `left` are as of `since`.
    Ticks since = 0;
    /// Own time until a share is finished, and when that is; never: idle.
    OwnTime left = 0;
    Ticks event = never;
    RateUser rate;
    Ticks activeSince = 0;
    llvm::SmallVector<std::pair<uint32_t, Ticks>, 4> starts; // of its shares
    bool idle() const { return schedule.active().empty(); }
  };

  void arrive(const Arrival &arrival);
  uint64_t split(size_t group, uint64_t rows);
  void mergeIdle();
  Share shareOf(const Arrival &arrival, uint64_t rows) const;
  void finishShare(Group &group, Ticks now,
                   llvm::function_ref<void(const ShareDone &)> finished);
  void catchUp(Group &group, Ticks now);
  void plan(Group &group, Ticks now);
  void shareOut(Ticks now);

  const Machine &machine;
  const Timing &timing;
  int64_t limit = 0, memoryLimit = 0;
  std::priority_queue<Arrival> arrivals;
  uint64_t order = 0;
  std::vector<Group> groups;
  std::vector<DmaEngineTime> engineTimes; // held: all of its active time
  bool changed = false;
};

} // namespace facet::sim

#endif // FACET_LIB_SIM_TIME_DMA_H
