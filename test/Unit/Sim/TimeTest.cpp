//===- TimeTest.cpp - closed forms of small programs ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs so small that their time can be written down. Most run on `systolic`,
// where a cycle is 1 ns, a byte takes 1 ns and nothing else takes time.
//
//===----------------------------------------------------------------------===//

#include "RandomProgram.h"

#include "facet/Isa/Assembler.h"
#include "facet/Sim/Time.h"

#include "gtest/gtest.h"

using namespace facet;
using namespace facet::test;
using sim::Stall;

/// A program from text, for a machine that the test may have changed.
static Program program(const Machine &machine, const std::string &text) {
  Diagnostics diags;
  std::optional<Program> program =
      assemble(".program 1\n.machine \"systolic\"\n" + text, "p.s", diags);
  EXPECT_TRUE(program) << messages(diags);
  if (!program)
    return {};
  program->machine = machine;
  return *program;
}

static sim::TimeResult time(const Program &program,
                            sim::TimeOptions options = {}) {
  options.record = true;
  sim::TimeResult result = sim::timeProgram(program, options);
  EXPECT_TRUE(result.ok()) << (result.findings.empty()
                                   ? ""
                                   : result.findings[0].message);
  for (const sim::EngineTime &engine : result.engines)
    EXPECT_EQ(engine.sum(), result.total);
  return result;
}

/// A copy of n elements on vector takes n cycles.
static std::string copy(unsigned n, const std::string &rest = "") {
  std::string e = std::to_string(n);
  return "copy dst=sbuf.f32[0:128, 0, " + e + "], src=sbuf.f32[0:128, 65536, " +
         e + "]" + rest + "\n";
}

TEST(Time, an_engine_runs_its_queue_in_order) {
  Machine machine = shippedMachine("systolic");
  sim::TimeResult t =
      time(program(machine, ".queue vector\n" + copy(100) + copy(50)));
  EXPECT_EQ(t.ns(), 150);
  EXPECT_EQ(t.engines[0].busy, t.total);
}

//===----------------------------------------------------------------------===//
// Transfers. A row of n bytes takes n ns.
//===----------------------------------------------------------------------===//

static const char *const memory =
    ".buffer x in hbm.u8[1048576] at 0 bytes 1048576\n"
    ".buffer y out hbm.u8[1048576] at 1048576 bytes 1048576\n";

/// A load of one row, or of as many rows as there are DMA engines.
static std::string load(unsigned bytes, const std::string &rest = "",
                        unsigned rows = 1) {
  return "dma_copy dst=sbuf.u8[0:" + std::to_string(rows) + ", 0, " +
         std::to_string(bytes) + "], src=hbm.u8[x, " + std::to_string(rows) +
         "@0, 0, " + std::to_string(bytes) + "]" + rest + "\n";
}

/// Load l, compute c and, unless 0, store s, for n tiles with `buffers` each.
static double pipeline(unsigned buffers, unsigned n, unsigned l, unsigned c,
                       unsigned s) {
  auto number = [](unsigned i) { return std::to_string(i); };
  std::string text = memory;
  for (const char *name : {"full", "used", "out", "gone"})
    for (unsigned b = 0; b != buffers; ++b)
      text += ".semaphore " + (name + number(b)) + "\n";
  std::string ring =
      ".ring r0 depth=" + number(buffers) + "\nloop trips=" + number(n) + "\n";
  std::string end = "advance ring=r0\nend\n";
  text += ".queue vector\n" + ring +
          copy(c, ", wait(full0[r0] >= 1 + 1*round)" +
                      std::string(s ? ", wait(gone0[r0] >= 0 + 1*round)" : "") +
                      ", update(used0[r0] += 1)" +
                      (s ? ", update(out0[r0] += 1)" : "")) +
          end;
  if (s) // scalar stands for the way out
    text += ".queue scalar\n" + ring +
            copy(s, ", wait(out0[r0] >= 1 + 1*round), update(gone0[r0] += 1)") +
            end;
  text += ".queue sync\n" + ring +
          load(l, ", wait(used0[r0] >= 0 + 1*round), update(full0[r0] += 1)") +
          end;
  return time(program(shippedMachine("systolic"), text)).ns();
}

