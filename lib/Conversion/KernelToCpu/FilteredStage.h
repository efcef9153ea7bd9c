//===- FilteredStage.h - a contraction under a filter ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOCPU_FILTEREDSTAGE_H
#define FACET_LIB_CONVERSION_KERNELTOCPU_FILTEREDSTAGE_H

#include "../KernelToLoops/Workspace.h"
#include "LanePoint.h"
#include "facet/Planner/Cpu/Contraction.h"

namespace facet::cpu {

/// What one task of a filtered contraction keeps in the workspace.
template <typename Array>
struct FilteredScratch {
  Array a; ///< a block of rows and of k, row by row; 0 where the filter drops
  Array b; ///< the panels of a block of columns, all of k
  Array sums; ///< of a block of rows and columns
  Array odd;  ///< per unit of k: b holds an infinity or a NaN
};

/// A filtered contraction, the map behind it, and the plan's choices.
struct FilteredStage {
  Contraction contraction;
  std::optional<Epilogue> epilogue;
  ContractionAttr plan;
  FilteredScratch<unsigned> slots;
};

/// Reserves what the tasks of `stage` need.
void addFilteredScratch(FilteredStage &stage, loops::Workspace &workspace);

/// Emits all of `stage`; `placed` are the arrays of the workspace.
void emitFiltered(Frame &frame, const FilteredStage &stage,
                  llvm::ArrayRef<Storage> placed);

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_FILTEREDSTAGE_H
