//===- Units.h - numbers as people read them ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_REPORT_UNITS_H
#define FACET_LIB_SIM_REPORT_UNITS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace facet::sim {

/// Four digits and a thousands prefix: 1793122 -> "1.793 M"; 0.0000254, "J" ->
/// "25.40 uJ". Zero is "0".
std::string withPrefix(double value, llvm::StringRef unit = "");

/// 1793.1 -> "1.793 us".
std::string timeText(double ns);

/// 1793122 -> "1 793 122".
std::string grouped(int64_t value);

/// 0.9745 -> "97.5 %"; what is more than nothing is never "0.0 %".
std::string percent(double share);

} // namespace facet::sim

#endif // FACET_LIB_SIM_REPORT_UNITS_H