TEST(Time, m1_one_buffer) { EXPECT_EQ(pipeline(1, 7, 100, 60, 0), 7 * 160); }

TEST(Time, m2_two_buffers) {
  EXPECT_EQ(pipeline(2, 7, 100, 60, 0), 100 + 6 * 100 + 60);
  EXPECT_EQ(pipeline(2, 7, 60, 100, 0), 60 + 6 * 100 + 100);
}

TEST(Time, m3_load_compute_store) {
  EXPECT_EQ(pipeline(2, 9, 100, 60, 80), 240 + 8 * 100);
  EXPECT_EQ(pipeline(2, 9, 60, 100, 80), 240 + 8 * 100);
  EXPECT_EQ(pipeline(3, 9, 60, 80, 100), 240 + 8 * 100);
}

/// Engines that serve a row each and together move 1 byte per ns.
static Machine sharing(int64_t engines, int64_t cap) {
  Machine machine = shippedMachine("systolic");
  machine.dma.engines = engines;
  machine.dma.partitionsPerEngine = 1;
  machine.dma.sustainedMBs = cap;
  return machine;
}

TEST(Time, m5_equal_flows_share_a_link) {
  for (unsigned m : {1u, 2u, 3u, 7u, 16u})
    EXPECT_EQ(time(program(sharing(m, 1000),
                           memory + (".queue sync\n" + load(3000, "", m))))
                  .ns(),
              m * 3000)
        << m;
}

TEST(Time, m6_two_flows_share_a_link) {
  // Engine 1 moves B1 = 1000 bytes, engine 0 another 3000 beside: B2 = 4000.
  sim::TimeResult t = time(program(
      sharing(2, 1000),
      memory + (".queue sync\n" + load(1000, "", 2) + load(3000, ", ring=1"))));
  EXPECT_EQ(t.ns(), 1000 + 4000);
  for (const sim::ShareSpan &share : t.shares) {
    if (share.engine == 1) {
      EXPECT_EQ(share.done, 2 * 1000 * t.ticksPerNs);
    }
  }
  EXPECT_EQ(t.dma[0].busy, 4000 * t.ticksPerNs);
  EXPECT_EQ(t.dma[0].held, 1000 * t.ticksPerNs);
}

TEST(Time, m7_port_and_link) {
  // Two flows of 1 byte per ns on a link of 5: the port is what counts.
  auto run = [](unsigned flows, int64_t link) {
    return time(program(sharing(flows, link),
                        memory + (".queue sync\n" + load(3000, "", flows))))
        .ns();
  };
  EXPECT_EQ(run(2, 5000), 3000);
  EXPECT_EQ(run(8, 5000), 3000 * 8 / 5);
}

TEST(Time, the_memory_is_a_link_of_its_own) {
  Machine machine = sharing(4, 0);
  machine.hbm.contention = 1;
  machine.hbm.rateMBs = 2000;
  EXPECT_EQ(
      time(program(machine, memory + (".queue sync\n" + load(3000, "", 4))))
          .ns(),
      6000);
  // From hbm to hbm takes twice of it; on the chip, nothing.
  std::string twice = "dma_copy dst=hbm.u8[y, 4@4096, 0, 3000], src=hbm.u8[x, "
                      "4@4096, 0, 3000]\n";
  std::string none = "dma_copy dst=sbuf.u8[0:4, 8192, 3000], "
                     "src=sbuf.u8[0:4, 0, 3000]\n";
  EXPECT_EQ(time(program(machine, memory + (".queue sync\n" + twice))).ns(),
            12000);
  EXPECT_EQ(time(program(machine, memory + (".queue sync\n" + none))).ns(),
            3000);
}

