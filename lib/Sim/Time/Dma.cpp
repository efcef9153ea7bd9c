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
// between two such instants every end is known in closed form. Engines that do
// the same are one group: it parts when a transfer deals them different shares, and
// groups join when they are idle.
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
    : machine(machine), timing(timing), groups(1),
      engineTimes(size_t(machine.dma.engines)) {
  for (unsigned e = 0; e != engineTimes.size(); ++e)
    groups[0].members.push_back(e);
  limit = rateOf(machine.dma.sustainedMBs, timing.time().perNs());
  if (machine.hbm.contention)
    memoryLimit = rateOf(machine.hbm.rateMBs, timing.time().perNs());
}

void DmaEngines::add(uint32_t transfer, const TransferCost &cost, unsigned ring,
                     bool updates, Ticks ready) {
  arrivals.push({ready, order++, transfer, ring, updates, cost});
}

Ticks DmaEngines::next() const {
  Ticks next = arrivals.empty() ? never : arrivals.top().ready;
  for (const Group &group : groups)
    next = std::min(next, group.event);
  return next;
}

//===----------------------------------------------------------------------===//
// Own time and time
//===----------------------------------------------------------------------===//

/// The part of its own rate that a user is given, as a fraction of numbers below
/// 2^48: products with own times fit into 128 bits.
static std::pair<OwnTime, OwnTime> fractionOf(const RateUser &rate) {
  int64_t given = rate.given, wanted = rate.wanted;
  while (wanted >> 48) {
    given >>= 1;
    wanted >>= 1;
  }
  return {std::max<int64_t>(given, 1), wanted};
}

/// Own time that passes in `time` ticks.
static OwnTime ownTime(const RateUser &rate, Ticks time) {
  OwnTime own = OwnTime(time) << ownBits;
  if (rate.given == rate.wanted)
    return own;
  auto [given, wanted] = fractionOf(rate);
  return own * given / wanted;
}

/// Ticks that it takes until `own` has passed, at most longestTime. What is short
/// of a tick by less than 1/64 is rounding of the rates.
static Ticks ticksFor(const RateUser &rate, OwnTime own) {
  own = std::max<OwnTime>(own - (OwnTime(1) << (ownBits - 6)), 0);
  own = std::min(own, OwnTime(longestTime) << ownBits);
  OwnTime unit = OwnTime(1) << ownBits;
  if (rate.given != rate.wanted) {
    auto [given, wanted] = fractionOf(rate);
    own *= wanted;
    unit *= given;
  }
  return Ticks(std::min<OwnTime>((own + unit - 1) / unit, longestTime));
}

/// Brings a group to `now`, where none of its shares is finished before.
void DmaEngines::catchUp(Group &group, Ticks now) {
  OwnTime passed = std::min(ownTime(group.rate, now - group.since), group.left);
  group.schedule.advance(passed, [&](uint32_t transfer, OwnTime instant) {
    group.starts.push_back(
        {transfer, group.since + ticksFor(group.rate, instant)});
  });
  group.left -= passed;
  group.since = now;
}

/// Its shares have changed: what it wants, and when the first is finished.
void DmaEngines::plan(Group &group, Ticks now) {
  changed = true;
  group.rate = {};
  group.event = never;
  if (group.schedule.active().empty())
    return;
  // Rings take turns, so each counts with its mean packet.
  OwnTime bytes = 0, memory = 0, time = 0;
  for (const RingSchedule::Head &head : group.schedule.active()) {
    const Share &share = head.share;
    OwnTime packets = OwnTime(std::max<uint64_t>(share.packets, 1));
    bytes += (OwnTime(share.bytes) << rateBits) / packets;
    memory += (OwnTime(share.hbmBytes) << rateBits) / packets;
    time += (OwnTime(share.time) << ownBits) / packets;
  }
  if (time) {
    group.rate.wanted = group.rate.given = int64_t((bytes << ownBits) / time);
    group.rate.memory = bytes ? int64_t(memory * 1000 / bytes) : 0;
  }
  group.left = group.schedule.untilFinished();
  group.event = now + ticksFor(group.rate, group.left);
}

