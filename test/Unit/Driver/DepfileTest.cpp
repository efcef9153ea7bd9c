//===- DepfileTest.cpp - escaping for make --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "facet/Driver/Depfile.h"

#include "gtest/gtest.h"

using namespace facet;

TEST(Depfile, escapesAsGccDoes) {
  EXPECT_EQ(escapeForMake("plain/k.facet"), "plain/k.facet");
  EXPECT_EQ(escapeForMake("my dir/k.facet"), "my\\ dir/k.facet");
  EXPECT_EQ(escapeForMake("k#1.facet"), "k\\#1.facet");
  EXPECT_EQ(escapeForMake("k$.facet"), "k$$.facet");
  EXPECT_EQ(escapeForMake("k:2.facet"), "k\\:2.facet");
}

TEST(Depfile, doublesBackslashesOnlyBeforeBlanks) {
  EXPECT_EQ(escapeForMake("a\\b"), "a\\b");
  EXPECT_EQ(escapeForMake("a\\ b"), "a\\\\\\ b");
  EXPECT_EQ(escapeForMake("a\\\\ b"), "a\\\\\\\\\\ b");
}

TEST(Depfile, leavesOtherBytesAlone) {
  EXPECT_EQ(escapeForMake("\xc3\xa9\xff\xe6\x97\xa5.facet"),
            "\xc3\xa9\xff\xe6\x97\xa5.facet");
}

TEST(Depfile, writesOneRuleWithAllTargets) {
  EXPECT_EQ(depfileRule({"x.o", "x.h"}, {"a.facet", "b c.facet"}, false),
            "x.o x.h: a.facet \\\n  b\\ c.facet\n");
}

TEST(Depfile, phonyRulesLeaveOutTheMainFile) {
  EXPECT_EQ(depfileRule({"x.o"}, {"a.facet", "b.facet"}, true),
            "x.o: a.facet \\\n  b.facet\nb.facet:\n");
}
