//===- StreamStage.h - a softmax between two contractions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOCPU_STREAMSTAGE_H
#define FACET_LIB_CONVERSION_KERNELTOCPU_STREAMSTAGE_H

#include "../KernelToLoops/Workspace.h"
#include "LanePoint.h"
#include "facet/Planner/Cpu/Stream.h"

namespace facet::cpu {

/// What one task of a stream keeps in the workspace, as numbers of its arrays or, in
/// the code, the arrays themselves.
template <typename Array>
struct StreamScratch {
  Array keys, values; ///< panels of k and v, of one head
  Array queries;      ///< the panel of a block of rows
  Array scores;       ///< of a tile and a block of keys; then its weights
  Array weights;      ///< those as pairs of bf16
  Array live;         ///< a bit for each of them: the filter holds
  Array sums;         ///< of a block of rows, unscaled
  Array total, most;  ///< of its rows: Σ exp, in lanes, and the maximum so far
  Array next, scale;  ///< of a tile: the maximum, and what it makes of the sums
  Array odd;          ///< per panel of keys: v holds an infinity or a NaN
};

/// A stream, the map behind its values, and the plan's choices.
struct StreamStage {
  Stream stream;
  std::optional<Epilogue> epilogue;
  StreamAttr plan;
  StreamScratch<unsigned> slots;
};

/// Reserves what the tasks of `stage` need.
void addStreamScratch(StreamStage &stage, loops::Workspace &workspace);

/// Emits all of `stage`; `placed` are the arrays of the workspace.
void emitStream(Frame &frame, const StreamStage &stage,
                llvm::ArrayRef<Storage> placed);

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_STREAMSTAGE_H
