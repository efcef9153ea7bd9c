//===- Literal.cpp - exact numbers until a type is known ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `1 / 3.0` is a third here, and is rounded once, when a type is known:
//
//   x * (1 / 3.0)   x: f32  ↦  0x3eaaaaab      x: f64  ↦  0x3fd5555555555555
//
// Rational arithmetic on LLVM's unbounded integers; the length is limited, so
// that no text can make the compiler work for long.
//
//===----------------------------------------------------------------------===//

#include "Literal.h"

#include "llvm/Support/ErrorHandling.h"

#include <cmath>
#include <limits>

using namespace facet;
using llvm::DynamicAPInt;
using llvm::StringRef;

static constexpr unsigned longest = 1 << 14; // bits of a numerator
static constexpr int widestExponent = 400; // beyond every type, digits counted

static DynamicAPInt power(int64_t base, unsigned exponent) {
  DynamicAPInt result(1), square(base);
  for (; exponent; exponent >>= 1) {
    if (exponent & 1)
      result *= square;
    if (exponent > 1)
      square *= square;
  }
  return result;
}

static DynamicAPInt fromDigits(StringRef digits) {
  DynamicAPInt result(0);
  while (!digits.empty()) {
    StringRef chunk = digits.take_front(18);
    int64_t value = 0;
    chunk.getAsInteger(10, value);
    result = result * power(10, chunk.size()) + DynamicAPInt(value);
    digits = digits.drop_front(chunk.size());
  }
  return result;
}

/// Bits of |x|; 0 for 0.
static unsigned bitLength(const DynamicAPInt &x) {
  DynamicAPInt rest = abs(x);
  unsigned bits = 0;
  static const DynamicAPInt big = power(2, 512);
  while (rest >= big) {
    rest /= big;
    bits += 512;
  }
  while (rest > std::numeric_limits<int64_t>::max()) {
    rest /= DynamicAPInt(int64_t(1) << 32);
    bits += 32;
  }
  for (auto small = int64_t(rest); small; small >>= 1)
    ++bits;
  return bits;
}

static void reduce(Literal &a) {
  DynamicAPInt common = gcd(abs(a.numerator), a.denominator);
  if (common > 1) {
    a.numerator /= common;
    a.denominator /= common;
  }
}

Literal facet::integerLiteral(StringRef digits) {
  Literal result;
  result.numerator = fromDigits(digits);
  return result;
}

std::optional<Literal> facet::floatLiteral(StringRef text) {
  auto [mantissa, exponentText] = text.split('e');
  if (exponentText.empty())
    std::tie(mantissa, exponentText) = text.split('E');
  auto [whole, fraction] = mantissa.split('.');
  Literal result;
  result.kind = Literal::Float;
  result.numerator = fromDigits((whole + fraction).str());
  if (result.numerator == 0)
    return result; // whatever the exponent
  int exponent = 0;
  exponentText.consume_front("+");
  if (!exponentText.empty() && (exponentText.getAsInteger(10, exponent) ||
                                std::abs(exponent) > widestExponent))
    return std::nullopt;
  exponent -= static_cast<int>(fraction.size());
  if (exponent >= 0)
    result.numerator *= power(10, exponent);
  else
    result.denominator = power(10, -exponent);
  return result;
}

static bool isNegative(const Literal &a) {
  return a.isFinite() && a.numerator != 0 ? a.numerator < 0 : a.negative;
}

Literal facet::negate(const Literal &a) {
  Literal result = a;
  result.numerator = -a.numerator;
  if (a.kind == Literal::Infinity || (a.kind == Literal::Float && a.isZero()))
    result.negative = !a.negative;
  return result;
}

bool facet::equal(const Literal &a, const Literal &b) {
  if (a.kind == Literal::NaN || b.kind == Literal::NaN)
    return false;
  if (!a.isFinite() || !b.isFinite())
    return a.kind == b.kind && a.negative == b.negative;
  return a.numerator * b.denominator == b.numerator * a.denominator;
}

