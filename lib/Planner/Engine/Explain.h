//===- Explain.h - what a plan says of itself -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_ENGINE_EXPLAIN_H
#define FACET_LIB_PLANNER_ENGINE_EXPLAIN_H

#include "facet/Dialect/Kernel/IR/Explanation.h"
#include "facet/Planner/Engine/Planner.h"

namespace facet::engine {

/// What `plan` does with `kernel` on `machine`, why, and how long it should take.
kernel::Explanation explain(PlanAttr plan, kernel::FuncOp kernel,
                            const Machine &machine);

} // namespace facet::engine

#endif // FACET_LIB_PLANNER_ENGINE_EXPLAIN_H
