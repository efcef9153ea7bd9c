//===- FinishPlan.h - what follows from the blocks of a contraction -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_ENGINE_FINISHPLAN_H
#define FACET_LIB_PLANNER_ENGINE_FINISHPLAN_H

#include "Choices.h"
#include "facet/Planner/Engine/Problem.h"

namespace facet::engine {

/// `plan`, which has blocks and rings, with what is best for them: see ContractionAttr
/// from `unroll` on. What a
/// schedule has said stays.
ContractionAttr finishPlan(const Problem &problem, ContractionAttr plan,
                           const Machine &machine, const Wishes &wishes);

} // namespace facet::engine

#endif // FACET_LIB_PLANNER_ENGINE_FINISHPLAN_H
