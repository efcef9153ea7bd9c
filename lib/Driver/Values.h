//===- Values.h - what arguments are filled with --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_VALUES_H
#define FACET_LIB_DRIVER_VALUES_H

#include "HostKernel.h"
#include "facet/Support/Diagnostics.h"

namespace facet {

/// Random numbers that are the same everywhere: splitmix64.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next();
  /// In [0, bound); bound > 0.
  uint64_t below(uint64_t bound) { return next() % bound; }
  /// In [-1, 1), a multiple of 2⁻²³.
  double signedUnit() {
    return double(int64_t(next() >> 40) - (1 << 23)) * 0x1p-23;
  }

private:
  uint64_t state;
};

/// The right side of `x=…`.
struct ValueSource {
  enum Kind { Random, Zeros, Iota, Number, File, None } kind = Zeros;
  std::optional<uint64_t> seed; ///< random:seed=7
  double number = 0;            ///< 0.5, inf, nan
  int64_t integer = 0;          ///< 3, true
  bool isInteger = false;
  std::string file; ///< ends in .npy
};

/// Parses `text`, the value of `name`; an error when it is none of the kinds.
std::optional<ValueSource> parseValue(llvm::StringRef name,
                                      llvm::StringRef text,
                                      Diagnostics &diagnostics);

/// Allocates a dense array for `param`; an error when it does not fit memory.
std::optional<Array> allocate(const HostKernel &kernel, const HostParam &param,
                              const SizeValues &sizes,
                              Diagnostics &diagnostics);

/// Random elements: floats in [-1, 1), narrow integers in their range, wide ones in
/// [-100, 100], subscripts where they may be.
void fillRandom(Array &array, const HostKernel &kernel, const HostParam &param,
                const SizeValues &sizes, Random &random);

/// Fills an allocated array from any source but a file.
bool fill(Array &array, const ValueSource &source, const HostKernel &kernel,
          const HostParam &param, const SizeValues &sizes, Random &random,
          Diagnostics &diagnostics);

/// The smallest extent that bounds the subscripts in `param`, or nothing.
std::optional<int64_t> indexBound(const HostKernel &kernel,
                                  const HostParam &param,
                                  const SizeValues &sizes);

/// Smallest and largest value of an integer type; of bool 0 and 1.
std::pair<int64_t, int64_t> rangeOf(ScalarType type);

} // namespace facet

#endif // FACET_LIB_DRIVER_VALUES_H
