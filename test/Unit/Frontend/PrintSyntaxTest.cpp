//===- PrintSyntaxTest.cpp - printing agrees with formatting --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions are printed from the tree, files from tokens; both space alike.
//
//===----------------------------------------------------------------------===//

#include "facet/Frontend/Frontend.h"
#include "gtest/gtest.h"

using namespace facet;

TEST(PrintSyntaxTest, prints_as_the_formatter_does) {
  for (const char *text :
       {"a+b*(c-d)%3", "-x[i]*--2", "!(a&&b)||c", "sum[i,j:4|i<=j](x[i,j])",
        "w[id[t],0,f]", "i8.sat(round(x/2.0e-3))", "max(a,-b,inf)",
        "softmax[j|live[i,j]](s[i,j])", "where(true,nan,f32(N))"}) {
    std::string line = "fn f(x) = " + std::string(text);
    Diagnostics diagnostics;
    syntax::File file = syntax::parse("f", line, diagnostics);
    ASSERT_FALSE(diagnostics.hasErrors()) << text;
    const auto &function = std::get<syntax::Function>(file.items.at(0));
    std::optional<std::string> formatted = formatSource("f", line, diagnostics);
    ASSERT_TRUE(formatted) << text;
    EXPECT_EQ("fn f(x) = " + print(*function.body) + "\n", *formatted);
  }
}
