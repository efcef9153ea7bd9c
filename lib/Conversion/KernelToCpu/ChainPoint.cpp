//===- ChainPoint.cpp - a point of an op whose inputs are at hand ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   p[i, j] = softmax[j](s[i, j])      s is a map over sums that a tile holds
//
// Asked for the exponent at 16 keys, the point of p asks one of s for its element,
// which is given the sums: no s is stored.
//
//===----------------------------------------------------------------------===//

#include "ChainPoint.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;

/// The iterator of `op` that is the key.
static unsigned keyOf(const Stream &stream, Operation *op) {
  const Stream::Place &place = stream.places.find(op)->second;
  return llvm::find(place, std::optional<unsigned>(stream.key)) - place.begin();
}

llvm::SmallVector<Value> cpu::iteratorsOf(Frame &frame, const Stream &stream,
                                          Operation *op,
                                          llvm::ArrayRef<Value> at) {
  llvm::SmallVector<Value> iterators;
  for (std::optional<unsigned> place : stream.places.find(op)->second)
    iterators.push_back(place ? at[*place] : Value(frame.i64(0)));
  return iterators;
}

ChainPoint::ChainPoint(Frame &frame, const Stream &stream, Operation *op,
                       llvm::ArrayRef<Value> at, int64_t lanes, Value mask,
                       const Given &given)
    : GivenPoint(frame, cast<kernel::StructuredOpInterface>(op),
                 iteratorsOf(frame, stream, op, at),
                 {keyOf(stream, op), lanes, mask}, given),
      stream(stream), at(at) {}

Value ChainPoint::read(unsigned input, llvm::ArrayRef<Value> index,
                       Value guard) {
  Value tensor = op.getInputs()[input];
  auto map = tensor.getDefiningOp<kernel::MapOp>();
  if (!map || !llvm::is_contained(stream.maps, map))
    return GivenPoint::read(input, index, guard);
  ChainPoint producer(frame, stream, map, at, range.lanes, range.mask, given);
  return producer.body()[cast<OpResult>(tensor).getResultNumber()];
}
