//===- Values.h - elements as the engines see them ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_VALUES_H
#define FACET_LIB_SIM_VALUES_H

#include "facet/Isa/Program.h"

namespace facet::sim {

/// The bits every NaN result has.
float canonical(float value);

/// The bits of an element, little-endian, zero-extended.
uint64_t loadBits(const uint8_t *at, DType type);
void storeBits(uint8_t *at, DType type, uint64_t bits);

/// An element read for f32 arithmetic: exact, but for integers beyond 24 bits.
float toFloat(uint64_t bits, DType type);
/// An element of an integer type.
int32_t toInt(uint64_t bits, DType type);
/// Results written as `type`: docs/InstructionSet.md, "Numbers".
uint64_t fromFloat(float value, DType type, bool saturate);
uint64_t fromInt(int32_t value, DType type, bool saturate);

/// n elements that lie one after another, as toFloat.
void toFloats(const uint8_t *packed, DType type, size_t n, float *out);

/// n values one after another, as fromFloat and fromInt.
void fromFloats(const float *values, size_t n, DType type, bool saturate,
                uint8_t *out);
void fromInts(const int32_t *values, size_t n, DType type, bool saturate,
              uint8_t *out);

/// An operation on f32, rounded once; a NaN result is canonical.
float applyFloat(Alu op, float a, float b);
/// The same on i32, wrapping.
int32_t applyInt(Alu op, int32_t a, int32_t b);

/// n values, or one that stands for all of them.
template <typename T>
struct Row {
  const T *values;
  bool one = false;
};
/// An operation on n pairs; `out` is none of the operands.
void applyRow(Alu op, Row<float> a, Row<float> b, size_t n, float *out);
void applyRow(Alu op, Row<int32_t> a, Row<int32_t> b, size_t n, int32_t *out);
/// A function of `activate` (Functions.cpp).
float applyFunction(Function function, float x);

} // namespace facet::sim

#endif // FACET_LIB_SIM_VALUES_H
