//===- Literal.h - exact numbers until a type is known --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_FRONTEND_LITERAL_H
#define FACET_FRONTEND_LITERAL_H

#include "facet/Frontend/CheckedKernel.h"
#include "llvm/ADT/DynamicAPInt.h"

namespace facet {

/// A literal, or literals folded: an integer or a rational number of any
/// length, or one of the floats that are no number (inf, nan, −0).
struct Literal {
  enum Kind : uint8_t { Integer, Float, Infinity, NaN };
  Kind kind = Integer;
  bool negative = false; // of Infinity; of a Float that is zero: −0
  llvm::DynamicAPInt numerator{0}, denominator{1}; // denominator > 0

  bool isFloat() const { return kind != Integer; }
  bool isFinite() const { return kind == Integer || kind == Float; }
  bool isZero() const { return isFinite() && numerator == 0; }
};

/// From digits, or from the text of a FLOAT token. nullopt: the exponent is out
/// of every range.
Literal integerLiteral(llvm::StringRef digits);
std::optional<Literal> floatLiteral(llvm::StringRef text);

Literal negate(const Literal &a);
/// Keeps −0 where it matters; the order of `min` and `max`: −0 < +0.
bool lessThan(const Literal &a, const Literal &b);
bool equal(const Literal &a, const Literal &b);

/// a op b, exactly: 1 / 2 is a half. On failure `problem` says why, for a message.
std::optional<Literal> fold(checked::BinaryOp op, const Literal &a,
                            const Literal &b, std::string &problem);

/// The value when it is an integer that `type` holds; nullopt otherwise.
std::optional<int64_t> asInteger(const Literal &a, ScalarType type);

/// The nearest value of a float type, ties to even.
struct RoundedLiteral {
  double value = 0;
  bool exact = true;
  bool overflow = false; // finite, yet beyond the largest finite value
};
RoundedLiteral roundTo(const Literal &a, ScalarType type);

} // namespace facet

#endif // FACET_FRONTEND_LITERAL_H
