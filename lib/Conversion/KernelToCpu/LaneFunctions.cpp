//===- LaneFunctions.cpp - exp, tanh, erf and their kin in f32 ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference road computes these in f64, which costs a vector twice as many
// instructions of half the width and a conversion each way. In f32 the language's
// 2 ulp are met by fused multiply-adds alone:
//
//   exp        x = n·ln 2 + r;  2ⁿ·(1 + r + r²·P(r))
//   log        x = 2ᵉ·(1 + f), √½ ≤ 1 + f < √2;  e·ln 2 + f − f²/2 + f³·P(f)
//   tanh       x + x³·P(x²) below 0.6;  1 − 2/(exp(2|x|) + 1) above
//   erf        x + x·P(x²) below 0.92;  1 − exp(P(|x|)) above
//   sigmoid    1/(1 + e) or e/(1 + e), e = exp(−|x|)
//   gelu       x·(1 − Q) or x·Q, Q = 2^P(|x|): the tail of the normal distribution
//   silu, gelu_tanh    x/(1 + 2^…)
//
// There is no branch and no table: both sides are computed and one is chosen. The
// polynomials are ours, fitted to least largest error (Lawson's weights) in f64
// and rounded to f32; test/Conversion/KernelToCpu/functions.facet measures the whole.
//
// Signs of zero, infinities and NaN follow the formulas of the language; a NaN passes
// every comparison as "no", which is why clamps are written as select(low > x, …).
//
//===----------------------------------------------------------------------===//

#include "LaneFunctions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using loops::Function;
using loops::LocBuilder;
using loops::Num;

//===----------------------------------------------------------------------===//
// Tools
//===----------------------------------------------------------------------===//

static Num fma(Num a, Num b, Num c) {
  return {a.builder(),
          LLVM::FMAOp::create(a.builder(), a.get(), b.get(), c.get())};
}
static Num fma(Num a, double b, Num c) { return fma(a, a.like(b), c); }
static Num fma(Num a, Num b, double c) { return fma(a, b, a.like(c)); }

/// Σ coefficients[i]·xⁱ.
static Num horner(Num x, llvm::ArrayRef<double> coefficients) {
  Num sum = x.like(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, coefficient);
  return sum;
}

/// The lesser of x and a limit, the greater of both; NaN stays.
static Num atMost(Num x, double limit) {
  return select(x.like(limit) < x, x.like(limit), x);
}
static Num atLeast(Num x, double limit) {
  return select(x.like(limit) > x, x.like(limit), x);
}

static Num withSign(Num magnitude, Num sign) {
  return {sign.builder(),
          LLVM::CopySignOp::create(sign.builder(), sign.type(), magnitude.get(),
                                   sign.get())};
}

namespace {
/// A whole number as a float and as an i32.
struct Whole {
  Num value, integer;
};
} // namespace

/// The whole number next to x·factor, |x·factor| < 2²²: added to 1.5·2²³, it is in the
/// last bits of the sum.
static Whole nearest(Num x, double factor) {
  constexpr double magic = 0x1.8p23;
  Num sum = fma(x, factor, x.like(magic));
  Num bits = bitcast(sum, x.builder().getI32Type());
  return {sum - magic, bits - int64_t(llvm::bit_cast<int32_t>(float(magic)))};
}

/// 2ⁿ, −126 ≤ n ≤ 127.
static Num powerOfTwo(Num n) {
  return bitcast((n + 127) << 23, n.builder().getF32Type());
}

/// x·2ⁿ, rounded once, for 1/2 < x < 2 and |n| < 252.
static Num scale(Num x, Whole n, const CpuFeatures &features) {
  LocBuilder &b = x.builder();
  auto vector = dyn_cast<VectorType>(x.type());
  if (features.vectorBytes == 64 && vector && vector.getNumElements() == 16) {
    Value all = loops::constant(b, b.getI16Type(), int64_t(-1));
    Value nearestEven = loops::constant(b, b.getI32Type(), int64_t(4));
    return {b, LLVM::CallIntrinsicOp::create(
                   b, x.type(),
                   b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
                   ValueRange{x, n.value, x, all, nearestEven})
                   .getResult(0)};
  }
  // In two steps, so that a subnormal result is rounded by the second alone.
  Num half{b,
           arith::ShRSIOp::create(b, n.integer.get(), n.integer.like(1).get())};
  return x * powerOfTwo(half) * powerOfTwo(n.integer - half);
}

