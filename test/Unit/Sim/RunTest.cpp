//===- RunTest.cpp - programs of all kinds, run ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The random programs of test/Unit/Isa keep the static rules and no others: most
// of what they do is wrong, and all of it must end in findings, never in an
// access out of bounds (which a build with sanitizers sees).
//
//===----------------------------------------------------------------------===//

#include "RandomProgram.h"

#include "facet/Isa/Assembler.h"
#include "facet/Isa/Check.h"
#include "facet/Sim/Simulator.h"

#include "gtest/gtest.h"

using namespace facet;
using namespace facet::test;

/// Without waits and updates a program gets further than its first wait.
static void unchain(Program &program) {
  for (Queue &queue : program.queues)
    for (Instruction &i : queue.code) {
      for (Wait &wait : i.waits)
        wait = {};
      for (Update &update : i.updates)
        update = {};
    }
}

static uint64_t hbmBytes(const Program &program) {
  uint64_t bytes = 0;
  for (const Buffer &b : program.buffers)
    bytes += b.space == Space::Hbm ? b.bytes : 0;
  return bytes;
}

/// The most elements that one operand touches.
static uint64_t largest(const Program &program) {
  uint64_t most = 0;
  for (const Access &a : program.accesses)
    most = std::max(most, a.elements() * a.partitions);
  return most;
}

static std::vector<std::vector<uint8_t>> inputsOf(const Program &program) {
  std::vector<std::vector<uint8_t>> memory;
  for (const Buffer &b : program.buffers)
    memory.emplace_back(b.space == Space::Hbm ? b.bytes : 0);
  return memory;
}

TEST(Run, random_programs_end_in_findings_the_same_each_time) {
  unsigned ran = 0, executed = 0;
  for (uint64_t seed = 0; seed != 24; ++seed) {
    Machine machine = shippedMachine(seed % 2 ? "trn2" : "trn3");
    Program program = randomProgram(machine, seed, 20);
    unchain(program);
    if (hbmBytes(program) > (1u << 26) || largest(program) > (1u << 21))
      continue;
    ++ran;
    sim::RunOptions options;
    options.maxSteps = 300;
    options.order = seed % 6;
    std::string said[2];
    for (int i = 0; i != 2; ++i) {
      std::vector<std::vector<uint8_t>> memory = inputsOf(program);
      sim::RunResult result = sim::runProgram(program, memory, options);
      Diagnostics diags;
      sim::reportFindings(program, result, "p", diags);
      said[i] = messages(diags);
      for (const sim::QueueCounts &q : result.queues)
        executed += unsigned(q.executed);
    }
    EXPECT_EQ(said[0], said[1]) << seed;
  }
  EXPECT_GE(ran, 12u);
  EXPECT_GE(executed, 300u);
}

TEST(Run, buffers_of_a_wrong_size_are_refused) {
  Diagnostics diags;
  std::optional<Program> program =
      assemble(".machine \"trn2\"\n.buffer x in hbm.f32[4] at 0 bytes 16\n",
               "p.s", diags);
  ASSERT_TRUE(program);
  std::vector<std::vector<uint8_t>> memory{std::vector<uint8_t>(15)};
  sim::RunResult result = sim::runProgram(*program, memory);
  EXPECT_FALSE(result.ok());
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_STREQ(result.findings[0].code, "SIM-INPUT");
  EXPECT_EQ(result.findings[0].message,
            "buffer 'x' is given 15 bytes, it has 16");
}
