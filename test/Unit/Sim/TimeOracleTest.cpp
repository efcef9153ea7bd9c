//===- TimeOracleTest.cpp - random programs, timed twice ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulator against the oracle, and against itself on machines that are the
// same in other units.
//
//===----------------------------------------------------------------------===//

#include "TimeOracle.h"
#include "RandomProgram.h"
#include "RandomTimed.h"

#include "facet/Isa/Check.h"
#include "facet/Sim/Time.h"

#include "gtest/gtest.h"

using namespace facet;
using namespace facet::test;
using sim::Stall;

static std::vector<std::vector<Ticks>> startsOf(const Program &program,
                                                const sim::TimeResult &result) {
  std::vector<std::vector<Ticks>> starts(program.queues.size());
  for (const sim::Span &span : result.spans)
    starts[span.queue].push_back(span.start);
  return starts;
}

TEST(TimeOracle, random_programs_start_when_the_oracle_says) {
  const Machine bases[] = {shippedMachine("trn2"), shippedMachine("trn1"),
                           shippedMachine("systolic")};
  unsigned instructions = 0, transfers = 0, stalled = 0;
  for (uint64_t seed = 0; seed != 10000; ++seed) {
    Program program =
        randomTimed(unsharedMachine(bases[seed % 3], seed), seed, 24);
    if (seed % 50 == 0) {
      Diagnostics diags;
      ASSERT_TRUE(checkProgram(program, diags)) << seed << messages(diags);
    }
    sim::TimeOptions options;
    options.record = true;
    sim::TimeResult t = sim::timeProgram(program, options);
    OracleResult oracle = oracleTimes(program);
    ASSERT_TRUE(oracle.completed) << seed;
    ASSERT_TRUE(t.ok()) << seed;
    ASSERT_EQ(startsOf(program, t), oracle.starts) << seed;
    ASSERT_EQ(t.total, oracle.total) << seed;
    ASSERT_LE(t.total, oracle.serial) << seed;
    for (const sim::EngineTime &engine : t.engines) {
      ASSERT_EQ(engine.sum(), t.total) << seed;
      ASSERT_LE(engine.busy, t.total) << seed;
      stalled +=
          engine.stall(Stall::Semaphore) + engine.stall(Stall::Transfer) > 0;
    }
    for (const sim::DmaEngineTime &engine : t.dma) {
      ASSERT_EQ(engine.busy + engine.idle, t.total) << seed;
      ASSERT_EQ(engine.held, 0) << seed;
    }
    instructions += unsigned(t.spans.size());
    transfers += unsigned(t.transfers.size());
  }
  // They do what they are for.
  EXPECT_GE(instructions, 200000u);
  EXPECT_GE(transfers, 10000u);
  EXPECT_GE(stalled, 5000u);
}

/// Everything that queues share is on.
static Machine sharedMachine(uint64_t seed) {
  Machine machine = shippedMachine(seed % 2 ? "trn2" : "trn1");
  machine.core.fetchBytes = 256; // of four instructions
  machine.core.fetchAhead = 2;
  machine.tensor.clockWindow = 1;
  machine.tensor.windowCycles = 512;
  machine.psum.bankConflicts = 1;
  machine.dma.sustainedMBs = seed % 3 ? 100000 : 0;
  machine.hbm.rateMBs = 150000;
  return machine;
}

