//===- ChooseBlocks.h - tile, blocks and packing of a contraction ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_CPU_CHOOSEBLOCKS_H
#define FACET_LIB_PLANNER_CPU_CHOOSEBLOCKS_H

#include "facet/Machine/Machine.h"
#include "facet/Planner/Cpu/Contraction.h"

namespace facet::cpu {

/// The cost model's choices for `contraction` on `machine`.
ContractionAttr chooseBlocks(const Contraction &contraction,
                             const Machine &machine);

} // namespace facet::cpu

#endif // FACET_LIB_PLANNER_CPU_CHOOSEBLOCKS_H