//===----------------------------------------------------------------------===//
// exp
//===----------------------------------------------------------------------===//

static constexpr double log2e = 1.4426950408889634;
// ln 2 in two pieces.
static constexpr double ln2High = 0x1.62e43p-1;
static constexpr double ln2Low = -0x1.05c610ca86c39p-29;

/// (exp(r) − 1 − r)/r² for |r| ≤ 0.3475.
static constexpr double expTail[] = {0.49999994, 0.166665196, 0.0416684039,
                                     0.00836889911, 0.00138142216};
/// x − n·ln 2.
static Num remainder(Num x, Num n) {
  return fma(n, -ln2Low, fma(n, -ln2High, x));
}

static Num exp(Num x, const CpuFeatures &features) {
  // Beyond these the result is 0 or an infinity.
  Num inside = atLeast(atMost(x, 89.0), -104.0);
  Whole n = nearest(inside, log2e);
  Num r = remainder(inside, n.value);
  Num power = fma(r * r, horner(r, expTail), r) + 1.0;
  return scale(power, n, features);
}

/// 2ˣ to 1e-7, for results with a tolerance of their own.
static Num exp2(Num x, const CpuFeatures &features) {
  static constexpr double coefficients[] = {1.0,           0.693147004,
                                            0.240222394,   0.0555073619,
                                            0.00967172533, 0.00132644537};
  Num inside = atLeast(atMost(x, 129.0), -151.0);
  Whole n = nearest(inside, 1.0);
  return scale(horner(inside - n.value, coefficients), n, features);
}

//===----------------------------------------------------------------------===//
// log
//===----------------------------------------------------------------------===//

static Num log(Num x) {
  LocBuilder &b = x.builder();
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  /// (log(1 + f) − f + f²/2)/f³ for √½ ≤ 1 + f < √2.
  static constexpr double tail[] = {0.333333135,  -0.250000089, 0.200021192,
                                    -0.166679963, 0.142195523,  -0.124055885,
                                    0.11888162,   -0.116756529, 0.0674664155};
  // 355/512, so that e times it is exact, and the rest of ln 2.
  constexpr double high = 0.693359375, low = -2.1219444005469058e-4;
  // Subnormals first become normal.
  Num tiny = x < 0x1p-126;
  Num scaled = select(tiny, x * 0x1p23, x);
  constexpr int64_t sqrtHalf = 0x3f3504f3;
  Num offset = bitcast(scaled, i32) - sqrtHalf;
  Num exponent{b, arith::ShRSIOp::create(b, offset, offset.like(23))};
  Num e = toFloat(exponent, f32) - select(tiny, x.like(23.0), x.like(0.0));
  Num f = bitcast((offset & 0x7fffff) + sqrtHalf, f32) - 1.0;
  Num square = f * f;
  Num rest = square * f * horner(f, tail);
  rest = fma(square, -0.5, fma(e, low, rest));
  Num result = fma(e, high, f + rest);
  result = select(x == x.like(INFINITY), x, result);
  result = select(x == 0.0, x.like(-INFINITY), result);
  return select(x >= 0.0, result, x.like(std::nan("")));
}

//===----------------------------------------------------------------------===//
// tanh, erf, sigmoid
//===----------------------------------------------------------------------===//

static Num tanh(Num x, const CpuFeatures &features) {
  /// (tanh(x)/x − 1)/x² for x² ≤ 0.36.
  static constexpr double below[] = {-0.333332986, 0.133319244, -0.0537838303,
                                     0.0207959712, -0.00589515781};
  Num size = atMost(abs(x), 9.1); // tanh(9.1) rounds to 1
  Num square = size * size;
  Num near = fma(size * square, horner(square, below), size);
  Num far = 1.0 - 2.0 / (exp(size + size, features) + 1.0);
  return withSign(select(size < 0.6, near, far), x);
}

