//===- Turned.cpp - panels of a b whose rows run along k ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y[m, n] = sum[k](x[m, k] * w[n, k])
//
// A panel wants the columns of one k side by side, memory has the k of one column: 16
// columns by 16 steps are read as 16 vectors along k, turned in registers, and stored as 16
// vectors along n. Steps of bf16 are pairs and are turned as such. Reading them along
// n instead is a gather for each vector, which took a cycle per element.
//
// What is left of k, and of the columns, is packed as before.
//
//===----------------------------------------------------------------------===//

#include "Panels.h"
#include "Ranges.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;

/// Some input is read along k at each column, and none along n.
bool Panels::isTurned() {
  kernel::Subscript column{kernel::Subscript::Iterator, c.n.back()},
      step{kernel::Subscript::Iterator, c.k.back()};
  bool alongK = false;
  for (unsigned i = 0; i < walk.op.getInputs().size(); ++i) {
    kernel::AccessAttr access = walk.op.getAccess(i);
    auto subscripts = access.getSubscripts();
    if (subscripts.empty() || !llvm::is_contained(subscripts, column))
      continue;
    if (subscripts.back() == column)
      return false;
    alongK |= subscripts.back() == step;
  }
  return alongK;
}

/// Rows of a square matrix become its columns: halves of pairs change places, at
/// distance 1, 2, 4, ….
static void turn(LocBuilder &b, llvm::MutableArrayRef<Value> square) {
  auto size = int64_t(square.size());
  for (int64_t distance = 1; distance < size; distance *= 2)
    for (int64_t i = 0; i < size; ++i) {
      if (i & distance)
        continue;
      llvm::SmallVector<int64_t> upper, lower;
      for (int64_t lane = 0; lane < size; ++lane) {
        bool isFirst = !(lane & distance);
        upper.push_back(isFirst ? lane : size + lane - distance);
        lower.push_back(isFirst ? lane + distance : size + lane);
      }
      Value a = square[i], c = square[i + distance];
      square[i] = vector::ShuffleOp::create(b, a, c, upper);
      square[i + distance] = vector::ShuffleOp::create(b, a, c, lower);
    }
}

/// The whole panel from column `column` on, as many k as are whole squares; how many.
Num Panels::packTurned(Num column, Value panel, Num extent) {
  unsigned n = c.n.back(), k = c.k.back();
  int64_t steps = lanes * group;
  Num end = loops::quotient(extent, steps) * steps;
  Value before = walk.at[k];
  forRange(b, frame.i64(0), end, steps, [&](Num k0) {
    walk.at[k] = k0;
    Num row = walk.linearK() * plan.getColumns();
    forRange(b, frame.i64(0), frame.i64(plan.getColumns()), lanes, [&](Num j) {
      llvm::SmallVector<Value> square;
      for (int64_t i = 0; i < lanes; ++i) {
        llvm::SmallVector<Value> here = walk.iterators();
        here[n] = column + j + i;
        LanePoint point(frame, walk.op, here, {k, steps, Value()});
        Num value = frame.num(widen(b, product(c.b, point), steps));
        if (group > 1) {
          Num narrowed = loops::truncate(frame.num(narrow(value)),
                                         b.getIntegerType(32 / group));
          value = {b,
                   vector::BitCastOp::create(
                       b, VectorType::get({lanes}, b.getI32Type()), narrowed)};
        }
        square.push_back(value);
      }
      turn(b, square);
      for (auto [i, value] : llvm::enumerate(square))
        LLVM::StoreOp::create(
            b, value,
            walk.pointer(panel, row + (j + int64_t(i) * plan.getColumns())),
            walk.element.getIntOrFloatBitWidth() / 8);
    });
  });
  walk.at[k] = before;
  return end;
}
