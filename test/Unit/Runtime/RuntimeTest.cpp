//===- RuntimeTest.cpp - what test/Runtime cannot reach -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "facet/runtime.h"
#include "AvailableCpus.h"
#include "gtest/gtest.h"

#include <string>

namespace {

TEST(AvailableCpus, ReadsAQuota) {
  EXPECT_EQ(facet::cpusOfQuota("200000 100000"), 2);
  EXPECT_EQ(facet::cpusOfQuota("150000 100000"), 2);
  EXPECT_EQ(facet::cpusOfQuota("1000 100000"), 1);
  EXPECT_EQ(facet::cpusOfQuota("9223372036854775807 1"), 2147483647);
}

TEST(AvailableCpus, TakesOtherTextsAsNoQuota) {
  for (const char *text :
       {"", "max 100000", "max", "200000", "200000 ", "200000 0", "-1 100000",
        "0 100000", "2e5 100000", "200000 100000x", "99999999999999999999 1"})
    EXPECT_EQ(facet::cpusOfQuota(text), 0) << text;
}

TEST(AvailableCpus, IsAtLeastOne) { EXPECT_GE(facet::availableCpus(), 1); }

std::string describe(const facet_error *error) {
  char text[256];
  int length = facet_describe_error(error, text, sizeof text);
  EXPECT_EQ(std::string(text).size(), static_cast<size_t>(length));
  return text;
}

TEST(DescribeError, NamesKernelArgumentAxisAndNumbers) {
  facet_error stride = {FACET_E_STRIDE, 0, "linear", "x", 3, 4};
  EXPECT_EQ(describe(&stride), "linear: 'x', axis 0: a stride does not fit its "
                               "array: found 3, wanted at least 4");
  facet_error size = {FACET_E_SIZE, -1, "linear", "M", -7, 0};
  EXPECT_EQ(describe(&size), "linear: 'M': a size is negative: found -7");
  facet_error index = {FACET_E_INDEX, 0, "moe_up", "w", 8, 8};
  EXPECT_EQ(describe(&index),
            "moe_up: 'w', axis 0: an element used as a subscript is out of "
            "range: found 8, wanted 0 to 7");
  facet_error align = {FACET_E_ALIGN, -1, "linear", "x", 0x1001, 2};
  EXPECT_EQ(describe(&align),
            "linear: 'x': a pointer is not aligned as its elements need: "
            "address 0x1001, wanted a multiple of 2");
  facet_error promise = {FACET_E_REQUIRE - 1, -1, "attention", "T >= S", 0, 0};
  EXPECT_EQ(describe(&promise), "attention: the promise 'T >= S' is broken");
  facet_error null = {FACET_E_NULL, -1, "linear", "b", 0, 0};
  EXPECT_EQ(describe(&null), "linear: 'b': a pointer that is needed is NULL");
}

TEST(DescribeError, StandsBareRecords) {
  facet_error bare = {FACET_E_TASK, -1, nullptr, nullptr, 0, 0};
  EXPECT_EQ(describe(&bare), "kernel: parallel_for reported a failure");
  EXPECT_EQ(describe(nullptr), "success");
  char cut[8];
  EXPECT_EQ(facet_describe_error(&bare, cut, sizeof cut), 39);
  EXPECT_STREQ(cut, "kernel:");
}

TEST(DescribeError, EveryCodeHasItsText) {
  for (int code = FACET_E_TASK; code <= FACET_OK; ++code)
    EXPECT_STRNE(facet_strerror(code), "unknown error code") << code;
  EXPECT_STREQ(facet_strerror(FACET_E_TASK - 1), "unknown error code");
  EXPECT_STREQ(facet_strerror(FACET_E_REQUIRE - 5),
               facet_strerror(FACET_E_REQUIRE));
}

} // namespace
