//===- StableHloSoftmax.cpp - a softmax written as ops --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   m = max over the last axis of s      e = exp(s - m)      e / (sum over it of e)
//
// is what jax.nn.softmax traces to. As the language's softmax it can be part of an
// attention that never stores its scores. Between the steps JAX puts broadcasts, which
// must bring every axis back to its place, and for bfloat16 conversions to f32 and back:
// the language's softmax is computed in f32 and rounded once, which is nearer.
//
//===----------------------------------------------------------------------===//

#include "StableHlo.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::import;

/// Nothing verifies these ops, so the number of operands is asked too.
static bool isNamed(Operation *op, StringRef name, unsigned operands = 1) {
  return op && op->getName().getStringRef() == name &&
         op->getNumOperands() == operands && op->getNumResults() == 1;
}

/// The types between which JAX converts inside a softmax.
static bool isPlainFloat(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF32() || element.isBF16() || element.isF16();
}

/// `value` before conversions between such types.
static mlir::Value beforeConversions(mlir::Value value) {
  for (;;) {
    Operation *op = value.getDefiningOp();
    if (!isNamed(op, "stablehlo.convert") || !isPlainFloat(value.getType()) ||
        !isPlainFloat(op->getOperand(0).getType()))
      return value;
    value = op->getOperand(0);
  }
}

/// The number that all elements of `value` are, if there is one.
static std::optional<APFloat> splatOf(mlir::Value value) {
  while (isNamed(value.getDefiningOp(), "stablehlo.broadcast_in_dim"))
    value = value.getDefiningOp()->getOperand(0);
  Operation *op = value.getDefiningOp();
  if (!isNamed(op, "stablehlo.constant", 0))
    return std::nullopt;
  auto content = op->getAttrOfType<DenseFPElementsAttr>("value");
  if (!content || !content.isSplat())
    return std::nullopt;
  return content.getSplatValue<APFloat>();
}

static bool isMinusInfinity(mlir::Value value) {
  std::optional<APFloat> splat = splatOf(value);
  return splat && splat->isInfinity() && splat->isNegative();
}

static bool isZero(mlir::Value value) {
  std::optional<APFloat> splat = splatOf(value);
  return splat && splat->isZero();
}

/// The one axis along which `source` is reduced by `word`, from what changes nothing, to
/// what `value` repeats along that axis; nothing when `value` is another thing.
static std::optional<unsigned>
repeatedReduction(mlir::Value value, mlir::Value source, StringRef word) {
  SmallVector<ArrayRef<int64_t>> broadcasts; // the last first
  for (;;) {
    value = beforeConversions(value);
    Operation *op = value.getDefiningOp();
    if (isNamed(op, "stablehlo.broadcast_in_dim")) {
      auto dims = op->getAttrOfType<DenseI64ArrayAttr>("dims");
      if (!dims)
        return std::nullopt;
      broadcasts.push_back(dims.asArrayRef());
      value = op->getOperand(0);
    } else if (isNamed(op, "stablehlo.maximum", 2) &&
               word == "stablehlo.maximum" &&
               isMinusInfinity(op->getOperand(0))) {
      value = op->getOperand(1);
    } else {
      break;
    }
  }
  Operation *reduce = value.getDefiningOp();
  if (!isNamed(reduce, "stablehlo.reduce", 2) ||
      beforeConversions(reduce->getOperand(0)) != beforeConversions(source))
    return std::nullopt;
  auto name = reduce->getAttrOfType<StringAttr>("word");
  auto dims = reduce->getAttrOfType<DenseI64ArrayAttr>("dims");
  if (!name || name.getValue() != word || !dims || dims.size() != 1)
    return std::nullopt;
  mlir::Value first = reduce->getOperand(1);
  if (!(word == "stablehlo.maximum" ? isMinusInfinity(first) : isZero(first)))
    return std::nullopt;
  // Where each axis that was left ends up.
  unsigned rank = cast<RankedTensorType>(source.getType()).getRank(),
           axis = unsigned(dims[0]);
  if (dims[0] < 0 || axis >= rank)
    return std::nullopt;
  unsigned left = 0;
  for (unsigned own = 0; own != rank; ++own) {
    if (own == axis)
      continue;
    int64_t place = left++;
    for (ArrayRef<int64_t> broadcast : llvm::reverse(broadcasts)) {
      if (place >= int64_t(broadcast.size()))
        return std::nullopt;
      place = broadcast[place];
    }
    if (place != own)
      return std::nullopt;
  }
  return axis;
}

std::optional<SoftmaxOps> facet::import::matchSoftmax(Operation &op) {
  if (!isNamed(&op, "stablehlo.divide", 2))
    return std::nullopt;
  Operation *exponential = beforeConversions(op.getOperand(0)).getDefiningOp();
  if (!isNamed(exponential, "stablehlo.exponential"))
    return std::nullopt;
  Operation *difference = exponential->getOperand(0).getDefiningOp();
  if (!isNamed(difference, "stablehlo.subtract", 2))
    return std::nullopt;
  mlir::Value scores = difference->getOperand(0);
  // One shape throughout, and types that only rounding tells apart.
  auto type = dyn_cast<RankedTensorType>(scores.getType());
  if (!type)
    return std::nullopt;
  for (mlir::Value step : std::initializer_list<mlir::Value>{
           scores, exponential->getResult(0), op.getResult(0)}) {
    auto own = dyn_cast<RankedTensorType>(step.getType());
    if (!own || own.getShape() != type.getShape() || !isPlainFloat(own))
      return std::nullopt;
  }
  std::optional<unsigned> greatest =
                              repeatedReduction(difference->getOperand(1),
                                                scores, "stablehlo.maximum"),
                          sum = repeatedReduction(op.getOperand(1),
                                                  exponential->getResult(0),
                                                  "stablehlo.add");
  if (!greatest || greatest != sum || type.getDimSize(*sum) == 1)
    return std::nullopt;
  return SoftmaxOps{scores, *sum};
}
