//===- MultiplyTest.cpp - vectors and plain code give the same bits -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Multiply.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace facet;

/// Numbers of all magnitudes, subnormal, infinite and NaN ones too.
static std::vector<float> anyFloats(size_t n, std::mt19937 &random) {
  std::vector<float> values(n);
  for (float &v : values) {
    uint32_t bits = uint32_t(random());
    if (random() % 8)
      bits = (bits & 0x807fffff) | (96 + random() % 63) << 23;
    std::memcpy(&v, &bits, sizeof v);
  }
  return values;
}

TEST(Multiply, vectors_give_the_bits_of_plain_code) {
  std::mt19937 random(11);
  for (size_t k : {1, 5, 128}) {
    constexpr size_t m = 7, n = 2 * sim::columnBlock;
    std::vector<float> w = anyFloats(k * m, random),
                       x = anyFloats(k * n, random), fast(m * n), plain(m * n);
    sim::multiply(w.data(), x.data(), k, m, n, fast.data());
    sim::multiplyPlain(w.data(), x.data(), k, m, n, plain.data());
    for (size_t i = 0; i != fast.size(); ++i) {
      float t = 0;
      for (size_t row = 0; row != k; ++row)
        t = std::fma(w[row * m + i / n], x[row * n + i % n], t);
      // Which NaN it is, is settled by the caller.
      if (std::isnan(t)) {
        EXPECT_TRUE(std::isnan(fast[i]) && std::isnan(plain[i])) << i;
        continue;
      }
      EXPECT_EQ(std::memcmp(&fast[i], &t, sizeof t), 0) << i;
      EXPECT_EQ(std::memcmp(&plain[i], &t, sizeof t), 0) << i;
    }
  }
}