TEST(Time, rings_take_turns_packet_by_packet) {
  Machine machine = shippedMachine("systolic");
  machine.dma.packetBytes = 100;
  // 5 packets on ring 0, 2 on ring 1, which comes 150 ns later, in the middle of
  // the second packet: 0 0 1 0 1 0 0.
  machine.dma.softwareFirstPs = 150000;
  sim::TimeResult t = time(
      program(machine, memory + (".queue gpsimd\n" + load(200, ", ring=1") +
                                 ".queue sync\n" + load(500))));
  EXPECT_EQ(t.ns(), 700);
  ASSERT_EQ(t.transfers.size(), 2u);
  for (const sim::TransferSpan &transfer : t.transfers) {
    bool late = transfer.ring == 1;
    EXPECT_EQ(transfer.ready, late ? 150 * t.ticksPerNs : 0);
    EXPECT_EQ(transfer.start, late ? 200 * t.ticksPerNs : 0);
    EXPECT_EQ(transfer.done, (late ? 500 : 700) * t.ticksPerNs);
  }
}

// Two of four engines have a row of the second transfer: 0 and 1 serve both
// rings, 2 and 3 only the first.
TEST(Time, engines_with_other_rows_part_and_meet) {
  sim::TimeResult t = time(
      program(sharing(4, 0),
              memory + (".semaphore s\n.queue sync\nloop trips=3\n" +
                        load(300, ", update(s += 1)", 4) +
                        load(200, ", ring=1, update(s += 1)", 2) + "end\n")));
  EXPECT_EQ(t.ns(), 1500);
  for (unsigned e = 0; e != 4; ++e) {
    EXPECT_EQ(t.dma[e].busy, (e < 2 ? 1500 : 900) * t.ticksPerNs);
    EXPECT_EQ(t.dma[e].bytes, e < 2 ? 1500u : 900u);
    EXPECT_EQ(t.dma[e].held, 0);
    EXPECT_EQ(t.dma[e].idle, (e < 2 ? 0 : 600) * t.ticksPerNs);
  }
  EXPECT_EQ(t.shares.size(), 3u * 4 + 3 * 2);
}

TEST(Time, rings_are_in_order_inside) {
  sim::TimeResult t =
      time(program(shippedMachine("systolic"),
                   memory + (".queue sync\n" + load(200) + load(300))));
  EXPECT_EQ(t.transfers[0].done, 200 * t.ticksPerNs);
  EXPECT_EQ(t.transfers[1].start, 200 * t.ticksPerNs);
  EXPECT_EQ(t.transfers[1].cause.kind, sim::Cause::Transfer);
  EXPECT_EQ(t.ns(), 500);
}

TEST(Time, every_engine_updates_the_semaphore) {
  // One row on the first of four engines; the others update at once.
  Machine machine = sharing(4, 0);
  machine.dma.semaphoreWritePs = 9000;
  machine.semaphore.hopFromDmaPs = 340000;
  auto waits = [&](unsigned value) {
    return time(program(machine,
                        memory +
                            (".semaphore s\n.queue vector\n" +
                             copy(1000, ", wait(s >= " + std::to_string(value) +
                                            ")") +
                             ".queue sync\n" + load(500, ", update(s += 1)"))))
        .ns();
  };
  EXPECT_EQ(waits(3), 9 + 340 + 1000);
  EXPECT_EQ(waits(4), 500 + 9 + 340 + 1000);
}

