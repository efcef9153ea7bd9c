//===- RandomTimed.h - programs that run, from a seed ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unlike those of RandomProgram.h these come to their end: what an instruction
// waits for has been added before it in the order in which they are made, which
// is one of the orders they may run in. They move no data that makes sense.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_TEST_UNIT_SIM_RANDOMTIMED_H
#define FACET_TEST_UNIT_SIM_RANDOMTIMED_H

#include "facet/Isa/Program.h"

namespace facet::test {

/// A machine with random latencies and switches, and nothing that is shared
/// between queues except semaphores: no port conflicts, no clock windows, no
/// fetching, no caps. Times are even numbers of ps.
Machine unsharedMachine(const Machine &base, uint64_t seed);

/// About `size` instructions, loops and rings among them. Transfers come from one
/// queue and use one ring.
Program randomTimed(const Machine &machine, uint64_t seed, unsigned size);

} // namespace facet::test

#endif // FACET_TEST_UNIT_SIM_RANDOMTIMED_H
