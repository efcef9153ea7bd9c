//===- DeriveOp.cpp - new statements over the iterators of one ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A statement that is taken apart becomes several over some of its iterators:
//
//   sum[k]((x[m, k] - z) * w[k, n])   iterators m, n, k
//     deriveOp(…, {k, n}, 1, …)       sum over k for n, the same names and extents
//
//===----------------------------------------------------------------------===//

#include "DeriveOp.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using namespace facet::kernel;

/// Adds the input, what its subscripts are made of, and the iterators of both.
static bool addInput(StructuredOpInterface op, unsigned input, bool gathers,
                     Slice &slice) {
  if (!op.getGuardsOfInput(input).empty())
    return false;
  slice.inputs.set(input);
  for (const Subscript &subscript : op.getAccess(input).getSubscripts()) {
    if (subscript.kind == Subscript::Iterator)
      slice.iterators.set(subscript.value);
    if (subscript.kind == Subscript::Element &&
        (!gathers || !addInput(op, subscript.value, gathers, slice)))
      return false;
  }
  return true;
}

std::optional<Slice> engine::sliceOf(StructuredOpInterface op, Block *block,
                                     Value value, bool gathers) {
  Slice slice;
  slice.inputs.resize(op.getInputs().size());
  slice.iterators.resize(op.getNumIterators());
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      unsigned input = argument.getArgNumber();
      if (argument.getOwner() != block || input >= op.getInputs().size() ||
          !addInput(op, input, gathers, slice))
        return std::nullopt;
      continue;
    }
    Operation *def = next.getDefiningOp();
    if (def->getBlock() != block)
      continue; // a size or a constant of the kernel
    if (def->getNumRegions())
      return std::nullopt;
    if (auto index = dyn_cast<IndexOp>(def))
      for (unsigned i = 0; i < op.getNumIterators(); ++i)
        if (op.getIteratorName(i) == index.getIterator())
          slice.iterators.set(i);
    if (slice.ops.insert(def))
      llvm::append_range(open, def->getOperands());
  }
  return slice;
}

Value engine::deriveOp(OpBuilder &builder, StructuredOpInterface op,
                       StringAttr name, ArrayRef<unsigned> iterators,
                       unsigned numSummed,
                       ArrayRef<StructuredParts::Input> inputs, Type element,
                       llvm::function_ref<Value(ArrayRef<Value>)> emit,
                       std::optional<mlir::Location> at) {
  OpBuilder::InsertionGuard guard(builder);
  mlir::Location loc = at.value_or(op->getLoc());
  StructuredParts parts(op);
  SmallVector<int64_t> iteratorAt(op.getNumIterators(), -1);
  SmallVector<Attribute> names;
  SmallVector<OpFoldResult> extents;
  for (unsigned i : iterators) {
    iteratorAt[i] = names.size();
    names.push_back(parts.iteratorNames[i]);
    extents.push_back(parts.extents[i]);
  }
  unsigned numParallel = iterators.size() - numSummed;
  ArrayRef<OpFoldResult> shape = ArrayRef(extents).take_front(numParallel);
  parts.opName =
      numSummed ? ReduceOp::getOperationName() : MapOp::getOperationName();
  parts.name = name;
  parts.iteratorNames = names;
  parts.extents = extents;
  parts.numParallel = numParallel;
  parts.filter.clear();
  parts.inputs.assign(inputs.begin(), inputs.end());
  for (StructuredParts::Input &input : parts.inputs) {
    input.guards.clear();
    for (Subscript &subscript : input.subscripts)
      if (subscript.kind == Subscript::Iterator)
        subscript.value = iteratorAt[subscript.value];
  }
  parts.inits = {tensor::EmptyOp::create(builder, loc, shape, element)};
  if (numSummed) {
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
    SmallVector<Value> open;
    SmallVector<int64_t> sizes;
    std::tie(sizes, open) =
        decomposeMixedValues(SmallVector<OpFoldResult>(shape));
    parts.inits = {tensor::SplatOp::create(
        builder, loc, RankedTensorType::get(sizes, element), zero, open)};
  }
  parts.discardable.clear();
  StructuredOpInterface made = parts.create(builder, loc);
  SmallVector<Type> types;
  for (const StructuredParts::Input &input : inputs)
    types.push_back(
        cast<RankedTensorType>(input.tensor.getType()).getElementType());
  Block *block =
      builder.createBlock(&made.getBody(), {}, types,
                          SmallVector<mlir::Location>(types.size(), loc));
  SmallVector<Value> arguments(block->getArguments());
  YieldOp::create(builder, loc, emit(arguments));
  return made->getResult(0);
}
