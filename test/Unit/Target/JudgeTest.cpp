//===- JudgeTest.cpp - what a value and a bound accept --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "facet/Target/Judge.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace facet;

static const double inf = INFINITY, nan_ = NAN;

TEST(Judge, AcceptsWhatTheBoundReaches) {
  EXPECT_TRUE(compareWithJudge(1.5, 1, 0.5).agrees);
  EXPECT_DOUBLE_EQ(compareWithJudge(1.25, 1, 0.5).ratio, 0.5);
  EXPECT_FALSE(compareWithJudge(1.51, 1, 0.5).agrees);
  EXPECT_GT(compareWithJudge(1.51, 1, 0.5).ratio, 1);
}

TEST(Judge, WantsExactValuesExactly) {
  EXPECT_TRUE(compareWithJudge(1, 1, 0).agrees);
  EXPECT_FALSE(compareWithJudge(std::nextafter(1.0, 2.0), 1, 0).agrees);
  EXPECT_TRUE(compareWithJudge(-0.0, 0.0, 0).agrees);
}

TEST(Judge, WantsNaNAndInfinitiesToMatch) {
  EXPECT_TRUE(compareWithJudge(nan_, nan_, 0).agrees);
  EXPECT_FALSE(compareWithJudge(nan_, 1, 1e300).agrees);
  EXPECT_FALSE(compareWithJudge(1, nan_, 1e300).agrees);
  EXPECT_TRUE(compareWithJudge(inf, inf, 0).agrees);
  EXPECT_FALSE(compareWithJudge(-inf, inf, 0).agrees);
  EXPECT_FALSE(compareWithJudge(inf, 1e38, 1e38).agrees);
}

TEST(Judge, AcceptsAnythingWithinAnInfiniteBound) {
  for (double stored : {0.0, inf, -inf, nan_})
    EXPECT_TRUE(compareWithJudge(stored, 1e38, inf).agrees);
}

TEST(Judge, RejectsEverythingWithANegativeBound) {
  EXPECT_FALSE(compareWithJudge(5, 5, -1).agrees);
  EXPECT_FALSE(compareWithJudge(5, 5, nan_).agrees);
}
