//===- RandomProgram.h - valid programs from a seed -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every program of randomProgram passes checkProgram; over a few hundred seeds
// every opcode, flag, type, operation and field extreme appears. They obey the
// static rules only: they wait for things that never come, so they are for
// encoders, decoders and checkers, not for running.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_TEST_UNIT_ISA_RANDOMPROGRAM_H
#define FACET_TEST_UNIT_ISA_RANDOMPROGRAM_H

#include "facet/Isa/Program.h"

namespace facet::test {

/// `size`: about how many instructions each queue gets.
Program randomProgram(const Machine &machine, uint64_t seed, unsigned size);

/// A shipped machine; ends the test run when it cannot be loaded.
Machine shippedMachine(llvm::StringRef name);

/// All messages of a run, one per line, for failure output and comparison.
std::string messages(const Diagnostics &diags);

} // namespace facet::test

#endif // FACET_TEST_UNIT_ISA_RANDOMPROGRAM_H
