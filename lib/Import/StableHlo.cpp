//===- StableHlo.cpp - StableHLO's syntax ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (…, …) -> …
//
// `jax.jit(f).lower(…).as_text()` prints ops in a syntax of their own. Here they are read
// into ops without definitions: operands, result types, and the lists and words as
// attributes. Which ops mean what is StableHloOps.cpp's business; StableHLO's dialect
// itself comes with no package that we could build on.
//
//===----------------------------------------------------------------------===//

#include "StableHlo.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

namespace {

using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;

/// `(T, T) -> T`, or one type for all, or for `select` the condition's and the others'.
ParseResult parseTypes(OpAsmParser &parser, const Operands &operands,
                       OperationState &result) {
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseColon())
    return failure();
  SmallVector<Type> inputs, outputs;
  if (succeeded(parser.parseOptionalLParen())) {
    if (failed(parser.parseOptionalRParen()) &&
        (parser.parseTypeList(inputs) || parser.parseRParen()))
      return failure();
    if (parser.parseArrowTypeList(outputs))
      return failure();
  } else {
    if (parser.parseTypeList(inputs))
      return failure();
    outputs = {inputs.back()};
    if (succeeded(parser.parseOptionalArrow()) &&
        parser.parseType(outputs.front()))
      return failure();
    if (operands.empty() || inputs.size() < operands.size())
      inputs.resize(operands.size(), inputs.back());
  }
  if (inputs.size() != operands.size())
    return parser.emitError(place)
           << operands.size() << " operands, " << inputs.size() << " types";
  result.addTypes(outputs);
  return parser.resolveOperands(operands, inputs, place, result.operands);
}

ParseResult parseNumbers(OpAsmParser &parser,
                         SmallVectorImpl<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(numbers.emplace_back());
  });
}

ParseResult parseList(OpAsmParser &parser, OperationState &result,
                      StringRef name) {
  SmallVector<int64_t> numbers;
  if (parser.parseEqual() || parseNumbers(parser, numbers))
    return failure();
  result.addAttribute(name, parser.getBuilder().getDenseI64ArrayAttr(numbers));
  return success();
}

/// `[0] x [1]`, one list per operand.
ParseResult parsePair(OpAsmParser &parser, OperationState &result,
                      StringRef name) {
  SmallVector<int64_t> left, right;
  if (parser.parseEqual() || parseNumbers(parser, left) ||
      parser.parseKeyword("x") || parseNumbers(parser, right))
    return failure();
  result.addAttribute((name + "_left").str(),
                      parser.getBuilder().getDenseI64ArrayAttr(left));
  result.addAttribute((name + "_right").str(),
                      parser.getBuilder().getDenseI64ArrayAttr(right));
  return success();
}

/// Operands, then `name = …` parts, then types.
ParseResult parseCommon(OpAsmParser &parser, OperationState &result) {
  Operands operands;
  bool first = true;
  do {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult isOperand = parser.parseOptionalOperand(operand);
    if (isOperand.has_value()) {
      if (failed(*isOperand))
        return failure();
      operands.push_back(operand);
      first = false;
      continue;
    }
    SMLoc place = parser.getCurrentLocation();
    StringRef word;
    if (failed(parser.parseOptionalKeyword(&word))) {
      if (first)
        break;
      return parser.emitError(place, "an operand is needed here");
    }
    first = false;
    if (word == "dims" || word == "dimensions") {
      if (parseList(parser, result, "dims"))
        return failure();
    } else if (word == "dim") {
      int64_t dim;
      if (parser.parseEqual() || parser.parseInteger(dim))
        return failure();
      result.addAttribute("dim", parser.getBuilder().getI64IntegerAttr(dim));
    } else if (word == "batching_dims" || word == "contracting_dims") {
      if (parsePair(parser, result, word))
        return failure();
    } else if (word == "precision") {
      // How exact the product may be: ours is as exact as the types allow.
      StringRef precision;
      if (parser.parseEqual() ||
          parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
            return parser.parseKeyword(&precision);
          }))
        return failure();
    } else if (succeeded(parser.parseOptionalEqual())) {
      return parser.emitError(place) << "'" << word << "' is not known here";
    } else {
      // A comparison's direction and kind.
      result.addAttribute(result.attributes.get("word") ? "kind" : "word",
                          parser.getBuilder().getStringAttr(word));
    }
  } while (succeeded(parser.parseOptionalComma()));
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  return parseTypes(parser, operands, result);
}

