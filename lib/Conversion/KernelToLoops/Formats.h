//===- Formats.h - storage formats: how an element lies in memory ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An element of a storage type travels through scalar code as its bits:
//
//   f16, bf16 → i16    f8… → i8    i16, i8, ui8 → themselves, signless
//   i4, ui4 → i8 (low nibble)      i1 → i1 (a byte in memory)
//   tf32 → f32 (already rounded)   i32, i64, f32, f64 → themselves
//
// decode() makes an f32 or i32 of it, exactly; encode() rounds to it.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_CONVERSION_KERNELTOLOOPS_FORMATS_H
#define FACET_LIB_CONVERSION_KERNELTOLOOPS_FORMATS_H

#include "Num.h"

namespace facet::loops {

/// Facts of a small float format, from its APFloat semantics.
struct FloatFormat {
  unsigned exponentBits, mantissaBits;
  int bias;
  bool hasInfinity; // without: all ones is NaN, everything else finite
  double largest;
  /// Least magnitude that rounds past `largest`.
  double overflow() const;
  /// Distance of neighbours below the least normal number.
  double leastStep() const;
  double leastNormal() const;
  unsigned width() const { return 1 + exponentBits + mantissaBits; }
  uint64_t largestCode() const;
  uint64_t nanCode() const;
};
FloatFormat floatFormat(mlir::FloatType type);

/// The type an element of `type` travels as.
mlir::Type travelType(mlir::Type type);
/// The type an element of `type` is read as: f32, i32, or itself.
mlir::Type arithmeticType(mlir::Type type);
/// Not i1, i32, i64, f32, f64.
bool isStorage(mlir::Type type);
bool isUnsigned(mlir::Type type);
/// Bytes of an element, or of a byte that holds two 4-bit ones.
unsigned storedBytes(mlir::Type type);

/// From the bits of a storage `type` to f32 or i32, exactly.
Num decode(Num bits, mlir::Type type);
/// From f32 or f64 to the bits of a storage float `type` (or tf32): nearest even,
/// subnormals kept. Too large: infinity (f8E4M3FN: NaN), or the largest finite
/// value when `saturate`.
Num encodeFloat(Num x, mlir::Type type, bool saturate);
/// From an integer to the travel form of integer `type`: low bits.
Num wrapInteger(Num x, mlir::Type type);
/// The same, clamped.
Num saturateInteger(Num x, mlir::Type type);
/// From f32 or f64 to the travel form of integer `type`: nearest even, clamped,
/// NaN gives 0.
Num saturateFloat(Num x, mlir::Type type);
/// Least and largest value of an integer type.
std::pair<int64_t, int64_t> integerRange(mlir::Type type);
/// The travel form of a constant of any element type.
mlir::Value travelConstant(LocBuilder &b, mlir::TypedAttr value);

} // namespace facet::loops

#endif // FACET_LIB_CONVERSION_KERNELTOLOOPS_FORMATS_H
