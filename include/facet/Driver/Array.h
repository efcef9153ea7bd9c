//===- Array.h - an array on the host, for run and check ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DRIVER_ARRAY_H
#define FACET_DRIVER_ARRAY_H

#include "facet/Frontend/CheckedKernel.h"
#include "facet/Support/Npy.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace facet {

/// A dense row-major array with the memory layout of the emitted interface: bool
/// is one byte, 4-bit elements are two per byte, low nibble first.
struct Array {
  ScalarType type = ScalarType::F32;
  llvm::SmallVector<int64_t, 4> shape; ///< one entry per axis in memory
  std::vector<uint8_t> bytes;

  int64_t count() const; ///< elements; the shape is known to be sane
};

/// Bytes of a dense array; nothing when the number does not fit 63 bits, an extent
/// is negative, or the last axis of a 4-bit type is odd.
std::optional<uint64_t> bytesOf(ScalarType type, llvm::ArrayRef<int64_t> shape);

/// Reads a `.npy` file's `contents` as an array of `type`: versions 1.0 to 3.0, C
/// and Fortran order, either byte order. bf16 and f8 as ml_dtypes stores them;
/// 4-bit types as uint8 with the last axis halved, or ml_dtypes' one per byte. An
/// error says what the file holds.
llvm::Expected<Array> readNpy(llvm::StringRef contents, ScalarType type);

/// The same array as a `.npy` file, version 1.0. bf16 and f8 become the void types
/// that NumPy loads and `.view(ml_dtypes.…)` understands; 4-bit types uint8 with
/// the last axis halved.
std::string writeNpy(const Array &array);

/// One element as double: exact for every type but i64 beyond 2⁵³.
double elementAsDouble(const Array &array, int64_t index);
/// One element of an integer or bool array.
int64_t elementAsInteger(const Array &array, int64_t index);
/// Stores `value` rounded to nearest even (floats) or as it is (integers: must fit).
void setElement(Array &array, int64_t index, double value);
void setElement(Array &array, int64_t index, int64_t value);

} // namespace facet

#endif // FACET_DRIVER_ARRAY_H
