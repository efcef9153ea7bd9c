//===- SeparateIntegers.cpp - integer factors as the array takes them -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The array multiplies integers of eight bits exactly, as bf16, and sums them exactly in
// f32 up to 2^24. What a sum of products of integers has beside them leaves it:
//
//   sum[k]((x[m, k] - xz) * (w[k, n] - wz[n]))            x u8, w i8
//
//   factor[m, k] = bf16(x[m, k] - 128)                    what x is multiplied as
//   products[m, n] = sum[k](factor[m, k] * w[k, n])       on the array
//   sx[m] = sum[k](factor[m, k] * -1), sw[n] = sum[k](w[k, n] * -1)
//   t[n] = (xz - 128) * (sw[n] + K * wz[n])
//   products[m, n] + t[n] + wz[n] * sx[m]                 the same modulo 2^32
//
// so that gpsimd may begin with what is added and add the products' parts to it.
//
// Unsigned factors are centred where the sum is too long for one run of exact sums: half
// the magnitude makes runs of twice the length. A factor whose neighbours in memory are
// neighbours along k becomes bf16 first, because the DMA turns around nothing narrower.
//
//===----------------------------------------------------------------------===//

#include "DeriveOp.h"
#include "facet/Conversion/KernelToEngine.h"
#include "facet/Dialect/Kernel/IR/Operations.h"
#include "facet/Dialect/Kernel/IR/StructuredParts.h"
#include "facet/Planner/Engine/Contraction.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace facet;
using namespace facet::kernel;

namespace {

using Input = StructuredParts::Input;

/// An i32 computed from elements of tensors, by the iterators of the sum.
struct Term {
  SmallVector<Input> inputs;
  std::function<Value(OpBuilder &, ArrayRef<Value>)> emit;

  llvm::SmallBitVector iterators(unsigned count) const {
    llvm::SmallBitVector used(count);
    for (const Input &input : inputs)
      for (const Subscript &subscript : input.subscripts)
        if (subscript.kind == Subscript::Iterator)
          used.set(subscript.value);
    return used;
  }
};

/// element - zero, or the element alone.
struct Factor {
  unsigned input = 0;
  Value zero; ///< null: there is none
  int64_t centre = 0;
  bool widens = false;
  Value tensor; ///< what is multiplied instead of the input
};

class Separation {
public:
  explicit Separation(ReduceOp reduce)
      : reduce(reduce), op(cast<StructuredOpInterface>(reduce.getOperation())),
        builder(reduce), body(&op.getBody().front()) {}
  bool run();

private:
  std::optional<Factor> trace(Value value);
  std::optional<Term> termOf(Value zero);
  bool isPlain(unsigned input);
  bool uses(unsigned input, unsigned iterator);
  int64_t extent(unsigned iterator) { return *knownExtent(op, iterator); }
  void choose(Factor &factor);

  using Emit = llvm::function_ref<Value(ArrayRef<Value>)>;
  /// A map, or with `summed` a sum, over iterators of this one.
  Value make(StringAttr name, ArrayRef<unsigned> iterators, unsigned summed,
             ArrayRef<Input> inputs, Type element, Emit emit);
  Value widen(const Factor &factor);
  Value sumOf(const Factor &factor);
  Value element(Value value, const Factor &factor);
  Term combine(const Term &a, const Term &b, StringRef how);
  Term number(int64_t value);
  Term hoist(const Term &term);
  std::optional<Term> zeroOf(const Factor &factor);

  ReduceOp reduce;
  StructuredOpInterface op;
  OpBuilder builder;
  Block *body;
  SmallVector<unsigned> all, summed;
  Value minusOnes;
};

} // namespace

/// Read by iterators and numbers alone, everywhere.
bool Separation::isPlain(unsigned input) {
  return op.getGuardsOfInput(input).empty() &&
         llvm::none_of(op.getAccess(input).getSubscripts(),
                       [](const Subscript &subscript) {
                         return subscript.kind == Subscript::Element;
                       });
}

bool Separation::uses(unsigned input, unsigned iterator) {
  return llvm::is_contained(op.getAccess(input).getSubscripts(),
                            Subscript{Subscript::Iterator, iterator});
}

