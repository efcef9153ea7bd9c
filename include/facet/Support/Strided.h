//===- Strided.h - arrays of a caller as dense bytes ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory with strides, as C programs and DLPack give it, copied to and from the dense
// row-major bytes that simulations work on.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_SUPPORT_STRIDED_H
#define FACET_SUPPORT_STRIDED_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace facet {

/// An array of `bits` wide elements; shape and strides count elements. Of 4-bit ones
/// two share a byte: the last axis is contiguous and even, other strides are even.
struct StridedArray {
  void *data = nullptr;
  unsigned bits = 8;
  llvm::ArrayRef<int64_t> shape;   ///< none negative
  llvm::ArrayRef<int64_t> strides; ///< of each axis; empty: dense
};

/// The array's elements in row-major order.
std::vector<uint8_t> readDense(const StridedArray &array);

/// The inverse: `bytes` are as many as readDense gives.
void writeDense(const StridedArray &array, llvm::ArrayRef<uint8_t> bytes);

} // namespace facet

#endif // FACET_SUPPORT_STRIDED_H
