//===- Deadlock.h - who waits for whom ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_DEADLOCK_H
#define FACET_LIB_SIM_DEADLOCK_H

#include "Stream.h"

#include "facet/Sim/Simulator.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace facet::sim {

/// SIM-DEADLOCK: none of these queues, which are not at their end, can go on.
/// `have` is what a wait of a queue sees of its semaphore.
Finding
deadlockOf(const Program &program, llvm::ArrayRef<Stream> streams,
           llvm::function_ref<int64_t(unsigned queue, const Wait &)> have);

} // namespace facet::sim

#endif // FACET_LIB_SIM_DEADLOCK_H