TEST(TimeOracle, buckets_sum_to_the_total_whatever_is_shared) {
  Ticks stalls[sim::numStalls] = {}, held = 0;
  for (uint64_t seed = 0; seed != 1000; ++seed) {
    Program program = randomTimed(sharedMachine(seed), seed, 60);
    Timing timing(program.machine);
    sim::TimeOptions options;
    options.record = true;
    sim::TimeResult t = sim::timeProgram(program, options);
    ASSERT_TRUE(t.ok()) << seed;
    for (const sim::EngineTime &engine : t.engines) {
      ASSERT_EQ(engine.sum(), t.total) << seed;
      ASSERT_GE(engine.busy, 0) << seed;
      for (unsigned s = 0; s != sim::numStalls; ++s) {
        ASSERT_GE(engine.stalls[s], 0) << seed;
        stalls[s] += engine.stalls[s];
      }
    }
    // Not faster than the links.
    uint64_t bytes = 0;
    for (const sim::DmaEngineTime &engine : t.dma) {
      ASSERT_EQ(engine.busy + engine.held + engine.idle, t.total) << seed;
      ASSERT_GE(engine.held, 0) << seed;
      ASSERT_GE(engine.idle, 0) << seed;
      held += engine.held;
      bytes += engine.bytes;
    }
    if (int64_t rate = program.machine.dma.sustainedMBs) {
      ASSERT_GE(t.total + 1000, timing.time().fromBytes(int64_t(bytes), rate))
          << seed;
    }
    ASSERT_GE(t.total, t.engines[0].work) << seed;
    uint64_t shareBytes = 0;
    for (const sim::ShareSpan &share : t.shares)
      shareBytes += share.bytes;
    ASSERT_EQ(shareBytes, bytes) << seed;
    // The critical path has no hole.
    Ticks at = 0;
    for (const sim::CriticalStep &step : sim::criticalPath(t)) {
      ASSERT_EQ(step.begin, at) << seed;
      ASSERT_GT(step.end, step.begin) << seed;
      at = step.end;
    }
    ASSERT_EQ(at, t.total) << seed;
    // Bytes and shares do not depend on being recorded, nor does time.
    sim::TimeResult again = sim::timeProgram(program);
    ASSERT_EQ(again.total, t.total) << seed;
    ASSERT_TRUE(again.spans.empty());
  }
  for (unsigned s = 0; s != sim::numStalls; ++s)
    EXPECT_GT(stalls[s], 0) << sim::stallName(Stall(s));
  EXPECT_GT(held, 0);
}

// A clock that no engine runs at makes the tick seven times finer. Quarters of a
// cycle are no whole ticks.
TEST(TimeOracle, a_finer_tick_changes_nothing) {
  for (uint64_t seed = 0; seed != 500; ++seed) {
    Machine machine = unsharedMachine(shippedMachine("trn2"), seed);
    machine.dma.rateMBs = 20000; // 150 ticks per byte
    machine.vector.fastModes = 0;
    Program program = randomTimed(machine, seed, 40);
    sim::TimeResult coarse = sim::timeProgram(program);
    program.machine.sync.clockMHz = 700;
    sim::TimeResult fine = sim::timeProgram(program);
    ASSERT_EQ(fine.ticksPerNs, 7 * coarse.ticksPerNs);
    ASSERT_EQ(fine.total, 7 * coarse.total) << seed;
  }
}

// Twice as fast in everything: the same number of cycles, half the time.
TEST(TimeOracle, cycles_do_not_depend_on_the_clock) {
  for (uint64_t seed = 0; seed != 500; ++seed) {
    Machine machine = unsharedMachine(shippedMachine("trn2"), seed);
    machine.dma.rateMBs = 20000;
    Program program = randomTimed(machine, seed, 40);
    sim::TimeResult before = sim::timeProgram(program);
    for (const MachineParameter &p : machineParameters()) {
      if (p.machine != MachineKind::Engine || p.kind == MachineParameter::Word)
        continue;
      llvm::StringRef key = p.key;
      if (key.ends_with("_ns"))
        p.number(program.machine) /= 2;
      else if (key.ends_with("clock_mhz") || key.ends_with("gb_per_s"))
        p.number(program.machine) *= 2;
    }
    program.machine.vector.pointerPs &= ~int64_t(1);
    sim::TimeResult after = sim::timeProgram(program);
    ASSERT_EQ(before.cycles, after.cycles) << seed;
    ASSERT_EQ(__int128(before.total) * after.ticksPerNs,
              2 * __int128(after.total) * before.ticksPerNs)
        << seed;
  }
}

