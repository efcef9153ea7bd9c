//===- Multiply.cpp - the sums of a matmul --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One chain of fused multiply-adds per element, k ascending:
//
//   t = fma(w[0][m], x[0][n], +0);  t = fma(w[1][m], x[1][n], t);  ...
//
// Chains of neighbouring columns are independent, so they lie side by side in
// vectors; each element's own operations and their order stay the same, and an
// fma rounds once wherever it runs. The host's level is asked for once.
//
//===----------------------------------------------------------------------===//

#include "Multiply.h"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace facet;

#define FACET_ALWAYS_INLINE inline __attribute__((always_inline))

static FACET_ALWAYS_INLINE void body(const float *weights, const float *moving,
                                     size_t k, size_t m, size_t n,
                                     float *sums) {
  constexpr size_t block = sim::columnBlock;
  for (size_t first = 0; first != n; first += block)
    for (size_t column = 0; column != m; ++column) {
      float t[block] = {};
      for (size_t row = 0; row != k; ++row) {
        float weight = weights[row * m + column];
        const float *x = moving + row * n + first;
        for (size_t i = 0; i != block; ++i)
          t[i] = __builtin_fmaf(weight, x[i], t[i]);
      }
      std::copy(t, t + block, sums + column * n + first);
    }
}

void sim::multiplyPlain(const float *weights, const float *moving, size_t k,
                        size_t m, size_t n, float *sums) {
  body(weights, moving, k, m, n, sums);
}

#if defined(__x86_64__)
/// `Columns` columns of the weights at once, one block of moving columns: the
/// chains live in registers, and one load of `moving` serves several of them.
template <unsigned Columns>
__attribute__((target("avx512f"))) static void
blockAvx512(const float *weights, const float *moving, size_t k, size_t m,
            size_t n, float *sums) {
  constexpr unsigned vectors = sim::columnBlock / 16;
  __m512 t[Columns][vectors];
  for (unsigned c = 0; c != Columns; ++c)
    for (unsigned v = 0; v != vectors; ++v)
      t[c][v] = _mm512_setzero_ps();
  for (size_t row = 0; row != k; ++row) {
    __m512 x[vectors];
    for (unsigned v = 0; v != vectors; ++v)
      x[v] = _mm512_loadu_ps(moving + row * n + 16 * v);
    for (unsigned c = 0; c != Columns; ++c) {
      __m512 weight = _mm512_set1_ps(weights[row * m + c]);
      for (unsigned v = 0; v != vectors; ++v)
        t[c][v] = _mm512_fmadd_ps(weight, x[v], t[c][v]);
    }
  }
  for (unsigned c = 0; c != Columns; ++c)
    for (unsigned v = 0; v != vectors; ++v)
      _mm512_storeu_ps(sums + c * n + 16 * v, t[c][v]);
}

__attribute__((target("avx512f"))) static void
multiplyAvx512(const float *weights, const float *moving, size_t k, size_t m,
               size_t n, float *sums) {
  constexpr unsigned columns = 4;
  for (size_t first = 0; first != n; first += sim::columnBlock) {
    size_t c = 0;
    for (; c + columns <= m; c += columns)
      blockAvx512<columns>(weights + c, moving + first, k, m, n,
                           sums + c * n + first);
    for (; c != m; ++c)
      blockAvx512<1>(weights + c, moving + first, k, m, n,
                     sums + c * n + first);
  }
}
__attribute__((target("avx2,fma"))) static void
multiplyAvx2(const float *weights, const float *moving, size_t k, size_t m,
             size_t n, float *sums) {
  body(weights, moving, k, m, n, sums);
}
#endif

using Kernel = void (*)(const float *, const float *, size_t, size_t, size_t,
                        float *);

static Kernel chooseKernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return multiplyAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return multiplyAvx2;
#endif
  return sim::multiplyPlain;
}

void sim::multiply(const float *weights, const float *moving, size_t k,
                   size_t m, size_t n, float *sums) {
  static const Kernel kernel = chooseKernel();
  kernel(weights, moving, k, m, n, sums);
}
