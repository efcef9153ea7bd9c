//===- Multiply.cpp - the sums of a matmul --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One chain of fused multiply-adds per element, k ascending:
//
//   t = fma(w[0][m], x[0][n], +0);  t = fma(w[1][m], x[1][n], t);  ...
//
// Chains of neighbouring columns are independent, so they lie side by side in
// vectors; each element's own operations and their order stay the same, and an
// fma rounds once wherever it runs. Twelve weights' columns by 32 moving columns
// keep their chains in registers; both operands are packed for that.
//
// vdpbf16ps does two steps of such a chain at once, the upper halves of its pairs
// first, but takes subnormal numbers for 0. With the first row of each pair in the
// upper half it gives the same bits where none can come up. All sums of products
// are multiples of the least product of last places: when no operand is subnormal
// and this least one is at least 2^-126, no sum can be subnormal. Exponents are
// looked at for that; a block that fails goes the other way. Whether the processor
// really works like this is tried once, on numbers that would show it.
//
//===----------------------------------------------------------------------===//

#include "Multiply.h"
#include "Values.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
// Its own headers start some results from variables that they leave alone.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#endif

using namespace facet;
using sim::columnBlock;

#define FACET_ALWAYS_INLINE inline __attribute__((always_inline))

constexpr size_t group = sim::PackedWeights::group;

/// More than any stored exponent of a number: of none.
constexpr unsigned noExponent = 255;

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

static FACET_ALWAYS_INLINE uint16_t half(const uint8_t *bits, size_t i) {
  uint16_t value;
  std::memcpy(&value, bits + 2 * i, 2);
  return value;
}

/// The least stored exponent of n bf16 that are not 0: 0 when one is subnormal.
static unsigned leastExponent(const uint8_t *bits, size_t n) {
  uint16_t least = noExponent << 7;
  for (size_t i = 0; i != n; ++i) {
    uint16_t magnitude = half(bits, i) & 0x7fff;
    uint16_t exponent = magnitude & 0x7f80;
    least = magnitude && exponent < least ? exponent : least;
  }
  return least >> 7;
}

template <size_t N>
static FACET_ALWAYS_INLINE void packPair(const uint8_t *first,
                                         const uint8_t *second, uint32_t *out) {
  for (size_t i = 0; i != N; ++i)
    out[i] = uint32_t(half(first, i)) << 16 | half(second, i);
}

#if defined(__x86_64__)
#define FACET_BF16_TARGET                                                      \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

FACET_BF16_TARGET static inline __m512i pairUp(__m256i high, __m256i low) {
  return _mm512_or_si512(_mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16),
                         _mm512_cvtepu16_epi32(low));
}

/// The lesser of `least` and the exponents of 32 numbers that are not 0.
FACET_BF16_TARGET static inline __m512i lesserExponent(__m512i least,
                                                       __m512i row) {
  return _mm512_mask_min_epu16(
      least, _mm512_test_epi16_mask(row, _mm512_set1_epi16(0x7fff)), least,
      _mm512_and_si512(row, _mm512_set1_epi16(0x7f80)));
}

FACET_BF16_TARGET static inline unsigned leastLane(__m512i least) {
  alignas(64) uint16_t lanes[32];
  _mm512_store_si512(lanes, least);
  return unsigned(*std::min_element(lanes, lanes + 32)) >> 7;
}

/// Two rows, 12 columns to each group, which lie `next` apart; the least exponent
/// seen.
FACET_BF16_TARGET static __m512i packPairWide(const uint8_t *first,
                                              const uint8_t *second,
                                              size_t columns, uint32_t *out,
                                              size_t next, __m512i least) {
  for (size_t c = 0; c < columns; c += group, out += next) {
    __mmask16 there = __mmask16((1u << std::min(group, columns - c)) - 1);
    __m256i high = _mm256_maskz_loadu_epi16(there, first + 2 * c);
    __m256i low = _mm256_maskz_loadu_epi16(there, second + 2 * c);
    least = lesserExponent(
        least, _mm512_inserti64x4(_mm512_castsi256_si512(high), low, 1));
    _mm512_mask_storeu_epi32(out, (1u << group) - 1, pairUp(high, low));
  }
  return least;
}

