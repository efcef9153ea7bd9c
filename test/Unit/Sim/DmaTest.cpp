//===- DmaTest.cpp - transfers, packet by packet --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The DMA engines count rounds of packets and compute ends; here every packet is
// taken by itself, and shared rates are found by halving intervals, in floating
// point. Both must come to the same.
//
//===----------------------------------------------------------------------===//

#include "RandomProgram.h"

#include "Time/Dma.h"

#include "gtest/gtest.h"

#include <cmath>
#include <map>
#include <random>

using namespace facet;
using namespace facet::sim;
using namespace facet::test;

namespace {

struct Job {
  Ticks ready = 0;
  unsigned ring = 0;
  bool updates = false;
  TransferCost cost;
};

/// Of one transfer on one engine.
struct End {
  Ticks start = 0, done = 0;
  bool operator==(const End &other) const {
    return start == other.start && done == other.done;
  }
};
using Ends = std::map<std::pair<uint32_t, unsigned>, End>;

std::ostream &operator<<(std::ostream &os, const End &end) {
  return os << end.start << ".." << end.done;
}

} // namespace

static Ends simulated(const Machine &machine, const std::vector<Job> &jobs,
                      std::vector<DmaEngineTime> *times = nullptr) {
  Timing timing(machine);
  DmaEngines dma(machine, timing);
  for (uint32_t j = 0; j != jobs.size(); ++j)
    dma.add(j, jobs[j].cost, jobs[j].ring, jobs[j].updates, jobs[j].ready);
  Ends ends;
  Ticks last = 0, end = 0;
  while (dma.next() != DmaEngines::never) {
    Ticks now = dma.next();
    EXPECT_GE(now, last);
    last = now;
    dma.advance(now, [&](const ShareDone &share) {
      EXPECT_GE(share.done, now);
      end = std::max(end, share.done);
      for (unsigned e : share.engines)
        EXPECT_TRUE(
            ends.try_emplace({share.transfer, e}, End{share.start, share.done})
                .second);
    });
  }
  if (times)
    *times = dma.times(end);
  return ends;
}

/// The packets that an engine moves for a transfer: how long each occupies it.
static std::vector<Ticks> packetsOf(const Timing &timing, const Job &job,
                                    unsigned engine) {
  std::vector<Ticks> packets;
  uint64_t rows = 0;
  for (uint64_t row = 0; row != job.cost.rows; ++row)
    rows += timing.engineOfRow(row) == engine;
  if (rows && job.cost.open)
    packets.push_back(job.cost.open);
  for (uint64_t n = 0; n != rows * job.cost.row.full; ++n)
    packets.push_back(
        timing.packetNext(job.cost.row.fullBytes, job.cost.ratePercent));
  for (uint64_t n = 0; n != rows * job.cost.row.tails; ++n)
    packets.push_back(
        timing.packetNext(job.cost.row.tailBytes, job.cost.ratePercent));
  if (job.updates)
    packets.push_back(timing.semaphoreWrite());
  return packets;
}

/// One engine, one packet at a time. Jobs are in the order of their arrival.
static void serveByPacket(const Machine &machine, const std::vector<Job> &jobs,
                          unsigned engine, Ends &ends) {
  Timing timing(machine);
  struct Open {
    uint32_t job;
    std::vector<Ticks> packets;
    size_t next = 0;
    Ticks start = 0;
  };
  std::map<unsigned, std::vector<Open>> rings; // what is left, in order
  for (uint32_t j = 0; j != jobs.size(); ++j) {
    std::vector<Ticks> packets = packetsOf(timing, jobs[j], engine);
    if (!packets.empty())
      rings[jobs[j].ring].push_back({j, packets});
  }
  Ticks now = 0;
  int last = -1;
  for (;;) {
    // The ring whose turn it is among those with something to do.
    int next = -1, first = -1;
    Ticks soonest = INT64_MAX;
    for (auto &[ring, open] : rings) {
      if (open.empty())
        continue;
      soonest = std::min(soonest, jobs[open[0].job].ready);
      if (jobs[open[0].job].ready > now)
        continue;
      first = first < 0 ? int(ring) : first;
      if (next < 0 && int(ring) > last)
        next = int(ring);
    }
    if (first < 0) {
      if (soonest == INT64_MAX)
        return;
      now = soonest;
      last = -1;
      continue;
    }
    last = next < 0 ? first : next;
    std::vector<Open> &ring = rings[unsigned(last)];
    Open &open = ring[0];
    if (open.next == 0)
      open.start = now;
    now += open.packets[open.next++];
    if (open.next != open.packets.size())
      continue;
    const Job &job = jobs[open.job];
    Ticks lag = 0;
    if (open.packets.size() > job.updates) {
      uint64_t bytes =
          job.cost.row.tails ? job.cost.row.tailBytes : job.cost.row.fullBytes;
      lag = timing.packetDone(bytes, job.cost.ratePercent) -
            timing.packetNext(bytes, job.cost.ratePercent);
    }
    ends[{open.job, engine}] = {open.start, now + lag};
    ring.erase(ring.begin());
  }
}

