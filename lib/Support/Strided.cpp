//===- Strided.cpp - arrays of a caller as dense bytes --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   3 × 2 f32, strides 8 and 1        ─▶  24 bytes, row after row
//   a b . . . . . . c d . . . . . . e f       a b c d e f
//
// Rows that are contiguous are copied whole, others element by element.
//
//===----------------------------------------------------------------------===//

#include "facet/Support/Strided.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstring>

using namespace facet;

/// Calls `piece` with each stretch of contiguous bytes, in row-major order.
static void forEachPiece(const StridedArray &array,
                         llvm::function_ref<void(uint8_t *, size_t)> piece) {
  llvm::ArrayRef<int64_t> shape = array.shape;
  size_t rank = shape.size();
  llvm::SmallVector<int64_t, 4> strides(array.strides), index(rank, 0);
  if (strides.empty()) {
    strides.assign(rank, 1);
    for (size_t axis = rank; axis-- > 1;)
      strides[axis - 1] = strides[axis] * shape[axis];
  }
  for (int64_t extent : shape)
    if (extent == 0)
      return;
  auto *base = static_cast<uint8_t *>(array.data);
  auto bytesOf = [&](int64_t elements) {
    return (elements * int64_t(array.bits) + 7) / 8;
  };
  // The axis inside a piece, when there is one.
  bool isRow = rank && (strides[rank - 1] == 1 || shape[rank - 1] == 1);
  size_t outer = isRow ? rank - 1 : rank;
  size_t bytes = size_t(bytesOf(isRow ? shape[rank - 1] : 1));
  while (true) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < outer; ++axis)
      offset += index[axis] * strides[axis];
    // Of 4-bit elements the offset is even, see Strided.h.
    piece(base + offset * int64_t(array.bits) / 8, bytes);
    size_t axis = outer;
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1])
      index[--axis] = 0;
    if (axis == 0)
      return;
  }
}

std::vector<uint8_t> facet::readDense(const StridedArray &array) {
  std::vector<uint8_t> bytes;
  forEachPiece(array, [&](uint8_t *from, size_t count) {
    bytes.insert(bytes.end(), from, from + count);
  });
  return bytes;
}

void facet::writeDense(const StridedArray &array,
                       llvm::ArrayRef<uint8_t> bytes) {
  forEachPiece(array, [&](uint8_t *to, size_t count) {
    std::memcpy(to, bytes.data(), count);
    bytes = bytes.drop_front(count);
  });
}
