//===- Recipe.cpp - the instruction for an op of a body -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of the kernel dialect's bodies against the operations and functions of the
// instruction set:
//
//   arith.addf        add, on vector          kernel.apply gelu     gelu, on scalar
//   kernel.cast exact nothing: reading widens kernel.cast round     a copy
//
//===----------------------------------------------------------------------===//

#include "Recipe.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

static std::optional<Recipe> compareRecipe(arith::CmpFOp op) {
  switch (op.getPredicate()) {
  case arith::CmpFPredicate::OEQ:
    return Recipe{Recipe::Binary, "eq"};
  case arith::CmpFPredicate::UNE:
    return Recipe{Recipe::Binary, "ne"};
  case arith::CmpFPredicate::OLT:
    return Recipe{Recipe::Binary, "lt"};
  case arith::CmpFPredicate::OLE:
    return Recipe{Recipe::Binary, "le"};
  case arith::CmpFPredicate::OGT:
    return Recipe{Recipe::Binary, "gt"};
  case arith::CmpFPredicate::OGE:
    return Recipe{Recipe::Binary, "ge"};
  default:
    return std::nullopt;
  }
}

static std::optional<Recipe> compareRecipe(arith::CmpIOp op) {
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return Recipe{Recipe::Binary, "eq"};
  case arith::CmpIPredicate::ne:
    return Recipe{Recipe::Binary, "ne"};
  case arith::CmpIPredicate::slt:
    return Recipe{Recipe::Binary, "lt"};
  case arith::CmpIPredicate::sle:
    return Recipe{Recipe::Binary, "le"};
  case arith::CmpIPredicate::sgt:
    return Recipe{Recipe::Binary, "gt"};
  case arith::CmpIPredicate::sge:
    return Recipe{Recipe::Binary, "ge"};
  default:
    return std::nullopt;
  }
}

/// Integers that are values of f32 are computed as such (IntegerRange.h).
static std::optional<Recipe> integerRecipe(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Recipe>>(op)
      .Case<arith::AddIOp>([](auto) { return Recipe{Recipe::Binary, "add"}; })
      .Case<arith::SubIOp>([](auto) { return Recipe{Recipe::Binary, "sub"}; })
      .Case<arith::MulIOp>([](auto) { return Recipe{Recipe::Binary, "mul"}; })
      .Case<arith::MaxSIOp>([](auto) { return Recipe{Recipe::Binary, "max"}; })
      .Case<arith::MinSIOp>([](auto) { return Recipe{Recipe::Binary, "min"}; })
      .Case<arith::SelectOp>([](auto) { return Recipe{Recipe::Select, ""}; })
      .Case<arith::FloorDivSIOp>(
          [](auto) { return Recipe{Recipe::Integer, "floordiv"}; })
      .Case<math::AbsIOp>([](auto) { return Recipe{Recipe::Integer, "abs"}; })
      .Default([](auto) { return std::nullopt; });
}

static std::optional<Recipe> castRecipe(kernel::CastOp op) {
  Type from = op.getValue().getType(), to = op.getResult().getType();
  if (from.isF64() || to.isF64())
    return std::nullopt;
  switch (op.getMode()) {
  case kernel::CastMode::Exact:
    return Recipe{Recipe::Alias, ""};
  case kernel::CastMode::Round:
    // An i64 is a value of f32 (fitsF32) and one already; an i32 may be larger and
    // is rounded when it is read.
    if (from.isInteger(64))
      return Recipe{Recipe::Alias, ""};
    return Recipe{Recipe::Copy, ""};
  case kernel::CastMode::RoundSat:
    return Recipe{Recipe::Copy, "", true};
  case kernel::CastMode::Sat:
    // From a float: nearest even, NaN to 0, clamped, as the machine converts.
    if (to.isInteger(64))
      return std::nullopt;
    return Recipe{isa<FloatType>(from) ? Recipe::Copy : Recipe::Integer, ""};
  case kernel::CastMode::Wrap:
    // The low bits. An i64 is an i32 on this machine (IntegerBody.cpp).
    return Recipe{to.isInteger(32) ? Recipe::Alias : Recipe::Integer, ""};
  }
  llvm_unreachable("all modes are listed");
}