std::optional<Factor> Separation::trace(Value value) {
  Factor factor;
  if (auto difference = value.getDefiningOp<arith::SubIOp>()) {
    value = difference.getLhs();
    factor.zero = difference.getRhs();
  }
  while (auto cast = value.getDefiningOp<CastOp>()) {
    if (cast.getMode() != CastMode::Exact)
      return std::nullopt;
    value = cast.getValue();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != body ||
      argument.getArgNumber() >= op.getInputs().size())
    return std::nullopt;
  factor.input = argument.getArgNumber();
  auto type = dyn_cast<IntegerType>(argument.getType());
  if (!type || type.getWidth() > 8 || type.getWidth() == 1 ||
      !isPlain(factor.input))
    return std::nullopt;
  factor.tensor = op.getInputs()[factor.input];
  return factor;
}

/// What a zero point is computed from; nullopt: from something that the sum runs over.
std::optional<Term> Separation::termOf(Value zero) {
  std::optional<engine::Slice> slice = engine::sliceOf(op, body, zero);
  if (!slice ||
      llvm::any_of(summed,
                   [&](unsigned k) { return slice->iterators.test(k); }) ||
      llvm::any_of(slice->ops,
                   [](Operation *inner) { return isa<IndexOp>(inner); }))
    return std::nullopt;
  StructuredParts parts(op);
  Term term;
  SmallVector<Value> arguments;
  for (unsigned input : slice->inputs.set_bits()) {
    term.inputs.push_back(parts.inputs[input]);
    arguments.push_back(body->getArgument(input));
  }
  SmallVector<Operation *> ordered;
  for (Operation &inner : *body)
    if (slice->ops.contains(&inner))
      ordered.push_back(&inner);
  term.emit = [=](OpBuilder &inside, ArrayRef<Value> values) {
    IRMapping mapping;
    mapping.map(ArrayRef<Value>(arguments), values);
    for (Operation *inner : ordered)
      inside.clone(*inner, mapping);
    return mapping.lookupOrDefault(zero);
  };
  return term;
}

Value Separation::make(StringAttr name, ArrayRef<unsigned> iterators,
                       unsigned numSummed, ArrayRef<Input> inputs, Type element,
                       Emit emit) {
  return engine::deriveOp(builder, op, name, iterators, numSummed, inputs,
                          element, emit);
}

/// An element of what the factor is multiplied as, as an i32.
Value Separation::element(Value value, const Factor &factor) {
  mlir::Location loc = reduce.getLoc();
  Type i32 = builder.getI32Type();
  if (!factor.widens)
    return CastOp::create(builder, loc, i32, CastMode::Exact, value);
  value = CastOp::create(builder, loc, builder.getF32Type(), CastMode::Exact,
                         value);
  return CastOp::create(builder, loc, i32, CastMode::Sat, value);
}

Value Separation::widen(const Factor &factor) {
  StructuredParts parts(op);
  Input input = parts.inputs[factor.input];
  SmallVector<unsigned> iterators;
  for (Subscript &subscript : input.subscripts)
    if (subscript.kind == Subscript::Iterator &&
        !llvm::is_contained(iterators, unsigned(subscript.value)))
      iterators.push_back(subscript.value);
  mlir::Location loc = reduce.getLoc();
  return make(builder.getStringAttr("factor"), iterators, 0, input,
              builder.getBF16Type(), [&](ArrayRef<Value> values) -> Value {
                Type i32 = builder.getI32Type();
                Value value = CastOp::create(builder, loc, i32, CastMode::Exact,
                                             values[0]);
                if (factor.centre)
                  value = arith::SubIOp::create(
                      builder, loc, value,
                      arith::ConstantOp::create(
                          builder, loc,
                          builder.getI32IntegerAttr(int32_t(factor.centre))));
                value = CastOp::create(builder, loc, builder.getF32Type(),
                                       CastMode::Round, value);
                return CastOp::create(builder, loc, builder.getBF16Type(),
                                      CastMode::Round, value);
              });
}

