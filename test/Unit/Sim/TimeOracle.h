//===- TimeOracle.h - when instructions start, a second opinion -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Start times of a program as the least solution of the equations of Timing.h:
// each start is a maximum of sums. No events, no clock, nothing from lib/Sim.
// For machines on which queues share nothing but semaphores, and programs whose
// transfers come from one queue over one ring.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_TEST_UNIT_SIM_TIMEORACLE_H
#define FACET_TEST_UNIT_SIM_TIMEORACLE_H

#include "facet/Isa/Timing.h"

namespace facet::test {

struct OracleResult {
  /// Everything came to its end.
  bool completed = false;
  Ticks total = 0;
  /// [queue][n]: start of its n-th executed instruction.
  std::vector<std::vector<Ticks>> starts;
  /// All durations one after the other.
  Ticks serial = 0;
};

OracleResult oracleTimes(const Program &program);

} // namespace facet::test

#endif // FACET_TEST_UNIT_SIM_TIMEORACLE_H