static std::optional<Recipe> applyRecipe(kernel::ApplyOp op) {
  if (!op.getType().isF32())
    return std::nullopt;
  switch (op.getFunction()) {
  case kernel::ScalarFunction::Relu:
    return Recipe{Recipe::Unary, "relu"};
  case kernel::ScalarFunction::Sigmoid:
    return Recipe{Recipe::Function, "sigmoid"};
  case kernel::ScalarFunction::Silu:
    return Recipe{Recipe::Function, "silu"};
  case kernel::ScalarFunction::Gelu:
    return Recipe{Recipe::Function, "gelu"};
  case kernel::ScalarFunction::GeluTanh:
    return Recipe{Recipe::Function, "gelu_tanh"};
  }
  llvm_unreachable("all functions are listed");
}

std::optional<Recipe> engine::recipeOf(Operation *op) {
  if (auto cast = dyn_cast<kernel::CastOp>(op))
    return castRecipe(cast);
  if (auto apply = dyn_cast<kernel::ApplyOp>(op))
    return applyRecipe(apply);
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return compare.getLhs().getType().isF32() ? compareRecipe(compare)
                                              : std::nullopt;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compareRecipe(compare);
  if (isa<kernel::SizeOp>(op))
    return Recipe{Recipe::Size, ""};
  if (isa<kernel::IndexOp>(op))
    return Recipe{Recipe::Index, ""};
  if (op->getNumResults() == 1 && (op->getResult(0).getType().isInteger(64) ||
                                   op->getResult(0).getType().isInteger(32)))
    return integerRecipe(op);
  if (isa<arith::SelectOp>(op))
    return op->getResult(0).getType().isF32()
               ? std::optional(Recipe{Recipe::Select, ""})
               : std::nullopt;
  bool isBool =
      op->getNumResults() == 1 && op->getResult(0).getType().isInteger(1);
  if (isBool) {
    if (isa<arith::AndIOp>(op))
      return Recipe{Recipe::Binary, "land"};
    if (isa<arith::OrIOp>(op))
      return Recipe{Recipe::Binary, "lor"};
    if (isa<arith::XOrIOp>(op))
      return Recipe{Recipe::Binary, "ne"};
    return std::nullopt;
  }
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isF32())
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<Recipe>>(op)
      .Case<arith::AddFOp>([](auto) { return Recipe{Recipe::Binary, "add"}; })
      .Case<arith::SubFOp>([](auto) { return Recipe{Recipe::Binary, "sub"}; })
      .Case<arith::MulFOp>([](auto) { return Recipe{Recipe::Binary, "mul"}; })
      .Case<arith::DivFOp>([](auto) { return Recipe{Recipe::Binary, "div"}; })
      .Case<arith::MaximumFOp>(
          [](auto) { return Recipe{Recipe::Binary, "max"}; })
      .Case<arith::MinimumFOp>(
          [](auto) { return Recipe{Recipe::Binary, "min"}; })
      .Case<arith::NegFOp>([](auto) { return Recipe{Recipe::Unary, "neg"}; })
      .Case<math::AbsFOp>([](auto) { return Recipe{Recipe::Unary, "abs"}; })
      .Case<math::SqrtOp>([](auto) { return Recipe{Recipe::Unary, "sqrt"}; })
      .Case<math::RsqrtOp>([](auto) { return Recipe{Recipe::Unary, "rsqrt"}; })
      .Case<math::FloorOp>([](auto) { return Recipe{Recipe::Unary, "floor"}; })
      .Case<math::CeilOp>([](auto) { return Recipe{Recipe::Unary, "ceil"}; })
      .Case<math::RoundEvenOp>(
          [](auto) { return Recipe{Recipe::Unary, "round"}; })
      .Case<math::ExpOp>([](auto) { return Recipe{Recipe::Function, "exp"}; })
      .Case<math::LogOp>([](auto) { return Recipe{Recipe::Function, "log"}; })
      .Case<math::TanhOp>([](auto) { return Recipe{Recipe::Function, "tanh"}; })
      .Case<math::ErfOp>([](auto) { return Recipe{Recipe::Function, "erf"}; })
      .Default([](auto) { return std::nullopt; });
}

SmallVector<Value> engine::integersOf(Operation *op) {
  SmallVector<Value> values;
  bool computes = isa<arith::CmpIOp>(op) || integerRecipe(op);
  if (auto cast = dyn_cast<kernel::CastOp>(op))
    computes = cast.getValue().getType().isInteger(64) &&
               (cast.getMode() == kernel::CastMode::Round ||
                cast.getMode() == kernel::CastMode::Wrap ||
                cast.getMode() == kernel::CastMode::Sat);
  if (!computes)
    return values;
  for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults()))
    if (value.getType().isInteger(32) || value.getType().isInteger(64))
      values.push_back(value);
  return values;
}
