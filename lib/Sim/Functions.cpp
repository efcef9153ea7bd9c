//===- Functions.cpp - the functions of activate --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 -> f32 by way of f64: the host's functions of f64 err by about one ulp of
// f64, so that what is rounded to f32 is inside half an ulp and a little, well
// inside the bounds of docs/InstructionSet.md. Where the textbook form loses
// digits (gelu of a negative number is x times almost nothing) an equal form is
// used that does not:
//
//   gelu(x) = x (1 + erf(x / sqrt 2)) / 2 = x erfc(-x / sqrt 2) / 2
//
//===----------------------------------------------------------------------===//

#include "Values.h"

#include <cmath>

using namespace facet;

static double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

static float evaluate(Function function, float x) {
  constexpr double sqrtHalf = 0.70710678118654752440;
  constexpr double sqrtTwoOverPi = 0.79788456080286535588;
  double wide = x;
  switch (function) {
  case Function::Identity:
    return x;
  case Function::Exp:
    return float(std::exp(wide));
  case Function::Log:
    return float(std::log(wide));
  case Function::Sqrt:
    return std::sqrt(x);
  case Function::Rsqrt:
    return float(1.0 / std::sqrt(wide));
  case Function::Reciprocal:
    return 1.0f / x;
  case Function::Tanh:
    return float(std::tanh(wide));
  case Function::Sigmoid:
    return float(logistic(wide));
  case Function::Erf:
    return float(std::erf(wide));
  case Function::Gelu:
    return float(wide * (0.5 * std::erfc(-wide * sqrtHalf)));
  case Function::GeluTanh: {
    double u = sqrtTwoOverPi * (wide + 0.044715 * wide * wide * wide);
    return float(wide * logistic(2 * u));
  }
  case Function::Silu:
    return float(wide * logistic(wide));
  case Function::Relu:
    return sim::applyFloat(Alu::Relu, x, 0);
  case Function::Abs:
    return std::fabs(x);
  case Function::Square:
    return x * x;
  case Function::Sign:
    return sim::applyFloat(Alu::Sign, x, 0);
  }
  return x;
}

float sim::applyFunction(Function function, float x) {
  return canonical(evaluate(function, x));
}
