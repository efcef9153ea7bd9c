//===- FilterBounds.cpp - what a filter says of a block of points ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   j <= i + T - S     for i in [i0, i1], j in [j0, j1]
//
//   may hold    j0 <= i1 + T - S
//   must hold   j1 <= i0 + T - S
//
// Interval arithmetic, computed at run time with a few integer instructions per block.
// Sums are taken modulo 2⁶⁴ as the text's are: where one end wraps and the other does
// not, they come out in the wrong order, and the answer is "perhaps".
//
//===----------------------------------------------------------------------===//

#include "FilterBounds.h"
#include "Ranges.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using loops::Frame;
using loops::Num;
using loops::OwnPoint;

namespace {

/// A point of the block, for what is the same at all of them.
class AnyPoint : public OwnPoint {
public:
  using OwnPoint::OwnPoint;
  Value element(unsigned k) { return input(k); }
};

class Bounds {
public:
  Bounds(Frame &frame, kernel::StructuredOpInterface op,
         llvm::ArrayRef<Interval> block)
      : frame(frame), op(op), block(block), point(frame, op, lows(block)) {}

  Verdict condition(Value value);

private:
  std::optional<Interval> of(Value value);
  std::optional<Interval> ofElement(unsigned k);
  Verdict compare(arith::CmpIOp op);
  Verdict perhaps() { return {frame.i1(true), frame.i1(false)}; }
  static llvm::SmallVector<Value> lows(llvm::ArrayRef<Interval> block) {
    return llvm::map_to_vector(block, [](Interval i) { return i.low; });
  }

  Frame &frame;
  kernel::StructuredOpInterface op;
  llvm::ArrayRef<Interval> block;
  AnyPoint point;
};

} // namespace

/// An element whose place does not change within the block, read whatever holds.
std::optional<Interval> Bounds::ofElement(unsigned k) {
  if (!op.getGuardsOfInput(k).empty())
    return std::nullopt;
  for (const kernel::Subscript &subscript : op.getAccess(k).getSubscripts())
    if (subscript.kind != kernel::Subscript::Iterator ||
        !block[subscript.value].isPoint())
      return std::nullopt;
  Type type = loops::elementType(op.getInputs()[k]);
  if (!type.isSignlessInteger(32) && !type.isSignlessInteger(64))
    return std::nullopt;
  Value value = point.element(k);
  return Interval{value, value};
}

std::optional<Interval> Bounds::of(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofElement(argument.getArgNumber());
  Operation *def = value.getDefiningOp();
  if (auto index = dyn_cast<kernel::IndexOp>(def)) {
    for (unsigned i = 0; i < op.getNumIterators(); ++i)
      if (op.getIteratorName(i) == index.getIterator())
        return block[i];
    return std::nullopt;
  }
  if (auto size = dyn_cast<kernel::SizeOp>(def)) {
    Value number = frame.sizes[*frame.kernel.getSizeIndex(size.getName())];
    return Interval{number, number};
  }
  if (auto constant = dyn_cast<arith::ConstantIntOp>(def)) {
    Value number =
        loops::constant(frame.b, constant.getType(), constant.value());
    return Interval{number, number};
  }
  if (auto cast = dyn_cast<kernel::CastOp>(def)) {
    Type to = cast.getType(), from = cast.getValue().getType();
    if (!to.isSignlessInteger(64) || !from.isSignlessInteger(32))
      return std::nullopt;
    std::optional<Interval> narrow = of(cast.getValue());
    if (!narrow || !narrow->isPoint())
      return std::nullopt;
    Value number = loops::extend(frame.num(narrow->low), to);
    return Interval{number, number};
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(def))
    return std::nullopt;
  std::optional<Interval> a = of(def->getOperand(0)),
                          c = of(def->getOperand(1));
  if (!a || !c)
    return std::nullopt;
  bool isPoint = a->isPoint() && c->isPoint();
  Num low, high;
  if (isa<arith::AddIOp>(def)) {
    low = frame.num(a->low) + frame.num(c->low);
    high = isPoint ? low : frame.num(a->high) + frame.num(c->high);
  } else if (isa<arith::SubIOp>(def)) {
    low = frame.num(a->low) - frame.num(c->high);
    high = isPoint ? low : frame.num(a->high) - frame.num(c->low);
  } else {
    if (!isPoint)
      return std::nullopt;
    low = high = frame.num(a->low) * frame.num(c->low);
  }
  return Interval{low, high};
}