FACET_BF16_TARGET static unsigned packPairsWide(const uint8_t *bits,
                                                ptrdiff_t stride, size_t rows,
                                                size_t columns, uint32_t *out,
                                                size_t next) {
  // Rows lie far apart: what is ahead has to be asked for.
  constexpr ptrdiff_t ahead = 16;
  constexpr size_t line = 32; // elements
  __m512i least = _mm512_set1_epi16(0x7f80);
  for (size_t k = 0; k != rows; k += 2, bits += 2 * stride, out += group) {
    for (size_t c = 0; c < columns; c += line) {
      __builtin_prefetch(bits + ahead * stride + 2 * c);
      __builtin_prefetch(bits + (ahead + 1) * stride + 2 * c);
    }
    least = packPairWide(bits, bits + stride, columns, out, next, least);
  }
  return leastLane(least);
}
#endif

void sim::PackedWeights::packPairs(const uint8_t *bits, ptrdiff_t stride) {
  size_t next = rows / 2 * group; // from one group to the next
  pairs.resize((columns + group - 1) / group * next);
#if defined(__x86_64__)
  if (hasLevel(Level::Bf16)) {
    leastExponent =
        packPairsWide(bits, stride, rows, columns, pairs.data(), next);
    return;
  }
#endif
  leastExponent = noExponent;
  for (size_t k = 0; k != rows; ++k, bits += stride) {
    leastExponent = std::min(leastExponent, ::leastExponent(bits, columns));
    if (k % 2)
      continue;
    for (size_t c = 0; c != columns; ++c)
      packPair<1>(bits + 2 * c, bits + stride + 2 * c,
                  &pairs[k / 2 * group + c / group * next + c % group]);
  }
}

void sim::PackedWeights::pack(const uint8_t *bits, ptrdiff_t stride,
                              DType dtype, size_t rowCount,
                              size_t columnCount) {
  rows = rowCount;
  columns = columnCount;
  if (dtype == DType::BF16 && rows % 2 == 0) {
    values.clear();
    return packPairs(bits, stride);
  }
  pairs.clear();
  size_t groupCount = (columns + group - 1) / group;
  std::vector<float> row(columns);
  values.resize(groupCount * rows * group);
  for (size_t k = 0; k != rows; ++k, bits += stride) {
    toFloats(bits, dtype, columns, row.data());
    for (size_t g = 0; g != groupCount; ++g) {
      size_t first = g * group, count = std::min(group, columns - first);
      std::copy_n(&row[first], count, &values[(g * rows + k) * group]);
    }
  }
}

/// A group's weights as f32: there, or unpacked into `space`.
static const float *groupValues(const sim::PackedWeights &weights, size_t g,
                                float *space) {
  size_t k = weights.rows;
  if (weights.pairs.empty())
    return &weights.values[g * k * group];
  const uint32_t *in = &weights.pairs[g * (k / 2) * group];
  for (size_t pair = 0; pair != k / 2; ++pair)
    for (size_t c = 0; c != group; ++c) {
      uint32_t both = in[pair * group + c];
      uint32_t halves[2] = {both & 0xffff0000u, both << 16};
      std::memcpy(space + 2 * pair * group + c, &halves[0], 4);
      std::memcpy(space + (2 * pair + 1) * group + c, &halves[1], 4);
    }
  return space;
}

namespace {
/// What a thread works with: one block of the moving operand, row after row, and
/// one group of the weights.
struct Scratch {
  std::vector<float> floats;
  std::vector<uint32_t> words;
  float *values = nullptr, *weights = nullptr;
  uint32_t *pairs = nullptr;

  void resize(size_t k) {
    if (floats.size() >= k * (columnBlock + group) + 16)
      return;
    floats.resize(k * (columnBlock + group) + 16);
    words.resize(k / 2 * columnBlock + 16);
    values = aligned(floats.data());
    weights = values + k * columnBlock;
    pairs = aligned(words.data());
  }
  template <typename T>
  static T *aligned(T *at) {
    size_t missing = (64 - reinterpret_cast<uintptr_t>(at) % 64) % 64; // bytes
    return reinterpret_cast<T *>(reinterpret_cast<char *>(at) + missing);
  }
};
} // namespace

