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

TEST(Judge, DecodesStoredElements) {
  uint16_t bf16[] = {0x3f80, 0xc000};
  EXPECT_EQ(storedElement(ScalarType::BF16, bf16, 1), -2);
  uint16_t f16[] = {0x0001};
  EXPECT_EQ(storedElement(ScalarType::F16, f16, 0), 0x1p-24);
  uint8_t f8[] = {0x77, 0x7e, 0x7b};
  EXPECT_EQ(storedElement(ScalarType::F8E4M3, f8, 0), 240);
  EXPECT_EQ(storedElement(ScalarType::F8E4M3FN, f8, 1), 448);
  EXPECT_EQ(storedElement(ScalarType::F8E5M2, f8, 2), 57344);
  uint8_t nibbles[] = {0xf8};
  EXPECT_EQ(storedElement(ScalarType::I4, nibbles, 0), -8);
  EXPECT_EQ(storedElement(ScalarType::I4, nibbles, 1), -1);
  EXPECT_EQ(storedElement(ScalarType::U4, nibbles, 1), 15);
  uint8_t bytes[] = {0, 200};
  EXPECT_EQ(storedElement(ScalarType::U8, bytes, 1), 200);
  EXPECT_EQ(storedElement(ScalarType::I8, bytes, 1), -56);
  EXPECT_EQ(storedElement(ScalarType::Bool, bytes, 1), 1);
}
