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

void ContractionStage::load(Operand &operand, const Span &span, int64_t group) {
  Value slot = lowering.acquire(operand.ring);
  int64_t rowsOfArray = machine.tensor.rows, width = operand.block;
  Linear base = operand.home.constant;
  for (auto [i, stride] : llvm::enumerate(operand.home.strides))
    if (operand.iterator != i)
      base += at[i] * stride;
  for (auto [outer, stride] : llvm::zip_equal(kOuterAt, operand.kOuterStrides))
    base += outer * stride;
  base += span.start * operand.stride;
  int64_t firstStep = group * groupSteps(), count = stepsOf(group);
  base += Linear(firstStep * rowsOfArray * operand.kStride);

  // What stays is loaded by another queue and another DMA ring than what passes, so
  // that the first groups of both arrive together. Results are stored by scalar: its
  // transfers begin sooner, and the last of them ends the program.
  bool apart = plan.getStays() && &operand == outer;
  QueueKind queue = apart ? QueueKind::Gpsimd : QueueKind::Sync;
  NamedAttribute ring = lowering.builder.getNamedAttr(
      "ring", lowering.builder.getI32IntegerAttr(apart ? 1 : 0));
  bool transposes = plan.getLoad(operand.side) == Load::Transpose;
  auto copy = [&](Linear from, int64_t step, int64_t depth, int64_t times) {
    if (transposes) {
      for (int64_t i = 0; i < times; ++i)
        lowering.issue(
            queue, "dma_transpose",
            {{"dst",
              lowering.view(slot, (step + i) * width, {depth, span.size})},
             {"src",
              lowering.hbmView(operand.home.buffer,
                               from + Linear(i * rowsOfArray * operand.kStride),
                               {span.size, depth}, operand.stride,
                               {operand.kStride})}},
            {ring});
      return;
    }
    lowering.issue(
        queue, "dma_copy",
        {{"dst", lowering.view(slot, step * width, {depth, times, span.size},
                               {width, 1})},
         {"src", lowering.hbmView(operand.home.buffer, from,
                                  {depth, times, span.size}, operand.kStride,
                                  {rowsOfArray * operand.kStride,
                                   span.size == 1 ? 1 : operand.stride})}},
        {ring});
  };
  // All whole steps at once, then the one that is left.
  int64_t rest = depthOf(firstStep + count - 1);
  int64_t whole = rest == rowsOfArray ? count : count - 1;
  if (whole)
    copy(base, 0, rowsOfArray, whole);
  if (whole != count)
    copy(base + Linear(whole * rowsOfArray * operand.kStride), whole, rest, 1);
  lowering.commit(operand.ring);
}

SmallVector<Value> ContractionStage::openGroups(Operand &operand) {
  SmallVector<Value> slots;
  for (int64_t group = 0; group < groups(); ++group)
    slots.push_back(lowering.wait(operand.ring));
  return slots;
}
