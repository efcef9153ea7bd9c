//===- Dma.h - the DMA engines at work ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_TIME_DMA_H
#define FACET_LIB_SIM_TIME_DMA_H

#include "facet/Isa/Timing.h"
#include "facet/Sim/Time.h"

#include <functional>
#include <queue>

namespace facet::sim {

/// What became of one engine's share of a transfer.
struct ShareDone {
  uint32_t transfer = 0, engine = 0;
  /// Its first packet was taken; its last byte arrived; the semaphore has its
  /// update.
  Ticks start = 0, dataDone = 0, done = 0;
  uint64_t bytes = 0, packets = 0;
};

class DmaEngines {
public:
  DmaEngines(const Machine &machine, const Timing &timing);

  /// Packets of the transfer may be taken from `ready` on.
  void add(uint32_t transfer, const TransferCost &cost, unsigned ring,
           bool updates, Ticks ready);
  static constexpr Ticks never = INT64_MAX;
  /// When something happens next.
  Ticks next() const { return arrivals.empty() ? never : arrivals.top().ready; }
  /// Does everything up to `now`; `finished` hears of shares, each once, not
  /// later than it is done.
  void advance(Ticks now,
               const std::function<void(const ShareDone &)> &finished);
  /// Sums up; the run took `total`.
  std::vector<DmaEngineTime> times(Ticks total) const;

private:
  struct Arrival {
    Ticks ready;
    uint32_t transfer;
    TransferCost cost;
    bool updates;
    bool operator<(const Arrival &other) const {
      return std::tie(ready, transfer) > std::tie(other.ready, other.transfer);
    }
  };
  const Machine &machine;
  const Timing &timing;
  std::priority_queue<Arrival> arrivals;
  std::vector<Ticks> freeAt;
  std::vector<DmaEngineTime> engines;
};

} // namespace facet::sim

#endif // FACET_LIB_SIM_TIME_DMA_H
