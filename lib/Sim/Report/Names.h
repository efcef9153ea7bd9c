//===- Names.h - what events of a recorded run are called -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_REPORT_NAMES_H
#define FACET_LIB_SIM_REPORT_NAMES_H

#include "facet/Sim/Time.h"

namespace facet::sim {

/// Its name, or "s3".
std::string semaphoreName(const Program &program, int semaphore);

/// The span of an instruction, or of a transfer's trigger; not for Cause::None.
const Span &spanOf(const TimeResult &time, Cause cause);

/// "tensor 3 matmul", or nothing for Cause::None.
std::string nameOf(const Program &program, const TimeResult &time, Cause cause);

/// "i0 = 1, i1 = 2", or nothing outside of loops.
std::string countersOf(const Program &program, const Span &span);

} // namespace facet::sim

#endif // FACET_LIB_SIM_REPORT_NAMES_H