/// -Σ of the factor's elements, by the array: their products with -1.
Value Separation::sumOf(const Factor &factor) {
  mlir::Location loc = reduce.getLoc();
  auto type = builder.getIntegerType(8);
  Input one;
  for (unsigned k : summed)
    one.subscripts.push_back({Subscript::Iterator, k});
  if (!minusOnes)
    minusOnes = make(builder.getStringAttr("minus"), summed, 0, {}, type,
                     [&](ArrayRef<Value>) -> Value {
                       return CastOp::create(
                           builder, loc, type, CastMode::Sat,
                           arith::ConstantOp::create(
                               builder, loc, builder.getI32IntegerAttr(-1)));
                     });
  one.tensor = minusOnes;
  StructuredParts parts(op);
  Input input = parts.inputs[factor.input];
  if (factor.widens)
    llvm::erase_if(input.subscripts, [](const Subscript &subscript) {
      return subscript.kind != Subscript::Iterator;
    });
  input.tensor = factor.tensor;
  SmallVector<unsigned> iterators;
  for (unsigned i = 0; i < op.getNumIterators(); ++i)
    if (uses(factor.input, i))
      iterators.push_back(i);
  return make(builder.getStringAttr("sums"), iterators, summed.size(),
              {input, one}, builder.getI32Type(),
              [&](ArrayRef<Value> values) -> Value {
                return arith::MulIOp::create(
                    builder, loc, element(values[0], factor),
                    CastOp::create(builder, loc, builder.getI32Type(),
                                   CastMode::Exact, values[1]));
              });
}

Term Separation::number(int64_t value) {
  mlir::Location loc = reduce.getLoc();
  return {{}, [=](OpBuilder &inside, ArrayRef<Value>) -> Value {
            return arith::ConstantOp::create(
                inside, loc, inside.getI32IntegerAttr(int32_t(value)));
          }};
}

Term Separation::combine(const Term &a, const Term &b, StringRef how) {
  Term term;
  term.inputs = a.inputs;
  term.inputs.append(b.inputs);
  size_t mine = a.inputs.size();
  mlir::Location loc = reduce.getLoc();
  term.emit = [=, first = a.emit, second = b.emit](
                  OpBuilder &inside, ArrayRef<Value> values) -> Value {
    Value x = first(inside, values.take_front(mine)),
          y = second(inside, values.drop_front(mine));
    if (how == "sub")
      return arith::SubIOp::create(inside, loc, x, y);
    if (how == "add")
      return arith::AddIOp::create(inside, loc, x, y);
    return arith::MulIOp::create(inside, loc, x, y);
  };
  return term;
}

/// A term that has not all iterators of the result is computed before, once.
Term Separation::hoist(const Term &term) {
  llvm::SmallBitVector used = term.iterators(op.getNumIterators());
  if (used.count() == op.getNumParallel())
    return term;
  SmallVector<unsigned> iterators(used.set_bits_begin(), used.set_bits_end());
  Input input;
  for (unsigned i : iterators)
    input.subscripts.push_back({Subscript::Iterator, i});
  input.tensor = make(builder.getStringAttr("zeros"), iterators, 0, term.inputs,
                      builder.getI32Type(), [&](ArrayRef<Value> values) {
                        return term.emit(builder, values);
                      });
  return {{input},
          [](OpBuilder &, ArrayRef<Value> values) { return values[0]; }};
}

/// zero - centre: what is subtracted from each of the elements that are multiplied.
std::optional<Term> Separation::zeroOf(const Factor &factor) {
  std::optional<Term> zero;
  if (factor.zero)
    zero = termOf(factor.zero);
  if (!factor.centre)
    return zero;
  return zero ? combine(*zero, number(factor.centre), "sub")
              : number(-factor.centre);
}

/// How the elements become what the array multiplies.
void Separation::choose(Factor &factor) {
  // A stage of its own has a price: a few elements come one by one.
  constexpr int64_t few = 4096;
  int64_t elements = 1;
  bool isRow = true; // or column: nothing to turn around
  for (unsigned i = 0; i < op.getNumIterators(); ++i)
    if (uses(factor.input, i)) {
      elements *= extent(i);
      isRow &= i >= op.getNumParallel() || extent(i) == 1;
    }
  Subscript last = op.getAccess(factor.input).getSubscripts().back();
  bool kIsDense = last.kind == Subscript::Iterator &&
                  unsigned(last.value) >= op.getNumParallel() &&
                  extent(last.value) > 1;
  factor.widens = factor.centre != 0 || (kIsDense && !isRow && elements > few);
}