static void packValues(const sim::Moving &x, size_t rows, size_t first,
                       size_t count, float *out) {
  size_t size = dtypeBytes(x.dtype);
  const uint8_t *in = x.data + first * size;
  for (size_t k = 0; k != rows; ++k, in += x.stride, out += columnBlock) {
    if (x.dtype == DType::BF16) {
      uint16_t bits[columnBlock] = {};
      std::memcpy(bits, in, count * 2);
      for (size_t i = 0; i != columnBlock; ++i) {
        uint32_t wide = uint32_t(bits[i]) << 16;
        std::memcpy(out + i, &wide, 4);
      }
      continue;
    }
    sim::toFloats(in, x.dtype, count, out);
    std::fill(out + count, out + columnBlock, 0.0f);
  }
}

/// Whether no sum of products can be subnormal.
static bool staysNormal(const sim::PackedWeights &weights, unsigned least) {
  // 2^(exponent - 127 - 7) is what a last place is worth.
  return least != 0 && weights.leastExponent != 0 &&
         least + weights.leastExponent >= 2 * (127 + 7) - 126;
}

/// False when a sum might be subnormal.
static bool packPairs(const sim::Moving &x, const sim::PackedWeights &weights,
                      size_t first, size_t count, uint32_t *out) {
  const uint8_t *in = x.data + first * 2;
  unsigned least = noExponent;
  for (size_t k = 0; k != weights.rows; k += 2, out += columnBlock) {
    uint8_t bits[4 * columnBlock] = {};
    std::memcpy(bits, in, count * 2);
    std::memcpy(bits + 2 * columnBlock, in + x.stride, count * 2);
    in += 2 * x.stride;
    least = std::min(least, leastExponent(bits, 2 * columnBlock));
    packPair<columnBlock>(bits, bits + 2 * columnBlock, out);
  }
  return staysNormal(weights, least);
}

#if defined(__x86_64__)
/// packPairs of a whole block.
FACET_BF16_TARGET static bool packPairsWhole(const sim::Moving &x,
                                             const sim::PackedWeights &weights,
                                             size_t first, uint32_t *out) {
  // Rows lie far apart: what is ahead has to be asked for.
  constexpr ptrdiff_t ahead = 16;
  const uint8_t *in = x.data + first * 2;
  __m512i least = _mm512_set1_epi16(0x7f80);
  for (size_t k = 0; k != weights.rows; k += 2, out += columnBlock) {
    _mm_prefetch((const char *)in + ahead * x.stride, _MM_HINT_T0);
    _mm_prefetch((const char *)in + (ahead + 1) * x.stride, _MM_HINT_T0);
    __m512i a = _mm512_loadu_si512(in), b = _mm512_loadu_si512(in + x.stride);
    in += 2 * x.stride;
    least = lesserExponent(lesserExponent(least, a), b);
    _mm512_store_si512(
        out, pairUp(_mm512_castsi512_si256(a), _mm512_castsi512_si256(b)));
    _mm512_store_si512(out + 16, pairUp(_mm512_extracti64x4_epi64(a, 1),
                                        _mm512_extracti64x4_epi64(b, 1)));
  }
  return staysNormal(weights, leastLane(least));
}
#endif

//===----------------------------------------------------------------------===//
// Kernels: `group` columns of the weights by one block
//===----------------------------------------------------------------------===//

using Chains = float[group][columnBlock];

static FACET_ALWAYS_INLINE void body(const float *weights, const float *x,
                                     size_t k, Chains &sums) {
  for (size_t c = 0; c != group; ++c) {
    float t[columnBlock] = {};
    for (size_t row = 0; row != k; ++row)
      for (size_t i = 0; i != columnBlock; ++i)
        t[i] = __builtin_fmaf(weights[row * group + c],
                              x[row * columnBlock + i], t[i]);
    std::copy(t, t + columnBlock, sums[c]);
  }
}

