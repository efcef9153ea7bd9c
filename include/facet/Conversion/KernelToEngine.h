//===- KernelToEngine.h - the engine road ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_CONVERSION_KERNELTOENGINE_H
#define FACET_CONVERSION_KERNELTOENGINE_H

#include "facet/Dialect/Engine/IR/Engine.h"
#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "facet/Machine/Machine.h"

namespace facet {

namespace engine {
/// Gives each factor of a sum of products that is computed, and for fewer indices than
/// the product has, a map of its own in front of the sum. Before a plan is made.
void separateFactors(kernel::FuncOp kernel);

/// Rewrites sums of products of narrow integers as the array makes them: zero points
/// leave the sum, factors become bf16 where no transfer can turn or widen them. Sizes
/// must be fixed. The values are the same, modulo 2^32. Whether there were any.
bool separateIntegers(kernel::FuncOp kernel);

/// Rewrites long sums under a filter, outside of attention, as sums of all points that
/// the array can make: one factor is 0 where the filter drops a point. Sizes must be
/// fixed. Whether there were any.
bool separateFilters(kernel::FuncOp kernel, const Machine &machine);

/// Gives what is computed behind a long sum of integers for fewer indices than the sum
/// has a map of its own. Sizes must be fixed.
void hoistTerms(kernel::FuncOp kernel);
} // namespace engine

/// Emits an engine.program of the kernel's name behind `kernel`, whose sizes are all
/// fixed, as `plan` says, which must fit it. Contractions run on the tensor engine with the map behind them on the sums
/// in PSUM; other statements run tile by tile on the vector and scalar engines. What
/// the machine cannot do is an error at the statement, with a way out.
llvm::FailureOr<engine::ProgramOp>
convertKernelToEngine(kernel::FuncOp kernel, engine::PlanAttr plan,
                      const Machine &machine);

} // namespace facet

#endif // FACET_CONVERSION_KERNELTOENGINE_H
