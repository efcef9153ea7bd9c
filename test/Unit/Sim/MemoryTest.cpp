//===- MemoryTest.cpp - which bytes were written --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Memory.h"

#include "gtest/gtest.h"

using namespace facet;
using namespace facet::sim;

TEST(Memory, every_range_marks_itself_and_nothing_else) {
  constexpr int64_t size = 37;
  for (int64_t begin = 0; begin <= size; ++begin)
    for (int64_t end = begin; end <= size; ++end) {
      uint8_t data[size] = {}, written[size / 8 + 1] = {};
      Line line{data, written, size};
      Memory::markWritten(line, begin, end);
      for (int64_t at = 0; at != size; ++at)
        EXPECT_EQ(Memory::firstUnwritten(line, at, at + 1) < 0,
                  at >= begin && at < end)
            << begin << ' ' << end << ' ' << at;
      EXPECT_EQ(Memory::firstUnwritten(line, begin, end), -1);
      if (end != size) {
        EXPECT_EQ(Memory::firstUnwritten(line, begin, size), end);
      }
    }
}

TEST(Memory, runs_of_an_access_come_in_order) {
  Access access;
  access.rank = 3;
  uint32_t counts[] = {2, 3, 4};
  int64_t steps[] = {100, -10, 2};
  for (unsigned d = 0; d != 3; ++d)
    access.count[d] = counts[d], access.step[d] = steps[d];
  std::vector<int64_t> firsts;
  forEachRun(access, [&](int64_t first, int64_t count, int64_t step) {
    EXPECT_EQ(count, 4);
    EXPECT_EQ(step, 2);
    firsts.push_back(first);
  });
  EXPECT_EQ(firsts, (std::vector<int64_t>{0, -10, -20, 100, 90, 80}));
  access.rank = 0;
  firsts.clear();
  forEachRun(access,
             [&](int64_t first, int64_t, int64_t) { firsts.push_back(first); });
  EXPECT_EQ(firsts, std::vector<int64_t>{0});
}