static Num erf(Num x, const CpuFeatures &features) {
  /// erf(x)/x − 1 for x² ≤ 0.85.
  static constexpr double below[] = {0.12837911,    -0.376124978,
                                     0.112818465,   -0.0267677233,
                                     0.00499483477, -0.000599942578};
  /// log(1 − erf(x)) for 0.92 ≤ x ≤ 4.
  static constexpr double above[] = {
      -0.000207017438, -1.12762737,   -0.637265801,  -0.10385631,
      0.022189742,     -0.0030336834, 0.000194945766};
  Num size = atMost(abs(x), 4.0); // erf(4) rounds to 1
  Num near = fma(size, horner(size * size, below), size);
  Num far = 1.0 - exp(horner(size, above), features);
  return withSign(select(size < 0.92, near, far), x);
}

static Num sigmoid(Num x, const CpuFeatures &features) {
  Num e = exp(-abs(x), features);
  Num sum = e + 1.0;
  Num quotient = select(x < 0.0, e, x.like(1.0)) / sum;
  // The sum lost `lost`, so the quotient is too large by a factor of 1 + lost/sum;
  // a line is good enough for 1/sum between 1 and 2.
  Num lost = e - (sum - 1.0);
  Num inverse = fma(sum, -0.4706, sum.like(1.4118));
  return fma(quotient * lost, -inverse, quotient);
}

//===----------------------------------------------------------------------===//
// Activations, which may be off by 2⁻²³·|x|
//===----------------------------------------------------------------------===//

/// ½·(1 + erf(x/√2)) of −|x| is 2^P(|x|); with a last coefficient below 0, large x
/// give 0.
static Num gelu(Num x, const CpuFeatures &features) {
  static constexpr double tail[] = {
      -1.0,           -1.15110517,   -0.45920819,
      -0.0524961799,  0.00706342002, -0.000136936374,
      -0.00018618023, 3.937769e-05,  -2.83491272e-06};
  Num q = exp2(horner(abs(x), tail), features);
  return x * select(x < 0.0, q, 1.0 - q);
}

static Num silu(Num x, const CpuFeatures &features) {
  return x / (exp2(x * -log2e, features) + 1.0);
}

static Num geluTanh(Num x, const CpuFeatures &features) {
  // ½·(1 + tanh(u)) = 1/(1 + exp(−2u)), u = √(2/π)·(x + 0.044715·x³)
  constexpr double one = -2 * 0.7978845608028654 * log2e;
  Num exponent = x * fma(x * x, one * 0.044715, x.like(one));
  return x / (exp2(exponent, features) + 1.0);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static Num emit(Function function, Num x, const CpuFeatures &features) {
  switch (function) {
  case Function::Exp:
    return exp(x, features);
  case Function::Log:
    return log(x);
  case Function::Tanh:
    return tanh(x, features);
  case Function::Erf:
    return erf(x, features);
  case Function::Sigmoid:
    return sigmoid(x, features);
  case Function::Silu:
    return silu(x, features);
  case Function::Gelu:
    return gelu(x, features);
  case Function::GeluTanh:
    return geluTanh(x, features);
  case Function::Sqrt:
    return sqrt(x);
  case Function::Rsqrt:
    return 1.0 / sqrt(x);
  }
  llvm_unreachable("all functions are listed");
}

Num LaneFunctions::call(Function function, Num x) {
  if (!features.fma || !x.element().isF32())
    return Functions::call(function, x);
  // In place: a call would put every sum of a micro-kernel on the stack.
  if (isa<VectorType>(x.type()) || function == Function::Sqrt)
    return emit(function, x, features);
  LocBuilder &b = x.builder();
  Type f32 = x.type();
  Value result = Functions::call(
      b, (name(function) + ".f32").str(), b.getFunctionType(f32, f32), x.get(),
      [&](LocBuilder &inner, ValueRange operands) {
        Num body = emit(function, Num(inner, operands[0]), features);
        func::ReturnOp::create(inner, body.get());
      })[0];
  return {b, result};
}
