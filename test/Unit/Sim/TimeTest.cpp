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
  // A recorded clock.
  options = {};
  options.slowWindows = {false, false, true};
  sim::TimeResult t = time(program(machine, matmuls(6)), options);
  // 0, 512, 1024 and 1536 fast, 2048 slow, 3072 fast again by the rule.
  EXPECT_EQ(t.ns(), 5 * 512 + 1024);
  EXPECT_EQ(t.engines[0].stall(Stall::Clock), 512 * t.ticksPerNs);
  EXPECT_EQ(t.matmulsAtFullRate, 5u);
}
