//===- CostModel.h - how long a contraction takes on an engine ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_ENGINE_COSTMODEL_H
#define FACET_LIB_PLANNER_ENGINE_COSTMODEL_H

#include "facet/Planner/Engine/Problem.h"

namespace facet::engine {

/// Predicted times of a contraction with the map behind it, in ns.
struct StageCost {
  // What each does, whatever the others do.
  double tensor = 0; ///< slow windows of its clock included
  double vector = 0;
  double scalar = 0; ///< with the stores that it triggers
  double gpsimd = 0; ///< triggers
  double sync = 0;   ///< triggers
  double dma = 0;    ///< of the busiest DMA engine
  // What nothing hides.
  double start = 0; ///< until the first transfer moves
  double begin = 0; ///< until the first product
  double waiting =
      0;            ///< of the tensor engine for blocks that were not there yet
  double drain = 0; ///< from the last bytes of the factors to the last product
  double end = 0;   ///< from the last product to the last write
  /// Turns of the rings: no faster than their slots allow.
  double turns = 0;

  double bytes = 0; ///< that pass through the DMA

  double total() const;
  /// What takes `total` most of its time: "tensor", "DMA", …
  llvm::StringRef limit() const;
};

/// `plan` must fit `problem` and `machine` (VerifyPlan.h).
StageCost costOf(const Problem &problem, ContractionAttr plan,
                 const Machine &machine);

} // namespace facet::engine

#endif // FACET_LIB_PLANNER_ENGINE_COSTMODEL_H