bool facet::lessThan(const Literal &a, const Literal &b) {
  if (a.kind == Literal::NaN || b.kind == Literal::NaN)
    return false;
  auto rank = [](const Literal &x) {
    return x.isFinite() ? 0 : x.negative ? -1 : 1;
  };
  if (rank(a) || rank(b))
    return rank(a) < rank(b);
  return a.numerator * b.denominator < b.numerator * a.denominator;
}

/// + - * / where an operand is infinite, NaN or −0: only kinds and signs count.
static Literal foldSpecial(checked::BinaryOp op, const Literal &a,
                           const Literal &b) {
  using checked::BinaryOp;
  auto stand = [](const Literal &x) -> double {
    if (x.kind == Literal::NaN)
      return std::numeric_limits<double>::quiet_NaN();
    double size = x.kind == Literal::Infinity
                      ? std::numeric_limits<double>::infinity()
                      : (x.isZero() ? 0.0 : 1.0);
    return isNegative(x) ? -size : size;
  };
  double x = stand(a), y = stand(b), value = 0;
  switch (op) {
  case BinaryOp::Add:
    value = x + y;
    break;
  case BinaryOp::Sub:
    value = x - y;
    break;
  case BinaryOp::Mul:
    value = x * y;
    break;
  default:
    value = x / y;
  }
  Literal result;
  result.kind = std::isnan(value)   ? Literal::NaN
                : std::isinf(value) ? Literal::Infinity
                                    : Literal::Float;
  result.negative = result.kind != Literal::NaN && std::signbit(value);
  return result; // a finite value here is a zero: callers see to that
}

std::optional<Literal> facet::fold(checked::BinaryOp op, const Literal &a,
                                   const Literal &b, std::string &problem) {
  using checked::BinaryOp;
  if (op == BinaryOp::Min || op == BinaryOp::Max) {
    if (a.kind == Literal::NaN || b.kind == Literal::NaN)
      return a.kind == Literal::NaN ? a : b;
    bool aIsLess =
        lessThan(a, b) || (equal(a, b) && isNegative(a) && !isNegative(b));
    Literal result = aIsLess == (op == BinaryOp::Min) ? a : b;
    if (a.isFloat() || b.isFloat())
      result.kind = result.isFinite() ? Literal::Float : result.kind;
    return result;
  }
  bool isFloat = a.isFloat() || b.isFloat();
  if ((op == BinaryOp::Div || op == BinaryOp::Mod) && b.isZero()) {
    problem = "division by zero among literals; write `inf` or `nan`";
    return std::nullopt;
  }
  if (op == BinaryOp::Mod && isFloat) {
    problem = "`%` takes integers, found a float literal";
    return std::nullopt;
  }
  if (op == BinaryOp::Mod && b.numerator < 0) {
    problem = "`%` takes a positive divisor";
    return std::nullopt;
  }
  bool zeroMatters = (op == BinaryOp::Add || op == BinaryOp::Sub)
                         ? a.isZero() && b.isZero()
                         : a.isZero() || b.isZero();
  if (isFloat && (!a.isFinite() || !b.isFinite() || zeroMatters ||
                  (op == BinaryOp::Div && b.kind == Literal::Infinity)))
    return foldSpecial(op, a, b);

  Literal result;
  result.kind = isFloat ? Literal::Float : Literal::Integer;
  switch (op) {
  case BinaryOp::Add:
    result.numerator =
        a.numerator * b.denominator + b.numerator * a.denominator;
    result.denominator = a.denominator * b.denominator;
    break;
  case BinaryOp::Sub:
    result.numerator =
        a.numerator * b.denominator - b.numerator * a.denominator;
    result.denominator = a.denominator * b.denominator;
    break;
  case BinaryOp::Mul:
    result.numerator = a.numerator * b.numerator;
    result.denominator = a.denominator * b.denominator;
    break;
  case BinaryOp::Div:
    result.numerator = a.numerator * b.denominator;
    result.denominator = a.denominator * b.numerator;
    if (result.denominator < 0) {
      result.numerator = -result.numerator;
      result.denominator = -result.denominator;
    }
    break;
  case BinaryOp::Mod:
    result.numerator =
        a.numerator - floorDiv(a.numerator, b.numerator) * b.numerator;
    break;
  default:
    llvm_unreachable("comparisons");
  }
  // A common factor does no harm until numbers grow long by it.
  if (!isFloat || bitLength(result.denominator) > longest / 4)
    reduce(result);
  if (!isFloat && result.denominator != 1)
    result.kind = Literal::Float; // 1 / 2 is a half, not 0

  if (bitLength(result.numerator) > longest ||
      bitLength(result.denominator) > longest) {
    problem = "the literals fold to a number of more than " +
              std::to_string(longest) + " bits";
    return std::nullopt;
  }
  return result;
}

