//===- LiteralTest.cpp - exact numbers, rounded once ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The oracle for rounding is APFloat's conversion from decimal text, for every
// float type of the language.
//
//===----------------------------------------------------------------------===//

#include "Literal.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Error.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace facet;
using checked::BinaryOp;
using llvm::APFloat;

namespace {

const std::pair<ScalarType, const llvm::fltSemantics *> formats[] = {
    {ScalarType::F64, &APFloat::IEEEdouble()},
    {ScalarType::F32, &APFloat::IEEEsingle()},
    {ScalarType::F16, &APFloat::IEEEhalf()},
    {ScalarType::BF16, &APFloat::BFloat()},
    {ScalarType::TF32, &APFloat::FloatTF32()},
    {ScalarType::F8E4M3, &APFloat::Float8E4M3()},
    {ScalarType::F8E5M2, &APFloat::Float8E5M2()}};

double byApfloat(const llvm::fltSemantics &semantics, llvm::StringRef text) {
  APFloat value(semantics);
  auto status = value.convertFromString(text, APFloat::rmNearestTiesToEven);
  EXPECT_TRUE(bool(status));
  bool loses;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  return value.convertToDouble();
}

void expectRounds(const std::string &text) {
  std::optional<Literal> literal = floatLiteral(text);
  ASSERT_TRUE(literal) << text;
  for (auto [type, semantics] : formats) {
    double expected = byApfloat(*semantics, text);
    RoundedLiteral rounded = roundTo(*literal, type);
    EXPECT_EQ(rounded.value, expected) << text << " " << spelling(type).str();
    EXPECT_EQ(rounded.overflow, std::isinf(expected)) << text;
  }
}

Literal folded(BinaryOp op, const Literal &a, const Literal &b) {
  std::string problem;
  std::optional<Literal> result = fold(op, a, b, problem);
  EXPECT_TRUE(result) << problem;
  return result.value_or(Literal());
}

} // namespace

TEST(LiteralTest, rounds_as_apfloat_does) {
  for (const char *text : {"0.1",
                           "1.0",
                           "0.70710678118654752",
                           "65504.0",
                           "65519.9",
                           "65520.0",
                           "3.4028235677973366e38",
                           "3.4028235e38",
                           "1.7976931348623157e308",
                           "1.7976931348623159e308",
                           "4.9e-324",
                           "2.4e-324",
                           "2.5e-324",
                           "1e-45",
                           "0.7e-45",
                           "1.1754943e-38",
                           "240.0",
                           "247.9",
                           "248.0",
                           "57344.0",
                           "61439.9",
                           "61440.0",
                           "0.001953125",
                           "0.0009765625",
                           "0.00097656251",
                           "1.0625",
                           "1.1875",
                           "5.960464477539063e-8",
                           "2.98023223876953125e-8",
                           "2.9802322387695313e-8"})
    expectRounds(text);
}

TEST(LiteralTest, rounds_random_decimals_as_apfloat_does) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text = std::to_string(random() % 1000000007) + "." +
                       std::to_string(random() % 100000) + "e" +
                       std::to_string(int(random() % 90) - 55);
    expectRounds(text);
  }
}

TEST(LiteralTest, f8e4m3fn_ends_at_448_without_infinity) {
  EXPECT_EQ(roundTo(*floatLiteral("448.0"), ScalarType::F8E4M3FN).value, 448);
  EXPECT_EQ(roundTo(*floatLiteral("463.9"), ScalarType::F8E4M3FN).value, 448);
  RoundedLiteral beyond = roundTo(*floatLiteral("480.0"), ScalarType::F8E4M3FN);
  EXPECT_TRUE(beyond.overflow);
  EXPECT_TRUE(std::isnan(beyond.value));
}

