//===- ChooseStream.h - blocks of a softmax between two contractions ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_CPU_CHOOSESTREAM_H
#define FACET_LIB_PLANNER_CPU_CHOOSESTREAM_H

#include "Stages.h"
#include "facet/Machine/Machine.h"
#include "facet/Planner/Cpu/Stream.h"

namespace facet::cpu {

/// The tiles and blocks with which `stream` takes the least time on `machine`.
StreamAttr chooseStream(const Stream &stream, const Machine &machine);

/// Whether streaming is faster than storing the weights: packing k and v has to pay.
bool streamingPays(const Stream &stream);

/// The stage of `stream`, with the map behind its values if that can join it; adds
/// its ops to `joined`.
StageAttr streamStage(const Stages &stages, const Stream &stream,
                      StreamAttr choices,
                      llvm::DenseSet<mlir::Operation *> &joined);

/// Cycles of one core: both products, the softmax, and packing.
double streamCycles(const Stream &stream, StreamAttr plan,
                    const Machine &machine);

} // namespace facet::cpu

#endif // FACET_LIB_PLANNER_CPU_CHOOSESTREAM_H
