//===- IntegerRange.cpp - how large integers of a body can be -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vector engine computes in f32, which holds every integer up to 2^24 exactly.
// Integers of bodies are mostly indices, so intervals show that they stay below:
//
//   j <= i + T - S       j, i and the sum in [-S, T + S]: a comparison of f32
//
//===----------------------------------------------------------------------===//

#include "IntegerRange.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

using Interval = std::pair<int64_t, int64_t>;

static Interval hull(Interval a, Interval b) {
  return {std::min(a.first, b.first), std::max(a.second, b.second)};
}

/// Values of a type.
static std::optional<Interval> rangeOfType(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() > 32)
    return std::nullopt;
  if (integer.getWidth() == 1)
    return Interval(0, 1);
  int64_t half = int64_t(1) << (integer.getWidth() - 1);
  return integer.isUnsigned() ? Interval(0, 2 * half - 1)
                              : Interval(-half, half - 1);
}

static std::optional<Interval> combine(Operation *op, Interval a, Interval b) {
  int64_t values[4];
  bool overflow = false;
  if (isa<arith::AddIOp>(op)) {
    overflow |= llvm::AddOverflow(a.first, b.first, values[0]);
    overflow |= llvm::AddOverflow(a.second, b.second, values[1]);
    return overflow ? std::nullopt
                    : std::optional(Interval(values[0], values[1]));
  }
  if (isa<arith::SubIOp>(op)) {
    overflow |= llvm::SubOverflow(a.first, b.second, values[0]);
    overflow |= llvm::SubOverflow(a.second, b.first, values[1]);
    return overflow ? std::nullopt
                    : std::optional(Interval(values[0], values[1]));
  }
  if (isa<arith::MulIOp>(op)) {
    overflow |= llvm::MulOverflow(a.first, b.first, values[0]);
    overflow |= llvm::MulOverflow(a.first, b.second, values[1]);
    overflow |= llvm::MulOverflow(a.second, b.first, values[2]);
    overflow |= llvm::MulOverflow(a.second, b.second, values[3]);
    if (overflow)
      return std::nullopt;
    return Interval(*std::min_element(values, values + 4),
                    *std::max_element(values, values + 4));
  }
  if (isa<arith::FloorDivSIOp>(op) && b.first > 0)
    return Interval(std::min(llvm::divideFloorSigned(a.first, b.first),
                             llvm::divideFloorSigned(a.first, b.second)),
                    std::max(llvm::divideFloorSigned(a.second, b.first),
                             llvm::divideFloorSigned(a.second, b.second)));
  if (isa<arith::MaxSIOp>(op))
    return Interval(std::max(a.first, b.first), std::max(a.second, b.second));
  if (isa<arith::MinSIOp>(op))
    return Interval(std::min(a.first, b.first), std::min(a.second, b.second));
  return std::nullopt;
}

std::optional<Interval> engine::integerRange(Lowering &lowering,
                                             StructuredOpInterface op,
                                             Value value) {
  Operation *def = value.getDefiningOp();
  if (!def) {
    // i64 of this road's own making are held in 32 bits.
    unsigned input = cast<BlockArgument>(value).getArgNumber();
    if (value.getType().isInteger(64) && input < op.getInputs().size() &&
        !isa<BlockArgument>(op.getInputs()[input]))
      return rangeOfType(IntegerType::get(value.getContext(), 32));
    return rangeOfType(value.getType());
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(def)) {
    auto number = dyn_cast<IntegerAttr>(constant.getValue());
    if (!number)
      return std::nullopt;
    return Interval(number.getInt(), number.getInt());
  }
  if (isa<kernel::SizeOp>(def)) {
    FailureOr<int64_t> size = lowering.extentOf(def->getResult(0));
    return succeeded(size) ? std::optional(Interval(*size, *size))
                           : std::nullopt;
  }
  if (auto index = dyn_cast<kernel::IndexOp>(def)) {
    for (unsigned i = 0; i < op.getNumIterators(); ++i) {
      if (op.getIteratorName(i) != index.getIterator())
        continue;
      FailureOr<int64_t> extent = lowering.extentOf(op.getMixedExtents()[i]);
      if (succeeded(extent))
        return Interval(0, *extent - 1);
    }
    return std::nullopt;
  }
  if (auto cast = dyn_cast<kernel::CastOp>(def)) {
    bool keeps = cast.getMode() == kernel::CastMode::Exact ||
                 (cast.getMode() == kernel::CastMode::Wrap &&
                  value.getType().isInteger(32));
    auto all = rangeOfType(value.getType());
    if (keeps && isa<IntegerType>(cast.getValue().getType())) {
      auto from = integerRange(lowering, op, cast.getValue());
      if (!all ||
          (from && from->first >= all->first && from->second <= all->second))
        return from;
    }
    return all;
  }
  if (auto select = dyn_cast<arith::SelectOp>(def)) {
    auto a = integerRange(lowering, op, select.getTrueValue()),
         b = integerRange(lowering, op, select.getFalseValue());
    return a && b ? std::optional(hull(*a, *b)) : std::nullopt;
  }
  auto all = rangeOfType(value.getType());
  if (def->getNumOperands() != 2)
    return all;
  auto a = integerRange(lowering, op, def->getOperand(0)),
       b = integerRange(lowering, op, def->getOperand(1));
  auto range = a && b ? combine(def, *a, *b) : std::nullopt;
  // Beyond its type an integer has wrapped.
  if (!range ||
      (all && (range->first < all->first || range->second > all->second)))
    return all;
  return range;
}

bool engine::fitsF32(Lowering &lowering, StructuredOpInterface op,
                     Value value) {
  constexpr int64_t limit = int64_t(1) << 24;
  auto range = integerRange(lowering, op, value);
  return range && range->first >= -limit && range->second <= limit;
}
