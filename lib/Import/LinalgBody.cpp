//===- LinalgBody.cpp - the scalar code of a structured op ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %0 = arith.mulf %a, %b : f32
//   %1 = math.exp %0 : f32          becomes   exp(x[m, k] * w[k, n])
//
// The language reads storage types as f32 or i32, so extensions from them are nothing and
// arithmetic in them is rounded or wrapped by a conversion.
//
//===----------------------------------------------------------------------===//

#include "LinalgBody.h"
#include "facet/Frontend/EmitKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace facet;
using namespace facet::import;
using import::Text;

std::optional<ScalarType> facet::import::scalarType(Type type) {
  return type.isIndex() ? ScalarType::I64 : scalarTypeOf(type);
}

static StringRef binaryOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return "+"; })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) { return "-"; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return "*"; })
      .Case<arith::DivFOp>([](auto) { return "/"; })
      .Default(StringRef());
}

static StringRef functionOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::MaximumFOp, arith::MaxSIOp>([](auto) { return "max"; })
      .Case<arith::MinimumFOp, arith::MinSIOp>([](auto) { return "min"; })
      .Case<arith::SelectOp>([](auto) { return "where"; })
      .Case<math::ExpOp>([](auto) { return "exp"; })
      .Case<math::LogOp>([](auto) { return "log"; })
      .Case<math::SqrtOp>([](auto) { return "sqrt"; })
      .Case<math::RsqrtOp>([](auto) { return "rsqrt"; })
      .Case<math::TanhOp>([](auto) { return "tanh"; })
      .Case<math::ErfOp>([](auto) { return "erf"; })
      .Case<math::AbsFOp, math::AbsIOp>([](auto) { return "abs"; })
      .Case<math::FloorOp>([](auto) { return "floor"; })
      .Case<math::CeilOp>([](auto) { return "ceil"; })
      .Case<math::RoundEvenOp>([](auto) { return "round"; })
      .Default(StringRef());
}

/// The comparison that holds where one that holds for NaN does not: `!(a <= b)` is ugt.
static StringRef oppositeOf(Operation *op) {
  auto compare = dyn_cast<arith::CmpFOp>(op);
  if (!compare)
    return "";
  switch (compare.getPredicate()) {
  case arith::CmpFPredicate::UGT:
    return "<=";
  case arith::CmpFPredicate::UGE:
    return "<";
  case arith::CmpFPredicate::ULT:
    return ">=";
  case arith::CmpFPredicate::ULE:
    return ">";
  default:
    return "";
  }
}

/// `max` or `min` for a choice of the greater or smaller of a value and a number, where NaN
/// stays NaN: `select(cmpf ugt x, c), x, c`, a relu as torch-mlir writes it. To those, -0 is
/// less than +0; a comparison takes them for equal, and the choice gives the second where it
/// is strict.
static StringRef extremeOf(Operation *op) {
  auto select = dyn_cast<arith::SelectOp>(op);
  auto compare =
      select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : nullptr;
  APFloat bound(0.0f);
  if (!compare || compare.getLhs() != select.getTrueValue() ||
      compare.getRhs() != select.getFalseValue() ||
      !matchPattern(compare.getRhs(), m_ConstantFloat(&bound)) || bound.isNaN())
    return "";
  arith::CmpFPredicate predicate = compare.getPredicate();
  bool isStrict = predicate == arith::CmpFPredicate::UGT ||
                  predicate == arith::CmpFPredicate::ULT;
  bool isMax = predicate == arith::CmpFPredicate::UGT ||
               predicate == arith::CmpFPredicate::UGE;
  bool isMin = predicate == arith::CmpFPredicate::ULT ||
               predicate == arith::CmpFPredicate::ULE;
  if (!isMax && !isMin)
    return "";
  if (bound.isZero() && bound.isNegative() == (isMax == isStrict))
    return ""; // the other zero would come out
  return isMax ? "max" : "min";
}

