//===- ContractionLoads.cpp - factors on their way in ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One transfer brings a group of steps along k of a block, k on the partitions:
//
//   a[k, m], a group of 4 steps, a block of 512
//     -> a slot of 128 x 4 x 512: element (k mod 128, k / 128, m)
//
// Where k is dense in memory the DMA turns the block around, or takes it element by
// element, as the plan says.
//
//===----------------------------------------------------------------------===//

#include "ContractionStage.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

void ContractionStage::load(Operand &operand, const Span &span,
                            int64_t firstStep, int64_t count) {
  Value slot = lowering.acquire(operand.ring);
  int64_t rowsOfArray = machine.tensor.rows, width = operand.block;
  Linear base = operand.home.constant;
  for (auto [i, stride] : llvm::enumerate(operand.home.strides))
    if (operand.iterator != i)
      base += at[i] * stride;
  for (auto [outer, stride] : llvm::zip_equal(kOuterAt, operand.kOuterStrides))
    base += outer * stride;
  base += span.start * operand.stride;
  // What stays is loaded by another queue and another DMA ring than what passes, so
  // that the first groups of both arrive together; what stays whole is small and comes
  // first, since no product can begin without it: on sync, or, where it comes only once,
  // on scalar, which has nothing else to do then. Results are stored by scalar: its
  // transfers begin sooner, and the last of them ends the program.
  bool apart = plan.getStays() && !plan.getWhole() && &operand == outer;
  // Where gpsimd adds parts or stores results, sync brings everything.
  QueueKind queue = apart && !inParts() && !plan.getGpsimdStores()
                        ? QueueKind::Gpsimd
                        : QueueKind::Sync;
  if (plan.getWhole() && &operand == outer && problem.outerComesOnce(plan))
    queue = QueueKind::Scalar;
  NamedAttribute ring = lowering.builder.getNamedAttr(
      "ring", lowering.builder.getI32IntegerAttr(apart ? 1 : 0));
  bool transposes = plan.getLoad(operand.side) == Load::Transpose;
  int64_t together = operand.slotBatch == 1 ? 1 : batchSize;
  int64_t each = operand.slotSteps * width; // of one product of the batch
  // `times` steps of `depth`; neighbours in k are neighbours along the partitions, or,
  // where the plan says so, along the steps.
  auto copy = [&](Linear from, int64_t step, int64_t depth, int64_t times,
                  int64_t perRow, int64_t perStep) {
    if (transposes) {
      for (int64_t b = 0; b < together; ++b)
        for (int64_t i = 0; i < times; ++i)
          lowering.issue(
              queue, "dma_transpose",
              {{"dst", lowering.view(slot, b * each + (step + i) * width,
                                     {depth, span.size})},
               {"src", lowering.hbmView(
                           operand.home.buffer,
                           from + Linear(b * operand.batchStride + i * perStep),
                           {span.size, depth}, operand.stride, {perRow})}},
              {ring});
      return;
    }
    SmallVector<int64_t> shape = {depth, times, span.size}, to = {width, 1},
                         by = {perStep, span.size == 1 ? 1 : operand.stride};
    if (operand.slotBatch > 1) {
      shape.insert(shape.begin() + 1, together);
      to.insert(to.begin(), each);
      by.insert(by.begin(), operand.batchStride);
    }
    lowering.issue(queue, "dma_copy",
                   {{"dst", lowering.view(slot, step * width, shape, to)},
                    {"src", lowering.hbmView(operand.home.buffer, from, shape,
                                             perRow, by)}},
                   {ring});
  };
  // All whole steps at once, then the one that is left.
  int64_t k = operand.kStride, allWhole = problem.depth / rowsOfArray;
  int64_t whole = std::min(count, allWhole - firstStep);
  if (whole && plan.getKRuns())
    copy(base + Linear(firstStep * k), 0, rowsOfArray, whole, allWhole * k, k);
  else if (whole)
    copy(base + Linear(firstStep * rowsOfArray * k), 0, rowsOfArray, whole, k,
         rowsOfArray * k);
  if (whole != count)
    copy(base + Linear(allWhole * rowsOfArray * k), whole, depthOf(allWhole), 1,
         k, rowsOfArray * k);
  lowering.commit(operand.ring);
}

/// Loads the outer factor's block over all of k, and waits for it.
SmallVector<Value> ContractionStage::loadWhatStays(const Span &span) {
  int64_t slots = plan.getWhole() ? 1 : groups();
  for (int64_t i = 0; i < slots; ++i)
    load(*outer, span, plan.getWhole() ? 0 : firstStepOf(i),
         plan.getWhole() ? problem.steps(machine) : stepsOf(i));
  SmallVector<Value> kept;
  for (int64_t i = 0; i < slots; ++i)
    kept.push_back(lowering.wait(outer->ring));
  return kept;
}