TEST(LiteralTest, folds_exactly_then_rounds_once) {
  Literal third =
      folded(BinaryOp::Div, *floatLiteral("1.0"), *floatLiteral("3.0"));
  EXPECT_EQ(roundTo(third, ScalarType::F64).value, 1.0 / 3.0);
  EXPECT_EQ(roundTo(third, ScalarType::F32).value, double(1.0f / 3.0f));
  Literal one = folded(BinaryOp::Mul, third, integerLiteral("3"));
  EXPECT_TRUE(equal(one, integerLiteral("1")));
  // 0.1 + 0.2 is 0.3 here, unlike in binary.
  Literal sum =
      folded(BinaryOp::Add, *floatLiteral("0.1"), *floatLiteral("0.2"));
  EXPECT_TRUE(equal(sum, *floatLiteral("0.3")));
  Literal difference =
      folded(BinaryOp::Sub, *floatLiteral("1e300"), *floatLiteral("1e-300"));
  EXPECT_TRUE(lessThan(difference, *floatLiteral("1e300")));
}

TEST(LiteralTest, integers_divide_exactly) {
  auto seven = integerLiteral("7"), two = integerLiteral("2");
  Literal half = folded(BinaryOp::Div, seven, two);
  EXPECT_TRUE(equal(half, *floatLiteral("3.5")) && half.isFloat());
  Literal four = folded(BinaryOp::Div, integerLiteral("8"), negate(two));
  EXPECT_TRUE(equal(four, negate(integerLiteral("4"))) && !four.isFloat());
  EXPECT_TRUE(
      equal(folded(BinaryOp::Mod, negate(seven), two), integerLiteral("1")));
}

TEST(LiteralTest, integers_fit_or_do_not) {
  EXPECT_EQ(asInteger(integerLiteral("9223372036854775807"), ScalarType::I64),
            INT64_MAX);
  EXPECT_EQ(
      asInteger(negate(integerLiteral("9223372036854775808")), ScalarType::I64),
      INT64_MIN);
  EXPECT_FALSE(
      asInteger(integerLiteral("9223372036854775808"), ScalarType::I64));
  EXPECT_EQ(asInteger(integerLiteral("255"), ScalarType::U8), 255);
  EXPECT_FALSE(asInteger(integerLiteral("256"), ScalarType::U8));
  EXPECT_FALSE(asInteger(negate(integerLiteral("1")), ScalarType::U4));
  EXPECT_EQ(asInteger(negate(integerLiteral("8")), ScalarType::I4), -8);
  EXPECT_FALSE(asInteger(integerLiteral("8"), ScalarType::I4));
}

TEST(LiteralTest, special_values_follow_ieee) {
  Literal inf;
  inf.kind = Literal::Infinity;
  Literal zero = *floatLiteral("0.0"), one = *floatLiteral("1.0");
  EXPECT_EQ(folded(BinaryOp::Sub, inf, inf).kind, Literal::NaN);
  EXPECT_EQ(folded(BinaryOp::Mul, inf, zero).kind, Literal::NaN);
  EXPECT_TRUE(equal(folded(BinaryOp::Add, inf, one), inf));
  EXPECT_TRUE(equal(folded(BinaryOp::Div, one, inf), zero));
  Literal minusZero = negate(zero);
  EXPECT_TRUE(std::signbit(roundTo(minusZero, ScalarType::F32).value));
  EXPECT_FALSE(std::signbit(
      roundTo(folded(BinaryOp::Add, minusZero, zero), ScalarType::F32).value));
  EXPECT_TRUE(std::signbit(
      roundTo(folded(BinaryOp::Mul, minusZero, one), ScalarType::F32).value));
  // -0 is below +0 for min and max only.
  EXPECT_TRUE(std::signbit(
      roundTo(folded(BinaryOp::Min, zero, minusZero), ScalarType::F32).value));
  EXPECT_FALSE(std::signbit(
      roundTo(folded(BinaryOp::Max, minusZero, zero), ScalarType::F32).value));
  EXPECT_TRUE(equal(zero, minusZero));
}

TEST(LiteralTest, exponents_and_lengths_are_limited) {
  EXPECT_FALSE(floatLiteral("1e9999"));
  EXPECT_FALSE(floatLiteral("1e99999999999999999999"));
  EXPECT_TRUE(floatLiteral("0.0e99999999999999999999")->isZero());
  std::string problem;
  Literal huge = *floatLiteral("1e400");
  for (int i = 0; i < 5 && problem.empty(); ++i)
    if (auto next = fold(BinaryOp::Mul, huge, huge, problem))
      huge = *next;
  EXPECT_NE(problem.find("more than 16384 bits"), std::string::npos);
}