/// What a comparison is called, or nothing: those that hold for NaN have no word but !=.
static StringRef comparisonOf(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    switch (compare.getPredicate()) {
    case arith::CmpFPredicate::OEQ:
      return "==";
    case arith::CmpFPredicate::OLT:
      return "<";
    case arith::CmpFPredicate::OLE:
      return "<=";
    case arith::CmpFPredicate::OGT:
      return ">";
    case arith::CmpFPredicate::OGE:
      return ">=";
    case arith::CmpFPredicate::UNE:
      return "!=";
    default:
      return "";
    }
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    switch (compare.getPredicate()) {
    case arith::CmpIPredicate::eq:
      return "==";
    case arith::CmpIPredicate::ne:
      return "!=";
    case arith::CmpIPredicate::slt:
      return "<";
    case arith::CmpIPredicate::sle:
      return "<=";
    case arith::CmpIPredicate::sgt:
      return ">";
    case arith::CmpIPredicate::sge:
      return ">=";
    default:
      return "";
    }
  return "";
}

static bool isBool(mlir::Value value) { return value.getType().isInteger(1); }

/// `!x` is written as x ^ true.
static bool isNegation(Operation *op) {
  APInt constant;
  return isa<arith::XOrIOp>(op) && isBool(op->getResult(0)) &&
         matchPattern(op->getOperand(1), m_ConstantInt(&constant)) &&
         constant.isOne();
}

static bool isKnown(Operation *op) {
  for (Type type : op->getResultTypes())
    if (!scalarType(type))
      return false;
  if (isa<arith::CmpFOp, arith::CmpIOp>(op))
    return !(comparisonOf(op).empty() && oppositeOf(op).empty()) &&
           !isBool(op->getOperand(0));
  if (isa<arith::AndIOp, arith::OrIOp>(op))
    return isBool(op->getResult(0));
  if (isa<arith::UIToFPOp>(op))
    return isBool(op->getOperand(0));
  if (isa<arith::SIToFPOp, arith::ExtSIOp>(op) && isBool(op->getOperand(0)))
    return false; // true would be -1
  if (isa<arith::TruncIOp>(op) && isBool(op->getResult(0)))
    return false; // the lowest bit
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) &&
      isBool(op->getResult(0)))
    return false;
  return !binaryOf(op).empty() || !functionOf(op).empty() || isNegation(op) ||
         isa<arith::ConstantOp, arith::NegFOp, arith::ExtFOp, arith::TruncFOp,
             arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::SIToFPOp,
             arith::FPToSIOp, arith::IndexCastOp, math::FmaOp, linalg::IndexOp>(
             op);
}

bool facet::import::isExpression(mlir::Value yielded, Block *block) {
  SmallVector<mlir::Value> work = {yielded};
  llvm::DenseSet<mlir::Value> seen;
  while (!work.empty()) {
    mlir::Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(value).second)
      continue;
    if (op->getBlock() != block && !isa<arith::ConstantOp>(op)) {
      op->emitError("a number computed outside the structured op that uses it "
                    "is not known here; pass it as an argument");
      return false;
    }
    if (!isKnown(op)) {
      op->emitError("'") << op->getName()
                         << "' has no expression in the language here";
      return false;
    }
    llvm::append_range(work, op->getOperands());
  }
  // An expression is a tree: what is used many times is written many times.
  std::function<int(mlir::Value, int)> count = [&](mlir::Value value,
                                                   int limit) -> int {
    Operation *op = value.getDefiningOp();
    int size = 1;
    if (op)
      for (mlir::Value operand : op->getOperands())
        if (size < limit)
          size += count(operand, limit - size);
    return size;
  };
  constexpr int most = 400;
  if (count(yielded, most) < most)
    return true;
  yielded.getDefiningOp()->emitError("its expression has more than ")
      << most << " operations";
  return false;
}

Text facet::import::literalText(Attribute attribute) {
  if (auto real = dyn_cast<FloatAttr>(attribute)) {
    return number(written(real.getValue().convertToDouble(),
                          *scalarType(real.getType())));
  }
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return number(flag.getValue() ? "true" : "false");
  return number(
      std::to_string(cast<IntegerAttr>(attribute).getValue().getSExtValue()));
}

