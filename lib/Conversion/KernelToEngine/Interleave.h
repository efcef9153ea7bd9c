//===- Interleave.h - sequences of steps, side by side --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOENGINE_INTERLEAVE_H
#define FACET_LIB_CONVERSION_KERNELTOENGINE_INTERLEAVE_H

#include "Lowering.h"

namespace facet::engine {

/// `count` steps of one kind; step i of them begins at start + i·stride.
struct StepRun {
  unsigned kind = 0;
  int64_t start = 0, stride = 0, count = 1;
};

/// One step: its kind and where it begins.
struct Step {
  unsigned kind = 0;
  Linear start;
};

/// Steps of several sequences at the same time: those of sequence s begin
/// `lags[s]` positions later than the others'. At each position `body` gets one step
/// of each sequence, or nullopt before its first and behind its last. Where all of
/// them repeat, positions are one loop.
void interleave(
    Lowering &lowering, llvm::ArrayRef<llvm::ArrayRef<StepRun>> sequences,
    llvm::ArrayRef<int64_t> lags,
    llvm::function_ref<void(llvm::ArrayRef<std::optional<Step>>)> body);

} // namespace facet::engine

#endif // FACET_LIB_CONVERSION_KERNELTOENGINE_INTERLEAVE_H