/// The rows of `sums` that are there, with what was in memory before.
static FACET_ALWAYS_INLINE void store(const Chains &chains, size_t rows,
                                      size_t columns, uint8_t *out,
                                      ptrdiff_t stride, bool start) {
  for (size_t c = 0; c != rows; ++c, out += stride) {
    float before[columnBlock] = {}, after[columnBlock];
    if (!start)
      std::memcpy(before, out, columns * sizeof(float));
    for (size_t i = 0; i != columnBlock; ++i) {
      float t = start ? chains[c][i] : before[i] + chains[c][i];
      uint32_t bits;
      std::memcpy(&bits, &t, 4);
      bits = t == t ? bits : 0x7fc00000u;
      std::memcpy(&after[i], &bits, 4);
    }
    std::memcpy(out, after, columns * sizeof(float));
  }
}

static void multiplyPlain(const float *weights, const float *x, size_t k,
                          Chains &sums) {
  body(weights, x, k, sums);
}
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void
multiplyAvx2(const float *weights, const float *x, size_t k, Chains &sums) {
  body(weights, x, k, sums);
}

__attribute__((target("avx512f"))) static void
storeAvx512(const Chains &chains, size_t rows, size_t columns, uint8_t *out,
            ptrdiff_t stride, bool start) {
  if (columns != columnBlock)
    return store(chains, rows, columns, out, stride, start);
  __m512 canonical = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000));
  for (size_t c = 0; c != rows; ++c, out += stride)
    for (size_t v = 0; v != columnBlock; v += 16) {
      float *at = reinterpret_cast<float *>(out) + v;
      __m512 t = _mm512_load_ps(&chains[c][v]);
      if (!start)
        t = _mm512_add_ps(_mm512_loadu_ps(at), t);
      __mmask16 isNaN = _mm512_cmp_ps_mask(t, t, _CMP_UNORD_Q);
      _mm512_storeu_ps(at, _mm512_mask_mov_ps(t, isNaN, canonical));
    }
}

__attribute__((target("avx512f"))) static void
multiplyAvx512(const float *weights, const float *x, size_t k, Chains &sums) {
  __m512 t[group][2];
  for (size_t c = 0; c != group; ++c)
    t[c][0] = t[c][1] = _mm512_setzero_ps();
  for (; k != 0; --k, weights += group, x += columnBlock) {
    __m512 x0 = _mm512_load_ps(x), x1 = _mm512_load_ps(x + 16);
#pragma GCC unroll 12
    for (size_t c = 0; c != group; ++c) {
      __m512 w = _mm512_set1_ps(weights[c]);
      t[c][0] = _mm512_fmadd_ps(w, x0, t[c][0]);
      t[c][1] = _mm512_fmadd_ps(w, x1, t[c][1]);
    }
  }
  for (size_t c = 0; c != group; ++c) {
    _mm512_store_ps(&sums[c][0], t[c][0]);
    _mm512_store_ps(&sums[c][16], t[c][1]);
  }
}

FACET_BF16_TARGET static void multiplyBf16(const uint32_t *weights,
                                           const uint32_t *x, size_t pairs,
                                           Chains &sums) {
  __m512 t[group][2];
  for (size_t c = 0; c != group; ++c)
    t[c][0] = t[c][1] = _mm512_setzero_ps();
  for (; pairs != 0; --pairs, weights += group, x += columnBlock) {
    __m512bh x0 = (__m512bh)_mm512_load_si512(x);
    __m512bh x1 = (__m512bh)_mm512_load_si512(x + 16);
#pragma GCC unroll 12
    for (size_t c = 0; c != group; ++c) {
      __m512bh w = (__m512bh)_mm512_set1_epi32(int(weights[c]));
      t[c][0] = _mm512_dpbf16_ps(t[c][0], w, x0);
      t[c][1] = _mm512_dpbf16_ps(t[c][1], w, x1);
    }
  }
  for (size_t c = 0; c != group; ++c) {
    _mm512_store_ps(&sums[c][0], t[c][0]);
    _mm512_store_ps(&sums[c][16], t[c][1]);
  }
}

