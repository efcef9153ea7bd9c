//===- ReportTest.cpp - numbers as text, and traces that are cut ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs of the tool do not reach: limits of a million, every digit count, and
// what holds for any program.
//
//===----------------------------------------------------------------------===//

#include "RandomProgram.h"
#include "RandomTimed.h"
#include "Report/Units.h"

#include "facet/Isa/Assembler.h"
#include "facet/Sim/Report.h"

#include "gtest/gtest.h"

#include <map>

using namespace facet;
using namespace facet::sim;
using namespace facet::test;

TEST(Units, four_digits_and_a_prefix) {
  EXPECT_EQ(withPrefix(0), "0");
  EXPECT_EQ(withPrefix(0, "J"), "0 J");
  EXPECT_EQ(withPrefix(5), "5");
  EXPECT_EQ(withPrefix(5, "B"), "5 B");
  EXPECT_EQ(withPrefix(662.6, "B"), "662.6 B");
  EXPECT_EQ(withPrefix(999, "B"), "999 B");
  EXPECT_EQ(withPrefix(1000, "B"), "1.000 kB");
  EXPECT_EQ(withPrefix(999949), "999.9 k");
  EXPECT_EQ(withPrefix(999950), "1.000 M");
  EXPECT_EQ(withPrefix(68719476736.0), "68.72 G");
  EXPECT_EQ(withPrefix(0.0000254, "J"), "25.40 uJ");
  EXPECT_EQ(withPrefix(-1500, "B"), "-1.500 kB");
  EXPECT_EQ(withPrefix(9.9996, "s"), "10.00 s");
  EXPECT_EQ(withPrefix(0.00099996, "s"), "1.000 ms");
}

TEST(Units, times_groups_and_shares) {
  EXPECT_EQ(timeText(0), "0.0 ns");
  EXPECT_EQ(timeText(999.9), "999.9 ns");
  EXPECT_EQ(timeText(1793122.4), "1.793 ms");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1 000");
  EXPECT_EQ(grouped(-1793122), "-1 793 122");
  EXPECT_EQ(percent(0), "0.0 %");
  EXPECT_EQ(percent(1e-9), "<0.1 %");
  EXPECT_EQ(percent(0.9745), "97.5 %");
}

TEST(Trace, a_limit_keeps_what_begins_first_and_says_so) {
  Diagnostics diags;
  std::optional<Program> program = assemble(
      ".program 1\n.machine \"systolic\"\n.semaphore s\n.queue vector\n"
      "loop trips=50\ncopy dst=sbuf.f32[0:1, 0, 100], src=sbuf.f32[0:1, 4096, "
      "100], update(s += 1)\nend\n",
      "p.s", diags);
  ASSERT_TRUE(program) << messages(diags);
  TimeOptions record;
  record.record = true;
  TimeResult time = timeProgram(*program, record);
  ASSERT_TRUE(time.ok());

  TraceOptions options;
  std::string text;
  llvm::raw_string_ostream all(text);
  EXPECT_EQ(writeChromeTrace(*program, time, options, all), "");
  options.maxSlices = 20;
  text.clear();
  // 50 copies of 100 ns, each twice: on its engine and on the critical path.
  EXPECT_EQ(writeChromeTrace(*program, time, options, all),
            "the trace holds 20 of 100 slices, those that begin before "
            "1.000 us; --window FROM:TO, in ns, shows another part");
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(text);
  ASSERT_TRUE(bool(json)) << llvm::toString(json.takeError());
  unsigned slices = 0, counts = 0;
  for (const llvm::json::Value &event :
       *json->getAsObject()->getArray("traceEvents")) {
    const llvm::json::Object &object = *event.getAsObject();
    slices += object.getString("ph") == "X";
    counts += object.getString("ph") == "C";
    if (object.getString("ph") == "X" || object.getString("ph") == "C")
      EXPECT_LT(*object.getNumber("ts"), 1.0);
  }
  EXPECT_EQ(slices, 20u);
  EXPECT_EQ(counts, 9u);
}

/// Slices of one track come in order and one at a time.
static void expectOneAtATime(const std::string &chrome, uint64_t seed) {
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(chrome);
  ASSERT_TRUE(bool(json)) << seed << llvm::toString(json.takeError());
  std::map<int64_t, double> ended;
  for (const llvm::json::Value &event :
       *json->getAsObject()->getArray("traceEvents")) {
    const llvm::json::Object &object = *event.getAsObject();
    if (object.getString("ph") != "X")
      continue;
    double &end = ended[*object.getInteger("tid")];
    ASSERT_GE(*object.getNumber("ts"), end - 1e-9) << seed;
    end = *object.getNumber("ts") + *object.getNumber("dur");
  }
}

TEST(Report, parts_of_random_programs_sum_to_the_whole) {
  const Machine bases[] = {shippedMachine("trn2"), shippedMachine("systolic")};
  unsigned bounds = 0;
  for (uint64_t seed = 0; seed != 200; ++seed) {
    Machine machine = bases[seed % 2];
    if (seed % 3)
      machine = unsharedMachine(machine, seed);
    Program program = randomTimed(machine, seed, 40);
    TimeOptions record;
    record.record = true;
    TimeResult time = timeProgram(program, record);
    ASSERT_TRUE(time.ok()) << seed;
    Report report = makeReport(program, time, "p");
    Ticks ladder = 0, path = 0;
    for (const LadderStep &step : report.ladder) {
      ASSERT_GE(step.ticks, 0) << seed << ' ' << step.name;
      ladder += step.ticks;
    }
    for (const PathLine &line : report.path)
      path += line.ticks;
    ASSERT_EQ(ladder, time.total) << seed;
    ASSERT_EQ(path, time.total) << seed;
    ASSERT_LE(report.bound(), time.total) << seed;
    bounds += report.bound() > 0;

    std::string text;
    llvm::raw_string_ostream os(text);
    EXPECT_EQ(writeChromeTrace(program, time, {}, os), "");
    expectOneAtATime(text, seed);
    text.clear();
    EXPECT_EQ(writePerfetto(program, time, {}, os), "");
    printStats(report, os);
    writeHtml(program, time, report, {}, os);
    for (unsigned q = 0; q != program.queues.size(); ++q)
      for (unsigned pc = 0; pc != program.queues[q].code.size(); ++pc)
        printExplanation(program, time, q, pc, {}, os);
    EXPECT_NE(text.find("</html>"), std::string::npos);
    EXPECT_EQ(text.find("nan"), std::string::npos) << seed;
  }
  EXPECT_GT(bounds, 20u);
}
