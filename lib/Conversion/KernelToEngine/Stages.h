//===- Stages.h - the kinds of stages -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOENGINE_STAGES_H
#define FACET_LIB_CONVERSION_KERNELTOENGINE_STAGES_H

#include "Lowering.h"
#include "MatchContraction.h"

namespace facet::engine {

/// Whether the array can make the sums: one factor alone must depend on the last
/// index of the result.
bool suitsTensorEngine(Contraction &contraction, kernel::MapOp epilogue);

/// A contraction, with the map that alone reads its sums or without.
llvm::LogicalResult emitContraction(Lowering &lowering, Contraction contraction,
                                    kernel::MapOp epilogue);

/// A map, or a sum, maximum or minimum that is no contraction.
llvm::LogicalResult emitElementwise(Lowering &lowering,
                                    kernel::StructuredOpInterface op);

/// The map that alone reads the sums of a contraction, each at the element it
/// computes; null when there is none.
kernel::MapOp findEpilogue(kernel::ReduceOp reduce);

} // namespace facet::engine

#endif // FACET_LIB_CONVERSION_KERNELTOENGINE_STAGES_H
