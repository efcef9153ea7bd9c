//===- Values.cpp - elements as the engines see them ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions by LLVM's APFloat, which rounds every format to nearest even and
// keeps subnormals, so that no table or bit trick of ours can be wrong; bf16 and
// f32, which fill most memories, have a direct way, and rows are read by table.
// Arithmetic is the host's f32, which is IEEE's as long as nothing contracts it (the
// build says so). For rows there is a loop for each operation, which the compiler
// can make vectors of; the operation itself is written once.
//
//===----------------------------------------------------------------------===//

#include "Values.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

using namespace facet;
using llvm::APFloat;
using sim::canonical;

#define FACET_ALWAYS_INLINE inline __attribute__((always_inline))

static constexpr uint32_t canonicalNaN = 0x7fc00000;

float sim::canonical(float value) {
  return std::isnan(value) ? llvm::bit_cast<float>(canonicalNaN) : value;
}

uint64_t sim::loadBits(const uint8_t *at, DType type) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, dtypeBytes(type));
  return bits;
}

void sim::storeBits(uint8_t *at, DType type, uint64_t bits) {
  std::memcpy(at, &bits, dtypeBytes(type));
}

static const llvm::fltSemantics &semantics(DType type) {
  switch (type) {
  case DType::F16:
    return APFloat::IEEEhalf();
  case DType::BF16:
    return APFloat::BFloat();
  case DType::F8E4M3:
    return APFloat::Float8E4M3();
  case DType::F8E4M3FN:
    return APFloat::Float8E4M3FN();
  case DType::F8E5M2:
    return APFloat::Float8E5M2();
  case DType::TF32:
    return APFloat::FloatTF32();
  case DType::F64:
    return APFloat::IEEEdouble();
  default:
    return APFloat::IEEEsingle();
  }
}

/// f32 to the nearest number with 10 mantissa bits, ties to even.
static uint32_t roundToTF32(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000)
    return canonicalNaN;
  return (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
}

static uint64_t canonicalNaNOf(DType type) {
  switch (type) {
  case DType::BF16:
    return 0x7fc0;
  case DType::F16:
    return 0x7e00;
  case DType::F8E5M2:
    return 0x7e;
  case DType::F8E4M3:
    return 0x7c;
  case DType::F8E4M3FN:
    return 0x7f;
  default:
    return canonicalNaN;
  }
}

float sim::toFloat(uint64_t bits, DType type) {
  switch (type) {
  case DType::F32:
    return llvm::bit_cast<float>(uint32_t(bits));
  case DType::TF32:
    return llvm::bit_cast<float>(roundToTF32(uint32_t(bits)));
  case DType::BF16:
    return llvm::bit_cast<float>(uint32_t(bits) << 16);
  case DType::I32:
  case DType::I16:
  case DType::I8:
  case DType::U8:
    return float(toInt(bits, type));
  default: {
    APFloat value(semantics(type), llvm::APInt(dtypeBits(type), bits));
    bool lost = false;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    return value.convertToFloat();
  }
  }
}

int32_t sim::toInt(uint64_t bits, DType type) {
  switch (type) {
  case DType::I16:
    return int16_t(bits);
  case DType::I8:
    return int8_t(bits);
  case DType::U8:
    return uint8_t(bits);
  default:
    return int32_t(uint32_t(bits));
  }
}

/// Least and largest value of an integer type of up to 32 bits.
static std::pair<int64_t, int64_t> integerRange(DType type) {
  switch (type) {
  case DType::I16:
    return {-32768, 32767};
  case DType::I8:
    return {-128, 127};
  case DType::U8:
    return {0, 255};
  default:
    return {std::numeric_limits<int32_t>::min(),
            std::numeric_limits<int32_t>::max()};
  }
}

uint64_t sim::fromFloat(float value, DType type, bool saturate) {
  if (dtypeIsInteger(type)) {
    if (std::isnan(value))
      return 0;
    auto [least, largest] = integerRange(type);
    double nearest = std::nearbyint(double(value));
    int64_t integer = nearest <= double(least)     ? least
                      : nearest >= double(largest) ? largest
                                                   : int64_t(nearest);
    return uint64_t(integer) & (~uint64_t(0) >> (64 - dtypeBits(type)));
  }
  if (std::isnan(value))
    return type == DType::F64 ? 0x7ff8000000000000 : canonicalNaNOf(type);
  const llvm::fltSemantics &format = semantics(type);
  if (saturate && type != DType::F64) {
    APFloat largest = APFloat::getLargest(format);
    bool lost = false;
    largest.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    float limit = largest.convertToFloat();
    value = std::fmin(std::fmax(value, -limit), limit);
  }
  if (type == DType::F32)
    return llvm::bit_cast<uint32_t>(value);
  if (type == DType::TF32)
    return roundToTF32(llvm::bit_cast<uint32_t>(value));
  if (type == DType::BF16) {
    uint32_t bits = llvm::bit_cast<uint32_t>(value);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  }
  APFloat rounded(value);
  bool lost = false;
  rounded.convert(format, APFloat::rmNearestTiesToEven, &lost);
  if (rounded.isNaN()) // f8e4m3fn has no infinity
    return canonicalNaNOf(type);
  return rounded.bitcastToAPInt().getZExtValue();
}

