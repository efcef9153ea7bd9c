//===- ChooseBlocks.h - blocks, order and rings of one contraction --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_ENGINE_CHOOSEBLOCKS_H
#define FACET_LIB_PLANNER_ENGINE_CHOOSEBLOCKS_H

#include "Choices.h"
#include "facet/Planner/Engine/Problem.h"

#include <string>

namespace facet::engine {

/// The best choices for `problem` on `machine` among those that grant every wish.
/// Null when there are none; `misfit`, if given, is the reason that stopped the last.
ContractionAttr chooseBlocks(const Problem &problem, const Machine &machine,
                             const Wishes &wishes = {},
                             std::string *misfit = nullptr);

} // namespace facet::engine

#endif // FACET_LIB_PLANNER_ENGINE_CHOOSEBLOCKS_H