static std::vector<Job> randomJobs(std::mt19937_64 &random, unsigned count,
                                   unsigned rings, Ticks span) {
  auto below = [&](uint64_t n) { return random() % n; };
  std::vector<Job> jobs(count);
  for (Job &job : jobs) {
    job.ready = Ticks(below(uint64_t(span)));
    job.ring = unsigned(below(rings));
    job.updates = below(2);
    job.cost.rows = below(3) ? 128 : 1 + below(300);
    job.cost.row.full = 1 + below(4);
    job.cost.row.fullBytes = 256 << below(5);
    job.cost.row.tails = below(3) ? 0 : 1 + below(3);
    job.cost.row.tailBytes = job.cost.row.tails ? 64 : 0;
    job.cost.readsHbm = below(2);
    job.cost.writesHbm = below(2);
    job.cost.ratePercent = below(5) ? 100 : 90;
    job.cost.open = below(2) ? 0 : Ticks(below(600000));
  }
  // Transfers are numbered in the order of their arrival.
  std::sort(jobs.begin(), jobs.end(),
            [](const Job &a, const Job &b) { return a.ready < b.ready; });
  return jobs;
}

TEST(Dma, rounds_of_packets_are_packets) {
  Machine machine = shippedMachine("trn2");
  machine.dma.sustainedMBs = 0;
  machine.hbm.contention = 0;
  for (uint64_t seed = 0; seed != 300; ++seed) {
    std::mt19937_64 random(seed);
    machine.dma.engines = 1 + int64_t(random() % 16);
    std::vector<Job> jobs = randomJobs(random, 12, 1 + unsigned(seed % 4),
                                       seed % 2 ? 3000000 : 30000000);
    Ends expected;
    for (unsigned e = 0; e != unsigned(machine.dma.engines); ++e)
      serveByPacket(machine, jobs, e, expected);
    ASSERT_EQ(simulated(machine, jobs), expected) << seed;
  }
}

//===----------------------------------------------------------------------===//
// Shared rates
//===----------------------------------------------------------------------===//

/// Max-min: everybody gets the least of what it wants, the level of the first
/// link and, when it uses the second, that of the second; the levels are as high
/// as the links allow.
static std::vector<double> fair(const std::vector<RateUser> &users,
                                double limit, double memoryLimit) {
  auto rate = [&](const RateUser &u, double first, double second) {
    double r = std::min(double(u.wanted), first);
    return u.memory ? std::min(r, second) : r;
  };
  double most = 0;
  for (const RateUser &u : users)
    most = std::max(most, double(u.wanted));
  // The level of the second link as if the first had no limit, then the first.
  auto fits = [&](double first, double second) {
    double sum = 0, memory = 0;
    for (const RateUser &u : users) {
      sum += double(u.number) * rate(u, first, second);
      memory +=
          double(u.number) * rate(u, first, second) * double(u.memory) / 1000;
    }
    return (limit <= 0 || sum <= limit) &&
           (memoryLimit <= 0 || memory <= memoryLimit);
  };
  // Grow together until a link is full, then those off the second link alone.
  double both = 0, high = most;
  if (fits(most, most))
    both = most;
  else
    for (int i = 0; i != 200; ++i) {
      double mid = (both + high) / 2;
      (fits(mid, mid) ? both : high) = mid;
    }
  double alone = both;
  high = most;
  if (fits(most, both))
    alone = most;
  else
    for (int i = 0; i != 200; ++i) {
      double mid = (alone + high) / 2;
      (fits(mid, both) ? alone : high) = mid;
    }
  std::vector<double> rates;
  for (const RateUser &u : users)
    rates.push_back(rate(u, alone, both));
  return rates;
}

TEST(Dma, links_are_shared_max_min) {
  unsigned limited = 0;
  for (uint64_t seed = 0; seed != 2000; ++seed) {
    std::mt19937_64 random(seed);
    auto below = [&](uint64_t n) { return int64_t(random() % n); };
    std::vector<RateUser> users(size_t(1 + below(9)));
    for (RateUser &user : users) {
      user.wanted = below(5) ? 1 + below(1000000000) : 0;
      user.memory = 1000 * below(3);
      user.number = 1 + below(4);
    }
    int64_t limit = below(3) ? 1000 + below(6000000000) : 0;
    int64_t memoryLimit = below(3) ? 1000 + below(6000000000) : 0;
    std::vector<double> expected =
        fair(users, double(limit), double(memoryLimit));
    shareRates(users, limit, memoryLimit);
    for (size_t u = 0; u != users.size(); ++u) {
      EXPECT_NEAR(double(users[u].given), expected[u], 20 + 1e-6 * expected[u])
          << seed << ' ' << u;
      limited += users[u].given != users[u].wanted;
    }
  }
  EXPECT_GE(limited, 1000u);
}

