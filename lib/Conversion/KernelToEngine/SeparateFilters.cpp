//===- SeparateFilters.cpp - sums under a filter as the array makes them --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The array multiplies all points. Where a filter asks for no more than one factor has,
// that factor is 0 at the points it drops:
//
//   sum[k | k <= m](l[m, k] * b[k, n])
//
//   masked[m, k] = where(k <= m, l[m, k], 0)
//   finite[k, n] = b[k, n], its infinities the largest number, its NaN 0
//   sum[k](masked[m, k] * finite[k, n])
//
// A dropped point must not meet an infinity or a NaN, as 0 times these is NaN; that is
// why the other factor has none. What they do to points that exist is counted by two more
// sums: p points whose product is +inf, n whose product is -inf, half of each where l is
// 0, and both for a NaN. infinite is the sign of an infinity, any is 1 for these and 2
// for a NaN:
//
//   sum[k](sign(l) * infinite) = p - n,   sum[k](exists * any) = p + n
//   inf * 2p - inf * 2n          an infinity, NaN where there are both, or 0
//
// by numbers that overflow instead of inf, so that 0 points give 0. Three sums by the
// array take less time than one by vector as soon as there are a few thousand points for
// each of its lanes. A sum of one factor is a product with 1.
//
//===----------------------------------------------------------------------===//

#include "DeriveOp.h"
#include "facet/Conversion/KernelToEngine.h"
#include "facet/Dialect/Kernel/IR/Operations.h"
#include "facet/Planner/Engine/Attention.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using namespace facet::kernel;

namespace {

using Input = StructuredParts::Input;

/// A factor without the exact casts around it; no value: 1.
struct Factor {
  Value value;
  Slice slice;
};

class Separation {
public:
  explicit Separation(ReduceOp reduce)
      : reduce(reduce), op(cast<StructuredOpInterface>(reduce.getOperation())),
        builder(reduce), body(&op.getBody().front()) {}
  bool run();

private:
  bool match();
  std::optional<Factor> trace(Value value);
  using Make = llvm::function_ref<Value(Value element, Value exists)>;
  /// A map over the factor's iterators, of its elements in f32, and whether the point
  /// exists, which only the masked factor is told.
  Value map(StringRef name, const Factor &factor, bool isMasked, Type type,
            Make make);
  Value product(StringRef name, Value a, Value b);
  Value number(double value) {
    return arith::ConstantOp::create(builder, op->getLoc(),
                                     builder.getF32FloatAttr(float(value)));
  }
  Value choose(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, op->getLoc(), condition, yes, no);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, op->getLoc(), predicate, a, b);
  }
  /// The type in which a factor is multiplied, exactly.
  Type typeOf(const Factor &factor) {
    Type type = factor.value ? factor.value.getType() : builder.getBF16Type();
    if (type.isF16())
      return type;
    bool isWide = type.isF32() || type.isTF32();
    return isWide ? Type(builder.getF32Type()) : Type(builder.getBF16Type());
  }
  SmallVector<unsigned> iteratorsOf(const Factor &factor);

  ReduceOp reduce;
  StructuredOpInterface op;
  OpBuilder builder;
  Block *body;
  Factor masked, other;
  Slice filter; ///< of the guards
};

} // namespace

std::optional<Factor> Separation::trace(Value value) {
  while (auto cast = value.getDefiningOp<CastOp>()) {
    if (cast.getMode() != CastMode::Exact ||
        !isa<FloatType>(cast.getValue().getType()))
      break;
    value = cast.getValue();
  }
  std::optional<Slice> slice = sliceOf(op, body, value);
  if (!slice || !isa<FloatType>(value.getType()))
    return std::nullopt;
  return Factor{value, *slice};
}

