//===- Dma.cpp - the DMA engines at work ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Deals a transfer out to the engines and finds when each has done its share:
//
//   128 rows of 1024 bytes -> 16 engines, 8 packets each: 8 x (1024 / 27.2 + 4.7)
//   ns, then a packet that updates the semaphore
//
// Each engine runs its schedule in its own time. While the engines together want
// more than the core or the memory moves, all own times go slower by what the
// sharing takes from them; that can only change when a share begins or ends, so
// between two such instants every end is known in closed form.
//
//===----------------------------------------------------------------------===//

#include "Dma.h"

using namespace facet;
using namespace facet::sim;

/// The rate of a link in units of RateUser; 0: no limit.
static int64_t rateOf(int64_t mbPerS, Ticks ticksPerNs) {
  return int64_t((__int128(mbPerS) << rateBits) / (1000 * ticksPerNs));
}

DmaEngines::DmaEngines(const Machine &machine, const Timing &timing)
    : machine(machine), timing(timing), engines(size_t(machine.dma.engines)) {
  limit = rateOf(machine.dma.sustainedMBs, timing.time().perNs());
  if (machine.hbm.contention)
    memoryLimit = rateOf(machine.hbm.rateMBs, timing.time().perNs());
}

void DmaEngines::add(uint32_t transfer, const TransferCost &cost, unsigned ring,
                     bool updates, Ticks ready) {
  arrivals.push({ready, transfer, ring, updates, cost});
}

Ticks DmaEngines::next() const {
  Ticks next = arrivals.empty() ? never : arrivals.top().ready;
  for (const Engine &engine : engines)
    next = std::min(next, engine.event);
  return next;
}

//===----------------------------------------------------------------------===//
// Own time and time
//===----------------------------------------------------------------------===//

/// Own time that passes in `time` ticks.
static OwnTime ownTime(const RateUser &rate, Ticks time) {
  OwnTime own = OwnTime(time) << ownBits;
  return rate.given == rate.wanted ? own : own * rate.given / rate.wanted;
}

/// Ticks that it takes until `own` has passed. What is short of a tick by less
/// than 1/64 is rounding of the rates.
static Ticks ticksFor(const RateUser &rate, OwnTime own) {
  own = std::max<OwnTime>(own - (OwnTime(1) << (ownBits - 6)), 0);
  OwnTime unit = OwnTime(1) << ownBits;
  if (rate.given != rate.wanted) {
    own *= rate.wanted;
    unit *= rate.given;
  }
  return Ticks((own + unit - 1) / unit);
}

/// Brings an engine to `now`, where none of its shares is finished.
void DmaEngines::catchUp(Engine &engine, Ticks now) {
  OwnTime passed =
      std::min(ownTime(engine.rate, now - engine.since), engine.left);
  engine.schedule.advance(passed, [&](uint32_t transfer, OwnTime instant) {
    engine.starts.push_back(
        {transfer, engine.since + ticksFor(engine.rate, instant)});
  });
  engine.left -= passed;
  engine.since = now;
}

/// Its shares have changed: what it wants, and when the first is finished.
void DmaEngines::plan(Engine &engine, Ticks now) {
  changed = true;
  engine.rate = {};
  engine.event = never;
  if (engine.schedule.active().empty())
    return;
  // Rings take turns, so each counts with its mean packet.
  OwnTime bytes = 0, memory = 0, time = 0;
  for (const RingSchedule::Head &head : engine.schedule.active()) {
    const Share &share = head.share;
    OwnTime packets = OwnTime(std::max<uint64_t>(share.packets, 1));
    bytes += (OwnTime(share.bytes) << rateBits) / packets;
    memory += (OwnTime(share.hbmBytes) << rateBits) / packets;
    time += (OwnTime(share.time) << ownBits) / packets;
  }
  if (time) {
    engine.rate.wanted = engine.rate.given = int64_t((bytes << ownBits) / time);
    engine.rate.memory = bytes ? int64_t(memory * 1000 / bytes) : 0;
  }
  engine.left = engine.schedule.untilFinished();
  engine.event = now + ticksFor(engine.rate, engine.left);
}

/// Shares of engines have begun or ended: rates may be others from now on.
void DmaEngines::shareOut(Ticks now) {
  changed = false;
  if (!limit && !memoryLimit)
    return;
  llvm::SmallVector<RateUser, 16> users;
  for (const Engine &engine : engines)
    users.push_back(engine.rate);
  shareRates(users, limit, memoryLimit);
  for (size_t e = 0; e != engines.size(); ++e) {
    Engine &engine = engines[e];
    if (engine.event == never || users[e].given == engine.rate.given)
      continue;
    catchUp(engine, now);
    engine.rate.given = users[e].given;
    engine.event = now + ticksFor(engine.rate, engine.left);
  }
}

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//

