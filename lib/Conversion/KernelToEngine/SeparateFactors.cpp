//===- SeparateFactors.cpp - factors that are computed, by themselves -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The array multiplies elements of tensors. A factor that is computed from some, for
// fewer indices than the product has, is computed once per element before:
//
//   sum[q, r](x[m, q, r] * bf16(f32(w[q, r, n] - z[q, n]) * s[q, n]))
//
//   factor[q, r, n] = bf16(…)                       a map: not once for every m
//   sum[q, r](x[m, q, r] * factor[q, r, n])         a contraction
//
// The values are the same: what the map stores is what the product read, rounded where
// the text rounds it and nowhere else.
//
//===----------------------------------------------------------------------===//

#include "DeriveOp.h"
#include "facet/Conversion/KernelToEngine.h"
#include "facet/Dialect/Kernel/IR/StructuredParts.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace facet;
using namespace facet::kernel;

namespace {

/// A factor of a product, and what it is computed from.
struct Factor {
  Value value; ///< without the exact casts around it
  engine::Slice slice;
  bool isElement() const { return slice.ops.empty(); }
};

class Separation {
public:
  explicit Separation(ReduceOp reduce)
      : reduce(reduce), op(cast<StructuredOpInterface>(reduce.getOperation())) {
  }
  void run();

private:
  std::optional<Factor> trace(Value value);
  SmallVector<unsigned> orderOf(const Factor &factor);
  Value makeMap(const Factor &factor);
  void replace(ArrayRef<std::pair<Factor, Value>> separated);

  ReduceOp reduce;
  StructuredOpInterface op;
};

} // namespace

std::optional<Factor> Separation::trace(Value value) {
  while (auto cast = value.getDefiningOp<CastOp>()) {
    if (cast.getMode() != CastMode::Exact)
      break;
    value = cast.getValue();
  }
  std::optional<engine::Slice> slice =
      engine::sliceOf(op, &op.getBody().front(), value, /*gathers=*/true);
  if (!slice)
    return std::nullopt;
  return Factor{value, std::move(*slice)};
}

/// The axes of what is computed: those that are summed over first, so that the rows
/// of a transfer are those of the array.
SmallVector<unsigned> Separation::orderOf(const Factor &factor) {
  SmallVector<unsigned> order;
  for (bool summed : {true, false})
    for (unsigned iterator : factor.slice.iterators.set_bits())
      if ((iterator >= op.getNumParallel()) == summed)
        order.push_back(iterator);
  return order;
}

/// The map that computes a factor, for its iterators alone.
Value Separation::makeMap(const Factor &factor) {
  OpBuilder builder(reduce);
  StructuredParts parts(op);
  SmallVector<int64_t> inputAt(op.getInputs().size(), -1);
  SmallVector<StructuredParts::Input> inputs;
  for (unsigned i : factor.slice.inputs.set_bits()) {
    inputAt[i] = inputs.size();
    StructuredParts::Input input = parts.inputs[i];
    for (Subscript &subscript : input.subscripts)
      if (subscript.kind == Subscript::Element)
        subscript.value = inputAt[subscript.value];
    inputs.push_back(std::move(input));
  }
  auto emit = [&](ArrayRef<Value> elements) {
    IRMapping mapping;
    Block &body = op.getBody().front();
    for (unsigned i : factor.slice.inputs.set_bits())
      mapping.map(body.getArgument(i), elements[inputAt[i]]);
    for (Operation &inner : body)
      if (factor.slice.ops.contains(&inner))
        builder.clone(inner, mapping);
    return mapping.lookup(factor.value);
  };
  return engine::deriveOp(builder, op, builder.getStringAttr("factor"),
                          orderOf(factor), /*numSummed=*/0, inputs,
                          factor.value.getType(), emit, factor.value.getLoc());
}

