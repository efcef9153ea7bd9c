//===- ChooseBlocks.h - blocks, order and rings of one contraction --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_ENGINE_CHOOSEBLOCKS_H
#define FACET_LIB_PLANNER_ENGINE_CHOOSEBLOCKS_H

#include "facet/Planner/Engine/Problem.h"

namespace facet::engine {

/// The choices for `problem` on `machine`.
ContractionAttr chooseBlocks(const Problem &problem, const Machine &machine);

} // namespace facet::engine

#endif // FACET_LIB_PLANNER_ENGINE_CHOOSEBLOCKS_H
