//===- Npy.cpp - .npy files of a program's buffers ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header of a `.npy` file is a Python dictionary of three entries:
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (128, 512), }
//
// The simulator keeps apart from the compiler and so has its own reader, for what
// its buffers are: dense, C order, little-endian; the rest is refused in words.
//
//===----------------------------------------------------------------------===//

#include "Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace facet;
using llvm::StringRef;
using llvm::Twine;

static llvm::Error failure(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// How NumPy spells an element type; the first is what is written.
static std::vector<std::string> spellings(DType type) {
  std::string size = std::to_string(dtypeBytes(type));
  switch (type) {
  case DType::F32:
  case DType::TF32:
  case DType::F16:
  case DType::F64:
    return {"<f" + size};
  case DType::I32:
  case DType::I16:
  case DType::I64:
    return {"<i" + size};
  case DType::I8:
    return {"|i1"};
  case DType::U8:
    return {"|u1"};
  case DType::BF16:
    return {"|V2", "<V2", "<u2"};
  default:
    return {"|V1", "<V1", "|u1", "<f1", "|f1"};
  }
}

static std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "(";
  for (int64_t extent : shape)
    text += std::to_string(extent) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1)
    text.resize(text.size() - 2);
  return text + ")";
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

/// The text after `'key':`, or nothing.
static StringRef entry(StringRef header, StringRef key) {
  size_t at = header.find(("'" + key + "':").str());
  return at == StringRef::npos ? StringRef()
                               : header.substr(at + key.size() + 3).ltrim();
}

llvm::Expected<std::vector<uint8_t>> sim::readBuffer(StringRef contents,
                                                     const Buffer &buffer) {
  if (!contents.starts_with("\x93NUMPY") || contents.size() < 12)
    return failure("is no .npy file");
  bool isLong = uint8_t(contents[6]) >= 2;
  size_t start = isLong ? 12 : 10;
  uint64_t length = uint8_t(contents[8]) | uint64_t(uint8_t(contents[9])) << 8;
  if (isLong)
    length |= uint64_t(uint8_t(contents[10])) << 16 |
              uint64_t(uint8_t(contents[11])) << 24;
  if (length > contents.size() - start)
    return failure("ends inside its header");
  StringRef header = contents.substr(start, length);
  StringRef data = contents.substr(start + length);

  StringRef descr = entry(header, "descr").drop_front(1).take_until([](char c) {
    return c == '\'';
  });
  std::vector<std::string> wanted = spellings(buffer.dtype);
  if (!llvm::is_contained(wanted, descr))
    return failure("holds elements of type '" + descr + "', buffer '" +
                   buffer.name + "' is " + dtypeName(buffer.dtype) +
                   ", stored as '" + wanted[0] + "'");
  if (!entry(header, "fortran_order").starts_with("False"))
    return failure("is in Fortran order, wanted is C order");
  StringRef text = entry(header, "shape");
  std::vector<int64_t> shape;
  if (!text.consume_front("("))
    return failure("has no shape in its header");
  for (text = text.ltrim(); !text.starts_with(")"); text = text.ltrim(" ,")) {
    int64_t extent = 0;
    if (text.consumeInteger(10, extent) || extent < 0)
      return failure("has no shape in its header");
    shape.push_back(extent);
  }
  if (shape != buffer.shape)
    return failure("has shape " + shapeText(shape) + ", buffer '" +
                   buffer.name + "' has " + shapeText(buffer.shape));
  size_t size = dtypeBytes(buffer.dtype);
  std::vector<uint8_t> bytes(buffer.bytes);
  bool short_ = false;
  bool fits = forEachElement(buffer, [&](size_t at, size_t n) {
    if ((n + 1) * size > data.size())
      short_ = true;
    else
      std::memcpy(&bytes[at], data.data() + n * size, size);
  });
  if (short_)
    return failure("ends before its last element");
  if (!fits)
    return failure("does not fit buffer '" + buffer.name +
                   "', whose shape leaves its bytes");
  return bytes;
}

std::string sim::writeBuffer(llvm::ArrayRef<uint8_t> bytes,
                             const Buffer &buffer) {
  std::string header =
      "{'descr': '" + spellings(buffer.dtype)[0] +
      "', 'fortran_order': False, 'shape': " + shapeText(buffer.shape) + ", }";
  // The header ends in a newline, padded to a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += char(header.size() & 0xff);
  file += char(header.size() >> 8);
  file += header;
  size_t size = dtypeBytes(buffer.dtype);
  (void)forEachElement(buffer, [&](size_t at, size_t) {
    file.append(reinterpret_cast<const char *>(&bytes[at]), size);
  });
  return file;
}
