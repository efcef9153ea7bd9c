//===- AffineFilter.cpp - filters that are inequalities of iterators ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes are numbers on this road, so a comparison of sums of indices and sizes is an
// inequality with integer coefficients; what holds for a whole block, or for none of
// its points, is then known without data:
//
//   j <= i + T - S        1·i - 1·j + (T - S) >= 0
//   j > i - 512           1·j - 1·i + 511 >= 0
//
//===----------------------------------------------------------------------===//

#include "facet/Planner/Engine/AffineFilter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

namespace {
/// Reads the integers of one op's guards.
class Reader {
public:
  Reader(StructuredOpInterface op, ArrayRef<unsigned> iterators,
         unsigned numIterators)
      : op(op), iterators(iterators), numIterators(numIterators) {}
  std::optional<Inequality> integer(Value value);
  /// Adds what the condition `value` says; false when it is no such condition.
  bool condition(Value value, AffineFilter &filter);

private:
  std::optional<Inequality> sum(const Inequality &a, const Inequality &b,
                                int64_t factor);

  StructuredOpInterface op;
  ArrayRef<unsigned> iterators;
  unsigned numIterators;
};
} // namespace

/// a + factor · b, or nullopt beyond 64 bits.
std::optional<Inequality> Reader::sum(const Inequality &a, const Inequality &b,
                                      int64_t factor) {
  auto add = [&](int64_t x, int64_t y, int64_t &result) {
    return llvm::MulOverflow(y, factor, result) ||
           llvm::AddOverflow(x, result, result);
  };
  Inequality result = a;
  if (add(a.constant, b.constant, result.constant))
    return std::nullopt;
  for (unsigned i = 0; i < numIterators; ++i)
    if (add(a.coefficients[i], b.coefficients[i], result.coefficients[i]))
      return std::nullopt;
  return result;
}

std::optional<Inequality> Reader::integer(Value value) {
  Inequality zero;
  zero.coefficients.assign(numIterators, 0);
  Operation *def = value.getDefiningOp();
  if (!def)
    return std::nullopt;
  if (auto constant = dyn_cast<arith::ConstantOp>(def)) {
    auto number = dyn_cast<IntegerAttr>(constant.getValue());
    if (!number || !value.getType().isInteger(64))
      return std::nullopt;
    zero.constant = number.getInt();
    return zero;
  }
  if (auto size = dyn_cast<kernel::SizeOp>(def)) {
    std::optional<int64_t> number =
        def->getParentOfType<kernel::FuncOp>().getFixedSize(size.getName());
    if (!number)
      return std::nullopt;
    zero.constant = *number;
    return zero;
  }
  if (auto index = dyn_cast<kernel::IndexOp>(def)) {
    for (unsigned i = 0; i < op.getNumIterators(); ++i)
      if (op.getIteratorName(i) == index.getIterator()) {
        zero.coefficients[iterators[i]] = 1;
        return zero;
      }
    return std::nullopt;
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(def) ||
      !value.getType().isInteger(64))
    return std::nullopt;
  std::optional<Inequality> a = integer(def->getOperand(0)),
                            b = integer(def->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::AddIOp>(def))
    return sum(*a, *b, 1);
  if (isa<arith::SubIOp>(def))
    return sum(*a, *b, -1);
  auto isNumber = [](const Inequality &value) {
    return llvm::all_of(value.coefficients, [](int64_t c) { return c == 0; });
  };
  if (isNumber(*b))
    return sum(zero, *a, b->constant);
  return isNumber(*a) ? sum(zero, *b, a->constant) : std::nullopt;
}

bool Reader::condition(Value value, AffineFilter &filter) {
  Operation *def = value.getDefiningOp();
  if (auto both = dyn_cast_or_null<arith::AndIOp>(def))
    return condition(both.getLhs(), filter) && condition(both.getRhs(), filter);
  auto compare = dyn_cast_or_null<arith::CmpIOp>(def);
  if (!compare)
    return false;
  std::optional<Inequality> a = integer(compare.getLhs()),
                            b = integer(compare.getRhs());
  if (!a || !b)
    return false;
  auto atLeast = [&](const Inequality &x, const Inequality &y, int64_t margin) {
    std::optional<Inequality> difference = sum(x, y, -1);
    if (!difference ||
        llvm::SubOverflow(difference->constant, margin, difference->constant))
      return false;
    filter.push_back(*difference);
    return true;
  };
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::sle:
    return atLeast(*b, *a, 0);
  case arith::CmpIPredicate::slt:
    return atLeast(*b, *a, 1);
  case arith::CmpIPredicate::sge:
    return atLeast(*a, *b, 0);
  case arith::CmpIPredicate::sgt:
    return atLeast(*a, *b, 1);
  case arith::CmpIPredicate::eq:
    return atLeast(*a, *b, 0) && atLeast(*b, *a, 0);
  default:
    return false;
  }
}

std::optional<AffineFilter> engine::affineFilter(StructuredOpInterface op,
                                                 ArrayRef<int64_t> atoms,
                                                 ArrayRef<unsigned> iterators,
                                                 unsigned numIterators) {
  AffineFilter filter;
  Reader reader(op, iterators, numIterators);
  for (int64_t atom : atoms)
    if (!reader.condition(
            op.getGuards().front().getTerminator()->getOperand(atom), filter))
      return std::nullopt;
  llvm::sort(filter, [](const Inequality &a, const Inequality &b) {
    return std::tie(a.coefficients, a.constant) <
           std::tie(b.coefficients, b.constant);
  });
  filter.erase(llvm::unique(filter), filter.end());
  return filter;
}
