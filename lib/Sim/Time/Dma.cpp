//===- Dma.cpp - the DMA engines at work ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each DMA engine serves the shares of transfers in the order of their arrival:
//
//   128 rows of 1024 bytes -> 16 engines, 8 packets each: 8 x (1024 / 27.2 + 4.7)
//   ns, then a packet that updates the semaphore
//
//===----------------------------------------------------------------------===//

#include "Dma.h"

using namespace facet;
using namespace facet::sim;

DmaEngines::DmaEngines(const Machine &machine, const Timing &timing)
    : machine(machine), timing(timing), freeAt(size_t(machine.dma.engines)),
      engines(size_t(machine.dma.engines)) {}

void DmaEngines::add(uint32_t transfer, const TransferCost &cost, unsigned ring,
                     bool updates, Ticks ready) {
  (void)ring;
  arrivals.push({ready, transfer, cost, updates});
}

/// Rows of a transfer that an engine serves.
static uint64_t rowsOf(uint64_t rows, uint64_t engine, uint64_t group,
                       uint64_t engines) {
  uint64_t round = group * engines;
  uint64_t rest = rows % round, before = engine * group;
  return rows / round * group +
         (rest > before ? std::min(rest - before, group) : 0);
}

void DmaEngines::advance(
    Ticks now, const std::function<void(const ShareDone &)> &finished) {
  while (!arrivals.empty() && arrivals.top().ready <= now) {
    Arrival a = arrivals.top();
    arrivals.pop();
    for (unsigned e = 0; e != engines.size(); ++e) {
      uint64_t rows =
          rowsOf(a.cost.rows, e, uint64_t(machine.dma.partitionsPerEngine),
                 engines.size());
      const RowPackets &row = a.cost.row;
      ShareDone share{a.transfer, e};
      share.start = std::max(a.ready, freeAt[e]);
      share.packets = rows * (row.full + row.tails);
      share.bytes = rows * row.bytes();
      Ticks time =
          Ticks(rows * row.full) *
              timing.packetNext(row.fullBytes, a.cost.ratePercent) +
          (row.tails ? Ticks(rows * row.tails) *
                           timing.packetNext(row.tailBytes, a.cost.ratePercent)
                     : 0);
      uint64_t last = row.tails ? row.tailBytes : row.fullBytes;
      share.dataDone = share.start + time;
      if (share.packets)
        share.dataDone += timing.packetDone(last, a.cost.ratePercent) -
                          timing.packetNext(last, a.cost.ratePercent);
      share.done = share.dataDone;
      if (a.updates) {
        share.done = std::max(share.dataDone, share.start + time) +
                     timing.semaphoreWrite();
        time += timing.semaphoreWrite();
      }
      freeAt[e] = share.start + time;
      engines[e].busy += time;
      engines[e].bytes += share.bytes;
      engines[e].packets += share.packets;
      if (share.packets || a.updates)
        finished(share);
    }
  }
}

std::vector<DmaEngineTime> DmaEngines::times(Ticks total) const {
  std::vector<DmaEngineTime> result = engines;
  for (DmaEngineTime &e : result)
    e.idle = total - e.busy - e.held;
  return result;
}
