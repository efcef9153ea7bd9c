//===- Combine.cpp - one step of a reduction ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The meaning of each kind of reduction on two values of its own type. Every
// rule here is associative and has the op's identity, so that tiles of a
// reduction combine to the whole.
//
//===----------------------------------------------------------------------===//

#include "Combine.h"

using namespace facet;
using namespace facet::loops;
using namespace mlir;
using kernel::ReduceKind;

llvm::SmallVector<Value> facet::loops::combine(Frame &frame, ReduceKind kind,
                                               ValueRange state,
                                               llvm::ArrayRef<Value> values) {
  Num old = frame.num(state[0]), value = frame.num(values[0]);
  switch (kind) {
  case ReduceKind::Sum:
    return {old + value};
  case ReduceKind::Max:
    return {max(old, value)};
  case ReduceKind::Min:
    return {min(old, value)};
  case ReduceKind::Any:
    return {old | value};
  case ReduceKind::All:
    return {old & value};
  case ReduceKind::Argmax:
  case ReduceKind::Argmin: {
    Num oldIndex = frame.num(state[1]), index = frame.num(values[1]);
    Num better = kind == ReduceKind::Argmax ? value > old : value < old;
    Num same = value == old;
    if (value.isFloat()) { // NaN beats all else
      better = better | (isNaN(value) & invert(isNaN(old)));
      same = same | (isNaN(value) & isNaN(old));
    }
    // −1: nothing yet. A point without an index (an empty tile) changes nothing.
    Num take =
        (index >= 0) & ((oldIndex < 0) | better | (same & (index < oldIndex)));
    return {select(take, value, old), select(take, index, oldIndex)};
  }
  }
  llvm_unreachable("all reductions are listed");
}
