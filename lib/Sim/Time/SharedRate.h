//===- SharedRate.h - links that many share -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_TIME_SHAREDRATE_H
#define FACET_LIB_SIM_TIME_SHAREDRATE_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace facet::sim {

/// Some (`number`) who would each move `wanted` alone, `memory` thousandths of each byte of
/// it over the second link, and may each
/// move `given`. Rates in 2^-52 bytes per tick.
struct RateUser {
  int64_t wanted = 0;
  int64_t memory = 0;
  int64_t given = 0;
  int64_t number = 1;
};
constexpr unsigned rateBits = 52;

/// Shares two links max-min fairly; a limit of 0 is none. A user who gets what
/// it wants has `given` == `wanted`.
void shareRates(llvm::MutableArrayRef<RateUser> users, int64_t limit,
                int64_t memoryLimit);

} // namespace facet::sim

#endif // FACET_LIB_SIM_TIME_SHAREDRATE_H