/// Shares have begun or ended: rates may be others from now on.
void DmaEngines::shareOut(Ticks now) {
  changed = false;
  if (!limit && !memoryLimit)
    return;
  llvm::SmallVector<RateUser, 16> users;
  for (const Group &group : groups) {
    users.push_back(group.rate);
    users.back().number = int64_t(group.members.size());
  }
  shareRates(users, limit, memoryLimit);
  for (size_t g = 0; g != groups.size(); ++g) {
    Group &group = groups[g];
    if (group.event == never || users[g].given == group.rate.given)
      continue;
    catchUp(group, now);
    group.rate.given = users[g].given;
    group.event = now + ticksFor(group.rate, group.left);
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
  share.left[Share::Full] = rows * row.full;
  share.left[Share::Tail] = rows * row.tails;
  share.left[Share::Update] = arrival.updates;
  share.updates = arrival.updates;
  share.cost[Share::Full] = timing.packetNext(row.fullBytes, percent);
  share.cost[Share::Tail] =
      row.tails ? timing.packetNext(row.tailBytes, percent) : 0;
  share.cost[Share::Update] = timing.semaphoreWrite();
  share.packets = share.left[Share::Full] + share.left[Share::Tail];
  share.cost[Share::Open] = arrival.cost.open;
  share.left[Share::Open] = share.packets && arrival.cost.open;
  share.bytes = rows * row.bytes();
  share.hbmBytes =
      share.bytes * (arrival.cost.readsHbm + arrival.cost.writesHbm);
  OwnTime time = 0;
  for (unsigned s = 0; s != Share::numSegments; ++s)
    time += OwnTime(share.left[s]) * share.cost[s];
  share.time = Ticks(std::min<OwnTime>(time, longestTime));
  if (share.packets) {
    uint64_t last = row.tails ? row.tailBytes : row.fullBytes;
    share.lag = std::max<Ticks>(0, timing.packetDone(last, percent) -
                                       timing.packetNext(last, percent));
  }
  return share;
}

/// Leaves those members in a group that serve as many rows as its first, which is
/// returned; the others become a group of their own, at the end.
uint64_t DmaEngines::split(size_t g, uint64_t rows) {
  uint64_t size = uint64_t(machine.dma.partitionsPerEngine);
  auto rowsOfMember = [&](unsigned engine) {
    return rowsOf(rows, engine, size, engineTimes.size());
  };
  uint64_t first = rowsOfMember(groups[g].members[0]);
  auto same = [&](unsigned engine) { return rowsOfMember(engine) == first; };
  if (llvm::all_of(groups[g].members, same))
    return first;
  groups.push_back(groups[g]);
  llvm::erase_if(groups.back().members, same);
  llvm::erase_if(groups[g].members,
                 [&](unsigned engine) { return !same(engine); });
  return first;
}

/// Idle engines are alike.
void DmaEngines::mergeIdle() {
  Group *idle = nullptr;
  llvm::erase_if(groups, [&](Group &group) {
    if (!group.idle())
      return false;
    if (!idle) {
      idle = &group;
      return false;
    }
    idle->members.append(group.members);
    return true;
  });
  llvm::sort(idle->members);
}

void DmaEngines::arrive(const Arrival &arrival) {
  for (size_t g = 0; g != groups.size(); ++g) {
    uint64_t rows = split(g, arrival.cost.rows);
    Group &group = groups[g];
    if (!rows && !arrival.updates)
      continue;
    if (group.idle()) {
      group.since = group.activeSince = arrival.ready;
      group.rate = {};
      group.left = 0;
    } else {
      catchUp(group, arrival.ready);
    }
    if (group.schedule.add(arrival.ring, shareOf(arrival, rows)))
      plan(group, arrival.ready);
  }
}

void DmaEngines::finishShare(
    Group &group, Ticks now,
    llvm::function_ref<void(const ShareDone &)> finished) {
  Share share = group.schedule.finish([&](uint32_t transfer, OwnTime instant) {
    group.starts.push_back(
        {transfer, group.since + ticksFor(group.rate, instant)});
  });
  group.since = now;
  auto start = llvm::find_if(group.starts, [&](const auto &entry) {
    return entry.first == share.transfer;
  });
  ShareDone done;
  done.transfer = share.transfer;
  done.engines = group.members;
  done.start = start->second;
  done.dataDone =
      now - (share.updates ? share.cost[Share::Update] : 0) + share.lag;
  done.done = now + share.lag;
  done.bytes = share.bytes;
  done.packets = share.packets;
  group.starts.erase(start);
  for (unsigned e : group.members) {
    engineTimes[e].busy += share.time;
    engineTimes[e].bytes += share.bytes;
    engineTimes[e].packets += share.packets;
    if (group.idle())
      engineTimes[e].held += now - group.activeSince;
  }
  plan(group, now);
  finished(done);
}

void DmaEngines::advance(Ticks now,
                         llvm::function_ref<void(const ShareDone &)> finished) {
  bool idle = false;
  for (Group &group : groups) {
    // A share without packets may take no time.
    while (group.event == now) {
      finishShare(group, now, finished);
      idle |= group.idle();
    }
  }
  if (idle && groups.size() > 1)
    mergeIdle();
  while (!arrivals.empty() && arrivals.top().ready == now) {
    arrive(arrivals.top());
    arrivals.pop();
  }
  if (changed)
    shareOut(now);
}

std::vector<DmaEngineTime> DmaEngines::times(Ticks total) const {
  std::vector<DmaEngineTime> result = engineTimes;
  for (DmaEngineTime &time : result) {
    time.idle = total - time.held;
    time.held -= time.busy;
  }
  return result;
}
