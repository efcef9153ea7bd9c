//===- ChooseBlocks.h - tile, blocks and packing of a contraction ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_CPU_CHOOSEBLOCKS_H
#define FACET_LIB_PLANNER_CPU_CHOOSEBLOCKS_H

#include "CostModel.h"

namespace facet::cpu {

/// The cost model's choices for `contraction` on `machine`. With a layout, b is
/// read from its packed array.
ContractionAttr chooseBlocks(const Contraction &contraction,
                             const Machine &machine, const Calls &calls,
                             LayoutAttr layout);

/// How the packed array of b lies, or null: dense rows. It is the same for any
/// number of rows, so that objects for different ones take the same array.
LayoutAttr chooseLayout(const Contraction &contraction, const Machine &machine);

/// Up to these numbers of rows, b is read where it is; each has a plan of its own.
llvm::ArrayRef<int64_t> fewRowsOf(const Contraction &contraction,
                                  const Machine &machine);

} // namespace facet::cpu

#endif // FACET_LIB_PLANNER_CPU_CHOOSEBLOCKS_H
