//===- Ranges.cpp - loops over blocks, and lanes folded into one ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the stages with filters have in common: scf.for with a step and carried values,
// written as the loop it is.
//
//===----------------------------------------------------------------------===//

#include "Ranges.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;

Vectors cpu::foldRange(LocBuilder &b, Num from, Num to, int64_t step,
                       ValueRange start,
                       llvm::function_ref<Vectors(Num, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, from, to, from.like(step), start);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Vectors next = body(Num(b, loop.getInductionVar()), loop.getRegionIterArgs());
  if (!next.empty())
    scf::YieldOp::create(b, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

void cpu::forRange(LocBuilder &b, Num from, Num to, int64_t step,
                   llvm::function_ref<void(Num)> body) {
  foldRange(b, from, to, step, {}, [&](Num i, ValueRange) {
    body(i);
    return Vectors();
  });
}

Num cpu::divide(Num a, Num c) {
  return {a.builder(), arith::DivUIOp::create(a.builder(), a.get(), c.get())};
}

Num cpu::acrossLanes(Num value, llvm::function_ref<Num(Num, Num)> combine) {
  LocBuilder &b = value.builder();
  int64_t count = cast<VectorType>(value.type()).getNumElements();
  while (count > 1) {
    count /= 2;
    llvm::SmallVector<int64_t> low(count), high(count);
    for (int64_t i = 0; i < count; ++i) {
      low[i] = i;
      high[i] = count + i;
    }
    value = combine({b, vector::ShuffleOp::create(b, value, value, low)},
                    {b, vector::ShuffleOp::create(b, value, value, high)});
  }
  return {b, vector::ExtractOp::create(b, value, 0)};
}
