//===- MultiplyTest.cpp - every way to multiply gives the same bits -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Multiply.h"
#include "Values.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

using namespace facet;
using namespace facet::sim;

namespace {

/// What the numbers of a product are like.
enum class Kind { Any, Ordinary, NearlySubnormal };

/// Elements of a type: of all magnitudes, subnormal, infinite and NaN ones too;
/// of ordinary ones; or so small that products come near the least normal number.
std::vector<uint8_t> elements(DType dtype, size_t n, Kind kind,
                              std::mt19937 &random) {
  size_t size = dtypeBytes(dtype);
  std::vector<uint8_t> bytes(n * size);
  for (size_t i = 0; i != n; ++i) {
    uint32_t bits = uint32_t(random());
    if (kind == Kind::NearlySubnormal)
      bits = (bits & 0x807fffff) | (57 + random() % 5) << 23;
    else if (kind == Kind::Ordinary || random() % 8)
      bits = (bits & 0x807fffff) | (96 + random() % 63) << 23;
    if (size == 2 && dtype == DType::BF16)
      bits >>= 16;
    if (random() % 16 == 0)
      bits = 0;
    std::memcpy(&bytes[i * size], &bits, size);
  }
  return bytes;
}

uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

} // namespace

TEST(Multiply, all_levels_give_the_bits_of_scalar_fma) {
  std::mt19937 random(11);
  unsigned levels = 0;
  for (Level level : {Level::Plain, Level::Avx2, Level::Avx512, Level::Bf16})
    levels += hasLevel(level);
  EXPECT_TRUE(hasLevel(bestLevel()));
  EXPECT_GE(levels, 1u);
  for (DType dtype : {DType::F32, DType::BF16, DType::F16, DType::F8E4M3})
    for (Kind kind : {Kind::Any, Kind::Ordinary, Kind::NearlySubnormal})
      for (size_t k : {1, 6, 128})
        for (bool start : {true, false}) {
          // A group and a bit; a block, and one that is not whole.
          constexpr size_t m = PackedWeights::group + 3, n = columnBlock + 5;
          size_t size = dtypeBytes(dtype);
          std::vector<uint8_t> w = elements(dtype, k * m, kind, random),
                               x = elements(dtype, k * n, kind, random);
          std::vector<float> before(m * n), wanted(m * n), wf(k * m), xf(k * n);
          for (float &v : before)
            v = float(random()) - float(random());
          toFloats(w.data(), dtype, k * m, wf.data());
          toFloats(x.data(), dtype, k * n, xf.data());
          for (size_t i = 0; i != m * n; ++i) {
            float t = 0;
            for (size_t row = 0; row != k; ++row)
              t = std::fma(wf[row * m + i / n], xf[row * n + i % n], t);
            wanted[i] = canonical(start ? t : before[i] + t);
          }
          PackedWeights weights;
          weights.pack(w.data(), ptrdiff_t(m * size), dtype, k, m);
          Moving moving{x.data(), ptrdiff_t(n * size), dtype, n};
          for (Level level :
               {Level::Plain, Level::Avx2, Level::Avx512, Level::Bf16}) {
            if (!hasLevel(level))
              continue;
            std::vector<float> found = before;
            for (size_t first = 0; first < n; first += columnBlock)
              multiplyBlock(level, weights, moving, first,
                            {reinterpret_cast<uint8_t *>(found.data()),
                             ptrdiff_t(n * sizeof(float))},
                            start);
            for (size_t i = 0; i != m * n; ++i)
              ASSERT_EQ(bitsOf(found[i]), bitsOf(wanted[i]))
                  << "level " << int(level) << " type " << dtypeName(dtype)
                  << " k " << k << " element " << i;
          }
        }
}