/// Rows of a transfer that an engine serves.
static uint64_t rowsOf(uint64_t rows, uint64_t engine, uint64_t group,
                       uint64_t engines) {
  uint64_t round = group * engines, before = engine * group;
  uint64_t rest = rows % round;
  return rows / round * group +
         (rest > before ? std::min(rest - before, group) : 0);
}

Share DmaEngines::shareOf(const Arrival &arrival, uint64_t rows) const {
  const RowPackets &row = arrival.cost.row;
  int64_t percent = arrival.cost.ratePercent;
  Share share;
  share.transfer = arrival.transfer;
  share.left[0] = rows * row.full;
  share.left[1] = rows * row.tails;
  share.left[2] = arrival.updates;
  share.updates = arrival.updates;
  share.cost[0] = timing.packetNext(row.fullBytes, percent);
  share.cost[1] = row.tails ? timing.packetNext(row.tailBytes, percent) : 0;
  share.cost[2] = timing.semaphoreWrite();
  share.packets = share.left[0] + share.left[1];
  share.bytes = rows * row.bytes();
  share.hbmBytes =
      share.bytes * (arrival.cost.readsHbm + arrival.cost.writesHbm);
  for (unsigned s = 0; s != 3; ++s)
    share.time += Ticks(share.left[s]) * share.cost[s];
  if (share.packets) {
    uint64_t last = row.tails ? row.tailBytes : row.fullBytes;
    share.lag = std::max<Ticks>(0, timing.packetDone(last, percent) -
                                       timing.packetNext(last, percent));
  }
  return share;
}

void DmaEngines::arrive(const Arrival &arrival) {
  uint64_t group = uint64_t(machine.dma.partitionsPerEngine);
  Share share;
  uint64_t sharedRows = UINT64_MAX;
  for (unsigned e = 0; e != engines.size(); ++e) {
    Engine &engine = engines[e];
    uint64_t rows = rowsOf(arrival.cost.rows, e, group, engines.size());
    if (!rows && !arrival.updates)
      continue;
    if (rows != sharedRows) {
      share = shareOf(arrival, rows);
      sharedRows = rows;
    }
    bool idle = engine.schedule.active().empty();
    if (idle) {
      engine.since = engine.activeSince = arrival.ready;
      engine.rate = {};
      engine.left = 0;
    } else {
      catchUp(engine, arrival.ready);
    }
    if (engine.schedule.add(arrival.ring, share))
      plan(engine, arrival.ready);
  }
}

void DmaEngines::advance(Ticks now,
                         llvm::function_ref<void(const ShareDone &)> finished) {
  for (unsigned e = 0; e != engines.size(); ++e) {
    Engine &engine = engines[e];
    // A share without packets and without a time may end at once.
    while (engine.event == now) {
      auto taken = [&](uint32_t transfer, OwnTime instant) {
        engine.starts.push_back(
            {transfer, engine.since + ticksFor(engine.rate, instant)});
      };
      Share share = engine.schedule.finish(taken);
      engine.since = now;
      ShareDone done{share.transfer, e};
      auto start = llvm::find_if(engine.starts, [&](const auto &entry) {
        return entry.first == share.transfer;
      });
      done.start = start->second;
      engine.starts.erase(start);
      done.dataDone = now - share.cost[2] * Ticks(share.updates) + share.lag;
      done.done = now + share.lag;
      done.bytes = share.bytes;
      done.packets = share.packets;
      engine.time.busy += share.time;
      engine.time.bytes += share.bytes;
      engine.time.packets += share.packets;
      if (engine.schedule.active().empty())
        engine.active += now - engine.activeSince;
      plan(engine, now);
      finished(done);
    }
  }
  while (!arrivals.empty() && arrivals.top().ready == now) {
    arrive(arrivals.top());
    arrivals.pop();
  }
  if (changed)
    shareOut(now);
}

std::vector<DmaEngineTime> DmaEngines::times(Ticks total) const {
  std::vector<DmaEngineTime> result;
  for (const Engine &engine : engines) {
    DmaEngineTime time = engine.time;
    time.held = engine.active - time.busy;
    time.idle = total - engine.active;
    result.push_back(time);
  }
  return result;
}