uint64_t sim::fromInt(int32_t value, DType type, bool saturate) {
  if (dtypeIsFloat(type))
    return fromFloat(float(value), type, saturate);
  int64_t integer = value;
  if (saturate) {
    auto [least, largest] = integerRange(type);
    integer = std::min(std::max(integer, least), largest);
  }
  return uint64_t(integer) & (~uint64_t(0) >> (64 - dtypeBits(type)));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The values of all bit patterns of a type of 8 or 16 bits.
static std::vector<float> tableOf(DType type) {
  std::vector<float> table(size_t(1) << dtypeBits(type));
  for (size_t bits = 0; bits != table.size(); ++bits)
    table[bits] = sim::toFloat(bits, type);
  return table;
}

void sim::toFloats(const uint8_t *packed, DType type, size_t n, float *out) {
  if (type == DType::F32) {
    std::memcpy(out, packed, n * sizeof(float));
    return;
  }
  if (type == DType::BF16) {
    for (size_t i = 0; i != n; ++i) {
      uint16_t half;
      std::memcpy(&half, packed + 2 * i, 2);
      out[i] = llvm::bit_cast<float>(uint32_t(half) << 16);
    }
    return;
  }
  if (dtypeBits(type) > 16) {
    for (size_t i = 0; i != n; ++i)
      out[i] = toFloat(loadBits(packed + i * dtypeBytes(type), type), type);
    return;
  }
  static const std::array<std::vector<float>, numDTypes> tables = [] {
    std::array<std::vector<float>, numDTypes> all;
    for (unsigned t = 0; t != numDTypes; ++t)
      if (dtypeBits(DType(t)) <= 16)
        all[t] = tableOf(DType(t));
    return all;
  }();
  const float *table = tables[unsigned(type)].data();
  bool narrow = dtypeBits(type) == 8;
  for (size_t i = 0; i != n; ++i) {
    if (narrow) {
      out[i] = table[packed[i]];
      continue;
    }
    uint16_t bits = 0;
    std::memcpy(&bits, packed + 2 * i, 2);
    out[i] = table[bits];
  }
}

static void toBF16(const float *values, size_t n, uint8_t *out) {
  uint32_t nan = uint32_t(canonicalNaNOf(DType::BF16));
  for (size_t i = 0; i != n; ++i) {
    uint32_t bits = llvm::bit_cast<uint32_t>(values[i]);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    uint16_t half = uint16_t((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
    std::memcpy(out + 2 * i, &half, 2);
  }
}

void sim::fromFloats(const float *values, size_t n, DType type, bool saturate,
                     uint8_t *out) {
  if (type == DType::BF16 && !saturate)
    return toBF16(values, n, out);
  if (type == DType::F32 && !saturate) {
    for (size_t i = 0; i != n; ++i) {
      float value = canonical(values[i]);
      std::memcpy(out + 4 * i, &value, 4);
    }
    return;
  }
  for (size_t i = 0, size = dtypeBytes(type); i != n; ++i)
    storeBits(out + i * size, type, fromFloat(values[i], type, saturate));
}

void sim::fromInts(const int32_t *values, size_t n, DType type, bool saturate,
                   uint8_t *out) {
  if (type == DType::I32) {
    std::memcpy(out, values, n * 4);
    return;
  }
  for (size_t i = 0, size = dtypeBytes(type); i != n; ++i)
    storeBits(out + i * size, type, fromInt(values[i], type, saturate));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The greater; NaN when either is; −0 below +0.
static float greater(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<float>::quiet_NaN();
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
static float smaller(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<float>::quiet_NaN();
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
static float signOf(float a) {
  return std::isnan(a) || a == 0 ? a : a > 0 ? 1.0f : -1.0f;
}

static FACET_ALWAYS_INLINE float apply(Alu op, float a, float b) {
  auto truth = [](bool holds) { return holds ? 1.0f : 0.0f; };
  switch (op) {
  case Alu::Bypass:
    return canonical(a);
  case Alu::Add:
    return canonical(a + b);
  case Alu::Sub:
    return canonical(a - b);
  case Alu::Mul:
    return canonical(a * b);
  case Alu::Max:
    return canonical(greater(a, b));
  case Alu::Min:
    return canonical(smaller(a, b));
  case Alu::AbsMax:
    return canonical(greater(std::fabs(a), std::fabs(b)));
  case Alu::AbsMin:
    return canonical(smaller(std::fabs(a), std::fabs(b)));
  case Alu::Eq:
    return truth(a == b);
  case Alu::Ne:
    return truth(a != b);
  case Alu::Lt:
    return truth(a < b);
  case Alu::Le:
    return truth(a <= b);
  case Alu::Gt:
    return truth(a > b);
  case Alu::Ge:
    return truth(a >= b);
  case Alu::LogicalAnd:
    return truth(a != 0 && b != 0);
  case Alu::LogicalOr:
    return truth(a != 0 || b != 0);
  case Alu::Abs:
    return canonical(std::fabs(a));
  case Alu::Neg:
    return canonical(-a);
  case Alu::Square:
    return canonical(a * a);
  case Alu::Relu:
    return std::isnan(a) ? canonical(a) : a > 0 ? a : 0.0f;
  case Alu::Reciprocal:
    return canonical(1.0f / a);
  case Alu::Sqrt:
    return canonical(std::sqrt(a));
  case Alu::Rsqrt:
    return canonical(1.0f / std::sqrt(a));
  case Alu::LogicalNot:
    return truth(a == 0);
  case Alu::Round:
    return canonical(std::nearbyint(a));
  case Alu::Floor:
    return canonical(std::floor(a));
  case Alu::Ceil:
    return canonical(std::ceil(a));
  case Alu::Sign:
    return canonical(signOf(a));
  default:
    return canonical(a); // integer operations are refused by the static checks
  }
}

static FACET_ALWAYS_INLINE int32_t apply(Alu op, int32_t a, int32_t b) {
  uint32_t x = uint32_t(a), y = uint32_t(b);
  auto magnitude = [](int32_t v) {
    return v < 0 ? int32_t(0u - uint32_t(v)) : v;
  };
  switch (op) {
  case Alu::Add:
    return int32_t(x + y);
  case Alu::Sub:
    return int32_t(x - y);
  case Alu::Mul:
    return int32_t(x * y);
  case Alu::Max:
    return std::max(a, b);
  case Alu::Min:
    return std::min(a, b);
  case Alu::AbsMax:
    return std::max(magnitude(a), magnitude(b));
  case Alu::AbsMin:
    return std::min(magnitude(a), magnitude(b));
  case Alu::And:
    return int32_t(x & y);
  case Alu::Or:
    return int32_t(x | y);
  case Alu::Xor:
    return int32_t(x ^ y);
  case Alu::Shl:
    return y > 31 ? 0 : int32_t(x << y);
  case Alu::Shr:
    return y > 31 ? 0 : int32_t(x >> y);
  case Alu::Sar:
    return a >> std::min(std::max(b, 0), 31);
  case Alu::Eq:
    return a == b;
  case Alu::Ne:
    return a != b;
  case Alu::Lt:
    return a < b;
  case Alu::Le:
    return a <= b;
  case Alu::Gt:
    return a > b;
  case Alu::Ge:
    return a >= b;
  case Alu::LogicalAnd:
    return a != 0 && b != 0;
  case Alu::LogicalOr:
    return a != 0 || b != 0;
  case Alu::Abs:
    return magnitude(a);
  case Alu::Neg:
    return int32_t(0u - x);
  case Alu::Square:
    return int32_t(x * x);
  case Alu::Relu:
    return std::max(a, 0);
  case Alu::Not:
    return int32_t(~x);
  case Alu::LogicalNot:
    return a == 0;
  case Alu::Sign:
    return a > 0 ? 1 : a < 0 ? -1 : 0;
  case Alu::FloorDiv:
  case Alu::FloorMod: {
    if (b == 0)
      return 0;
    int64_t quotient = int64_t(a) / b;
    if (int64_t(a) % b != 0 && (a < 0) != (b < 0))
      --quotient;
    return op == Alu::FloorDiv ? int32_t(uint32_t(quotient))
                               : int32_t(int64_t(a) - int64_t(b) * quotient);
  }
  default:
    return a;
  }
}

float sim::applyFloat(Alu op, float a, float b) { return apply(op, a, b); }
int32_t sim::applyInt(Alu op, int32_t a, int32_t b) { return apply(op, a, b); }

//===----------------------------------------------------------------------===//
// Operations on rows
//===----------------------------------------------------------------------===//

template <typename T, size_t op>
static void loop(sim::Row<T> a, sim::Row<T> b, size_t n, T *__restrict out) {
  const T *x = a.values, *y = b.values, oneX = x[0], oneY = y[0];
  if (a.one)
    for (size_t i = 0; i != n; ++i)
      out[i] = apply(Alu(op), oneX, y[i]);
  else if (b.one)
    for (size_t i = 0; i != n; ++i)
      out[i] = apply(Alu(op), x[i], oneY);
  else
    for (size_t i = 0; i != n; ++i)
      out[i] = apply(Alu(op), x[i], y[i]);
}

template <typename T, size_t... ops>
static constexpr auto loopsOf(std::index_sequence<ops...>) {
  return std::array{loop<T, ops>...};
}

template <typename T>
static constexpr auto loops = loopsOf<T>(std::make_index_sequence<numAlus>());

void sim::applyRow(Alu op, Row<float> a, Row<float> b, size_t n, float *out) {
  loops<float>[size_t(op)](a, b, n, out);
}
void sim::applyRow(Alu op, Row<int32_t> a, Row<int32_t> b, size_t n,
                   int32_t *out) {
  loops<int32_t>[size_t(op)](a, b, n, out);
}
