//===- Formats.cpp - storage formats: how an element lies in memory -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions by integer arithmetic, one formula for all small floats:
//
//   decode  the bits, moved to their place in an f32, and the exponent rebased;
//           a subnormal is its mantissa times the least step
//   encode  from f32 or f64: add half a step less one plus the odd bit, drop the
//           rest, rebase; a subnormal is |x| + 2^(23 + e) (f64: 52), whose low bits
//           are the rounded code
//
// The machine's own conversions are not used: bf16, f16 and f8 have none on the
// baseline, and the code LLVM would call for them lies in a library.
//
//===----------------------------------------------------------------------===//

#include "Formats.h"

#include <cmath>

using namespace facet::loops;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

FloatFormat facet::loops::floatFormat(FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  unsigned precision = llvm::APFloat::semanticsPrecision(semantics);
  unsigned width = llvm::APFloat::semanticsSizeInBits(semantics);
  if (isa<FloatTF32Type>(type))
    width = 19;
  FloatFormat format;
  format.mantissaBits = precision - 1;
  format.exponentBits = width - precision;
  format.bias = 1 - llvm::APFloat::semanticsMinExponent(semantics);
  format.hasInfinity = llvm::APFloat::semanticsHasInf(semantics);
  format.largest = llvm::APFloat::getLargest(semantics).convertToDouble();
  return format;
}

double FloatFormat::leastNormal() const { return std::ldexp(1.0, 1 - bias); }
double FloatFormat::leastStep() const {
  return std::ldexp(1.0, 1 - bias - int(mantissaBits));
}
double FloatFormat::overflow() const {
  int exponent;
  std::frexp(largest, &exponent); // largest = f·2^exponent, 0.5 ≤ f < 1
  return largest + std::ldexp(1.0, exponent - 2 - int(mantissaBits));
}
uint64_t FloatFormat::largestCode() const {
  uint64_t allOnes = (uint64_t(1) << (exponentBits + mantissaBits)) - 1;
  if (!hasInfinity)
    return allOnes - 1;
  return allOnes - (uint64_t(1) << mantissaBits);
}
uint64_t FloatFormat::nanCode() const {
  uint64_t allOnes = (uint64_t(1) << (exponentBits + mantissaBits)) - 1;
  if (!hasInfinity)
    return allOnes;
  return largestCode() + 1 + (uint64_t(1) << (mantissaBits - 1));
}

bool facet::loops::isStorage(Type type) {
  if (type.isF32() || type.isF64() || isa<IndexType>(type))
    return false;
  if (isa<FloatType>(type))
    return true;
  return !type.isSignlessInteger(1) && !type.isSignlessInteger(32) &&
         !type.isSignlessInteger(64);
}

bool facet::loops::isUnsigned(Type type) {
  return type.isUnsignedInteger() || type.isSignlessInteger(1);
}

Type facet::loops::travelType(Type type) {
  MLIRContext *context = type.getContext();
  if (isa<IndexType>(type))
    return IntegerType::get(context, 64);
  if (isa<FloatTF32Type>(type))
    return Float32Type::get(context);
  if (type.isF32() || type.isF64() || type.isSignlessInteger(1))
    return type;
  return IntegerType::get(context, std::max(8u, type.getIntOrFloatBitWidth()));
}

Type facet::loops::arithmeticType(Type type) {
  if (isa<IndexType>(type))
    return IntegerType::get(type.getContext(), 64);
  if (!isStorage(type))
    return type;
  if (isa<FloatType>(type))
    return Float32Type::get(type.getContext());
  return IntegerType::get(type.getContext(), 32);
}

unsigned facet::loops::storedBytes(Type type) {
  if (isa<FloatTF32Type>(type))
    return 4;
  return std::max(8u, type.getIntOrFloatBitWidth()) / 8;
}

std::pair<int64_t, int64_t> facet::loops::integerRange(Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (isUnsigned(type))
    return {0, (int64_t(1) << width) - 1};
  return {llvm::minIntN(width), llvm::maxIntN(width)};
}

//===----------------------------------------------------------------------===//
// Decode
//===----------------------------------------------------------------------===//

static Num decodeFloat(Num bits, FloatType type) {
  LocBuilder &b = bits.builder();
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  if (isa<FloatTF32Type>(type))
    return bits;
  FloatFormat format = floatFormat(type);
  Num code = zeroExtend(bits, i32);
  if (isa<BFloat16Type>(type))
    return bitcast(code << 16, f32);

  unsigned shift = 23 - format.mantissaBits;
  unsigned magnitudeBits = format.exponentBits + format.mantissaBits;
  Num magnitude = code & ((int64_t(1) << magnitudeBits) - 1);
  Num sign = (code >> magnitudeBits) << 31;
  Num normal = (magnitude << shift) + (int64_t(127 - format.bias) << 23);
  Num subnormal = bitcast(toFloat(magnitude, f32) * format.leastStep(), i32);
  Num result = select(magnitude < (int64_t(1) << format.mantissaBits),
                      subnormal, normal);
  // Above the largest code: infinity or NaN, whose exponent is all ones.
  result = select(magnitude > int64_t(format.largestCode()),
                  (magnitude << shift) | int64_t(0x7f800000), result);
  return bitcast(result | sign, f32);
}