/// Numbers whose sums differ in every other order and with every other rounding.
static bool bf16KeepsOrder() {
  constexpr size_t pairs = 64;
  alignas(64) uint32_t w[pairs * group], x[pairs * columnBlock];
  alignas(64) float wf[2 * pairs * group], xf[2 * pairs * columnBlock];
  uint32_t state = 1;
  auto fill = [&](uint32_t *packed, float *values, size_t width) {
    for (size_t p = 0; p != pairs; ++p)
      for (size_t i = 0; i != width; ++i) {
        uint32_t halves[2];
        for (size_t half = 0; half != 2; ++half) {
          state = state * 1664525 + 1013904223;
          // Exponents 112 to 143 of both signs.
          halves[half] = (state >> 16 & 0x8fff) | (112u << 7);
          uint32_t wide = halves[half] << 16;
          std::memcpy(&values[(2 * p + half) * width + i], &wide, 4);
        }
        packed[p * width + i] = halves[0] << 16 | halves[1];
      }
  };
  fill(w, wf, group);
  fill(x, xf, columnBlock);
  alignas(64) Chains fast, slow;
  multiplyBf16(w, x, pairs, fast);
  multiplyAvx512(wf, xf, 2 * pairs, slow);
  for (size_t c = 0; c != group; ++c)
    for (size_t i = 0; i != columnBlock; ++i)
      if (llvm::bit_cast<uint32_t>(fast[c][i]) !=
          llvm::bit_cast<uint32_t>(slow[c][i]))
        return false;
  return true;
}
#endif

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

static std::array<bool, 4> findLevels() {
  std::array<bool, 4> has{true, false, false, false};
#if defined(__x86_64__)
  has[1] = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  has[2] = __builtin_cpu_supports("avx512f");
  has[3] = has[2] && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bf16") && bf16KeepsOrder();
#endif
  return has;
}

bool sim::hasLevel(Level level) {
  static const std::array<bool, 4> levels = findLevels();
  return levels[size_t(level)];
}

sim::Level sim::bestLevel() {
  static const Level best = [] {
    for (Level level : {Level::Bf16, Level::Avx512, Level::Avx2})
      if (hasLevel(level))
        return level;
    return Level::Plain;
  }();
  return best;
}

void sim::multiplyBlock(Level level, const PackedWeights &weights,
                        const Moving &moving, size_t first, const Sums &sums,
                        bool start) {
  size_t columns = std::min(columnBlock, moving.columns - first);
  size_t k = weights.rows;
  static thread_local Scratch space;
  space.resize(k);
  bool paired = false;
#if defined(__x86_64__)
  if (level == Level::Bf16 && moving.dtype == DType::BF16 &&
      !weights.pairs.empty())
    paired = columns == columnBlock
                 ? packPairsWhole(moving, weights, first, space.pairs)
                 : packPairs(moving, weights, first, columns, space.pairs);
#endif
  if (!paired)
    packValues(moving, k, first, columns, space.values);

  for (size_t g = 0; g * group < weights.columns; ++g) {
    size_t rows = std::min(group, weights.columns - g * group);
    uint8_t *out =
        sums.data + first * sizeof(float) + ptrdiff_t(g * group) * sums.stride;
    alignas(64) Chains chains;
#if defined(__x86_64__)
    if (level >= Level::Avx512) {
      if (paired)
        multiplyBf16(&weights.pairs[g * (k / 2) * group], space.pairs, k / 2,
                     chains);
      else
        multiplyAvx512(groupValues(weights, g, space.weights), space.values, k,
                       chains);
      storeAvx512(chains, rows, columns, out, sums.stride, start);
      continue;
    }
#endif
    const float *values = groupValues(weights, g, space.weights);
#if defined(__x86_64__)
    if (level == Level::Avx2)
      multiplyAvx2(values, space.values, k, chains);
    else
#endif
      multiplyPlain(values, space.values, k, chains);
    store(chains, rows, columns, out, sums.stride, start);
  }
}
