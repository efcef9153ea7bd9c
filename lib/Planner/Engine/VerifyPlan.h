//===- VerifyPlan.h - whether choices fit a contraction and machine -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_ENGINE_VERIFYPLAN_H
#define FACET_LIB_PLANNER_ENGINE_VERIFYPLAN_H

#include "facet/Isa/Program.h"
#include "facet/Planner/Engine/Problem.h"

#include <string>

namespace facet::engine {

/// Columns of sums, in f32, that one matmul makes.
int64_t widestTile(const Machine &machine);

/// Whether the array takes two steps of both factors at once.
bool canDoubleRow(const Problem &problem, const Machine &machine);

/// Tiles of PSUM that a block's sums take.
int64_t sumTiles(ContractionAttr plan, const Machine &machine);

/// What `plan` asks for that `machine` or `problem` cannot do, or more than `registers`
/// ring registers of a queue; nullopt: nothing.
std::optional<std::string> misfitOf(const Problem &problem,
                                    ContractionAttr plan,
                                    const Machine &machine,
                                    int64_t registers = numRings);

} // namespace facet::engine

#endif // FACET_LIB_PLANNER_ENGINE_VERIFYPLAN_H