// Where nothing is shared, whatever takes longer makes nothing earlier.
TEST(TimeOracle, longer_is_not_earlier) {
  for (uint64_t seed = 0; seed != 500; ++seed) {
    Machine machine = unsharedMachine(shippedMachine("trn2"), seed);
    Program program = randomTimed(machine, seed, 40);
    sim::TimeOptions options;
    sim::TimeResult before = sim::timeProgram(program, options);
    options.jitterSeed = seed + 1;
    ASSERT_GE(sim::timeProgram(program, options).total, before.total) << seed;
  }
}

// Programs that keep the static rules only wait for what never comes; with their
// waits and updates removed and loops cut short many come to their end. Either way timing ends.
TEST(TimeOracle, whatever_was_checked_can_be_timed) {
  unsigned completed = 0, deadlocks = 0;
  for (uint64_t seed = 0; seed != 300; ++seed) {
    Machine machine = shippedMachine(seed % 2 ? "trn2" : "trn3");
    Program program = randomProgram(machine, seed, 20);
    sim::TimeOptions options;
    options.record = seed % 3 == 0;
    options.maxSteps = 2000;
    for (bool waits : {true, false}) {
      if (!waits)
        for (Queue &queue : program.queues)
          for (Instruction &i : queue.code) {
            for (Wait &wait : i.waits)
              wait = {};
            for (Update &update : i.updates)
              update = {};
            if (i.op() == Opcode::Loop)
              i.imm[0] %= 2;
          }
      sim::TimeResult t = sim::timeProgram(program, options);
      ASSERT_EQ(t.completed, t.findings.empty()) << seed;
      for (const sim::EngineTime &engine : t.engines)
        ASSERT_EQ(engine.sum(), t.total) << seed;
      completed += t.completed;
      deadlocks +=
          !t.completed && t.findings[0].code == llvm::StringRef("SIM-DEADLOCK");
    }
  }
  EXPECT_GE(completed, 50u);
  EXPECT_GE(deadlocks, 20u);
}

// The windows of the tensor clock follow from the spans that they made.
TEST(TimeOracle, windows_are_as_slow_as_the_work_before_them) {
  unsigned slow = 0, fast = 0, parted = 0;
  for (uint64_t seed = 0; seed != 300; ++seed) {
    Program program = randomTimed(sharedMachine(seed), seed, 60);
    Timing timing(program.machine);
    Ticks length = timing.window();
    sim::TimeOptions options;
    options.record = true;
    options.clockPhasePs = int64_t(seed) * 1000;
    sim::TimeResult t = sim::timeProgram(program, options);
    ASSERT_FALSE(t.windows.empty());
    EXPECT_TRUE(t.windows[0].slow);
    std::vector<double> work(t.windows.size());
    for (const sim::Span &span : t.spans) {
      const Instruction &i = program.queues[span.queue].code[span.pc];
      if (i.op() != Opcode::Matmul)
        continue;
      size_t w = t.windows.size();
      while (t.windows[w - 1].start > span.start)
        --w;
      const sim::ClockWindow &window = t.windows[w - 1];
      ASSERT_LT(span.start, window.start + length) << seed;
      Cost cost = timing.cost(program, span.queue, i, window.slow);
      ASSERT_EQ(span.sourceFree - span.start, cost.sourceFree) << seed;
      for (size_t v = 0; v != t.windows.size(); ++v) {
        Ticks begin = std::max(span.start, t.windows[v].start);
        Ticks end = std::min(span.sourceFree, t.windows[v].start + length);
        if (end > begin)
          work[v] += double(cost.work) * double(end - begin) /
                     double(span.sourceFree - span.start);
        parted += end > begin && v >= w;
      }
    }
    for (size_t w = 0; w != t.windows.size(); ++w) {
      EXPECT_NEAR(work[w], double(t.windows[w].work), 16) << seed;
      (t.windows[w].slow ? slow : fast) += 1;
      if (w == 0)
        continue;
      const sim::ClockWindow &before = t.windows[w - 1];
      bool follows = before.start + length == t.windows[w].start;
      bool little =
          before.work * 1000 < length * program.machine.tensor.windowShare;
      EXPECT_EQ(t.windows[w].slow, !follows || little) << seed;
    }
  }
  EXPECT_GE(slow, 300u);
  EXPECT_GE(fast, 100u);
  EXPECT_GE(parted, 300u);
}
