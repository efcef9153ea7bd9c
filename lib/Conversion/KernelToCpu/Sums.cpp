//===- Sums.cpp - from the sums of a contraction to memory ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y[m, n] = relu(t[m, n] + b[n])     t given in a register, y stored: t is nowhere
//
// The map's iterators are a permutation of the sum's parallel ones.
//
//===----------------------------------------------------------------------===//

#include "Sums.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

void cpu::storeSums(Frame &frame, kernel::ReduceOp reduce,
                    const std::optional<Epilogue> &epilogue,
                    llvm::ArrayRef<Value> iterators, LaneRange lane,
                    Value sums) {
  LocBuilder &b = frame.b;
  unsigned numParallel = reduce.getNumParallel();
  Value result = reduce.getResult(0);
  if (!epilogue)
    return storeLanes(b, frame.tensors[result],
                      iterators.take_front(numParallel), lane.iterator,
                      lane.lanes, lane.mask, sums);
  llvm::SmallVector<Value> index(numParallel);
  for (unsigned i = 0; i < numParallel; ++i)
    index[epilogue->iterators[i]] = iterators[i];
  lane.iterator = epilogue->iterators[lane.iterator];
  kernel::MapOp map = epilogue->map;
  GivenPoint::Given given{{result, sums}};
  GivenPoint point(frame, cast<StructuredOpInterface>(map.getOperation()),
                   index, lane, given);
  for (auto [value, output] : llvm::zip_equal(point.body(), map.getResults()))
    storeLanes(b, frame.tensors[output], index, lane.iterator, lane.lanes,
               lane.mask, value);
}