bool Separation::match() {
  Value yielded = body->getTerminator()->getOperand(0);
  if (reduce.getKind() != ReduceKind::Sum || !yielded.getType().isF32() ||
      op.getFilter().empty() ||
      op.getFilter().size() != op.getNumGuardAtoms() ||
      op.getNumParallel() == 0)
    return false;
  // Below that vector is done before the array has begun.
  constexpr double few = 1 << 20;
  double points = 1;
  for (unsigned i = 0; i < op.getNumIterators(); ++i) {
    std::optional<int64_t> extent = knownExtent(op, i);
    if (!extent)
      return false;
    points *= double(*extent);
  }
  // Counts must be exact in f32.
  constexpr int64_t most = 1 << 22;
  int64_t terms = 1;
  for (unsigned i = op.getNumParallel(); i < op.getNumIterators(); ++i)
    terms = std::min(most + 1, terms * *knownExtent(op, i));
  if (points < few || terms > most)
    return false;
  filter.inputs.resize(op.getInputs().size());
  filter.iterators.resize(op.getNumIterators());
  Block *guards = &op.getGuards().front();
  for (Value atom : guards->getTerminator()->getOperands()) {
    std::optional<Slice> slice = sliceOf(op, guards, atom);
    if (!slice)
      return false;
    filter.inputs |= slice->inputs;
    filter.iterators |= slice->iterators;
  }
  std::optional<Factor> a, b;
  if (auto product = yielded.getDefiningOp<arith::MulFOp>()) {
    a = trace(product.getLhs());
    b = trace(product.getRhs());
  }
  auto has = [](const Factor &factor, const Slice &slice) {
    return !slice.iterators.test(factor.slice.iterators);
  };
  if (a && b && !has(*a, filter) && has(*b, filter))
    std::swap(a, b);
  if (!a || !b || !has(*a, filter)) {
    // One factor, and the filter for the other.
    b = trace(yielded);
    a = Factor{Value(), filter};
    if (!b || has(*b, filter))
      return false;
  }
  masked = *a;
  other = *b;
  masked.slice.inputs |= filter.inputs;
  // A contraction: both have every index that is summed over, and neither has all.
  llvm::SmallBitVector all = masked.slice.iterators;
  all |= other.slice.iterators;
  for (unsigned i = op.getNumParallel(); i < op.getNumIterators(); ++i)
    if (!masked.slice.iterators.test(i) || !other.slice.iterators.test(i))
      return false;
  return all.all() && !masked.slice.iterators.all() &&
         (!other.slice.iterators.all() || !masked.value);
}

/// In the order in which the largest input has them, so that runs stay runs; what is only
/// a mask has rows along the sum, as the array takes them.
SmallVector<unsigned> Separation::iteratorsOf(const Factor &factor) {
  SmallVector<unsigned> order, most;
  for (unsigned input : factor.slice.inputs.set_bits()) {
    SmallVector<unsigned> own;
    for (const Subscript &subscript : op.getAccess(input).getSubscripts())
      if (subscript.kind == Subscript::Iterator &&
          !llvm::is_contained(own, unsigned(subscript.value)))
        own.push_back(subscript.value);
    if (own.size() > most.size())
      most = own;
  }
  if (factor.value)
    order = most;
  for (bool isSummed : {true, false})
    for (unsigned i : factor.slice.iterators.set_bits())
      if ((i >= op.getNumParallel()) == isSummed &&
          !llvm::is_contained(order, i))
        order.push_back(i);
  return order;
}

Value Separation::map(StringRef name, const Factor &factor, bool isMasked,
                      Type type, Make make) {
  mlir::Location loc = op->getLoc();
  StructuredParts parts(op);
  SmallVector<Input> inputs;
  for (unsigned i : factor.slice.inputs.set_bits())
    inputs.push_back(parts.inputs[i]);
  auto emit = [&](ArrayRef<Value> elements) -> Value {
    IRMapping inBody, inGuards;
    Block *guards = &op.getGuards().front();
    for (auto [element, i] :
         llvm::zip_equal(elements, factor.slice.inputs.set_bits())) {
      inBody.map(body->getArgument(i), element);
      inGuards.map(guards->getArgument(i), element);
    }
    Value element;
    if (factor.value) {
      for (Operation &inner : *body)
        if (factor.slice.ops.contains(&inner))
          builder.clone(inner, inBody);
      element = inBody.lookupOrDefault(factor.value);
      if (!element.getType().isF32())
        element = CastOp::create(builder, loc, builder.getF32Type(),
                                 CastMode::Exact, element);
    }
    Value exists;
    if (isMasked) {
      for (Operation &inner : guards->without_terminator())
        builder.clone(inner, inGuards);
      for (Value atom : guards->getTerminator()->getOperands()) {
        Value holds = inGuards.lookupOrDefault(atom);
        exists = exists
                     ? Value(arith::AndIOp::create(builder, loc, exists, holds))
                     : holds;
      }
    }
    Value made = make(element, exists);
    return type.isF32() ? made
                        : Value(CastOp::create(builder, loc, type,
                                               CastMode::Round, made));
  };
  return deriveOp(builder, op, builder.getStringAttr(name), iteratorsOf(factor),
                  0, inputs, type, emit);
}