/// One flow per engine and transfer, in floating point, an event at a time.
static std::map<std::pair<uint32_t, unsigned>, double>
fluid(const Machine &machine, const std::vector<Job> &jobs) {
  Timing timing(machine);
  struct Flow {
    uint32_t job;
    unsigned engine;
    double left; // of its own time
    double bytes, time, memory;
  };
  double perTick = 1.0 / (1000.0 * double(timing.time().perNs()));
  std::vector<Flow> waiting;
  for (uint32_t j = 0; j != jobs.size(); ++j)
    for (unsigned e = 0; e != unsigned(machine.dma.engines); ++e) {
      Flow flow{j, e, 0, 0, 0, 0};
      for (Ticks t : packetsOf(timing, jobs[j], e))
        flow.time += double(t);
      for (uint64_t row = 0; row != jobs[j].cost.rows; ++row)
        if (timing.engineOfRow(row) == e)
          flow.bytes += double(jobs[j].cost.row.bytes());
      flow.memory = 1000.0 * (jobs[j].cost.readsHbm + jobs[j].cost.writesHbm);
      flow.left = flow.time;
      if (flow.time > 0)
        waiting.push_back(flow);
    }
  std::map<std::pair<uint32_t, unsigned>, double> ends;
  double now = 0;
  while (!waiting.empty()) {
    // The first of each engine that has arrived.
    std::map<unsigned, Flow *> active;
    double next = 1e300;
    for (Flow &flow : waiting) {
      if (active.count(flow.engine))
        continue;
      if (double(jobs[flow.job].ready) <= now)
        active[flow.engine] = &flow;
      else
        next = std::min(next, double(jobs[flow.job].ready));
    }
    std::vector<RateUser> users;
    for (auto &[engine, flow] : active)
      users.push_back(
          {int64_t(1e15 * flow->bytes / flow->time), int64_t(flow->memory)});
    std::vector<double> rates = fair(
        users, 1e15 * double(machine.dma.sustainedMBs) * perTick,
        machine.hbm.contention ? 1e15 * double(machine.hbm.rateMBs) * perTick
                               : 0);
    std::vector<double> speeds;
    size_t n = 0;
    for (auto &[engine, flow] : active) {
      double speed = users[n].wanted ? rates[n] / double(users[n].wanted) : 1;
      speeds.push_back(speed);
      next = std::min(next, now + flow->left / speed);
      ++n;
    }
    n = 0;
    for (auto &[engine, flow] : active) {
      flow->left -= (next - now) * speeds[n++];
      if (flow->left < 1e-3)
        ends[{flow->job, flow->engine}] = next;
    }
    now = next;
    waiting.erase(std::remove_if(waiting.begin(), waiting.end(),
                                 [](const Flow &f) { return f.left < 1e-3; }),
                  waiting.end());
  }
  return ends;
}

TEST(Dma, shared_rates_end_when_a_fluid_does) {
  for (uint64_t seed = 0; seed != 60; ++seed) {
    std::mt19937_64 random(seed);
    Machine machine = shippedMachine("trn2");
    machine.dma.engines = 1 + int64_t(random() % 8);
    machine.dma.sustainedMBs =
        random() % 3 ? 20000 + int64_t(random() % 80000) : 0;
    machine.hbm.rateMBs = 20000 + int64_t(random() % 80000);
    machine.dma.packetLatencyPs = machine.dma.packetGapPs; // no lag
    std::vector<Job> jobs = randomJobs(random, 8, 1, 20000000);
    std::vector<DmaEngineTime> times;
    Ends ends = simulated(machine, jobs, &times);
    std::map<std::pair<uint32_t, unsigned>, double> expected =
        fluid(machine, jobs);
    ASSERT_EQ(ends.size(), expected.size()) << seed;
    for (const auto &[key, end] : expected)
      EXPECT_NEAR(double(ends[key].done), end, 16 + 1e-7 * end)
          << seed << ' ' << key.first << ' ' << key.second;
    for (const DmaEngineTime &time : times) {
      EXPECT_GE(time.held, 0);
      EXPECT_GE(time.idle, 0);
    }
  }
}
