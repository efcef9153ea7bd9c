//===- Race.h - proves that a program has no races ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A race is a pair of instructions that touch the same bytes, one of them
// writing, where some execution that the semaphores allow starts the second
// before the first is done. What happened in one run says little about that, so
// nothing is observed here: loops, rings, predicates and wait values of a program
// are known without its data, and for every instruction it is worked out what
// must have happened before it in all executions.
//
//   for (sim::Finding &finding : sim::proveRaceFree(program))
//     ...   // none: every execution computes the same
//
// docs/Simulator.md ("Races") says how, and lists the codes.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_SIM_RACE_H
#define FACET_SIM_RACE_H

#include "facet/Sim/Simulator.h"

namespace facet::sim {

/// Programs that run more instructions than this are not proved (SIM-RACE-SIZE).
constexpr uint64_t maxProvedInstructions = uint64_t(1) << 22;

/// Codes SIM-RACE-RAW, -WAR, -WAW, -SEMAPHORE, -OVERSHOT, and -SIZE when the
/// program is too long. The program must have passed checkProgram. A program that
/// comes to a deadlock is looked at up to there; one that does not end within
/// `maxSteps` instructions is not looked at (running it says SIM-STEPS).
std::vector<Finding> proveRaceFree(const Program &program,
                                   uint64_t maxSteps = 1'000'000'000);

/// Waits that other waits imply, each by itself: when the instruction comes up,
/// what its queue already waited for says that the semaphore has got there. Code
/// SIM-REDUNDANT; such a wait costs time and orders nothing.
std::vector<Finding> redundantWaits(const Program &program);

/// Adds a remark (group "redundant-wait") per finding; see reportFindings.
void reportRedundantWaits(const Program &program,
                          const std::vector<Finding> &findings,
                          llvm::StringRef file, Diagnostics &diags);

} // namespace facet::sim

#endif // FACET_SIM_RACE_H
