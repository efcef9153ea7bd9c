//===- Npy.cpp - NumPy's file format --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   \x93NUMPY \1 \0 <u16 length>
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   <data>
//
// The header is a Python literal; the few forms NumPy writes are read, everything
// else is refused: the file comes from anywhere.
//
//===----------------------------------------------------------------------===//

#include "facet/Support/Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>

using namespace llvm;
using namespace facet;

static Error bad(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

namespace {

struct Header {
  std::string descr;
  bool fortran = false;
  SmallVector<int64_t, 4> shape;
};

/// Reads the literal dictionary.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : text(text) {}

  Error parse(Header &header) {
    bool descr = false, order = false, shape = false;
    if (!take('{'))
      return bad("its header is no dictionary");
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':'))
        return bad("its header is damaged");
      if (key == "descr" && !descr) {
        descr = true;
        if (peek() == '[')
          return bad("it holds records; one plain array is needed");
        if (!string(header.descr))
          return bad("the 'descr' of its header is damaged");
      } else if (key == "fortran_order" && !order) {
        order = true;
        if (word("True"))
          header.fortran = true;
        else if (!word("False"))
          return bad(
              "the 'fortran_order' of its header is neither True nor False");
      } else if (key == "shape" && !shape) {
        shape = true;
        if (Error error = tuple(header.shape))
          return error;
      } else {
        return bad(
            "its header has " +
            Twine(key == "descr" || key == "fortran_order" || key == "shape"
                      ? "the key '" + key + "' twice"
                      : "an unknown key"));
      }
      if (!take(',') && peek() != '}')
        return bad("its header is damaged");
    }
    if (!text.trim(" \n").empty())
      return bad("its header is damaged");
    if (!descr || !order || !shape)
      return bad("its header lacks '" +
                 Twine(!descr   ? "descr"
                       : !order ? "fortran_order"
                                : "shape") +
                 "'");
    return Error::success();
  }

private:
  char peek() {
    text = text.ltrim(" \n");
    return text.empty() ? '\0' : text.front();
  }
  bool take(char c) {
    if (peek() != c)
      return false;
    text = text.drop_front();
    return true;
  }
  bool word(StringRef expected) {
    peek();
    return text.consume_front(expected);
  }
  bool string(std::string &value) {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return false;
    size_t end = text.find(quote, 1);
    if (end == StringRef::npos || text.slice(1, end).contains('\\'))
      return false;
    value = text.slice(1, end).str();
    text = text.drop_front(end + 1);
    return true;
  }
  Error tuple(SmallVectorImpl<int64_t> &shape) {
    if (!take('('))
      return bad("the 'shape' of its header is no tuple");
    while (!take(')')) {
      peek();
      int64_t extent;
      if (text.consumeInteger(10, extent) || extent < 0)
        return bad("the 'shape' of its header has something other than sizes");
      (void)text.consume_front("L"); // Python 2 wrote 3L
      shape.push_back(extent);
      if (shape.size() > 64)
        return bad("its shape has more than 64 axes");
      if (!take(',') && peek() != ')')
        return bad("the 'shape' of its header is damaged");
    }
    return Error::success();
  }

  StringRef text;
};

} // namespace

/// What NumPy users call a descr: "float32 (<f4)".
static std::string describe(StringRef descr) {
  static constexpr std::pair<StringLiteral, StringLiteral> names[] = {
      {"b1", "bool"},
      {"i1", "int8"},
      {"u1", "uint8"},
      {"i2", "int16"},
      {"u2", "uint16"},
      {"i4", "int32"},
      {"u4", "uint32"},
      {"i8", "int64"},
      {"u8", "uint64"},
      {"f2", "float16"},
      {"f4", "float32"},
      {"f8", "float64"},
      {"c8", "complex64"},
      {"c16", "complex128"},
      {"f1", "float8_e5m2"},
      {"V1", "8-bit void, as ml_dtypes stores f8 and 4-bit types"},
      {"V2", "16-bit void, as ml_dtypes stores bfloat16"}};
  StringRef kind =
      descr.drop_front(!descr.empty() && StringRef("<>|=").contains(descr[0]));
  for (auto [code, name] : names)
    if (kind == code)
      return (name + " ('" + descr + "')").str();
  // The text comes from the file: keep it short and printable.
  std::string shown;
  for (char c : descr.take_front(16))
    shown += isPrint(c) ? c : '?';
  return "'" + shown + "'";
}

