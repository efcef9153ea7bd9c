//===- Notes.h - which size or layout costs what --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_CPU_NOTES_H
#define FACET_LIB_PLANNER_CPU_NOTES_H

#include "CostModel.h"

namespace facet::cpu {

/// Adds to `notes` what a contraction loses by its sizes and by packing, where all
/// sizes are known and the loss is worth a change.
void noteCosts(const Problem &problem, const Cost &cost, double hertz,
               llvm::StringRef statement, std::vector<std::string> &notes);

} // namespace facet::cpu

#endif // FACET_LIB_PLANNER_CPU_NOTES_H
