//===- Scalars.cpp - what can be computed once per call -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conditions of a kernel that name no index, rebuilt from its regions:
//
//   where(has_bc, bc[n], 0)      guards(%g) { yield %has_bc_v }   ─▶ the argument
//   requires K % 64 == 0         { remsi %K, 64 == 0 }            ─▶ the same on dim_K
//
// A value is followed backwards through arith, casts, sizes and rank-0 `let`s to
// the arguments. It stops at an index or an array element: then nothing is known.
// Values are memoised per function, so a condition is computed once.
//
//===----------------------------------------------------------------------===//

#include "Scalars.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace facet;
using namespace facet::interface;
using kernel::CastMode;

//===----------------------------------------------------------------------===//
// What is known
//===----------------------------------------------------------------------===//

/// Casts without a loss that need no table: integers, bool, bf16, f32, f64.
static bool canCast(kernel::CastOp cast) {
  Type from = cast.getValue().getType(), to = cast.getResult().getType();
  bool fromInt = isa<IntegerType>(from), toInt = isa<IntegerType>(to);
  bool simpleFrom = fromInt || from.isF32() || from.isF64() || from.isBF16();
  switch (cast.getMode()) {
  case CastMode::Exact:
    return simpleFrom && (toInt || to.isF32() || to.isF64());
  case CastMode::Round:
    return (fromInt && (to.isF32() || to.isF64())) ||
           (from.isF64() && to.isF32());
  case CastMode::Wrap:
    return fromInt && toInt;
  default:
    return false;
  }
}

bool Scalars::isKnown(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto it = tensors.find(value);
    return it != tensors.end() && isElementKnown(it->second);
  }
  Operation *op = value.getDefiningOp();
  bool supported =
      isa<kernel::SizeOp>(op) ||
      (isa<kernel::CastOp>(op) && canCast(cast<kernel::CastOp>(op))) ||
      (isa<arith::ArithDialect>(op->getDialect()) && op->getNumResults() == 1 &&
       !isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
            arith::CeilDivSIOp, arith::CeilDivUIOp>(op));
  if (!supported) {
    obstacle = op;
    return false;
  }
  return llvm::all_of(op->getOperands(), [&](Value v) { return isKnown(v); });
}

/// A scalar argument, or a `let` without axes that is known itself.
bool Scalars::isElementKnown(Value tensor) {
  if (cast<RankedTensorType>(tensor.getType()).getRank() != 0)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return kernel.getParam(argument.getArgNumber()).getMode() !=
           kernel::ParamMode::Inout;
  auto map = tensor.getDefiningOp<kernel::MapOp>();
  if (!map || map.getNumIterators() != 0 || !map.getGuards().empty())
    return false;
  for (auto [element, input] :
       llvm::zip(map.getBody().getArguments(), map.getInputs()))
    bind(element, input);
  return isKnown(map.getBody().front().getTerminator()->getOperand(0));
}

//===----------------------------------------------------------------------===//
// Computing it
//===----------------------------------------------------------------------===//

Value Scalars::elementOf(Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    unsigned index = argument.getArgNumber();
    Value value = f.formal(Formal::Data, index);
    const ElementType &element = *f.signature.parameters[index].element;
    ImplicitLocOpBuilder &b = f.b;
    // From the form in which C passes it to the type of the region.
    if (element.number == FACET_BOOL)
      return arith::TruncIOp::create(b, b.getI1Type(), value);
    if (element.isNibble())
      return arith::TruncIOp::create(b, b.getIntegerType(4), value);
    return value;
  }
  auto map = tensor.getDefiningOp<kernel::MapOp>();
  return compute(map.getBody().front().getTerminator()->getOperand(0));
}

static Value computeCast(Function &f, kernel::CastOp op, Value value) {
  ImplicitLocOpBuilder &b = f.b;
  Type from = op.getValue().getType(), to = op.getResult().getType();
  auto toInteger = dyn_cast<IntegerType>(to);
  auto fromInteger = dyn_cast<IntegerType>(from);
  bool isUnsigned =
      fromInteger && (fromInteger.isUnsigned() || fromInteger.getWidth() == 1);
  if (toInteger) {
    Type type = b.getIntegerType(toInteger.getWidth());
    if (toInteger.getWidth() < fromInteger.getWidth())
      return arith::TruncIOp::create(b, type, value);
    if (toInteger.getWidth() == fromInteger.getWidth())
      return value;
    if (isUnsigned)
      return arith::ExtUIOp::create(b, type, value);
    return arith::ExtSIOp::create(b, type, value);
  }
  if (fromInteger) {
    if (isUnsigned)
      return arith::UIToFPOp::create(b, to, value);
    return arith::SIToFPOp::create(b, to, value);
  }
  if (from.isBF16()) { // passed as its bits: the upper half of an f32
    Value wide = arith::ExtUIOp::create(b, b.getI32Type(), value);
    Value bits = arith::ShLIOp::create(b, wide, f.i32(16));
    value = arith::BitcastOp::create(b, b.getF32Type(), bits);
  }
  if (value.getType() == to)
    return value;
  if (to.isF64())
    return arith::ExtFOp::create(b, to, value);
  return arith::TruncFOp::create(b, to, value);
}

/// x / d rounded down, as the language divides; by a size of 0 it is 0.
static Value computeFloorDiv(Function &f, Value x, Value d) {
  ImplicitLocOpBuilder &b = f.b;
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(x.getType()));
  Value one = arith::ConstantOp::create(b, b.getIntegerAttr(x.getType(), 1));
  Value byZero = f.eq(d, zero), divisor = f.select(byZero, one, d);
  Value quotient = arith::DivSIOp::create(b, x, divisor);
  Value remainder = f.sub(x, f.mul(quotient, divisor));
  Value signs = arith::XOrIOp::create(b, remainder, divisor);
  Value isLower = f.band(f.ne(remainder, zero), f.lt(signs, zero));
  quotient = f.select(isLower, f.sub(quotient, one), quotient);
  return f.select(byZero, zero, quotient);
}

