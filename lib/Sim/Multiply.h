//===- Multiply.h - the sums of a matmul ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_MULTIPLY_H
#define FACET_LIB_SIM_MULTIPLY_H

#include "facet/Isa/Program.h"

#include <cstddef>
#include <vector>

namespace facet::sim {

/// Ways to compute the same bits. Bf16: two terms at a time, where no subnormal
/// number can come up.
enum class Level : uint8_t { Plain, Avx2, Avx512, Bf16 };
/// The fastest this host has; asked for once.
Level bestLevel();
bool hasLevel(Level level);

/// Columns of the moving operand that are worked on at once.
constexpr size_t columnBlock = 32;

/// The stationary operand, as the kernels read it.
class PackedWeights {
public:
  /// `bits`: rows of so many columns, `stride` bytes apart.
  void pack(const uint8_t *bits, ptrdiff_t stride, DType dtype, size_t rows,
            size_t columns);

  size_t rows = 0, columns = 0; // k and m
  /// Columns in groups, in each group row after row.
  static constexpr size_t group = 12;
  /// One of the two is filled in. As f32:
  std::vector<float> values;
  /// Pairs of rows of bf16, the first in the upper half:
  std::vector<uint32_t> pairs;
  /// Of the non-zero weights, the least exponent as stored.
  unsigned leastExponent = 0;

private:
  void packPairs(const uint8_t *bits, ptrdiff_t stride);
};

/// k rows of n elements, `stride` bytes apart.
struct Moving {
  const uint8_t *data = nullptr;
  ptrdiff_t stride = 0;
  DType dtype = DType::F32;
  size_t columns = 0;
};

/// m rows of n floats, `stride` bytes apart.
struct Sums {
  uint8_t *data = nullptr;
  ptrdiff_t stride = 0;
};

/// For the columns of one block, beginning at `first`: t = the chain of fma over
/// ascending k, from +0; then sums = t with `start`, else sums + t. A NaN is the
/// canonical one.
void multiplyBlock(Level level, const PackedWeights &weights,
                   const Moving &moving, size_t first, const Sums &sums,
                   bool start);

} // namespace facet::sim

#endif // FACET_LIB_SIM_MULTIPLY_H
