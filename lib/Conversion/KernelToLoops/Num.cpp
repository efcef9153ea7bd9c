//===- Num.cpp - arithmetic on SSA values that reads like its formula -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One arith or LLVM intrinsic op per operator, folded when constant, no flags: no contraction, no
// reassociation, wrapping integers. Only intrinsics are used that x86-64-v2 and
// AArch64 have as instructions, since objects may refer to no library.
//
//===----------------------------------------------------------------------===//

#include "Num.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace facet::loops;
using namespace mlir;

static TypedAttr splatOf(Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return DenseElementsAttr::get(vector, Attribute(element));
  return element;
}

Value facet::loops::constant(LocBuilder &b, Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr = isa<FloatType>(element)
                       ? TypedAttr(b.getFloatAttr(element, value))
                       : TypedAttr(b.getIntegerAttr(element, int64_t(value)));
  return arith::ConstantOp::create(b, splatOf(type, attr));
}

Value facet::loops::constant(LocBuilder &b, Type type, int64_t value) {
  Type element = getElementTypeOrSelf(type);
  if (isa<FloatType>(element))
    return constant(b, type, double(value));
  unsigned width = element.getIntOrFloatBitWidth();
  return arith::ConstantOp::create(
      b, splatOf(type, b.getIntegerAttr(element,
                                        llvm::APInt(64, value).trunc(width))));
}

Type Num::shaped(Type element) const {
  if (auto vector = dyn_cast<VectorType>(type()))
    return vector.cloneWith(std::nullopt, element);
  return element;
}

/// Gives both the shape of the one that is a vector.
static void broadcast(Num &a, Num &b) {
  auto widen = [](Num &scalar, Num &like) {
    if (isa<VectorType>(like.type()) && !isa<VectorType>(scalar.type()))
      scalar = {scalar.builder(),
                vector::BroadcastOp::create(scalar.builder(),
                                            like.shaped(scalar.type()),
                                            scalar.get())};
  };
  widen(a, b);
  widen(b, a);
}

template <typename FloatOp, typename IntOp>
static Num binary(Num a, Num b) {
  broadcast(a, b);
  if (a.isFloat())
    return {a.builder(), a.builder().createOrFold<FloatOp>(a.get(), b.get())};
  return {a.builder(), a.builder().createOrFold<IntOp>(a.get(), b.get())};
}

static Num compare(Num a, Num b, arith::CmpFPredicate f,
                   arith::CmpIPredicate i) {
  broadcast(a, b);
  if (a.isFloat())
    return {a.builder(), a.builder().createOrFold<arith::CmpFOp>(f, a, b)};
  return {a.builder(), a.builder().createOrFold<arith::CmpIOp>(i, a, b)};
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
  return binary<arith::DivFOp, arith::DivFOp>(*this, o);
}
Num Num::operator-() const {
  if (isFloat())
    return {*b, arith::NegFOp::create(*b, value)};
  return like(0) - *this;
}
Num Num::operator&(Num o) const {
  return binary<arith::AndIOp, arith::AndIOp>(*this, o);
}
Num Num::operator|(Num o) const {
  return binary<arith::OrIOp, arith::OrIOp>(*this, o);
}
Num Num::operator^(Num o) const {
  return binary<arith::XOrIOp, arith::XOrIOp>(*this, o);
}
Num Num::operator<<(Num o) const {
  return binary<arith::ShLIOp, arith::ShLIOp>(*this, o);
}
Num Num::operator>>(Num o) const {
  return binary<arith::ShRUIOp, arith::ShRUIOp>(*this, o);
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
  broadcast(a, b);
  broadcast(a, condition); // a scalar condition of vectors could stay one
  broadcast(a, b);
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

template <typename Op>
static Num convert(Num x, Type element) {
  if (x.element() == element)
    return x;
  return {x.builder(), Op::create(x.builder(), x.shaped(element), x.get())};
}

Num facet::loops::extend(Num x, Type type) {
  if (x.isFloat())
    return convert<arith::ExtFOp>(x, type);
  return x.element().isInteger(1) ? zeroExtend(x, type)
                                  : convert<arith::ExtSIOp>(x, type);
}
Num facet::loops::truncate(Num x, Type type) {
  return x.isFloat() ? convert<arith::TruncFOp>(x, type)
                     : convert<arith::TruncIOp>(x, type);
}
Num facet::loops::zeroExtend(Num x, Type type) {
  return convert<arith::ExtUIOp>(x, type);
}
Num facet::loops::toFloat(Num x, Type type) {
  return x.element().isInteger(1) ? convert<arith::UIToFPOp>(x, type)
                                  : convert<arith::SIToFPOp>(x, type);
}
Num facet::loops::toInt(Num x, Type type) {
  return convert<arith::FPToSIOp>(x, type);
}
Num facet::loops::bitcast(Num x, Type type) {
  return convert<arith::BitcastOp>(x, type);
}

Num facet::loops::quotient(Num a, int64_t divisor) {
  LocBuilder &b = a.builder();
  return {b, b.createOrFold<arith::DivUIOp>(a.get(), a.like(divisor).get())};
}

Num facet::loops::polynomial(Num x, llvm::ArrayRef<double> coefficients) {
  Num sum = x.like(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = sum * x + coefficient;
  return sum;
}
