//===- Summary.h - an array in one line -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_SUMMARY_H
#define FACET_LIB_DRIVER_SUMMARY_H

#include "facet/Driver/Array.h"

#include "llvm/Support/JSON.h"

namespace facet {

/// "bf16 (3, 4), min -1.5, max 2, mean 0.25, checksum 0123456789abcdef".
std::string summaryText(const Array &array);

/// The same as members of an open JSON object; inf and NaN are strings.
void summaryJson(const Array &array, llvm::json::OStream &out);

/// The shortest of 6, 9 or 17 digits that gives the value of `type` back.
std::string numberText(double value, ScalarType type);

/// 1.23 s, 4.5 ms, 678 µs.
std::string timeText(double seconds);

} // namespace facet

#endif // FACET_LIB_DRIVER_SUMMARY_H
