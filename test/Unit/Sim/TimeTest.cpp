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
