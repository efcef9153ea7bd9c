//===- Num.cpp - arithmetic on SSA values that reads like its formula -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One arith or LLVM intrinsic op per operator, no flags: no contraction, no
// reassociation, wrapping integers. Only intrinsics are used that x86-64-v2 and
// AArch64 have as instructions, since objects may refer to no library.
//
//===----------------------------------------------------------------------===//

#include "Num.h"

using namespace facet::loops;
using namespace mlir;

Value facet::loops::constant(LocBuilder &b, Type type, double value) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(b, b.getFloatAttr(floatType, value));
  return arith::ConstantOp::create(b, b.getIntegerAttr(type, int64_t(value)));
}

Value facet::loops::constant(LocBuilder &b, Type type, int64_t value) {
  if (isa<FloatType>(type))
    return constant(b, type, double(value));
  unsigned width = type.getIntOrFloatBitWidth();
  return arith::ConstantOp::create(
      b, b.getIntegerAttr(type, llvm::APInt(64, value).trunc(width)));
}

template <typename FloatOp, typename IntOp>
static Num binary(Num a, Num b) {
  if (a.isFloat())
    return {a.builder(), FloatOp::create(a.builder(), a.get(), b.get())};
  return {a.builder(), IntOp::create(a.builder(), a.get(), b.get())};
}

static Num compare(Num a, Num b, arith::CmpFPredicate f,
                   arith::CmpIPredicate i) {
  if (a.isFloat())
    return {a.builder(), arith::CmpFOp::create(a.builder(), f, a, b)};
  return {a.builder(), arith::CmpIOp::create(a.builder(), i, a, b)};
}

Num Num::operator+(Num o) const {
  return binary<arith::AddFOp, arith::AddIOp>(*this, o);
}
Num Num::operator-(Num o) const {
  return binary<arith::SubFOp, arith::SubIOp>(*this, o);
}
Num Num::operator*(Num o) const {
  return binary<arith::MulFOp, arith::MulIOp>(*this, o);
}
Num Num::operator/(Num o) const {
  return {*b, arith::DivFOp::create(*b, value, o.value)};
}
Num Num::operator-() const {
  if (isFloat())
    return {*b, arith::NegFOp::create(*b, value)};
  return like(0) - *this;
}
Num Num::operator&(Num o) const {
  return {*b, arith::AndIOp::create(*b, value, o.value)};
}
Num Num::operator|(Num o) const {
  return {*b, arith::OrIOp::create(*b, value, o.value)};
}
Num Num::operator^(Num o) const {
  return {*b, arith::XOrIOp::create(*b, value, o.value)};
}
Num Num::operator<<(Num o) const {
  return {*b, arith::ShLIOp::create(*b, value, o.value)};
}
Num Num::operator>>(Num o) const {
  return {*b, arith::ShRUIOp::create(*b, value, o.value)};
}
Num Num::operator<(Num o) const {
  return compare(*this, o, arith::CmpFPredicate::OLT,
                 arith::CmpIPredicate::slt);
}
Num Num::operator<=(Num o) const {
  return compare(*this, o, arith::CmpFPredicate::OLE,
                 arith::CmpIPredicate::sle);
}
Num Num::operator==(Num o) const {
  return compare(*this, o, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
}
Num Num::operator!=(Num o) const {
  return compare(*this, o, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne);
}

Num facet::loops::select(Num condition, Num a, Num b) {
  return {a.builder(), arith::SelectOp::create(a.builder(), condition.get(),
                                               a.get(), b.get())};
}

Num facet::loops::isNaN(Num x) { return x != x; }

template <typename Op>
static Num intrinsic(Num x) {
  return {x.builder(), Op::create(x.builder(), x.type(), x.get())};
}
Num facet::loops::abs(Num x) { return intrinsic<LLVM::FAbsOp>(x); }
Num facet::loops::sqrt(Num x) { return intrinsic<LLVM::SqrtOp>(x); }
Num facet::loops::floor(Num x) { return intrinsic<LLVM::FFloorOp>(x); }
Num facet::loops::ceil(Num x) { return intrinsic<LLVM::FCeilOp>(x); }
Num facet::loops::roundEven(Num x) { return intrinsic<LLVM::RoundEvenOp>(x); }

Num facet::loops::max(Num a, Num b) {
  return binary<arith::MaximumFOp, arith::MaxSIOp>(a, b);
}
Num facet::loops::min(Num a, Num b) {
  return binary<arith::MinimumFOp, arith::MinSIOp>(a, b);
}

Num facet::loops::extend(Num x, Type type) {
  if (x.type() == type)
    return x;
  if (x.isFloat())
    return {x.builder(), arith::ExtFOp::create(x.builder(), type, x.get())};
  if (x.type().isInteger(1))
    return zeroExtend(x, type);
  return {x.builder(), arith::ExtSIOp::create(x.builder(), type, x.get())};
}
Num facet::loops::truncate(Num x, Type type) {
  if (x.type() == type)
    return x;
  if (x.isFloat())
    return {x.builder(), arith::TruncFOp::create(x.builder(), type, x.get())};
  return {x.builder(), arith::TruncIOp::create(x.builder(), type, x.get())};
}
Num facet::loops::zeroExtend(Num x, Type type) {
  if (x.type() == type)
    return x;
  return {x.builder(), arith::ExtUIOp::create(x.builder(), type, x.get())};
}
Num facet::loops::toFloat(Num x, Type type) {
  if (x.type().isInteger(1))
    return {x.builder(), arith::UIToFPOp::create(x.builder(), type, x.get())};
  return {x.builder(), arith::SIToFPOp::create(x.builder(), type, x.get())};
}
Num facet::loops::toInt(Num x, Type type) {
  return {x.builder(), arith::FPToSIOp::create(x.builder(), type, x.get())};
}
Num facet::loops::bitcast(Num x, Type type) {
  return {x.builder(), arith::BitcastOp::create(x.builder(), type, x.get())};
}

Num facet::loops::polynomial(Num x, llvm::ArrayRef<double> coefficients) {
  Num sum = x.like(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = sum * x + coefficient;
  return sum;
}
