//===- Promises.cpp - which promises a call would break -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A promise is a small region of arith ops over sizes and scalar arguments. With
// those as constants it folds, op by op, to true or false:
//
//   requires D == 2 * E        D = 16, E = 8  ─▶  true
//
// So the folders of the dialects are the evaluator, and nothing is written twice.
//
//===----------------------------------------------------------------------===//

#include "Promises.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace facet;

/// Element 0 of a scalar argument as a constant of `type`.
static Attribute constantOf(const Array &array, Type type) {
  if (isa<FloatType>(type))
    return FloatAttr::get(type, elementAsDouble(array, 0));
  return IntegerAttr::get(type, elementAsInteger(array, 0));
}

/// Folds the ops of a promise's body. `known` maps values to constants.
static Attribute evaluate(kernel::RequireOp require, const HostKernel &kernel,
                          const SizeValues &sizes,
                          DenseMap<Value, Attribute> known) {
  auto lookUp = [&](Value value) -> Attribute {
    if (Attribute constant = known.lookup(value))
      return constant;
    Attribute constant;
    if (matchPattern(value, m_Constant(&constant)))
      return constant;
    // Sizes may be read outside of the promise.
    if (auto size = value.getDefiningOp<kernel::SizeOp>()) {
      auto at = llvm::find(kernel.sizes, size.getName());
      return IntegerAttr::get(size.getType(), sizes[at - kernel.sizes.begin()]);
    }
    return nullptr;
  };
  Block &body = require.getBody().front();
  for (Operation &op : body.without_terminator()) {
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands())
      operands.push_back(lookUp(operand));
    SmallVector<OpFoldResult> results;
    if (op.getNumResults() != 1 || failed(op.fold(operands, results)) ||
        results.size() != 1)
      continue;
    if (auto constant = dyn_cast<Attribute>(results[0]))
      known[op.getResult(0)] = constant;
    else if (Attribute same = lookUp(cast<Value>(results[0])))
      known[op.getResult(0)] = same;
  }
  return lookUp(body.getTerminator()->getOperand(0));
}

std::optional<unsigned>
Promises::firstBroken(const SizeValues &sizes,
                      const Arguments &arguments) const {
  for (auto [i, original] : llvm::enumerate(func.getOps<kernel::RequireOp>())) {
    // Folding may turn operands round in place; the kernel is not ours to touch.
    OwningOpRef<kernel::RequireOp> copy = original.clone();
    DenseMap<Value, Attribute> known;
    for (auto [input, element] : llvm::zip_equal(
             copy->getInputs(), copy->getBody().front().getArguments()))
      if (auto argument = dyn_cast<BlockArgument>(input))
        if (const auto &array = arguments[argument.getArgNumber()])
          known[element] = constantOf(*array, element.getType());
    Attribute truth = evaluate(*copy, kernel, sizes, std::move(known));
    if (auto value = dyn_cast_or_null<IntegerAttr>(truth);
        value && value.getValue().isZero())
      return i;
  }
  return std::nullopt;
}
