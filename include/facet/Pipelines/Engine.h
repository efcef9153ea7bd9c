//===- Engine.h - the road to a matrix engine ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_PIPELINES_ENGINE_H
#define FACET_PIPELINES_ENGINE_H

#include "facet/Dialect/Engine/IR/Engine.h"
#include "facet/Dialect/Kernel/IR/Plan.h"
#include "facet/Machine/Machine.h"
#include "facet/Planner/Engine/Planner.h"

namespace facet {

/// Gives the plan of a simplified kernel, null with an error.
using EnginePlanFunction =
    llvm::function_ref<kernel::PlanAttrInterface(kernel::FuncOp kernel)>;

/// Simplifies `kernel`, which is replaced, to what a plan is made for.
llvm::FailureOr<kernel::FuncOp> simplifyForEngine(kernel::FuncOp kernel,
                                                  const Machine &machine);

/// The planner's choices for a simplified kernel whose sizes are fixed, such that what
/// stands beside the sums of products finds room as well: where the program of a plan
/// does not fit the machine, a plan with tighter limits is made.
llvm::FailureOr<engine::PlanAttr> planThatFits(kernel::FuncOp kernel,
                                               const Machine &machine);

/// Puts an engine.program in the place of `kernel`, whose sizes are all fixed to one
/// number each. Without `plan` the planner's is taken. Errors go to the module's
/// context.
llvm::FailureOr<engine::ProgramOp>
lowerToEngine(kernel::FuncOp kernel, const Machine &machine,
              EnginePlanFunction plan = nullptr);

/// The program of a lowered kernel, checked. A broken rule of the instruction set is
/// an error too: it is a fault of ours.
llvm::FailureOr<Program> emitEngineProgram(engine::ProgramOp op,
                                           const Machine &machine);

/// The program of `kernel`, a copy that nothing else holds. As lowerToEngine and
/// emitEngineProgram, for callers that want no more of it.
llvm::FailureOr<Program>
makeEngineProgram(mlir::OwningOpRef<kernel::FuncOp> kernel,
                  const Machine &machine, EnginePlanFunction plan);

} // namespace facet

#endif // FACET_PIPELINES_ENGINE_H
