//===- Bound.h - the time that no program can be below --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_ENGINE_BOUND_H
#define FACET_LIB_PLANNER_ENGINE_BOUND_H

#include "facet/Planner/Engine/Problem.h"

namespace facet::engine {

/// ns that the array streams for `problem` at least: whole tiles of the better
/// orientation, at the clock of streaming without gaps.
double tensorBound(const Problem &problem, const Machine &machine);

/// Bytes of arguments and results, each once, an inout twice.
double compulsoryBytes(kernel::FuncOp kernel);

} // namespace facet::engine

#endif // FACET_LIB_PLANNER_ENGINE_BOUND_H
