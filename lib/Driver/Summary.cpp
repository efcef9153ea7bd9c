//===- Summary.cpp - an array in one line ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What run prints for a result that is stored nowhere: enough to see that it is
// sane (shape, min, max, mean over what is no NaN) and to see a change (checksum
// of the bytes, the same on every machine).
//
//===----------------------------------------------------------------------===//

#include "Summary.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <cmath>

using namespace llvm;
using namespace facet;

namespace {
struct Statistics {
  double min = INFINITY, max = -INFINITY, sum = 0;
  int64_t count = 0, nans = 0;

  explicit Statistics(const Array &array) : count(array.count()) {
    for (int64_t i = 0; i < count; ++i) {
      double value = elementAsDouble(array, i);
      if (std::isnan(value)) {
        ++nans;
        continue;
      }
      min = std::min(min, value);
      max = std::max(max, value);
      sum += value;
    }
  }
  bool hasNumbers() const { return nans < count; }
  double mean() const { return sum / double(count - nans); }
};
} // namespace

std::string facet::numberText(double value, ScalarType type) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  for (int digits : {6, 9, 17}) {
    char text[40];
    snprintf(text, sizeof(text), "%.*g", digits, value);
    double back = strtod(text, nullptr);
    if (back == value ||
        (type != ScalarType::F64 && float(back) == float(value)))
      return text;
  }
  return {};
}

static std::string checksum(const Array &array) {
  return utohexstr(xxh3_64bits(ArrayRef<uint8_t>(array.bytes)),
                   /*LowerCase=*/true, /*Width=*/16);
}

std::string facet::summaryText(const Array &array) {
  Statistics statistics(array);
  std::string text =
      (spelling(array.type) + " " + shapeText(array.shape)).str();
  ScalarType type = array.type;
  if (statistics.count == 0)
    text += ", empty";
  else if (array.shape.empty())
    text += " " + numberText(elementAsDouble(array, 0), type);
  else if (statistics.hasNumbers())
    text += ", min " + numberText(statistics.min, type) + ", max " +
            numberText(statistics.max, type) + ", mean " +
            numberText(float(statistics.mean()), ScalarType::F32);
  if (statistics.nans && !array.shape.empty())
    text += ", " + std::to_string(statistics.nans) + " NaN";
  return text + ", checksum " + checksum(array);
}

void facet::summaryJson(const Array &array, json::OStream &out) {
  Statistics statistics(array);
  auto number = [&](StringRef name, double value) {
    if (std::isfinite(value))
      out.attribute(name, value);
    else
      out.attribute(name, numberText(value, array.type));
  };
  out.attribute("checksum", checksum(array));
  if (statistics.hasNumbers()) {
    number("max", statistics.max);
    number("mean", statistics.mean());
    number("min", statistics.min);
  }
  out.attribute("nan", statistics.nans);
  out.attributeArray("shape", [&] {
    for (int64_t extent : array.shape)
      out.value(extent);
  });
  out.attribute("type", spelling(array.type));
}

std::string facet::timeText(double seconds) {
  std::string text;
  raw_string_ostream os(text);
  if (seconds >= 1)
    os << format("%.3g s", seconds);
  else if (seconds >= 1e-3)
    os << format("%.3g ms", seconds * 1e3);
  else
    os << format("%.3g µs", seconds * 1e6);
  return text;
}
