//===- Array.cpp - an array on the host, for run and check ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements in and out of memory, for filling, printing and comparing. Storage
// floats go through APFloat, which shares nothing with the conversions that the
// compiled code makes, so `check` does not compare a mistake with itself.
//
//===----------------------------------------------------------------------===//

#include "facet/Driver/Array.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace llvm;
using namespace facet;

int64_t Array::count() const {
  int64_t n = 1;
  for (int64_t extent : shape)
    n *= extent;
  return n;
}

std::optional<uint64_t> facet::bytesOf(ScalarType type,
                                       ArrayRef<int64_t> shape) {
  unsigned bits = bitWidth(type);
  if (bits == 4 && (shape.empty() || shape.back() % 2))
    return std::nullopt;
  return denseBytes(bits, shape);
}

/// Only the storage floats that the host's C++ cannot read itself.
static const fltSemantics *storageSemantics(ScalarType type) {
  switch (type) {
  case ScalarType::F16:
    return &APFloat::IEEEhalf();
  case ScalarType::BF16:
    return &APFloat::BFloat();
  case ScalarType::F8E4M3:
    return &APFloat::Float8E4M3();
  case ScalarType::F8E4M3FN:
    return &APFloat::Float8E4M3FN();
  case ScalarType::F8E5M2:
    return &APFloat::Float8E5M2();
  default:
    return nullptr;
  }
}

/// The bits of element `index`, zero-extended.
static uint64_t bitsAt(const Array &array, int64_t index) {
  unsigned width = bitWidth(array.type);
  if (width == 4)
    return (array.bytes[index / 2] >> (index % 2 * 4)) & 0xf;
  uint64_t bits = 0;
  std::memcpy(&bits, array.bytes.data() + index * (width / 8),
              width / 8); // little-endian host
  return bits;
}

static void setBits(Array &array, int64_t index, uint64_t bits) {
  unsigned width = bitWidth(array.type);
  if (width == 4) {
    uint8_t &byte = array.bytes[index / 2];
    unsigned shift = index % 2 * 4;
    byte = uint8_t((byte & ~(0xf << shift)) | ((bits & 0xf) << shift));
    return;
  }
  std::memcpy(array.bytes.data() + index * (width / 8), &bits, width / 8);
}

int64_t facet::elementAsInteger(const Array &array, int64_t index) {
  uint64_t bits = bitsAt(array, index);
  if (array.type == ScalarType::U8 || array.type == ScalarType::U4 ||
      array.type == ScalarType::Bool)
    return int64_t(bits);
  return SignExtend64(bits, bitWidth(array.type));
}

double facet::elementAsDouble(const Array &array, int64_t index) {
  if (!isFloat(array.type))
    return double(elementAsInteger(array, index));
  uint64_t bits = bitsAt(array, index);
  if (array.type == ScalarType::F64)
    return bit_cast<double>(bits);
  if (array.type == ScalarType::F32)
    return bit_cast<float>(uint32_t(bits));
  APFloat value(*storageSemantics(array.type),
                APInt(bitWidth(array.type), bits));
  return value.convertToDouble();
}

void facet::setElement(Array &array, int64_t index, double value) {
  if (!isFloat(array.type))
    return setElement(array, index, int64_t(value));
  if (array.type == ScalarType::F64)
    return setBits(array, index, bit_cast<uint64_t>(value));
  if (array.type == ScalarType::F32)
    return setBits(array, index, bit_cast<uint32_t>(float(value)));
  APFloat rounded(value);
  bool losesInfo;
  rounded.convert(*storageSemantics(array.type), APFloat::rmNearestTiesToEven,
                  &losesInfo);
  setBits(array, index, rounded.bitcastToAPInt().getZExtValue());
}

void facet::setElement(Array &array, int64_t index, int64_t value) {
  if (isFloat(array.type))
    return setElement(array, index, double(value));
  setBits(array, index, uint64_t(value));
}
