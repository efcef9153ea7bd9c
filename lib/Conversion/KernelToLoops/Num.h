//===- Num.h - arithmetic on SSA values that reads like its formula -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `x * x + 1.0` on two Num builds arith.mulf and arith.addf; on integers muli
// and addi. A plain number on the right becomes a constant of the left side's
// type. Comparisons are ordered (false with NaN) and signed.
//
// Scalars and vectors alike: a scalar that meets a vector is broadcast, and the
// element type given to a conversion takes the shape of its operand.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_CONVERSION_KERNELTOLOOPS_NUM_H
#define FACET_LIB_CONVERSION_KERNELTOLOOPS_NUM_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

#include <type_traits>

namespace facet::loops {

using LocBuilder = mlir::ImplicitLocOpBuilder;

/// A constant of `type` (integer, float, or a vector of them).
mlir::Value constant(LocBuilder &b, mlir::Type type, double value);
mlir::Value constant(LocBuilder &b, mlir::Type type, int64_t value);

/// Numbers may stand on the right of an operator; a C++ bool may not.
template <typename T>
using IfNumber =
    std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, int>;

class Num {
public:
  Num() = default;
  Num(LocBuilder &builder, mlir::Value value) : b(&builder), value(value) {}
  operator mlir::Value() const { return value; }
  mlir::Value get() const { return value; }
  explicit operator bool() const { return bool(value); }
  mlir::Type type() const { return value.getType(); }
  LocBuilder &builder() const { return *b; }
  mlir::Type element() const { return mlir::getElementTypeOrSelf(value); }
  unsigned width() const { return element().getIntOrFloatBitWidth(); }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(element()); }
  /// `element` in the shape of this value.
  mlir::Type shaped(mlir::Type element) const;

  template <typename T>
  Num like(T number) const {
    if constexpr (std::is_floating_point_v<T>)
      return {*b, constant(*b, type(), double(number))};
    else
      return {*b, constant(*b, type(), int64_t(number))};
  }

  Num operator+(Num o) const;
  Num operator-(Num o) const;
  Num operator*(Num o) const;
  /// Floats only.
  Num operator/(Num o) const;
  Num operator-() const;
  Num operator&(Num o) const;
  Num operator|(Num o) const;
  Num operator^(Num o) const;
  Num operator<<(Num o) const;
  /// Logical shift.
  Num operator>>(Num o) const;
  Num operator<(Num o) const;
  Num operator<=(Num o) const;
  Num operator>(Num o) const { return o < *this; }
  Num operator>=(Num o) const { return o <= *this; }
  Num operator==(Num o) const;
  Num operator!=(Num o) const;

#define FACET_NUM_CONSTANT(OP)                                                 \
  template <typename T, IfNumber<T> = 0>                                       \
  Num operator OP(T number) const {                                            \
    return *this OP like(number);                                              \
  }
  FACET_NUM_CONSTANT(+)
  FACET_NUM_CONSTANT(-)
  FACET_NUM_CONSTANT(*)
  FACET_NUM_CONSTANT(/)
  FACET_NUM_CONSTANT(&)
  FACET_NUM_CONSTANT(|)
  FACET_NUM_CONSTANT(^)
  FACET_NUM_CONSTANT(<<)
  FACET_NUM_CONSTANT(>>)
  FACET_NUM_CONSTANT(<)
  FACET_NUM_CONSTANT(<=)
  FACET_NUM_CONSTANT(>)
  FACET_NUM_CONSTANT(>=)
  FACET_NUM_CONSTANT(==)
  FACET_NUM_CONSTANT(!=)
#undef FACET_NUM_CONSTANT

private:
  LocBuilder *b = nullptr;
  mlir::Value value;
};

/// `number op x`
inline Num operator-(double number, Num x) { return x.like(number) - x; }
inline Num operator/(double number, Num x) { return x.like(number) / x; }

/// Of i1. Not an operator: `!x` asks whether x is empty.
inline Num invert(Num x) { return x ^ -1; }
/// a/divisor of integers; a ≥ 0.
Num quotient(Num a, int64_t divisor);
Num select(Num condition, Num a, Num b);
Num isNaN(Num x);
Num abs(Num x); // floats
Num sqrt(Num x);
Num floor(Num x);
Num ceil(Num x);
Num roundEven(Num x);
/// Of floats: NaN if one is, −0 below +0. Of integers: signed.
Num max(Num a, Num b);
Num min(Num a, Num b);
/// To an integer or float type of any width: integers by sign, i1 as 0 or 1.
Num extend(Num x, mlir::Type type);
/// Integers: the low bits. Floats: nearest even.
Num truncate(Num x, mlir::Type type);
Num zeroExtend(Num x, mlir::Type type);
Num toFloat(Num x, mlir::Type type); // signed integer, rounds once
Num toInt(Num x, mlir::Type type);   // truncates; only where it fits
Num bitcast(Num x, mlir::Type type);
/// Σ coefficients[i]·xⁱ by Horner's rule.
Num polynomial(Num x, llvm::ArrayRef<double> coefficients);

} // namespace facet::loops

#endif // FACET_LIB_CONVERSION_KERNELTOLOOPS_NUM_H
