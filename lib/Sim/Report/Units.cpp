//===- Units.cpp - numbers as people read them ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   1793122.4 ns   1.793 ms        0.9745   97.5 %
//   100663296 B    100.7 MB        1793122  1 793 122
//
//===----------------------------------------------------------------------===//

#include "Units.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace facet;

static std::string fixed(double value, int digits) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f", digits, value);
  return text;
}

std::string sim::withPrefix(double value, llvm::StringRef unit) {
  static const char *const prefixes[] = {"p", "n", "u", "m", "",
                                         "k", "M", "G", "T", "P"};
  constexpr int one = 4, last = 9;
  std::string end = unit.str();
  if (value == 0 || !std::isfinite(value))
    return value == 0 ? (unit.empty() ? "0" : "0 " + end) : "-";
  int prefix = one;
  double scaled = std::abs(value);
  // 999.95 is written 1.000 of the next prefix.
  for (; scaled >= 999.95 && prefix != last; ++prefix)
    scaled /= 1000;
  for (; scaled < 0.99995 && prefix != 0; --prefix)
    scaled *= 1000;
  bool whole = prefix == one && scaled == std::floor(scaled);
  int digits = whole ? 0 : scaled < 9.9995 ? 3 : scaled < 99.995 ? 2 : 1;
  end = prefixes[prefix] + end;
  return (value < 0 ? "-" : "") + fixed(scaled, digits) +
         (end.empty() ? "" : " " + end);
}

std::string sim::timeText(double ns) {
  // Below a ns there is nothing to know.
  if (std::abs(ns) < 1000)
    return fixed(ns, 1) + " ns";
  return withPrefix(ns * 1e-9, "s");
}

std::string sim::grouped(int64_t value) {
  std::string digits = std::to_string(value);
  for (int64_t at = int64_t(digits.size()) - 3; at > (value < 0); at -= 3)
    digits.insert(size_t(at), " ");
  return digits;
}

std::string sim::percent(double share) {
  double value = share * 100;
  if (value > 0 && value < 0.05)
    return "<0.1 %";
  return fixed(value, 1) + " %";
}
