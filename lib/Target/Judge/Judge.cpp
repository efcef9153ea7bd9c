//===- Judge.cpp - whether an element of a road agrees with the judge -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last step of a judgement, outside of compiled code: elements are decoded
// by APFloat here, not by the conversions that are on trial.
//
//===----------------------------------------------------------------------===//

#include "facet/Target/Judge.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace facet;

Judgement facet::compareWithJudge(double stored, double value, double bound) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (bound == infinity)
    return {true, 0};
  if (bound < 0 || std::isnan(bound))
    return {false, infinity};
  if (stored == value || (std::isnan(stored) && std::isnan(value)))
    return {true, 0};
  double distance = std::fabs(stored - value);
  // NaN or an infinity where the other is none: no distance, no agreement.
  if (!(distance <= bound))
    return {false,
            std::isfinite(distance) && bound > 0 ? distance / bound : infinity};
  return {true, distance / bound};
}

template <typename T>
static T elementOf(const void *bytes, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(bytes) + index * sizeof(T),
              sizeof(T));
  return value;
}

static double decode(const llvm::fltSemantics &semantics, uint64_t bits,
                     unsigned width) {
  llvm::APFloat value(semantics, llvm::APInt(width, bits));
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

double facet::storedElement(ScalarType type, const void *bytes, int64_t index) {
  auto nibble = [&] {
    return (elementOf<uint8_t>(bytes, index / 2) >> (index % 2 * 4)) & 15;
  };
  switch (type) {
  case ScalarType::Bool:
    return elementOf<uint8_t>(bytes, index) != 0;
  case ScalarType::I32:
    return elementOf<int32_t>(bytes, index);
  case ScalarType::I64:
    return double(elementOf<int64_t>(bytes, index));
  case ScalarType::F32:
  case ScalarType::TF32:
    return elementOf<float>(bytes, index);
  case ScalarType::F64:
    return elementOf<double>(bytes, index);
  case ScalarType::F16:
    return decode(llvm::APFloat::IEEEhalf(), elementOf<uint16_t>(bytes, index),
                  16);
  case ScalarType::BF16:
    return decode(llvm::APFloat::BFloat(), elementOf<uint16_t>(bytes, index),
                  16);
  case ScalarType::F8E4M3:
    return decode(llvm::APFloat::Float8E4M3(), elementOf<uint8_t>(bytes, index),
                  8);
  case ScalarType::F8E4M3FN:
    return decode(llvm::APFloat::Float8E4M3FN(),
                  elementOf<uint8_t>(bytes, index), 8);
  case ScalarType::F8E5M2:
    return decode(llvm::APFloat::Float8E5M2(), elementOf<uint8_t>(bytes, index),
                  8);
  case ScalarType::I16:
    return elementOf<int16_t>(bytes, index);
  case ScalarType::I8:
    return elementOf<int8_t>(bytes, index);
  case ScalarType::U8:
    return elementOf<uint8_t>(bytes, index);
  case ScalarType::I4:
    return ((nibble() ^ 8) - 8);
  case ScalarType::U4:
    return nibble();
  }
  return 0;
}
