//===- Schedules.h - schedule blocks meet plans ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_SCHEDULES_H
#define FACET_LIB_DRIVER_SCHEDULES_H

#include "facet/Dialect/Kernel/IR/Plan.h"
#include "facet/Frontend/Syntax.h"

namespace facet {

/// The planner's `plan` of `kernel` on `machine`, as the schedules for it on one of
/// `targets`, which all name the same, override it: all are checked but those that
/// cannot hold, the first that holds always is taken. Null with errors.
kernel::PlanAttrInterface
applySchedules(kernel::PlanAttrInterface plan, kernel::FuncOp kernel,
               const Machine *machine, llvm::ArrayRef<llvm::StringRef> targets,
               llvm::ArrayRef<syntax::Schedule> schedules,
               Diagnostics &diagnostics);

} // namespace facet

#endif // FACET_LIB_DRIVER_SCHEDULES_H
