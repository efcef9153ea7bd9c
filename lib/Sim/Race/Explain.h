//===- Explain.h - what is said about a race ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_RACE_EXPLAIN_H
#define FACET_LIB_SIM_RACE_EXPLAIN_H

#include "Order.h"
#include "Shadow.h"

#include "facet/Sim/Simulator.h"

namespace facet::sim {

/// Two instructions, at one of the times they come up. `first` should be done
/// before `second`.
struct RacingPair {
  const char *code = "";
  Epoch first, second;
  /// Bytes that both touch.
  int64_t begin = 0, end = 0;
  uint32_t partition = 0, partitions = 0;
};

/// About memory.
Finding explainRace(const Program &program, const Trace &trace,
                    const RacingPair &pair);
/// About a semaphore that one of the two sets or decreases.
Finding explainSemaphoreRace(const Program &program, const Trace &trace,
                             unsigned semaphore, const RacingPair &pair);
Finding explainOvershot(const Program &program, const Trace &trace,
                        const Orders::Overshot &overshot);

/// A wait that would order two instructions.
struct MissingWait {
  unsigned semaphore; // of the program
  int64_t value;
  uint32_t event; // of first's queue: makes the update it waits for
};

/// Among the semaphores that `first` or what follows it in its queue updates.
std::optional<MissingWait>
findMissingWait(const Trace &trace, const Epoch &first, const Epoch &second);

} // namespace facet::sim

#endif // FACET_LIB_SIM_RACE_EXPLAIN_H
