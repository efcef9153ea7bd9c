//===- Schedule.h - plans as schedule text, and back ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_ENGINE_SCHEDULE_H
#define FACET_LIB_PLANNER_ENGINE_SCHEDULE_H

#include "facet/Dialect/Kernel/IR/Plan.h"
#include "facet/Planner/Engine/Planner.h"

namespace facet::engine {

/// Prints `plan` as a schedule block whose use gives it back.
void printSchedule(PlanAttr plan, kernel::FuncOp kernel, llvm::raw_ostream &os);

/// `plan` as `entries` override it; errors at their places.
mlir::FailureOr<PlanAttr>
applySchedule(PlanAttr plan, kernel::FuncOp kernel, const Machine &machine,
              llvm::ArrayRef<kernel::ScheduleEntry> entries,
              Diagnostics &diagnostics);

} // namespace facet::engine

#endif // FACET_LIB_PLANNER_ENGINE_SCHEDULE_H