bool Separation::run() {
  if (reduce.getKind() != ReduceKind::Sum || !op.getFilter().empty() ||
      op.getNumGuardAtoms() != 0 || op.getNumParallel() == 0)
    return false;
  auto product =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::MulIOp>();
  if (!product || !product.getType().isInteger(32))
    return false;
  for (unsigned i = 0; i < op.getNumIterators(); ++i) {
    if (!knownExtent(op, i) || extent(i) == 0)
      return false;
    (i < op.getNumParallel() ? all : summed).push_back(i);
  }
  std::optional<Factor> a = trace(product.getLhs()),
                        b = trace(product.getRhs());
  if (!a || !b || a->input == b->input)
    return false;
  int64_t terms = 1;
  for (unsigned k : summed) {
    if (!uses(a->input, k) || !uses(b->input, k))
      return false;
    if (llvm::MulOverflow(terms, extent(k), terms))
      return false;
  }
  for (unsigned i : all)
    if (!uses(a->input, i) && !uses(b->input, i))
      return false;
  for (Factor *factor : {&*a, &*b})
    if (factor->zero && !termOf(factor->zero))
      return false;
  auto typeOf = [&](const Factor &factor) {
    return cast<IntegerType>(body->getArgument(factor.input).getType());
  };
  if (terms > engine::exactTerms(engine::valuesOf(typeOf(*a)),
                                 engine::valuesOf(typeOf(*b))))
    for (Factor *factor : {&*a, &*b})
      if (typeOf(*factor).isUnsigned() && typeOf(*factor).getWidth() == 8)
        factor->centre = 128;
  for (Factor *factor : {&*a, &*b})
    choose(*factor);
  if (!a->zero && !b->zero && !a->widens && !b->widens)
    return false;

  StructuredParts parts(op);
  SmallVector<Input> inputs;
  for (Factor *factor : {&*a, &*b}) {
    Input input = parts.inputs[factor->input];
    if (factor->widens) {
      // By its iterators in the order of the subscripts.
      factor->tensor = widen(*factor);
      SmallVector<Subscript> subscripts;
      for (const Subscript &subscript : input.subscripts)
        if (subscript.kind == Subscript::Iterator &&
            !llvm::is_contained(subscripts, subscript))
          subscripts.push_back(subscript);
      input.subscripts = subscripts;
    }
    input.tensor = factor->tensor;
    inputs.push_back(input);
  }
  std::optional<Term> aZero = zeroOf(*a), bZero = zeroOf(*b);
  bool isAll = !aZero && !bZero;
  SmallVector<unsigned> iterators(all);
  llvm::append_range(iterators, summed);
  Value products = make(isAll ? parts.name : builder.getStringAttr("products"),
                        iterators, summed.size(), inputs, builder.getI32Type(),
                        [&](ArrayRef<Value> values) -> Value {
                          return arith::MulIOp::create(builder, reduce.getLoc(),
                                                       element(values[0], *a),
                                                       element(values[1], *b));
                        });
  if (!isAll) {
    auto sumTerm = [&](const Factor &factor) {
      Input input;
      input.tensor = sumOf(factor);
      for (unsigned i : all)
        if (uses(factor.input, i))
          input.subscripts.push_back({Subscript::Iterator, i});
      return Term{{input}, [](OpBuilder &, ArrayRef<Value> values) {
                    return values[0];
                  }};
    };
    Input whole;
    whole.tensor = products;
    for (unsigned i : all)
      whole.subscripts.push_back({Subscript::Iterator, i});
    Term result{{whole},
                [](OpBuilder &, ArrayRef<Value> values) { return values[0]; }};
    if (aZero) {
      Term sum = sumTerm(*b);
      if (bZero)
        sum = combine(sum, combine(*bZero, number(terms), "mul"), "add");
      result = combine(result, hoist(combine(*aZero, sum, "mul")), "add");
    }
    if (bZero)
      result =
          combine(result, hoist(combine(*bZero, sumTerm(*a), "mul")), "add");
    // Sums that maps read stand before the products' map, which reads those maps.
    products = make(
        parts.name, all, 0, result.inputs, builder.getI32Type(),
        [&](ArrayRef<Value> values) { return result.emit(builder, values); });
  }
  reduce.getResult(0).replaceAllUsesWith(products);
  reduce->erase();
  return true;
}

bool engine::separateIntegers(FuncOp kernel) {
  bool changed = false;
  for (auto reduce :
       llvm::make_early_inc_range(kernel.getBody().front().getOps<ReduceOp>()))
    changed |= Separation(reduce).run();
  return changed;
}