/// Moves elements of `size` bytes from Fortran to C order.
static void toRowMajor(std::vector<uint8_t> &bytes, ArrayRef<int64_t> shape,
                       size_t size) {
  size_t rank = shape.size();
  if (rank < 2 || bytes.empty())
    return;
  std::vector<uint8_t> result(bytes.size());
  SmallVector<int64_t> index(rank, 0), stride(rank, 1);
  for (size_t axis = 1; axis < rank; ++axis)
    stride[axis] = stride[axis - 1] * shape[axis - 1];
  uint8_t *to = result.data();
  int64_t from = 0;
  for (uint8_t *end = to + result.size(); to != end; to += size) {
    std::memcpy(to, bytes.data() + from * size, size);
    for (size_t axis = rank; axis-- > 0;) {
      from += stride[axis];
      if (++index[axis] < shape[axis])
        break;
      from -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  bytes = std::move(result);
}

std::optional<uint64_t> facet::denseBytes(unsigned bits,
                                          ArrayRef<int64_t> shape) {
  // The product is formed without zeros first: (2⁴⁰, 2⁴⁰, 0) has an absurd stride.
  int64_t count = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    empty |= extent == 0;
    if (extent && MulOverflow(count, extent, count))
      return std::nullopt;
  }
  if (MulOverflow(count, int64_t(bits), count))
    return std::nullopt;
  return empty ? 0 : uint64_t(count) / 8;
}

std::string facet::shapeText(ArrayRef<int64_t> shape) {
  std::string text = "(";
  for (int64_t extent : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + ")";
}

Expected<NpyArray> facet::readNpy(StringRef contents, ArrayRef<StringRef> codes,
                                  size_t size, StringRef type) {
  StringRef data = contents;
  if (!data.consume_front("\x93NUMPY"))
    return bad("it is no .npy file");
  if (data.size() < 4)
    return bad("its header is cut short");
  unsigned major = uint8_t(data[0]), minor = uint8_t(data[1]);
  if (major < 1 || major > 3 || minor != 0)
    return bad("its format version is " + Twine(major) + "." + Twine(minor) +
               "; 1.0, 2.0 and 3.0 are known");
  data = data.drop_front(2);
  size_t lengthBytes = major == 1 ? 2 : 4;
  if (data.size() < lengthBytes)
    return bad("its header is cut short");
  uint64_t length = major == 1 ? support::endian::read16le(data.data())
                               : support::endian::read32le(data.data());
  data = data.drop_front(lengthBytes);
  if (data.size() < length)
    return bad("its header is cut short");

  Header header;
  if (Error error = HeaderParser(data.take_front(length)).parse(header))
    return error;
  data = data.drop_front(length);

  // Does the file hold this type?
  StringRef descr = header.descr;
  char order =
      !descr.empty() && StringRef("<>|=").contains(descr[0]) ? descr[0] : '=';
  StringRef code = descr.drop_front(order != '=' || descr.starts_with("="));
  if (!is_contained(codes, code)) {
    std::string wanted = describe(codes.front());
    return bad("it holds " + describe(descr) + "; " + type + " needs " +
               wanted);
  }

  NpyArray array;
  array.code = code.str();
  array.shape = std::move(header.shape);
  std::optional<uint64_t> expected =
      denseBytes(unsigned(size) * 8, array.shape);
  if (!expected)
    return bad("its shape " + shapeText(array.shape) +
               " is larger than memory");
  if (data.size() != *expected)
    return bad("its shape " + shapeText(array.shape) + " needs " +
               Twine(*expected) + " bytes of data, the file has " +
               Twine(data.size()));
  array.bytes.assign(data.bytes_begin(), data.bytes_end());

  if (order == '>' && size > 1)
    for (size_t at = 0; at < array.bytes.size(); at += size)
      std::reverse(array.bytes.begin() + at, array.bytes.begin() + at + size);
  if (header.fortran)
    toRowMajor(array.bytes, array.shape, size);
  return array;
}

std::string facet::npyHeader(StringRef code, ArrayRef<int64_t> shape) {
  bool oneByte = code.ends_with("1");
  std::string header = ((oneByte ? "{'descr': '|" : "{'descr': '<") + code +
                        "', 'fortran_order': False, 'shape': (")
                           .str();
  for (size_t i = 0; i < shape.size(); ++i)
    header += std::to_string(shape[i]) + (i + 1 < shape.size() ? ", "
                                          : shape.size() == 1  ? ","
                                                               : "");
  header += "), }";
  // Data begins at a multiple of 64, as NumPy has it.
  size_t total = (10 + header.size() + 1 + 63) / 64 * 64;
  header.append(total - 10 - header.size() - 1, ' ');
  header += '\n';

  std::string file("\x93NUMPY\x01\x00", 8);
  file += char(header.size() & 0xff);
  file += char(header.size() >> 8);
  file += header;
  return file;
}

std::string facet::writeNpy(StringRef code, ArrayRef<int64_t> shape,
                            ArrayRef<uint8_t> bytes) {
  return npyHeader(code, shape) += toStringRef(bytes);
}
