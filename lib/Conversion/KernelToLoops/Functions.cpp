//===- Functions.cpp - exp, log, tanh, erf and their kin ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function is a private function on f64 in the module that calls it, so
// that objects need no mathematical library and every machine computes the same
// bits. Series and fits are ours; what they are good for is measured and stated
// in docs/Numerics.md.
//
//   exp   x = n·ln 2 + r, |r| ≤ ½ ln 2;  2ⁿ · Σ rⁱ/i!
//   log   x = m·2ᵉ, √½ ≤ m < √2;  atanh series in (m − 1)/(m + 1)
//   tanh  E/(E + 2) with E = exp(2|x|) − 1, kept accurate near 0
//   erf   x·P(x²) below 1;  1 − exp(−x²)·Q((x − 5/2)/(x + 5/2)) above
//
//===----------------------------------------------------------------------===//

#include "Functions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace facet::loops;
using namespace mlir;

//===----------------------------------------------------------------------===//
// exp and expm1
//===----------------------------------------------------------------------===//

static constexpr double log2e = 1.4426950408889634;
// ln 2 in two pieces; the first has 20 trailing zero bits, so n·ln2High is exact.
static constexpr double ln2High = 0x1.62e42fee00000p-1;
static constexpr double ln2Low = 0x1.a39ef35793c76p-33;

namespace {
/// x = n·ln 2 + remainder.
struct Reduced {
  Num n, remainder;
};
} // namespace

static Reduced reduceExponent(Num x) {
  Num n = roundEven(x * log2e);
  return {n, (x - n * ln2High) - n * ln2Low};
}

/// 2ⁿ for a whole n in the range of normal numbers.
static Num powerOfTwo(Num n) {
  LocBuilder &b = n.builder();
  return bitcast((toInt(n, b.getI64Type()) + 1023) << 52, b.getF64Type());
}

/// exp(r) − 1 for |r| ≤ ½ ln 2: r + r²·Σ rⁱ/(i+2)!
static Num expm1Series(Num r) {
  llvm::SmallVector<double> coefficients;
  double factorial = 2;
  for (int i = 3; coefficients.size() < 13; ++i) {
    coefficients.push_back(1 / factorial);
    factorial *= i;
  }
  return r + r * r * polynomial(r, coefficients);
}

static Num expBody(Num x) {
  // Outside of this range the result is 0 or inf; 2ⁿ is applied in two steps, so
  // that subnormal results round once.
  Num inside =
      select(isNaN(x), x.like(0.0), min(max(x, x.like(-746.0)), x.like(710.0)));
  Reduced reduced = reduceExponent(inside);
  Num half = floor(reduced.n * 0.5);
  Num result = (expm1Series(reduced.remainder) + 1.0) * powerOfTwo(half) *
               powerOfTwo(reduced.n - half);
  result = select(x > 709.782712893384, x.like(INFINITY), result);
  result = select(x < -745.1332191019412, x.like(0.0), result);
  return select(isNaN(x), x, result);
}

//===----------------------------------------------------------------------===//
// log
//===----------------------------------------------------------------------===//

static Num logBody(Num x) {
  LocBuilder &b = x.builder();
  Type i64 = b.getI64Type();
  // Subnormals first become normal.
  Num tiny = x < 0x1p-1022;
  Num scaled = select(tiny, x * 0x1p54, x);
  // The exponent that leaves a mantissa in [√½, √2).
  constexpr int64_t sqrtHalf = 0x3fe6a09e667f3bcd;
  Num offset = bitcast(scaled, i64) - sqrtHalf;
  Num exponent{b, arith::ShRSIOp::create(b, offset, offset.like(52))};
  Num mantissa =
      bitcast((offset & ((int64_t(1) << 52) - 1)) + sqrtHalf, b.getF64Type());
  Num e = toFloat(exponent, b.getF64Type()) -
          select(tiny, x.like(54.0), x.like(0.0));

  // log(1 + f) = f − f²/2 + s·(f²/2 + R), s = f/(2 + f), R = Σ 2·s²ⁱ/(2i + 1)
  Num f = mantissa - 1.0;
  Num s = f / (f + 2.0);
  llvm::SmallVector<double> coefficients;
  for (int i = 1; i <= 11; ++i)
    coefficients.push_back(2.0 / (2 * i + 1));
  Num s2 = s * s;
  Num tail = s2 * polynomial(s2, coefficients);
  Num halfSquare = f * f * 0.5;
  Num result =
      e * ln2High - ((halfSquare - (s * (halfSquare + tail) + e * ln2Low)) - f);

  result = select(x == x.like(INFINITY), x, result);
  result = select(x == 0.0, x.like(-INFINITY), result);
  return select((x < 0.0) | isNaN(x), x.like(std::nan("")), result);
}

//===----------------------------------------------------------------------===//
// tanh, erf, and what rests on them
//===----------------------------------------------------------------------===//

static Num withSign(Num magnitude, Num sign) {
  LocBuilder &b = sign.builder();
  return {
      b, LLVM::CopySignOp::create(b, sign.type(), magnitude.get(), sign.get())};
}

static Num tanhBody(Num x) {
  Num size = min(abs(x), x.like(22.0)); // tanh(22) rounds to 1; NaN stays
  Num safe = select(isNaN(x), x.like(0.0), size);
  Reduced reduced = reduceExponent(safe + safe);
  Num scale = powerOfTwo(reduced.n);
  Num e = expm1Series(reduced.remainder) * scale + (scale - 1.0);
  Num result = select(abs(x) < 0x1p-28, abs(x), e / (e + 2.0));
  return select(isNaN(x), x, withSign(result, x));
}