ParseResult parseConstant(OpAsmParser &parser, OperationState &result) {
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseAttribute(value, "value", result.attributes))
    return failure();
  result.addTypes(value.getType());
  return success();
}

/// `(%x init: %zero) applies stablehlo.add across dimensions = [1] : …`
ParseResult parseReduce(OpAsmParser &parser, OperationState &result) {
  Operands operands(2);
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseLParen() || parser.parseOperand(operands[0]) ||
      parser.parseKeyword("init") || parser.parseColon() ||
      parser.parseOperand(operands[1]) || parser.parseRParen())
    return failure();
  if (failed(parser.parseOptionalKeyword("applies")))
    return parser.emitError(
        place,
        "a reduction of one op is known here, `applies stablehlo.add` say");
  FailureOr<OperationName> op = parser.parseCustomOperationName();
  if (failed(op) || parser.parseKeyword("across") ||
      parser.parseKeyword("dimensions") || parseList(parser, result, "dims"))
    return failure();
  result.addAttribute("word",
                      parser.getBuilder().getStringAttr(op->getStringRef()));
  return parser.parseOptionalAttrDict(result.attributes) ||
                 parseTypes(parser, operands, result)
             ? failure()
             : success();
}

ParseResult parseUnknown(OpAsmParser &parser, OperationState &result) {
  return parser.emitError(parser.getNameLoc())
         << "'" << result.name << "' is not among the ops that import knows";
}

/// A dialect of ops that are read by their syntax alone.
class ReaderDialect : public Dialect {
public:
  using Dialect::Dialect;

  std::optional<ParseOpHook>
  getParseOperationHook(StringRef name) const override {
    name = name.substr(name.find('.') + 1);
    if (name == "constant")
      return ParseOpHook(parseConstant);
    if (name == "reduce")
      return ParseOpHook(parseReduce);
    static constexpr StringLiteral known[] = {
        "add",         "subtract",    "multiply",
        "divide",      "maximum",     "minimum",
        "power",       "and",         "or",
        "not",         "negate",      "abs",
        "exponential", "log",         "sqrt",
        "rsqrt",       "tanh",        "logistic",
        "floor",       "ceil",        "round_nearest_even",
        "convert",     "reshape",     "broadcast_in_dim",
        "transpose",   "dot_general", "compare",
        "select",      "iota",        "erf",
        "square",      "clamp"};
    return ParseOpHook(llvm::is_contained(known, name) ? parseCommon
                                                       : parseUnknown);
  }
};

class StableHloDialect : public ReaderDialect {
public:
  explicit StableHloDialect(MLIRContext *context)
      : ReaderDialect(getDialectNamespace(), context,
                      TypeID::get<StableHloDialect>()) {
    allowUnknownOperations();
  }
  static StringRef getDialectNamespace() { return "stablehlo"; }
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StableHloDialect)
};

class ChloDialect : public ReaderDialect {
public:
  explicit ChloDialect(MLIRContext *context)
      : ReaderDialect(getDialectNamespace(), context,
                      TypeID::get<ChloDialect>()) {
    allowUnknownOperations();
  }
  static StringRef getDialectNamespace() { return "chlo"; }
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ChloDialect)
};

} // namespace

void facet::import::registerStableHlo(DialectRegistry &registry) {
  registry.insert<StableHloDialect, ChloDialect>();
}

bool facet::import::isStableHlo(Operation &op) {
  StringRef dialect = op.getName().getDialectNamespace();
  return dialect == "stablehlo" || dialect == "chlo";
}
