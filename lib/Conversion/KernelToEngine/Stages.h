//===- Stages.h - the kinds of stages -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOENGINE_STAGES_H
#define FACET_LIB_CONVERSION_KERNELTOENGINE_STAGES_H

#include "Lowering.h"
#include "MatchContraction.h"

namespace facet::engine {

/// Whether the array can make the sums: one factor alone must depend on the last
/// index of the result.
bool suitsTensorEngine(Contraction &contraction);

/// A contraction, with its epilogue when it has one.
llvm::LogicalResult emitContraction(Lowering &lowering,
                                    Contraction contraction);

/// A map, or a sum, maximum or minimum that is no contraction.
llvm::LogicalResult emitElementwise(Lowering &lowering,
                                    kernel::StructuredOpInterface op);

} // namespace facet::engine

#endif // FACET_LIB_CONVERSION_KERNELTOENGINE_STAGES_H