Value Separation::product(StringRef name, Value a, Value b) {
  mlir::Location loc = op->getLoc();
  auto input = [&](Value tensor, const Factor &factor) {
    Input result;
    result.tensor = tensor;
    for (unsigned i : iteratorsOf(factor))
      result.subscripts.push_back({Subscript::Iterator, i});
    return result;
  };
  SmallVector<unsigned> iterators;
  for (unsigned i = 0; i < op.getNumIterators(); ++i)
    iterators.push_back(i);
  auto wide = [&](Value value) -> Value {
    return value.getType().isF32()
               ? value
               : Value(CastOp::create(builder, loc, builder.getF32Type(),
                                      CastMode::Exact, value));
  };
  return deriveOp(builder, op, builder.getStringAttr(name), iterators,
                  op.getNumIterators() - op.getNumParallel(),
                  {input(a, masked), input(b, other)}, builder.getF32Type(),
                  [&](ArrayRef<Value> values) -> Value {
                    Value x = wide(values[0]), y = wide(values[1]);
                    return arith::MulFOp::create(builder, loc, x, y);
                  });
}

bool Separation::run() {
  if (!match())
    return false;
  Type bf16 = builder.getBF16Type(), f32 = builder.getF32Type();
  mlir::Location loc = op->getLoc();
  using arith::CmpFPredicate;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value zeroed =
      map("masked", masked, true, typeOf(masked), [&](Value x, Value exists) {
        return choose(exists, x ? x : number(1), number(0));
      });
  Value exists = map("exists", masked, true, bf16, [&](Value, Value holds) {
    return choose(holds, number(1), number(0));
  });
  Value sign = exists;
  if (masked.value)
    sign = map("sign", masked, true, bf16, [&](Value x, Value holds) {
      Value made = choose(compare(CmpFPredicate::OLT, x, number(0)), number(-1),
                          number(0));
      made = choose(compare(CmpFPredicate::OGT, x, number(0)), number(1), made);
      return choose(holds, made, number(0));
    });
  auto isNaN = [&](Value y) { return compare(CmpFPredicate::UNE, y, y); };
  double largest =
      APFloat::getLargest(
          cast<FloatType>(other.value.getType()).getFloatSemantics())
          .convertToDouble();
  Value finite =
      map("finite", other, false, typeOf(other), [&](Value y, Value) -> Value {
        Value made = arith::MinimumFOp::create(
            builder, loc,
            arith::MaximumFOp::create(builder, loc, y, number(-largest)),
            number(largest));
        return choose(isNaN(y), number(0), made);
      });
  Value infinite = map("infinite", other, false, bf16, [&](Value y, Value) {
    Value made = choose(compare(CmpFPredicate::OEQ, y, number(-infinity)),
                        number(-1), number(0));
    return choose(compare(CmpFPredicate::OEQ, y, number(infinity)), number(1),
                  made);
  });
  Value any = map("any", other, false, bf16, [&](Value y, Value) {
    Value size = math::AbsFOp::create(builder, loc, y);
    Value made = choose(compare(CmpFPredicate::OEQ, size, number(infinity)),
                        number(1), number(0));
    return choose(isNaN(y), number(2), made);
  });
  Value sums[] = {product("products", zeroed, finite),
                  product("difference", sign, infinite),
                  product("count", exists, any)};
  SmallVector<Input> inputs;
  SmallVector<unsigned> parallel;
  for (unsigned i = 0; i < op.getNumParallel(); ++i)
    parallel.push_back(i);
  for (Value tensor : sums) {
    inputs.emplace_back();
    inputs.back().tensor = tensor;
    for (unsigned i : parallel)
      inputs.back().subscripts.push_back({Subscript::Iterator, i});
  }
  Value result = deriveOp(
      builder, op, StructuredParts(op).name, parallel, 0, inputs, f32,
      [&](ArrayRef<Value> values) -> Value {
        auto overflow = [&](Value count) -> Value {
          Value huge = number(0x1p127);
          return arith::MulFOp::create(
              builder, loc, arith::MulFOp::create(builder, loc, count, huge),
              huge);
        };
        Value positive =
            overflow(arith::AddFOp::create(builder, loc, values[2], values[1]));
        Value negative =
            overflow(arith::SubFOp::create(builder, loc, values[2], values[1]));
        return arith::AddFOp::create(
            builder, loc, values[0],
            arith::SubFOp::create(builder, loc, positive, negative));
      });
  reduce.getResult(0).replaceAllUsesWith(result);
  reduce->erase();
  return true;
}

bool engine::separateFilters(FuncOp kernel, const Machine &machine) {
  auto reduces = llvm::to_vector(kernel.getBody().front().getOps<ReduceOp>());
  // Attention in one stage skips what its filter drops. One that computes its filter
  // and does not fit is sums like others.
  llvm::DenseSet<Operation *> inside;
  for (ReduceOp reduce : reduces)
    if (std::optional<Attention> attention = matchAttention(reduce, &machine);
        attention &&
        (attention->conditions.empty() || attentionFits(*attention, machine)))
      inside.insert(attention->members.begin(), attention->members.end());
  bool changed = false;
  for (ReduceOp reduce : reduces)
    if (!inside.contains(reduce))
      changed |= Separation(reduce).run();
  return changed;
}
