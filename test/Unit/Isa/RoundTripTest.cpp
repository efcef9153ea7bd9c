//===- RoundTripTest.cpp - file, text and program are one thing -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomProgram.h"

#include "facet/Isa/Assembler.h"
#include "facet/Isa/Check.h"
#include "facet/Isa/Container.h"

#include "llvm/ADT/StringExtras.h"

#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <set>

using namespace facet;
using namespace facet::test;

static std::string textOf(const Program &program) {
  std::string text;
  llvm::raw_string_ostream os(text);
  disassemble(program, os);
  return text;
}

TEST(RoundTrip, random_programs_keep_every_byte) {
  for (const char *name : {"trn1", "trn2", "trn3"}) {
    Machine machine = shippedMachine(name);
    for (uint64_t seed = 0; seed != 120; ++seed) {
      Program program = randomProgram(machine, seed, unsigned(seed % 30));
      Diagnostics diags;
      ASSERT_TRUE(checkProgram(program, diags))
          << name << seed << messages(diags);
      std::vector<uint8_t> file = writeProgram(program);
      std::optional<Program> read = readProgram(file, "file", diags);
      ASSERT_TRUE(read) << name << seed << messages(diags);
      EXPECT_EQ(writeProgram(*read), file) << name << seed;
      EXPECT_EQ(read->buildId, program.buildId);
      std::string text = textOf(*read);
      std::optional<Program> again = assemble(text, "text", diags);
      ASSERT_TRUE(again) << name << seed << messages(diags) << text;
      EXPECT_EQ(writeProgram(*again), file) << name << seed << "\n" << text;
      EXPECT_EQ(textOf(*again), text);
    }
  }
}

TEST(RoundTrip, random_programs_reach_all_of_the_instruction_set) {
  std::set<unsigned> opcodes, types, operations, functions, waits, kinds;
  std::set<std::pair<unsigned, unsigned>> flags;
  Machine machine = shippedMachine("trn3");
  for (uint64_t seed = 0; seed != 300; ++seed) {
    Program program = randomProgram(machine, seed, 40);
    for (const Access &a : program.accesses)
      types.insert(unsigned(a.dtype));
    for (const Queue &q : program.queues)
      for (const Instruction &i : q.code) {
        opcodes.insert(i.opcode);
        for (const FlagInfo &f : opcodeInfo(i.opcode)->flags)
          if (i.has(uint16_t(1u << f.bit)))
            flags.insert({i.opcode, f.bit});
        for (const FieldInfo &f : opcodeInfo(i.opcode)->fields) {
          if (f.kind == FieldKind::Alu)
            operations.insert(getField(i, f.place));
          if (f.kind == FieldKind::Function)
            functions.insert(getField(i, f.place));
        }
      }
  }
  EXPECT_EQ(opcodes.size(), opcodeInfos().size());
  EXPECT_EQ(types.size(), numDTypes);
  EXPECT_EQ(operations.size(), numAlus);
  EXPECT_EQ(functions.size(), numFunctions);
  size_t numFlags = 0;
  for (const OpcodeInfo &info : opcodeInfos())
    numFlags += info.flags.size();
  EXPECT_EQ(flags.size(), numFlags);
}

TEST(RoundTrip, writing_does_not_depend_on_the_order_of_tables) {
  Machine machine = shippedMachine("trn2");
  Program program = randomProgram(machine, 7, 30);
  Program shuffled = program;
  // Reverse the accesses and renumber; add one that nothing uses.
  uint32_t n = uint32_t(shuffled.accesses.size());
  std::reverse(shuffled.accesses.begin(), shuffled.accesses.end());
  shuffled.accesses.push_back(Access());
  for (Queue &q : shuffled.queues)
    for (Instruction &i : q.code)
      for (uint32_t &operand : i.operands)
        if (operand)
          operand = n + 1 - operand;
  EXPECT_EQ(writeProgram(shuffled), writeProgram(program));
}

TEST(Container, crc32c_is_castagnoli) {
  llvm::StringRef digits = "123456789";
  EXPECT_EQ(crc32c(llvm::arrayRefFromStringRef(digits)), 0xe3069283u);
  EXPECT_EQ(crc32c({}), 0u);
}

TEST(Container, notes_and_places_do_not_change_the_build_id) {
  Machine machine = shippedMachine("trn2");
  Program program = randomProgram(machine, 3, 10);
  Program bare = program;
  bare.notes.clear();
  for (Queue &q : bare.queues)
    std::fill(q.locations.begin(), q.locations.end(), 0);
  std::vector<uint8_t> a = writeProgram(program), b = writeProgram(bare);
  EXPECT_NE(a, b);
  EXPECT_EQ(program.buildId, bare.buildId);
}
