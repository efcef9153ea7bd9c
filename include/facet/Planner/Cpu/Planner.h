//===- Planner.h - the planner of the CPU road ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   kernel ─ LiveOps ─ Contraction ─▶ stages ─ CostModel(machine) ─▶ #cpu.plan
//
// All choices of the CPU road are made here and written down in the plan; the
// lowering obeys it, `facet explain` reads it, a schedule overrides it.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_PLANNER_CPU_PLANNER_H
#define FACET_PLANNER_CPU_PLANNER_H

#include "facet/Dialect/Cpu/IR/Cpu.h"
#include "facet/Dialect/Kernel/IR/Plan.h"
#include "facet/Machine/Machine.h"

namespace facet::cpu {

/// How `kernel` is best computed on `machine`, which is a CPU. `streamed` says of some
/// softmaxes whether they are streamed, where they can be.
PlanAttr planKernel(kernel::FuncOp kernel, const Machine &machine,
                    const llvm::DenseMap<mlir::Operation *, bool> &streamed =
                        llvm::DenseMap<mlir::Operation *, bool>());

/// The structured ops of `kernel`, as the stages of a plan number them.
llvm::SmallVector<kernel::StructuredOpInterface>
numberedOps(kernel::FuncOp kernel);

/// Attaches PlanAttrInterface to #cpu.plan in every context made from `registry`.
void registerPlanModel(mlir::DialectRegistry &registry);

} // namespace facet::cpu

#endif // FACET_PLANNER_CPU_PLANNER_H