Num facet::loops::decode(Num bits, Type type) {
  if (!isStorage(type))
    return bits;
  if (auto floatType = dyn_cast<FloatType>(type))
    return decodeFloat(bits, floatType);
  Type i32 = bits.builder().getI32Type();
  unsigned width = type.getIntOrFloatBitWidth();
  if (width < 8) { // a nibble: up to the sign bit, and back
    Num high = zeroExtend(bits, i32) << (32 - width);
    if (isUnsigned(type))
      return high >> (32 - width);
    return {bits.builder(),
            arith::ShRSIOp::create(bits.builder(), high.get(),
                                   high.like(32 - width).get())};
  }
  return isUnsigned(type) ? zeroExtend(bits, i32) : extend(bits, i32);
}

//===----------------------------------------------------------------------===//
// Encode
//===----------------------------------------------------------------------===//

Num facet::loops::encodeFloat(Num x, Type type, bool saturate) {
  LocBuilder &b = x.builder();
  auto floatType = cast<FloatType>(type);
  FloatFormat format = floatFormat(floatType);
  // f32 is encoded in 32 bits, f64 in 64.
  bool isWide = x.width() == 64;
  Type integer = b.getIntegerType(x.width());
  unsigned sourceMantissa = isWide ? 52 : 23;
  int sourceBias = isWide ? 1023 : 127;

  Num bits = bitcast(x, integer);
  Num magnitude =
      bits & (isWide ? std::numeric_limits<int64_t>::max() : 0x7fffffff);
  Num sign = (bits >> (x.width() - 1)) << (format.width() - 1);

  unsigned shift = sourceMantissa - format.mantissaBits;
  Num odd = (magnitude >> shift) & 1;
  Num rounded = (magnitude + ((int64_t(1) << (shift - 1)) - 1) + odd) >> shift;
  Num code =
      rounded - (int64_t(sourceBias - format.bias) << format.mantissaBits);

  if (sourceBias != format.bias) {
    double magic = std::ldexp(1.0, 1 - format.bias - int(format.mantissaBits) +
                                       int(sourceMantissa));
    int64_t magicBits = isWide ? llvm::bit_cast<int64_t>(magic)
                               : llvm::bit_cast<int32_t>(float(magic));
    Num absolute = abs(x);
    Num subnormal = bitcast(absolute + magic, integer) - magicBits;
    code = select(absolute < format.leastNormal(), subnormal, code);
  }

  uint64_t tooLarge = saturate             ? format.largestCode()
                      : format.hasInfinity ? format.largestCode() + 1
                                           : format.nanCode();
  // Where infinity follows the largest number, and the exponents are the source's,
  // rounding has gone there by itself.
  if (saturate || !format.hasInfinity || sourceBias != format.bias)
    code =
        select(code > int64_t(format.largestCode()), code.like(tooLarge), code);
  code = select(isNaN(x), code.like(format.nanCode()), code) | sign;
  if (isa<FloatTF32Type>(type))
    return bitcast(truncate(code << 13, b.getI32Type()), b.getF32Type());
  return truncate(code, travelType(type));
}

Num facet::loops::wrapInteger(Num x, Type type) {
  Type travel = travelType(type);
  Num result = x.width() < travel.getIntOrFloatBitWidth() ? extend(x, travel)
                                                          : truncate(x, travel);
  unsigned width = type.getIntOrFloatBitWidth();
  return width < 8 && width > 1 ? result & ((1 << width) - 1) : result;
}

Num facet::loops::saturateInteger(Num x, Type type) {
  auto [least, largest] = integerRange(type);
  if (type.getIntOrFloatBitWidth() < x.width() || isUnsigned(type))
    x = min(max(x, x.like(least)), x.like(largest));
  return wrapInteger(x, type);
}

Num facet::loops::saturateFloat(Num x, Type type) {
  // In f64 the limits of all but i64 are exact; 2^63 itself is for i64.
  LocBuilder &b = x.builder();
  Num nearest = roundEven(extend(x, b.getF64Type()));
  auto [least, largest] = integerRange(type);
  Type i64 = b.getI64Type();
  Num low = nearest <= double(least);
  Num high = nearest >= double(largest);
  Num inside = select(low | high | isNaN(nearest), nearest.like(0.0), nearest);
  Num integer = toInt(inside, i64);
  integer = select(low, integer.like(least), integer);
  integer = select(high, integer.like(largest), integer);
  return wrapInteger(integer, type);
}

Value facet::loops::travelConstant(LocBuilder &b, TypedAttr value) {
  Type type = value.getType();
  if (auto floatAttr = dyn_cast<FloatAttr>(value)) {
    if (!isStorage(type))
      return arith::ConstantOp::create(b, value);
    if (isa<FloatTF32Type>(type))
      return constant(b, b.getF32Type(), floatAttr.getValueAsDouble());
    llvm::APInt bits = floatAttr.getValue().bitcastToAPInt();
    return constant(b, travelType(type), int64_t(bits.getZExtValue()));
  }
  const llvm::APInt &bits = cast<IntegerAttr>(value).getValue();
  Type travel = travelType(type);
  unsigned width = travel.getIntOrFloatBitWidth();
  return arith::ConstantOp::create(
      b,
      b.getIntegerAttr(travel, bits.getBitWidth() < width ? bits.zext(width)
                                                          : bits.trunc(width)));
}