std::optional<int64_t> facet::asInteger(const Literal &a, ScalarType type) {
  if (a.kind != Literal::Integer)
    return std::nullopt;
  unsigned width = bitWidth(type);
  bool isUnsigned = type == ScalarType::U8 || type == ScalarType::U4;
  int64_t most = isUnsigned ? (int64_t(1) << width) - 1
                            : int64_t((uint64_t(1) << (width - 1)) - 1);
  int64_t least = isUnsigned ? 0 : -most - 1;
  if (a.numerator < DynamicAPInt(least) || a.numerator > DynamicAPInt(most))
    return std::nullopt;
  return int64_t(a.numerator);
}

namespace {
/// Significand bits (the hidden one included), exponents of the smallest and
/// the largest normal number, largest significand at the largest exponent.
struct FloatFormat {
  int precision, least, most;
  double largest;
};
} // namespace

static FloatFormat formatOf(ScalarType type) {
  switch (type) {
  case ScalarType::F64:
    return {53, -1022, 1023, std::numeric_limits<double>::max()};
  case ScalarType::F16:
    return {11, -14, 15, 65504};
  case ScalarType::BF16:
    return {8, -126, 127, std::ldexp(255.0, 120)};
  case ScalarType::TF32:
    return {11, -126, 127, std::ldexp(2047.0, 117)};
  case ScalarType::F8E4M3:
    return {4, -6, 7, 240};
  case ScalarType::F8E4M3FN:
    return {4, -6, 8, 448};
  case ScalarType::F8E5M2:
    return {3, -14, 15, 57344};
  default:
    return {24, -126, 127, std::numeric_limits<float>::max()};
  }
}

RoundedLiteral facet::roundTo(const Literal &a, ScalarType type) {
  if (a.kind == Literal::NaN)
    return {std::numeric_limits<double>::quiet_NaN(), true, false};
  double sign = isNegative(a) ? -1 : 1;
  if (a.kind == Literal::Infinity) {
    bool none = type == ScalarType::F8E4M3FN;
    return {none ? std::numeric_limits<double>::quiet_NaN()
                 : sign * std::numeric_limits<double>::infinity(),
            !none, false};
  }
  if (a.isZero())
    return {sign * 0.0, true, false};

  FloatFormat format = formatOf(type);
  DynamicAPInt n = abs(a.numerator), d = a.denominator;
  auto scaled = [](const DynamicAPInt &x, int by) {
    return by > 0 ? x * power(2, by) : x;
  };
  // 2^exponent <= n/d < 2^(exponent+1)
  int exponent = int(bitLength(n)) - int(bitLength(d));
  if (scaled(n, -exponent) < scaled(d, exponent))
    --exponent;
  // Bits below the last one kept: more of them for a subnormal number.
  int lowest = std::max(exponent, format.least) - (format.precision - 1);
  DynamicAPInt dividend = scaled(n, -lowest), divisor = scaled(d, lowest);
  DynamicAPInt significand = dividend / divisor;
  DynamicAPInt rest = dividend - significand * divisor;
  DynamicAPInt twice = rest * DynamicAPInt(2);
  bool odd = significand % DynamicAPInt(2) != 0;
  if (twice > divisor || (twice == divisor && odd))
    ++significand;
  // A significand has at most 54 bits: exact in a double.
  double value = exponent > 1100
                     ? std::numeric_limits<double>::infinity()
                     : std::ldexp(double(int64_t(significand)), lowest);
  if (value > format.largest) {
    double beyond = type == ScalarType::F8E4M3FN
                        ? std::numeric_limits<double>::quiet_NaN()
                        : std::numeric_limits<double>::infinity();
    return {sign * beyond, false, true};
  }
  return {sign * value, rest == 0, false};
}
