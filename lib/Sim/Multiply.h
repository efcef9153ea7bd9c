//===- Multiply.h - the sums of a matmul ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_MULTIPLY_H
#define FACET_LIB_SIM_MULTIPLY_H

#include <cstddef>

namespace facet::sim {

/// Columns of `moving` and `sums` come in multiples of this.
constexpr size_t columnBlock = 64;

/// sums[m][n] = the fma chain over ascending k of weights[k][m] * moving[k][n],
/// from +0. Dense, `n` a multiple of columnBlock.
void multiply(const float *weights, const float *moving, size_t k, size_t m,
              size_t n, float *sums);

/// The same without vectors, for tests.
void multiplyPlain(const float *weights, const float *moving, size_t k,
                   size_t m, size_t n, float *sums);

} // namespace facet::sim

#endif // FACET_LIB_SIM_MULTIPLY_H