// M10: fan-in: the time of the v-th update.
TEST(Time, m10_fan_in) {
  auto waits = [&](unsigned value) {
    return time(program(
        shippedMachine("systolic"),
        ".semaphore s\n.queue vector\n" + copy(300, ", update(s += 1)") +
            ".queue scalar\n" + copy(100, ", update(s += 1)") +
            ".queue gpsimd\n" + copy(200, ", update(s += 1)") +
            ".queue sync\nnop wait(s >= " + std::to_string(value) +
            "), update(s += 1)\n"));
  };
  for (unsigned v : {1u, 2u, 3u}) {
    sim::TimeResult t = waits(v);
    EXPECT_EQ(t.engines[3].stall(Stall::Semaphore), v * 100 * t.ticksPerNs);
  }
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

// M4: a ping-pong of two engines, k rounds: k (a + b) + (2 k - 1) x.
TEST(Time, m4_ping_pong) {
  Machine machine = shippedMachine("systolic");
  machine.semaphore.hopPs = 36000;
  sim::TimeResult t = time(program(
      machine,
      ".semaphore ping\n.semaphore pong\n"
      ".queue vector\n.ring r0 depth=1\nloop trips=10\n" +
          copy(100, ", wait(pong[r0] >= 0 + 1*round), update(ping += 1)") +
          "advance ring=r0\nend\n"
          ".queue gpsimd\n.ring r0 depth=1\nloop trips=10\n" +
          copy(70, ", wait(ping[r0] >= 1 + 1*round), update(pong += 1)") +
          "advance ring=r0\nend\n"));
  EXPECT_EQ(t.ns(), 10 * (100 + 70) + 19 * 36);
}

// M8: n instructions that are shorter than the interval between them.
TEST(Time, m8_least_interval) {
  Machine machine = shippedMachine("systolic");
  machine.vector.floorCycles = 64;
  EXPECT_EQ(time(program(machine,
                         ".queue vector\nloop trips=10\n" + copy(3) + "end\n"))
                .ns(),
            640);
}

TEST(Time, m9_two_readers_of_a_bank_take_turns) {
  Machine machine = shippedMachine("systolic");
  machine.psum.bankConflicts = 1;
  machine.psum.bankBytes = 2048;
  auto both = [&](unsigned byte) {
    return time(program(machine,
                        ".queue vector\ncopy dst=sbuf.f32[0:128, 0, 512], "
                        "src=psum.f32[0:128, 0, 512]\n.queue scalar\ncopy "
                        "dst=sbuf.f32[0:128, 4096, 512], src=psum.f32[0:128, " +
                            std::to_string(byte) + ", 512]\n"))
        .ns();
  };
  EXPECT_EQ(both(0), 1024);
  EXPECT_EQ(both(2048), 512);
}

TEST(Time, vector_in_a_fast_mode_and_gpsimd_take_turns) {
  Machine machine = shippedMachine("systolic");
  machine.sbuf.fastModeExclusive = 1;
  machine.semaphore.standalonePs = 10000;
  // Vector comes 10 ns later.
  std::string both =
      ".queue vector\nnop\n" + copy(200) + ".queue gpsimd\n" + copy(150);
  EXPECT_EQ(time(program(machine, both)).ns(), 10 + 200);
  machine.vector.fastModes = 1; // 100 ns
  sim::TimeResult t = time(program(machine, both));
  EXPECT_EQ(t.ns(), 150 + 100);
  EXPECT_EQ(t.engines[0].stall(Stall::Port), 140 * t.ticksPerNs);
}

TEST(Time, a_deadlock_is_reported) {
  Program p = program(shippedMachine("systolic"),
                      ".semaphore never\n.queue vector\n" + copy(10) +
                          copy(10, ", wait(never >= 1)"));
  sim::TimeResult t = sim::timeProgram(p);
  EXPECT_FALSE(t.ok());
  ASSERT_EQ(t.findings.size(), 1u);
  EXPECT_STREQ(t.findings[0].code, "SIM-DEADLOCK");
  EXPECT_EQ(t.findings[0].notes[0].message,
            "waits for never to reach 1, it is 0");
  EXPECT_EQ(t.findings[0].notes[1].message,
            "no instruction that is left updates never");
  EXPECT_EQ(t.ns(), 10);
}

static std::string matmuls(unsigned n) {
  return ".queue tensor\nload_weights weights=sbuf.bf16[0:128, 0, 128]\n"
         "loop trips=" +
         std::to_string(n) +
         "\nmatmul dst=psum.f32[0:128, 0, 512], moving=sbuf.bf16[0:128, 4096, "
         "512], start, stop\nend\n";
}

// A window is 1000 ns here, a matmul 512 at full rate, 1024 at half.
TEST(Time, the_tensor_clock_is_slow_until_it_was_busy) {
  Machine machine = shippedMachine("systolic");
  machine.tensor.clockWindow = 1;
  machine.tensor.windowCycles = 1000;
  machine.tensor.slowFactor = 2;
  machine.tensor.fillDrainCycles = 0;
  machine.tensor.weightCycles = 0;
  // The first starts at 0 in a slow window and ends at 1024 with 500 of its 512
  // in that window: at least 375. The others run at full rate.
  EXPECT_EQ(time(program(machine, matmuls(3))).ns(), 1024 + 2 * 512);
  // 300 ns before the border, 150 of work are too few for the next window.
  sim::TimeOptions options;
  options.clockPhasePs = 700000;
  EXPECT_EQ(time(program(machine, matmuls(3)), options).ns(), 2 * 1024 + 512);
  // Windows of a tenth of a ns, filled by the thousand: all but the first are fast,
  // and an instruction keeps the rate it started with.
  Machine fine = machine;
  fine.tensor.windowCycles = 1;
  fine.tensor.windowClockMHz = 10000;
  EXPECT_EQ(time(program(fine, matmuls(3))).ns(), 1024 + 2 * 512);
  // No gap in a slow window: less time than at full rate is no negative stall.
  machine.tensor.gapPs = 900000;
  sim::TimeResult slow = time(program(machine, matmuls(1)));
  EXPECT_EQ(slow.engines[0].stall(Stall::Clock), 0);
  machine.tensor.gapPs = 0;
  // A recorded clock.
  options = {};
  options.slowWindows = {false, false, true};
  sim::TimeResult t = time(program(machine, matmuls(6)), options);
  // 0, 512, 1024 and 1536 fast, 2048 slow, 3072 fast again by the rule.
  EXPECT_EQ(t.ns(), 5 * 512 + 1024);
  EXPECT_EQ(t.engines[0].stall(Stall::Clock), 512 * t.ticksPerNs);
  EXPECT_EQ(t.matmulsAtFullRate, 5u);
}

// Packets of 2 instructions, 10 ns each; a queue holds 2 of them.
TEST(Time, instructions_are_fetched) {
  Machine machine = shippedMachine("systolic");
  machine.core.fetch = 1;
  machine.core.fetchBytes = 128;
  machine.core.fetchPs = 10000;
  machine.core.fetchAhead = 2;
  auto copies = [&](unsigned n) {
    std::string text;
    for (unsigned i = 0; i != n; ++i)
      text += copy(1);
    return text;
  };
  auto run = [&](const std::string &text) {
    sim::TimeResult t = time(program(machine, ".queue vector\n" + text));
    EXPECT_EQ(t.engines[0].stall(Stall::Fetch) + t.engines[0].busy, t.total);
    return t.ns();
  };
  // 0 and 1 are there; at 2 the queue comes to packet 1 and asks for 2, there at
  // 12; at 12 it asks for 3, there at 22.
  EXPECT_EQ(run(copies(4)), 4);
  EXPECT_EQ(run(copies(6)), 14);
  EXPECT_EQ(run(copies(8)), 24);
  // A loop of two packets is kept; what follows is brought when it is left.
  EXPECT_EQ(run("loop trips=10\n" + copies(2) + "end\n" + copies(1)),
            20 + 10 + 1);
  // One of three packets is brought again in every iteration but the first, which
  // waits for packet 2 only.
  EXPECT_EQ(run("loop trips=3\n" + copies(4) + "end\n"),
            1 + 10 + 1 + 2 * (3 * 10 + 1));
}

TEST(Time, jitter_lengthens_and_repeats) {
  Program p = program(shippedMachine("systolic"),
                      ".queue vector\nloop trips=10\n" + copy(100) + "end\n");
  sim::TimeOptions options;
  double before = time(p).ns();
  for (unsigned quarters : {1u, 16u}) {
    options.jitterQuarters = quarters;
    for (options.jitterSeed = 1; options.jitterSeed != 5;
         ++options.jitterSeed) {
      double ns = time(p, options).ns();
      EXPECT_GT(ns, before * (quarters == 1 ? 1 : 1.25));
      EXPECT_LE(ns, before * (1 + quarters / 4.0));
      EXPECT_EQ(ns, time(p, options).ns());
    }
  }
}

static std::string foundIn(const Program &program, sim::TimeOptions options) {
  sim::TimeResult t = sim::timeProgram(program, options);
  EXPECT_FALSE(t.completed);
  for (const sim::EngineTime &engine : t.engines)
    EXPECT_EQ(engine.sum(), t.total);
  return t.findings.size() == 1
             ? t.findings[0].code + (": " + t.findings[0].message)
             : "not one finding";
}

TEST(Time, what_nobody_waits_for_is_ended) {
  Machine machine = shippedMachine("systolic");
  sim::TimeOptions options;
  options.maxSteps = 1000;
  std::string forever = "loop trips=2147483647\n";
  EXPECT_EQ(foundIn(program(machine, ".queue vector\n" + forever + copy(9) +
                                         "end\n.queue sync\n" + forever +
                                         "nop\nend\n"),
                    options),
            "SIM-STEPS: the program is not at its end after 1000 instructions");
  options = {};
  EXPECT_EQ(foundIn(program(machine, memory + (".queue sync\n" + forever +
                                               load(9) + "end\n")),
                    options),
            "SIM-MEMORY: more than 65536 transfers are under way at once");
  machine.vector.clockMHz = 1;
  machine.vector.reciprocalCycles = 64;
  EXPECT_EQ(
      foundIn(program(machine,
                      ".queue vector\n" + forever +
                          "tensor_scalar dst=sbuf.f32[0:128, 0, 1048576], "
                          "src=sbuf.f32[0:128, 0, 1048576], op0=reciprocal\n"
                          "end\n"),
              options),
      "SIM-TIME: the program takes longer than 2^60 ticks of simulated time");
}

static std::string pathOf(const sim::TimeResult &t) {
  std::string text;
  for (const sim::CriticalStep &step : sim::criticalPath(t)) {
    Ticks ns = (step.end - step.begin) / t.ticksPerNs;
    text += (text.empty() ? "" : ", ") +
            (step.what.kind == sim::Cause::None       ? "nothing"
             : step.what.kind == sim::Cause::Transfer ? "transfer"
             : step.ran ? std::string(engineName(
                              Engine(t.spans[step.what.index].queue + 1)))
                        : sim::stallName(step.reason)) +
            " " + std::to_string(ns);
  }
  return text;
}

// Queues here are vector, scalar, (gpsimd,) sync: engine = queue + 1.
TEST(Time, the_critical_path_names_what_took_time) {
  Machine machine = shippedMachine("systolic");
  machine.semaphore.hopPs = 36000;
  machine.semaphore.sameEnginePs = 5000;
  machine.vector.latencyPs = 20000;
  // Vector: 100 and another 50 that reads its result, 20 + 5 later; scalar: 70
  // that wait for it.
  std::string reads = "copy dst=sbuf.f32[0:128, 8192, 50], src=sbuf.f32[0:128, "
                      "0, 50], update(s += 1)\n";
  EXPECT_EQ(pathOf(time(program(
                machine, ".semaphore s\n.queue vector\n" + copy(100) + reads +
                             ".queue scalar\n" + copy(70, ", wait(s >= 1)")))),
            "vector 120, dependency 5, vector 70, semaphore 36, scalar 70");
  // A load of 300 ns, 10 after its trigger, behind one of 200; 40 to its waiter.
  machine = shippedMachine("systolic");
  machine.dma.directFirstPs = 10000;
  machine.semaphore.hopFromDmaPs = 40000;
  EXPECT_EQ(
      pathOf(time(program(machine, memory + (".semaphore s\n.queue vector\n" +
                                             copy(70, ", wait(s >= 1)") +
                                             ".queue scalar\n" + load(200) +
                                             load(300, ", update(s += 1)"))))),
      "transfer 10, transfer 200, transfer 300, transfer 40, vector 70");
}

// Two transfers that share the engines may each have let the other's last share
// start: the path goes on at the trigger instead of between them for ever.
TEST(CriticalPath, EndsWhereTransfersHeldEachOther) {
  sim::TimeResult t;
  t.total = 100;
  t.spans.resize(1);
  t.spans[0].start = 10;
  t.spans[0].done = t.spans[0].portFree = 20;
  t.transfers.resize(2);
  for (unsigned i = 0; i != 2; ++i) {
    sim::TransferSpan &span = t.transfers[i];
    span.start = 30;
    span.ready = 25;
    span.dataDone = span.done = 100 - 10 * i;
    span.cause = {sim::Cause::Transfer, 1 - i};
  }
  Ticks covered = 0;
  for (const sim::CriticalStep &step : sim::criticalPath(t))
    covered += step.end - step.begin;
  EXPECT_EQ(covered, t.total);
}
