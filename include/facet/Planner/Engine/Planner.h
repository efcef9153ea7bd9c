//===- Planner.h - the planner of the engine road -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   kernel ─ Contraction ─▶ stages ─ Problem(sizes) ─▶ #engine.plan
//
// All choices of the engine road are made here and written down in the plan; the
// lowering obeys it, `facet explain` reads it, a schedule overrides it.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_PLANNER_ENGINE_PLANNER_H
#define FACET_PLANNER_ENGINE_PLANNER_H

#include "facet/Dialect/Engine/IR/Engine.h"
#include "facet/Dialect/Kernel/IR/Plan.h"
#include "facet/Machine/Machine.h"
#include "facet/Planner/Engine/Attention.h"
#include "facet/Planner/Engine/Problem.h"

namespace facet::engine {

/// What the sums of products of a plan may take; the rest is for what stands beside
/// them, which the planner does not count.
struct PlanLimits {
  /// Ring registers of the tensor engine's queue, for one stage.
  int64_t registers = numRings;
  /// Of SBUF, in eighths.
  int64_t sbufEighths = 7;
};
/// From the loosest on.
llvm::ArrayRef<PlanLimits> planLimits();

/// How `kernel`, which is simplified and has all sizes fixed, is best computed on
/// `machine`, which is an engine. An open size is an error at the kernel.
llvm::FailureOr<PlanAttr> planKernel(kernel::FuncOp kernel,
                                     const Machine &machine,
                                     const PlanLimits &limits = {});

/// Checks that `plan` fits kernel and machine; errors at the kernel.
llvm::LogicalResult verifyPlan(PlanAttr plan, kernel::FuncOp kernel,
                               const Machine &machine);

/// The structured ops of `kernel`, as the stages of a plan number them.
llvm::SmallVector<kernel::StructuredOpInterface>
numberedOps(kernel::FuncOp kernel);

/// The attention of a stage of that form; nullopt: the stage does not fit the kernel.
std::optional<Attention> attentionOf(StageAttr stage, kernel::FuncOp kernel);

/// The contraction of a stage of that form, with its epilogue when the stage has one;
/// nullopt: the stage does not fit the kernel.
std::optional<Contraction> contractionOf(StageAttr stage,
                                         kernel::FuncOp kernel);

/// Attaches PlanAttrInterface to #engine.plan in every context made from `registry`.
void registerPlanModel(mlir::DialectRegistry &registry);

} // namespace facet::engine

#endif // FACET_PLANNER_ENGINE_PLANNER_H
