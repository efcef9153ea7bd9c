//===- Explain.h - the plan of a kernel in words and times ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_CPU_EXPLAIN_H
#define FACET_LIB_PLANNER_CPU_EXPLAIN_H

#include "facet/Planner/Cpu/Planner.h"

namespace facet::cpu {

kernel::Explanation explain(PlanAttr plan, kernel::FuncOp kernel,
                            const Machine &machine);

} // namespace facet::cpu

#endif // FACET_LIB_PLANNER_CPU_EXPLAIN_H
