//===- Npy.cpp - .npy files of a program's buffers ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file holds a dense array; a buffer has strides and may have gaps:
//
//   shape (2, 3), strides (4, 1):   0 1 2 . 3 4 5 .
//
//===----------------------------------------------------------------------===//

#include "Npy.h"

#include "facet/Support/Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace facet;
using llvm::StringRef;
using llvm::Twine;

static llvm::Error failure(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// The codes under which an element type may be stored; the first is written.
static llvm::SmallVector<StringRef, 3> codesOf(DType type) {
  switch (type) {
  case DType::F64:
    return {"f8"};
  case DType::F32:
  case DType::TF32:
    return {"f4"};
  case DType::F16:
    return {"f2"};
  case DType::I64:
    return {"i8"};
  case DType::I32:
    return {"i4"};
  case DType::I16:
    return {"i2"};
  case DType::I8:
    return {"i1"};
  case DType::U8:
    return {"u1"};
  case DType::BF16:
    return {"V2", "u2"};
  default:
    return {"V1", "u1", "f1"};
  }
}

/// Calls visit(byte in the buffer, number of the element) in C order; false when
/// an element lies outside the buffer.
template <typename Visit>
static bool forEachElement(const Buffer &buffer, Visit visit) {
  int64_t size = dtypeBytes(buffer.dtype);
  if (llvm::is_contained(buffer.shape, 0))
    return true;
  std::vector<int64_t> index(buffer.shape.size());
  for (uint64_t n = 0;; ++n) {
    __int128 at = 0;
    for (size_t d = 0; d != index.size(); ++d)
      at += __int128(index[d]) * buffer.strides[d] * size;
    if (at < 0 || at + size > __int128(buffer.bytes))
      return false;
    visit(size_t(at), size_t(n));
    size_t d = index.size();
    while (d != 0 && ++index[d - 1] == buffer.shape[d - 1])
      index[--d] = 0;
    if (d == 0)
      return true;
  }
}

/// Its elements lie as in a file: in C order, without gaps, nothing behind them.
static bool isDense(const Buffer &buffer) {
  __int128 step = 1;
  for (size_t d = buffer.shape.size(); d-- != 0; step *= buffer.shape[d])
    if (buffer.strides[d] != step)
      return false;
  return step * dtypeBytes(buffer.dtype) == __int128(buffer.bytes);
}

llvm::Expected<std::vector<uint8_t>> sim::readBuffer(StringRef contents,
                                                     const Buffer &buffer) {
  size_t size = dtypeBytes(buffer.dtype);
  llvm::Expected<NpyArray> array =
      readNpy(contents, codesOf(buffer.dtype), size, dtypeName(buffer.dtype));
  if (!array)
    return array.takeError();
  if (llvm::ArrayRef<int64_t>(array->shape) !=
      llvm::ArrayRef<int64_t>(buffer.shape))
    return failure("its shape is " + shapeText(array->shape) + ", buffer '" +
                   buffer.name + "' has " + shapeText(buffer.shape));
  if (isDense(buffer))
    return std::move(array->bytes);
  std::vector<uint8_t> bytes(buffer.bytes);
  if (!forEachElement(buffer, [&](size_t at, size_t n) {
        std::memcpy(&bytes[at], array->bytes.data() + n * size, size);
      }))
    return failure("it does not fit buffer '" + buffer.name +
                   "', whose shape leaves its bytes");
  return bytes;
}

void sim::writeBuffer(llvm::raw_ostream &os, llvm::ArrayRef<uint8_t> bytes,
                      const Buffer &buffer) {
  os << npyHeader(codesOf(buffer.dtype)[0], buffer.shape);
  if (isDense(buffer)) {
    os << llvm::toStringRef(bytes);
    return;
  }
  size_t size = dtypeBytes(buffer.dtype);
  (void)forEachElement(buffer, [&](size_t at, size_t) {
    os << llvm::toStringRef(bytes.slice(at, size));
  });
}