/// The reduce with its separated factors as inputs, and without the inputs that only
/// they read.
void Separation::replace(ArrayRef<std::pair<Factor, Value>> separated) {
  OpBuilder builder(reduce);
  StructuredParts parts(op);
  Block *old = &op.getBody().front();
  llvm::DenseSet<Operation *> gone;
  for (auto &[factor, map] : separated)
    gone.insert(factor.slice.ops.begin(), factor.slice.ops.end());
  // What else in the body still needs of the slices stays.
  llvm::SmallBitVector needed(parts.inputs.size());
  std::function<void(Value)> need = [&](Value value) {
    for (auto &[factor, map] : separated)
      if (value == factor.value)
        return;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == old)
        needed.set(argument.getArgNumber());
      return;
    }
    Operation *def = value.getDefiningOp();
    if (def->getBlock() != old)
      return;
    gone.erase(def);
    for (Value operand : def->getOperands())
      need(operand);
  };
  for (Value yielded : old->getTerminator()->getOperands())
    need(yielded);
  for (unsigned i = parts.inputs.size(); i-- > 0;)
    if (needed.test(i))
      for (const Subscript &subscript : parts.inputs[i].subscripts)
        if (subscript.kind == Subscript::Element)
          needed.set(subscript.value);

  SmallVector<StructuredParts::Input> inputs;
  SmallVector<int64_t> inputAt(parts.inputs.size(), -1);
  for (unsigned i : needed.set_bits()) {
    inputAt[i] = inputs.size();
    StructuredParts::Input input = parts.inputs[i];
    for (Subscript &subscript : input.subscripts)
      if (subscript.kind == Subscript::Element)
        subscript.value = inputAt[subscript.value];
    inputs.push_back(std::move(input));
  }
  for (auto &[factor, map] : separated) {
    StructuredParts::Input input;
    input.tensor = map;
    for (unsigned iterator : orderOf(factor))
      input.subscripts.push_back({Subscript::Iterator, iterator});
    inputs.push_back(std::move(input));
  }
  parts.inputs = inputs;
  StructuredOpInterface created = parts.create(builder, reduce.getLoc());
  SmallVector<Type> types;
  for (const StructuredParts::Input &input : inputs)
    types.push_back(
        cast<RankedTensorType>(input.tensor.getType()).getElementType());
  Block *block = builder.createBlock(
      &created.getBody(), {}, types,
      SmallVector<mlir::Location>(types.size(), reduce.getLoc()));
  IRMapping mapping;
  for (unsigned i : needed.set_bits())
    mapping.map(old->getArgument(i), block->getArgument(inputAt[i]));
  for (auto [i, pair] : llvm::enumerate(separated))
    mapping.map(pair.first.value, block->getArgument(needed.count() + i));
  for (Operation &inner : *old)
    if (!gone.contains(&inner))
      builder.clone(inner, mapping);
  reduce->replaceAllUsesWith(created);
  reduce->erase();
}

void Separation::run() {
  if (reduce.getKind() != ReduceKind::Sum || !op.getFilter().empty() ||
      op.getNumGuardAtoms() != 0)
    return;
  auto product = op.getBody()
                     .front()
                     .getTerminator()
                     ->getOperand(0)
                     .getDefiningOp<arith::MulFOp>();
  if (!product || !product.getType().isF32())
    return;
  std::optional<Factor> a = trace(product.getLhs()),
                        b = trace(product.getRhs());
  if (!a || !b || a->value == b->value)
    return;
  // A contraction: both have every index that is summed over, and each has one of its
  // own, or there is only the other.
  for (unsigned i = op.getNumParallel(); i < op.getNumIterators(); ++i)
    if (!a->slice.iterators.test(i) || !b->slice.iterators.test(i))
      return;
  llvm::SmallBitVector all = a->slice.iterators;
  all |= b->slice.iterators;
  SmallVector<std::pair<Factor, Value>> separated;
  for (Factor *factor : {&*a, &*b}) {
    // Rounded on the way in, which the DMA does.
    auto cast = factor->value.getDefiningOp<CastOp>();
    bool isRounding = cast && cast.getMode() == CastMode::Round &&
                      isa<BlockArgument>(cast.getValue()) &&
                      isa<FloatType>(cast.getValue().getType());
    bool fewer = factor->slice.iterators != all;
    if (!factor->isElement() && !isRounding && fewer &&
        isa<FloatType>(factor->value.getType()))
      separated.push_back({*factor, Value()});
  }
  if (separated.empty())
    return;
  for (auto &[factor, map] : separated)
    map = makeMap(factor);
  replace(separated);
}

void engine::separateFactors(FuncOp kernel) {
  for (auto reduce :
       llvm::make_early_inc_range(kernel.getBody().front().getOps<ReduceOp>()))
    Separation(reduce).run();
}
