//===- EmitScalar.cpp - one operator or function, one scalar op -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table from the language's operators to scalar ops. Most are arith and
// math ops, whose meaning is the language's: maximumf keeps NaN and orders −0
// below +0, addi wraps, floordivsi floors. `!=` is true with NaN (une), all
// other comparisons are false. What those dialects lack is kernel.apply.
//
//===----------------------------------------------------------------------===//

#include "EmitScalar.h"

using namespace facet;
using namespace facet::checked;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Type;
using mlir::Value;

Value facet::emitConstant(OpBuilder &builder, Location loc, const Expr *expr,
                          Type type) {
  if (isFloat(expr->type))
    return mlir::arith::ConstantOp::create(
        builder, loc, builder.getFloatAttr(type, expr->real));
  return mlir::arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(type, expr->integer));
}

Value facet::emitUnary(OpBuilder &builder, Location loc, UnaryOp op, Value x) {
  namespace arith = mlir::arith;
  namespace math = mlir::math;
  bool isFloat = mlir::isa<mlir::FloatType>(x.getType());
  auto apply = [&](kernel::ScalarFunction function) -> Value {
    return kernel::ApplyOp::create(builder, loc, x.getType(), function, x);
  };
  switch (op) {
  case UnaryOp::Neg: {
    if (isFloat)
      return arith::NegFOp::create(builder, loc, x);
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(x.getType(), 0));
    return arith::SubIOp::create(builder, loc, zero, x);
  }
  case UnaryOp::Not: {
    Value one =
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
    return arith::XOrIOp::create(builder, loc, x, one);
  }
  case UnaryOp::Abs: {
    if (isFloat)
      return math::AbsFOp::create(builder, loc, x);
    return math::AbsIOp::create(builder, loc, x);
  }
  case UnaryOp::Exp:
    return math::ExpOp::create(builder, loc, x);
  case UnaryOp::Log:
    return math::LogOp::create(builder, loc, x);
  case UnaryOp::Sqrt:
    return math::SqrtOp::create(builder, loc, x);
  case UnaryOp::Rsqrt:
    return math::RsqrtOp::create(builder, loc, x);
  case UnaryOp::Tanh:
    return math::TanhOp::create(builder, loc, x);
  case UnaryOp::Erf:
    return math::ErfOp::create(builder, loc, x);
  case UnaryOp::Round:
    return math::RoundEvenOp::create(builder, loc, x);
  case UnaryOp::Floor:
    return math::FloorOp::create(builder, loc, x);
  case UnaryOp::Ceil:
    return math::CeilOp::create(builder, loc, x);
  case UnaryOp::Sigmoid:
    return apply(kernel::ScalarFunction::Sigmoid);
  case UnaryOp::Relu:
    return apply(kernel::ScalarFunction::Relu);
  case UnaryOp::Gelu:
    return apply(kernel::ScalarFunction::Gelu);
  case UnaryOp::GeluTanh:
    return apply(kernel::ScalarFunction::GeluTanh);
  case UnaryOp::Silu:
    return apply(kernel::ScalarFunction::Silu);
  }
  llvm_unreachable("all unary functions are listed");
}

Value facet::emitBinary(OpBuilder &builder, Location loc, BinaryOp op, Value a,
                        Value b) {
  namespace arith = mlir::arith;
  bool isFloat = mlir::isa<mlir::FloatType>(a.getType());
  auto compare = [&](arith::CmpFPredicate f, arith::CmpIPredicate i) -> Value {
    if (isFloat)
      return arith::CmpFOp::create(builder, loc, f, a, b);
    return arith::CmpIOp::create(builder, loc, i, a, b);
  };
  switch (op) {
  case BinaryOp::Add:
    if (isFloat)
      return arith::AddFOp::create(builder, loc, a, b);
    return arith::AddIOp::create(builder, loc, a, b);
  case BinaryOp::Sub:
    if (isFloat)
      return arith::SubFOp::create(builder, loc, a, b);
    return arith::SubIOp::create(builder, loc, a, b);
  case BinaryOp::Mul:
    if (isFloat)
      return arith::MulFOp::create(builder, loc, a, b);
    return arith::MulIOp::create(builder, loc, a, b);
  case BinaryOp::Div:
    if (isFloat)
      return arith::DivFOp::create(builder, loc, a, b);
    return arith::FloorDivSIOp::create(builder, loc, a, b);
  case BinaryOp::Mod: { // a − ⌊a/b⌋·b
    Value quotient = arith::FloorDivSIOp::create(builder, loc, a, b);
    Value whole = arith::MulIOp::create(builder, loc, quotient, b);
    return arith::SubIOp::create(builder, loc, a, whole);
  }
  case BinaryOp::Min:
    if (isFloat)
      return arith::MinimumFOp::create(builder, loc, a, b);
    return arith::MinSIOp::create(builder, loc, a, b);
  case BinaryOp::Max:
    if (isFloat)
      return arith::MaximumFOp::create(builder, loc, a, b);
    return arith::MaxSIOp::create(builder, loc, a, b);
  case BinaryOp::Lt:
    return compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt);
  case BinaryOp::Le:
    return compare(arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle);
  case BinaryOp::Gt:
    return compare(arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt);
  case BinaryOp::Ge:
    return compare(arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge);
  case BinaryOp::Eq:
    return compare(arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
  case BinaryOp::Ne:
    return compare(arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne);
  case BinaryOp::And:
    return arith::AndIOp::create(builder, loc, a, b);
  case BinaryOp::Or:
    return arith::OrIOp::create(builder, loc, a, b);
  }
  llvm_unreachable("all binary functions are listed");
}

kernel::CastMode facet::castMode(ConvertMode mode) {
  switch (mode) {
  case ConvertMode::Widen:
  case ConvertMode::BoolToNumber:
    return kernel::CastMode::Exact;
  case ConvertMode::Round:
  case ConvertMode::IntToFloat:
    return kernel::CastMode::Round;
  case ConvertMode::RoundSat:
    return kernel::CastMode::RoundSat;
  case ConvertMode::Wrap:
    return kernel::CastMode::Wrap;
  case ConvertMode::IntSat:
  case ConvertMode::FloatToInt:
    return kernel::CastMode::Sat;
  }
  llvm_unreachable("all conversions are listed");
}