Verdict Bounds::compare(arith::CmpIOp compare) {
  std::optional<Interval> a = of(compare.getLhs()), c = of(compare.getRhs());
  if (!a || !c)
    return perhaps();
  Num aLow = frame.num(a->low), aHigh = frame.num(a->high),
      cLow = frame.num(c->low), cHigh = frame.num(c->high);
  Num may, must;
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::slt:
    may = aLow < cHigh;
    must = aHigh < cLow;
    break;
  case arith::CmpIPredicate::sle:
    may = aLow <= cHigh;
    must = aHigh <= cLow;
    break;
  case arith::CmpIPredicate::sgt:
    may = aHigh > cLow;
    must = aLow > cHigh;
    break;
  case arith::CmpIPredicate::sge:
    may = aHigh >= cLow;
    must = aLow >= cHigh;
    break;
  case arith::CmpIPredicate::eq:
    may = (aLow <= cHigh) & (cLow <= aHigh);
    must = (aLow == cHigh) & (cLow == aHigh);
    break;
  case arith::CmpIPredicate::ne:
    may = loops::invert((aLow == cHigh) & (cLow == aHigh));
    must = loops::invert((aLow <= cHigh) & (cLow <= aHigh));
    break;
  default:
    return perhaps();
  }
  for (const Interval &side : {*a, *c})
    if (!side.isPoint()) {
      Num inOrder = frame.num(side.low) <= frame.num(side.high);
      may = may | loops::invert(inOrder);
      must = must & inOrder;
    }
  return {may, must};
}

Verdict Bounds::condition(Value value) {
  Operation *def = value.getDefiningOp();
  if (!def)
    return perhaps();
  if (auto compare = dyn_cast<arith::CmpIOp>(def);
      compare && !compare.getLhs().getType().isInteger(1))
    return this->compare(compare);
  if (isa<arith::AndIOp, arith::OrIOp>(def)) {
    Verdict a = condition(def->getOperand(0)),
            c = condition(def->getOperand(1));
    if (isa<arith::AndIOp>(def))
      return {a.may & c.may, a.must & c.must};
    return {a.may | c.may, a.must | c.must};
  }
  if (auto constant = dyn_cast<arith::ConstantIntOp>(def)) {
    Num holds = frame.i1(constant.value() != 0);
    return {holds, holds};
  }
  return perhaps();
}

Verdict cpu::filterOver(Frame &frame, kernel::StructuredOpInterface op,
                        llvm::ArrayRef<int64_t> filter,
                        llvm::ArrayRef<Interval> block) {
  Verdict all{frame.i1(true), frame.i1(true)};
  if (filter.empty())
    return all;
  Bounds bounds(frame, op, block);
  for (int64_t atom : filter) {
    Verdict one = bounds.condition(
        op.getGuards().front().getTerminator()->getOperand(atom));
    all = {all.may & one.may, all.must & one.must};
  }
  return all;
}

Live cpu::liveUnits(Frame &frame, kernel::StructuredOpInterface op,
                    llvm::ArrayRef<int64_t> filter,
                    llvm::SmallVector<Interval> block, unsigned iterator,
                    Num first, Num count, int64_t unit) {
  Num zero = frame.i64(0);
  Num units = loops::quotient(count + (unit - 1), unit);
  Num whole = loops::quotient(count, unit);
  if (filter.empty())
    return {zero, units, zero, whole};
  auto verdictOf = [&](Num from, Num to) {
    block[iterator] = {first + from, first + to - 1};
    return filterOver(frame, op, filter, block);
  };
  Verdict verdict = verdictOf(zero, count);
  // One after the other, unless all of it lives.
  auto scan = [&] {
    return foldRange(frame.b, zero, units, 1, {zero, zero, zero, zero},
                     [&](Num i, ValueRange state) -> Vectors {
                       Num begin = frame.num(state[0]),
                           end = frame.num(state[1]),
                           allBegin = frame.num(state[2]),
                           allEnd = frame.num(state[3]);
                       Num from = i * unit, to = loops::min(from + unit, count);
                       Verdict one = verdictOf(from, to);
                       Num must = one.must & (from + unit <= count);
                       Num isNone = allBegin == allEnd;
                       Num extends = must & (isNone | (allEnd == i));
                       return {
                           loops::select(one.may & (end == 0), i, begin),
                           loops::select(one.may, i + 1, end),
                           loops::select(must & isNone, i, allBegin),
                           loops::select(extends, i + 1, allEnd),
                       };
                     });
  };
  Vectors found = loops::ifElse(frame.b, loops::invert(verdict.must),
                                Vectors{zero, units, zero, whole}, scan);
  return {frame.num(found[0]), frame.num(found[1]), frame.num(found[2]),
          frame.num(found[3])};
}