Value Scalars::computeOp(Operation *op) {
  ImplicitLocOpBuilder &b = f.b;
  if (auto size = dyn_cast<kernel::SizeOp>(op)) {
    Value value = f.size(f.signature.sizeIndex(size.getNameAttr()));
    if (size.getResult().getType().isIndex())
      return arith::IndexCastOp::create(b, b.getIndexType(), value);
    return value;
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(compute(operand));
  if (auto cast = dyn_cast<kernel::CastOp>(op))
    return computeCast(f, cast, operands.front());
  if (isa<arith::FloorDivSIOp>(op))
    return computeFloorDiv(f, operands[0], operands[1]);
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(op->getOperands(), operands))
    mapping.map(from, to);
  return b.clone(*op, mapping)->getResult(0);
}

Value Scalars::compute(Value value) {
  if (Value known = computed.lookup(value))
    return known;
  Value result = isa<BlockArgument>(value) ? elementOf(tensors.lookup(value))
                                           : computeOp(value.getDefiningOp());
  computed[value] = result;
  return result;
}

//===----------------------------------------------------------------------===//
// Promises
//===----------------------------------------------------------------------===//

LogicalResult facet::interface::checkPromises(Function &f,
                                              kernel::FuncOp kernel) {
  Scalars scalars(f, kernel);
  int32_t code = FACET_E_REQUIRE;
  WalkResult result = kernel.walk([&](kernel::RequireOp promise) {
    for (auto [element, input] :
         llvm::zip(promise.getBody().getArguments(), promise.getInputs()))
      scalars.bind(element, input);
    Value holds = promise.getBody().front().getTerminator()->getOperand(0);
    if (!scalars.isKnown(holds)) {
      InFlightDiagnostic diagnostic = promise.emitError()
                                      << "the promise '" << promise.getText()
                                      << "' cannot be checked at a call";
      if (scalars.obstacle)
        diagnostic << ": it needs '" << scalars.obstacle->getName() << "'";
      return WalkResult::interrupt();
    }
    f.failIf(f.negate(scalars.compute(holds)), code--, promise.getText());
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Needs
//===----------------------------------------------------------------------===//

/// Conditions for the reads of one structured op.
namespace {
class Reads {
public:
  Reads(Function &f, Scalars &scalars, kernel::StructuredOpInterface op,
        Value needed)
      : f(f), scalars(scalars), op(op), runs(needed) {
    if (!op.getGuards().empty())
      for (auto [element, input] :
           llvm::zip(op.getGuards().getArguments(), op.getInputs()))
        scalars.bind(element, input);
    runs = with(runs, op.getFilter());
    for (OpFoldResult extent : op.getMixedExtents())
      runs = f.band(runs, isPositive(extent));
  }

  /// Input `i` is read at some point.
  Value input(unsigned i) { return with(runs, op.getGuardsOfInput(i)); }

private:
  /// `condition`, and those of the atoms that name no index.
  Value with(Value condition, ArrayRef<int64_t> atoms) {
    for (int64_t atom : atoms) {
      Value value = op.getGuards().front().getTerminator()->getOperand(atom);
      if (scalars.isKnown(value))
        condition = f.band(condition, scalars.compute(value));
    }
    return condition;
  }

  Value isPositive(OpFoldResult extent) {
    if (auto value = dyn_cast<Value>(extent)) {
      if (!scalars.isKnown(value))
        return f.boolean(true);
      Value size = scalars.compute(value);
      if (size.getType().isIndex())
        size = arith::IndexCastOp::create(f.b, f.i64Type(), size);
      return f.lt(f.i64(0), size);
    }
    return f.boolean(cast<IntegerAttr>(cast<Attribute>(extent)).getInt() > 0);
  }

  Function &f;
  Scalars &scalars;
  kernel::StructuredOpInterface op;
  Value runs;
};
} // namespace

SmallVector<Value> facet::interface::findNeeds(Function &f,
                                               kernel::FuncOp kernel) {
  Scalars scalars(f, kernel);
  llvm::DenseMap<Value, Value> needs;
  auto need = [&](Value tensor, Value condition) {
    Value &entry = needs[tensor];
    entry = entry ? f.bor(entry, condition) : condition;
  };
  Block &body = kernel.getBody().front();
  // Backwards: an op runs when one of its results is needed, and what it reads is
  // needed where its conditions hold.
  for (Operation &op : llvm::reverse(body)) {
    if (isa<kernel::ReturnOp>(op)) {
      for (Value value : op.getOperands())
        need(value, f.boolean(true));
      continue;
    }
    if (isa<kernel::RequireOp>(op))
      continue;
    Value runs;
    for (Value result : op.getResults())
      if (Value needed = needs.lookup(result))
        runs = runs ? f.bor(runs, needed) : needed;
    if (!runs)
      continue;
    if (auto structured = dyn_cast<kernel::StructuredOpInterface>(op)) {
      Reads reads(f, scalars, structured, runs);
      for (auto [i, input] : llvm::enumerate(structured.getInputs()))
        need(input, reads.input(i));
      for (Value init : structured.getInits())
        need(init, runs);
    } else {
      for (Value operand : op.getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          need(operand, runs);
    }
  }
  SmallVector<Value> result;
  for (BlockArgument argument : body.getArguments()) {
    Value needed = needs.lookup(argument);
    result.push_back(needed ? needed : f.boolean(false));
  }
  return result;
}
