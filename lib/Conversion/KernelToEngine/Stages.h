//===- Stages.h - the kinds of stages -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOENGINE_STAGES_H
#define FACET_LIB_CONVERSION_KERNELTOENGINE_STAGES_H

#include "Lowering.h"
#include "facet/Planner/Engine/Attention.h"

namespace facet::engine {

/// A contraction, with its epilogue when it has one, as its plan says.
llvm::LogicalResult emitContraction(Lowering &lowering,
                                    const Contraction &contraction,
                                    ContractionAttr plan);

/// A softmax between two contractions, streamed.
llvm::LogicalResult emitAttention(Lowering &lowering, Attention &attention);

/// A map, or a sum, maximum or minimum that is no contraction.
llvm::LogicalResult emitElementwise(Lowering &lowering,
                                    kernel::StructuredOpInterface op);

/// Lays out what input `input` of `op` reads through an index, in a buffer of its
/// own that homeOf then names.
llvm::LogicalResult emitGather(Lowering &lowering,
                               kernel::StructuredOpInterface op,
                               unsigned input);

/// Spreads out elements of four bits, from a buffer of bytes into one of elements.
void emitUnpack(Lowering &lowering, mlir::Value packed, mlir::Value spread);

} // namespace facet::engine

#endif // FACET_LIB_CONVERSION_KERNELTOENGINE_STAGES_H