Text facet::import::expression(mlir::Value value,
                               const llvm::DenseMap<mlir::Value, Text> &known,
                               const Subscripts &indices) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned i) {
    return expression(op->getOperand(i), known, indices);
  };
  ScalarType type = *scalarType(value.getType());
  // What is computed in a storage type is rounded or wrapped to it.
  auto fitted = [&](Text text) {
    return arithmeticType(type) == type ? text : convert(type, text);
  };
  if (auto literal = dyn_cast<arith::ConstantOp>(op))
    return literalText(literal.getValue());
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return Text{indices[index.getDim()], Binding::Primary, {}};
  if (StringRef word = binaryOf(op); !word.empty())
    return fitted(binary(word, operand(0), operand(1)));
  if (StringRef word = comparisonOf(op); !word.empty())
    return binary(word, operand(0), operand(1));
  if (StringRef word = oppositeOf(op); !word.empty())
    return unary("!", binary(word, operand(0), operand(1)));
  if (StringRef word = extremeOf(op); !word.empty())
    return call(word, {operand(1), operand(2)});
  if (StringRef word = functionOf(op); !word.empty()) {
    SmallVector<Text> operands;
    for (unsigned i = 0; i != op->getNumOperands(); ++i)
      operands.push_back(operand(i));
    Text text = call(word, operands);
    return isa<math::ExpOp, math::LogOp, math::SqrtOp, math::RsqrtOp,
               math::TanhOp, math::ErfOp, math::AbsIOp>(op)
               ? fitted(text)
               : text;
  }
  if (isNegation(op))
    return unary("!", operand(0));
  return llvm::TypeSwitch<Operation *, Text>(op)
      .Case([&](arith::NegFOp) { return unary("-", operand(0)); })
      .Case([&](arith::AndIOp) { return binary("&&", operand(0), operand(1)); })
      .Case([&](arith::OrIOp) { return binary("||", operand(0), operand(1)); })
      .Case([&](math::FmaOp) {
        return fitted(
            binary("+", binary("*", operand(0), operand(1)), operand(2)));
      })
      .Case([&](arith::ExtUIOp) {
        // Signed codes are read; what an unsigned one means is 2^bits more where they are negative.
        Type from = op->getOperand(0).getType();
        Text text = operand(0);
        if (isBool(op->getOperand(0)) || from.isUnsignedInteger())
          return convert(type, text);
        std::string span = std::to_string(
            int64_t(1) << std::min(from.getIntOrFloatBitWidth(), 32u));
        Text wide = type == ScalarType::I64 ? convert(type, text) : text;
        return call("where", {binary("<", wide, number("0")),
                              binary("+", wide, number(span)), wide});
      })
      .Case([&](arith::FPToSIOp) {
        return call((spelling(type) + ".sat").str(), {truncated(operand(0))});
      })
      .Default([&](Operation *cast) {
        // Extensions, truncations and conversions.
        ScalarType from = *scalarType(cast->getOperand(0).getType());
        Text text = operand(0);
        bool narrows = isa<arith::TruncFOp, arith::TruncIOp>(cast);
        if (!narrows && arithmeticType(from) == arithmeticType(type))
          return text;
        if (isFloat(type) && !isFloat(from) && arithmeticType(type) != type)
          text = convert(ScalarType::F32, text);
        return convert(type, text);
      });
}

/// Whether `value` is what a reduction begins with: 0, or the least or greatest number.
static bool isNeutral(StringRef reduction, const Text &value) {
  StringRef number = value.text;
  if (reduction == "sum")
    return number == "0" || number == "0.0" || number == "-0.0";
  if (reduction == "max")
    return number == "-inf" || number == "-2147483648";
  if (reduction == "min")
    return number == "inf" || number == "2147483647";
  return number == (reduction == "all" ? "true" : "false");
}

Text facet::import::combined(StringRef reduction, const Text &first,
                             const Text &all) {
  if (isNeutral(reduction, first))
    return all;
  if (reduction == "sum")
    return binary("+", first, all);
  if (reduction == "any" || reduction == "all")
    return binary(reduction == "any" ? "||" : "&&", first, all);
  return call(reduction, {first, all});
}
