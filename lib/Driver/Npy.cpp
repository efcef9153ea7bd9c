//===- Npy.cpp - arrays in NumPy's files ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which element types of a `.npy` file stand for which of the language's. What
// ml_dtypes 0.5 and 0.6 write for types NumPy does not know: bfloat16 '<V2',
// float8_e4m3 and _e4m3fn '<V1', float8_e5m2 '<f1' (which NumPy itself cannot load,
// so '|V1' is written here), int4 and uint4 '<V1' with one element in the low half
// of each byte.
//
//===----------------------------------------------------------------------===//

#include "facet/Support/Npy.h"
#include "facet/Driver/Array.h"

using namespace llvm;
using namespace facet;

static Error bad(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// The codes, without byte order, under which `type` may be stored; the first is
/// the one to name in a message.
static SmallVector<StringRef, 2> codesOf(ScalarType type) {
  switch (type) {
  case ScalarType::Bool:
    return {"b1"};
  case ScalarType::I64:
    return {"i8"};
  case ScalarType::I32:
    return {"i4"};
  case ScalarType::I16:
    return {"i2"};
  case ScalarType::I8:
    return {"i1"};
  case ScalarType::U8:
    return {"u1"};
  case ScalarType::F64:
    return {"f8"};
  case ScalarType::F32:
    return {"f4"};
  case ScalarType::F16:
    return {"f2"};
  case ScalarType::BF16:
    return {"V2"};
  case ScalarType::F8E4M3:
  case ScalarType::F8E4M3FN:
    return {"V1"};
  case ScalarType::F8E5M2:
    return {"f1", "V1"};
  case ScalarType::I4:
  case ScalarType::U4:
    return {"u1", "V1"};
  case ScalarType::TF32:
    break; // no storage type
  }
  return {};
}

/// Turns ml_dtypes' one element per byte into two. The upper half of a byte is
/// zero, or its sign.
static Error pack(std::vector<uint8_t> &bytes, ScalarType type) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    uint8_t high = bytes[i] >> 4;
    bool negative = type == ScalarType::I4 && (bytes[i] & 8);
    if (high != 0 && !(negative && high == 0xf))
      return bad("byte " + Twine(unsigned(bytes[i])) + " at element " +
                 Twine(i) + " is no " + spelling(type));
  }
  for (size_t i = 0; i < bytes.size() / 2; ++i)
    bytes[i] = uint8_t((bytes[2 * i] & 0xf) | (bytes[2 * i + 1] << 4));
  bytes.resize(bytes.size() / 2);
  return Error::success();
}

Expected<Array> facet::readNpy(StringRef contents, ScalarType type) {
  bool nibbles = bitWidth(type) == 4;
  Expected<NpyArray> file =
      readNpy(contents, codesOf(type), nibbles ? 1 : bitWidth(type) / 8,
              spelling(type));
  if (!file)
    return file.takeError();
  Array array;
  array.type = type;
  array.shape = std::move(file->shape);
  array.bytes = std::move(file->bytes);

  if (type == ScalarType::Bool)
    for (size_t i = 0; i < array.bytes.size(); ++i)
      if (array.bytes[i] > 1)
        return bad("byte " + Twine(unsigned(array.bytes[i])) + " at element " +
                   Twine(i) + " is no bool");
  if (nibbles) {
    if (array.shape.empty())
      return bad("a 4-bit array needs an axis");
    if (file->code == "V1") {
      if (array.shape.back() % 2)
        return bad("its last axis is " + Twine(array.shape.back()) + "; " +
                   spelling(type) + " needs an even one");
      if (Error error = pack(array.bytes, type))
        return error;
    } else {
      if (array.shape.back() > INT64_MAX / 2)
        return bad("its shape " + shapeText(array.shape) +
                   " is larger than memory");
      array.shape.back() *= 2;
    }
  }
  return array;
}

std::string facet::writeNpy(const Array &array) {
  SmallVector<int64_t> shape(array.shape.begin(), array.shape.end());
  if (bitWidth(array.type) == 4)
    shape.back() /= 2;
  StringRef code = codesOf(array.type).front();
  if (array.type == ScalarType::F8E5M2)
    code = "V1";
  return writeNpy(code, shape, array.bytes);
}