static constexpr double erfBelow1[] = {
    1.1283791670955126,      -0.3761263890318375,     0.11283791670954879,
    -0.026866170645076792,   0.0052239776248180145,   -0.000854832698083379,
    0.0001205533111164271,   -1.4925595266831182e-05, 1.6461000484121368e-06,
    -1.6350312701054695e-07, 1.4659775274047436e-08,  -1.1372848856791674e-09,
    5.957176147748911e-11};
static constexpr double erfAbove1[] = {
    0.2108063640611436,      -0.3717367339489734,     0.2517131932174494,
    -0.1250330523788247,     0.039922539075574935,    -0.003993701166223159,
    -0.002642365963784453,   0.0008759154630794508,   0.00022838036598153182,
    -0.00012887741536369735, -3.4182063549802165e-05, 1.8617072081910595e-05,
    7.5513017799442535e-06,  -2.3140931150942177e-06, -1.79706306540687e-06,
    1.2966926825389417e-07,  3.3657006736237105e-07};

static Num erfBody(Num x, Functions &functions) {
  Num size = min(abs(x), x.like(6.0)); // erf(6) rounds to 1
  Num below = size * polynomial(size * size, erfBelow1);
  Num t = (size - 2.5) / (size + 2.5);
  Num above = 1.0 - functions.call(Function::Exp, -(size * size)) *
                        polynomial(t, erfAbove1);
  return select(isNaN(x), x, withSign(select(size < 1.0, below, above), x));
}

/// 1/(1 + exp(−x)), with the exponential that cannot overflow.
static Num sigmoidBody(Num x, Functions &functions) {
  Num e = functions.call(Function::Exp, -abs(x));
  return select(x < 0.0, e, x.like(1.0)) / (e + 1.0);
}

static Num geluTanhBody(Num x, Functions &functions) {
  Num inner = (x + x * x * x * 0.044715) * 0.7978845608028654; // √(2/π)
  return x * 0.5 * (functions.call(Function::Tanh, inner) + 1.0);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

llvm::StringRef Functions::name(Function function) {
  switch (function) {
  case Function::Exp:
    return "facet.exp";
  case Function::Log:
    return "facet.log";
  case Function::Tanh:
    return "facet.tanh";
  case Function::Erf:
    return "facet.erf";
  case Function::Sigmoid:
    return "facet.sigmoid";
  case Function::Silu:
    return "facet.silu";
  case Function::Gelu:
    return "facet.gelu";
  case Function::GeluTanh:
    return "facet.gelu_tanh";
  case Function::Sqrt:
    return "facet.sqrt";
  case Function::Rsqrt:
    return "facet.rsqrt";
  }
  llvm_unreachable("all functions are listed");
}

static Num emitBody(Function function, Num x, Functions &functions) {
  switch (function) {
  case Function::Exp:
    return expBody(x);
  case Function::Log:
    return logBody(x);
  case Function::Tanh:
    return tanhBody(x);
  case Function::Erf:
    return erfBody(x, functions);
  case Function::Sigmoid:
    return sigmoidBody(x, functions);
  case Function::Silu:
    return x * functions.call(Function::Sigmoid, x);
  case Function::Gelu:
    return x * 0.5 *
           (functions.call(Function::Erf, x * 0.7071067811865476) + 1.0);
  case Function::GeluTanh:
    return geluTanhBody(x, functions);
  case Function::Sqrt:
    return sqrt(x);
  case Function::Rsqrt:
    return 1.0 / sqrt(x);
  }
  llvm_unreachable("all functions are listed");
}

ValueRange
Functions::call(LocBuilder &b, llvm::StringRef name, FunctionType type,
                ValueRange operands,
                llvm::function_ref<void(LocBuilder &, ValueRange)> define) {
  auto callee = module.lookupSymbol<func::FuncOp>(name);
  if (!callee) {
    LocBuilder outer(b.getLoc(), b.getContext());
    outer.setInsertionPointToStart(module.getBody());
    callee = func::FuncOp::create(outer, name, type);
    callee.setPrivate();
    // Once in the object, however often it is called; vectors do not like calls.
    if (llvm::none_of(type.getInputs(), llvm::IsaPred<VectorType>))
      callee->setAttr("passthrough", outer.getStrArrayAttr({"noinline"}));
    callee->setAttr(
        "llvm.linkage",
        LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
    Block *entry = callee.addEntryBlock();
    outer.setInsertionPointToStart(entry);
    define(outer, entry->getArguments());
  }
  return func::CallOp::create(b, callee, operands).getResults();
}

Num Functions::call(Function function, Num x) {
  if (function == Function::Sqrt)
    return sqrt(x); // an instruction, correctly rounded
  LocBuilder &b = x.builder();
  Num argument = extend(x, b.getF64Type());
  Type f64 = argument.type();
  std::string symbol = name(function).str();
  if (auto vector = dyn_cast<VectorType>(f64))
    symbol += ".v" + std::to_string(vector.getNumElements());
  Value result = call(b, symbol, b.getFunctionType(f64, f64), argument.get(),
                      [&](LocBuilder &inner, ValueRange operands) {
                        Num body =
                            emitBody(function, Num(inner, operands[0]), *this);
                        func::ReturnOp::create(inner, body.get());
                      })[0];
  return truncate(Num(b, result), x.element());
}
