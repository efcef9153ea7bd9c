//===- StructuredSyntax.cpp - how map, reduce and softmax are written -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The three ops share one form, which reads like the statement it came from:
//
//   y[m, n] = sum[k | live](x[m, k] * w[id[m], k])
//
//   %y = kernel.reduce sum "y" [m: %M, n: %N] over [k: %K]
//       ins(%x[m, k] as %x_mk : tensor<?x?xf32>, %id[m] as %id_m :
//       tensor<?xi32>,
//           %w[%id_m, k] as %w_idk if(%live) : tensor<?x?xf32>)
//       outs(%init : tensor<?x?xf32>)
//       guards(%live) { ... kernel.yield %g : i1 }
//       filter(%live) { ... kernel.yield %p : f32 } -> tensor<?x?xf32>
//
// `as` names the element that one point reads; the name holds in both regions.
// A gather names the element that is its subscript. `guards(...)` names the
// conditions that its region computes; the body knows them under these names,
// and `if` and `filter` use them.
//
// Both regions have block arguments of their own. They get equal names when
// printed because both ask for the same ones, in the same order, in sibling
// scopes (getAsmBlockArgumentNames below); so one `as` can stand for both.
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace facet::kernel;

//===----------------------------------------------------------------------===//
// Names of values
//===----------------------------------------------------------------------===//

/// The name that the text gave to a tensor (or to the tensor it is a part of), or "in".
static std::string nameOfTensor(Value value) {
  while (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
    value = slice.getSource();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto func = dyn_cast_or_null<FuncOp>(argument.getOwner()->getParentOp());
    if (func && argument.getArgNumber() < func.getParams().size())
      return func.getParam(argument.getArgNumber()).getName().str();
  } else if (auto op = value.getDefiningOp<StructuredOpInterface>()) {
    if (op.getName() && !op.getName()->empty())
      return op.getName()->str();
  }
  return "in";
}

/// `x[m, 3]` is called x_m3, `w[id[t], k]` w_idk, `f[]` f_v.
static std::string nameOfElement(StructuredOpInterface op, unsigned input) {
  std::string name = nameOfTensor(op.getInputs()[input]) + "_";
  AccessAttr access = op.getAccess(input);
  for (const Subscript &subscript : access.getSubscripts()) {
    if (subscript.kind == Subscript::Iterator)
      name += op.getIteratorName(subscript.value);
    else if (subscript.kind == Subscript::Constant)
      name += std::to_string(subscript.value);
    else
      name += nameOfTensor(op.getInputs()[subscript.value]);
  }
  return access.getSubscripts().empty() ? name + "v" : name;
}

static void nameArguments(StructuredOpInterface op, Region &region,
                          OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments()) {
    unsigned i = argument.getArgNumber();
    setName(argument,
            i < op.getInputs().size() ? nameOfElement(op, i) : "live");
  }
}

static void nameResults(StructuredOpInterface op, OpAsmSetValueNameFn setName) {
  if (!op.getName() || op->getNumResults() == 0)
    return;
  setName(op->getResult(0), *op.getName());
}

void MapOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  nameResults(*this, setName);
}
void ReduceOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  nameResults(*this, setName);
}
void SoftmaxOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  nameResults(*this, setName);
}

void MapOp::getAsmBlockArgumentNames(Region &region,
                                     OpAsmSetValueNameFn setName) {
  nameArguments(*this, region, setName);
}
void ReduceOp::getAsmBlockArgumentNames(Region &region,
                                        OpAsmSetValueNameFn setName) {
  nameArguments(*this, region, setName);
}
void SoftmaxOp::getAsmBlockArgumentNames(Region &region,
                                         OpAsmSetValueNameFn setName) {
  nameArguments(*this, region, setName);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printIterators(OpAsmPrinter &printer, StructuredOpInterface op,
                           unsigned begin, unsigned end) {
  SmallVector<OpFoldResult> extents = op.getMixedExtents();
  printer << '[';
  for (unsigned i = begin; i != end; ++i) {
    printer << (i == begin ? "" : ", ");
    printName(printer, op.getIteratorName(i));
    printer << ": ";
    if (auto value = dyn_cast<Value>(extents[i]))
      printer << value;
    else
      printer << cast<IntegerAttr>(cast<Attribute>(extents[i])).getInt();
  }
  printer << ']';
}

static void printConditions(OpAsmPrinter &printer, StructuredOpInterface op,
                            StringRef word, ArrayRef<int64_t> atoms) {
  if (atoms.empty())
    return;
  printer << ' ' << word << '(';
  llvm::interleaveComma(atoms, printer, [&](int64_t atom) {
    printer << op.getBody().getArgument(op.getInputs().size() + atom);
  });
  printer << ')';
}

static void printInput(OpAsmPrinter &printer, StructuredOpInterface op,
                       unsigned i) {
  printer << op.getInputs()[i] << '[';
  llvm::interleaveComma(
      op.getAccess(i).getSubscripts(), printer,
      [&](const Subscript &subscript) {
        if (subscript.kind == Subscript::Iterator)
          printName(printer, op.getIteratorName(subscript.value));
        else if (subscript.kind == Subscript::Constant)
          printer << subscript.value;
        else
          printer << op.getBody().getArgument(subscript.value);
      });
  printer << "] as ";
  printer.printRegionArgument(op.getBody().getArgument(i), {},
                              /*omitType=*/true);
  printConditions(printer, op, "if", op.getGuardsOfInput(i));
  printer << " : " << op.getInputs()[i].getType();
}

static void printStructured(OpAsmPrinter &printer, StructuredOpInterface op) {
  unsigned numInputs = op.getInputs().size();
  if (op.getName()) {
    printer << ' ';
    printer.printString(*op.getName());
  }
  printer << ' ';
  printIterators(printer, op, 0, op.getNumParallel());
  if (op.getNumReduction() != 0) {
    printer << " over ";
    printIterators(printer, op, op.getNumParallel(), op.getNumIterators());
  }
  if (numInputs != 0) {
    printer << " ins(";
    for (unsigned i = 0; i != numInputs; ++i) {
      printer << (i ? ", " : "");
      printInput(printer, op, i);
    }
    printer << ')';
  }
  printer << " outs(" << op.getInits() << " : " << op.getInits().getTypes()
          << ')';
  SmallVector<NamedAttribute> discardable(op->getDiscardableAttrs());
  printer.printOptionalAttrDictWithKeyword(discardable);
  if (!op.getGuards().empty()) {
    printer << " guards(";
    llvm::interleaveComma(op.getBody().getArguments().drop_front(numInputs),
                          printer, [&](BlockArgument atom) {
                            printer.printRegionArgument(atom, {},
                                                        /*omitType=*/true);
                          });
    printer << ") ";
    printer.printRegion(op.getGuards(), /*printEntryBlockArgs=*/false);
  }
  printConditions(printer, op, "filter", op.getFilter());
  printer << ' ';
  printer.printRegion(op.getBody(), /*printEntryBlockArgs=*/false);
  printer << " -> ";
  if (op->getNumResults() == 1)
    printer << op->getResult(0).getType();
  else
    printer << '(' << op->getResultTypes() << ')';
}

void MapOp::print(OpAsmPrinter &printer) { printStructured(printer, *this); }
void SoftmaxOp::print(OpAsmPrinter &printer) {
  printStructured(printer, *this);
}
void ReduceOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyReduceKind(getKind());
  printStructured(printer, *this);
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
using Operand = OpAsmParser::UnresolvedOperand;

/// Collects the pieces of one op in the order they are written.
class StructuredParser {
public:
  StructuredParser(OpAsmParser &parser, OperationState &result)
      : parser(parser), result(result), builder(parser.getBuilder()) {}

  ParseResult parse();

private:
  ParseResult parseIterators();
  ParseResult parseInput();
  ParseResult parseSubscript(SmallVectorImpl<Subscript> &subscripts);
  ParseResult parseConditions(SmallVectorImpl<Operand> &names);
  /// Positions of named arguments among `among`, with an error for an unknown
  /// one.
  FailureOr<int64_t> find(const Operand &name,
                          ArrayRef<OpAsmParser::Argument> among,
                          const Twine &what);

  OpAsmParser &parser;
  OperationState &result;
  Builder &builder;
  SmallVector<Attribute> iteratorNames, accesses;
  SmallVector<int64_t> staticExtents;
  SmallVector<Operand> extents, inputs, inits;
  SmallVector<Type> inputTypes, initTypes;
  SmallVector<OpAsmParser::Argument> elements, atoms;
  SmallVector<SmallVector<Operand, 2>> conditions; // per input
};
} // namespace

FailureOr<int64_t> StructuredParser::find(const Operand &name,
                                          ArrayRef<OpAsmParser::Argument> among,
                                          const Twine &what) {
  for (auto [i, argument] : llvm::enumerate(among))
    if (argument.ssaName.name == name.name &&
        argument.ssaName.number == name.number)
      return i;
  return parser.emitError(name.location)
         << "'" << name.name << "' is no " << what;
}

/// `[m: %M, c: 128]`
ParseResult StructuredParser::parseIterators() {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        StringAttr name;
        int64_t number;
        if (parseName(parser, name) || parser.parseColon())
          return failure();
        iteratorNames.push_back(name);
        SMLoc loc = parser.getCurrentLocation();
        OptionalParseResult parsed = parser.parseOptionalInteger(number);
        if (!parsed.has_value()) {
          staticExtents.push_back(ShapedType::kDynamic);
          return parser.parseOperand(extents.emplace_back());
        }
        if (failed(*parsed))
          return failure();
        if (number < 0)
          return parser.emitError(loc)
                 << "an extent of " << number << " is negative";
        staticExtents.push_back(number);
        return success();
      });
}

/// `m`, `3` or `%id_m`
ParseResult
StructuredParser::parseSubscript(SmallVectorImpl<Subscript> &subscripts) {
  Subscript &subscript = subscripts.emplace_back();
  OptionalParseResult number = parser.parseOptionalInteger(subscript.value);
  if (number.has_value()) {
    subscript.kind = Subscript::Constant;
    return *number;
  }
  Operand element;
  OptionalParseResult operand = parser.parseOptionalOperand(element);
  if (operand.has_value()) {
    if (failed(*operand))
      return failure();
    subscript.kind = Subscript::Element;
    FailureOr<int64_t> position =
        find(element, elements, "element of an earlier input");
    if (failed(position))
      return failure();
    subscript.value = *position;
    return success();
  }
  SMLoc loc = parser.getCurrentLocation();
  StringAttr name;
  if (parseName(parser, name))
    return failure();
  auto *found = llvm::find(iteratorNames, name);
  if (found == iteratorNames.end())
    return parser.emitError(loc)
           << "'" << name.getValue() << "' is no iterator of this op";
  subscript.kind = Subscript::Iterator;
  subscript.value = found - iteratorNames.begin();
  return success();
}

/// `(%live, %near)`
ParseResult StructuredParser::parseConditions(SmallVectorImpl<Operand> &names) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
    return parser.parseOperand(names.emplace_back());
  });
}

/// `%x[m, k] as %x_mk if(%live) : tensor<?x?xf32>`
ParseResult StructuredParser::parseInput() {
  SmallVector<Subscript> subscripts;
  OpAsmParser::Argument element;
  if (parser.parseOperand(inputs.emplace_back()) ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] { return parseSubscript(subscripts); }) ||
      parser.parseKeyword("as") || parser.parseArgument(element))
    return failure();
  conditions.emplace_back();
  if (succeeded(parser.parseOptionalKeyword("if")) &&
      parseConditions(conditions.back()))
    return failure();
  if (parser.parseColon())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(inputTypes.emplace_back()))
    return failure();
  auto tensor = dyn_cast<RankedTensorType>(inputTypes.back());
  if (!tensor)
    return parser.emitError(loc)
           << "an input is a ranked tensor, found " << inputTypes.back();
  element.type = tensor.getElementType();
  elements.push_back(element);
  accesses.push_back(AccessAttr::get(builder.getContext(), subscripts));
  return success();
}

ParseResult StructuredParser::parse() {
  std::string name;
  if (succeeded(parser.parseOptionalString(&name)))
    result.addAttribute("name", builder.getStringAttr(name));
  if (parseIterators())
    return failure();
  int64_t numParallel = iteratorNames.size();
  if (succeeded(parser.parseOptionalKeyword("over")) && parseIterators())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("ins")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     [&] { return parseInput(); }))
    return failure();

  SMLoc outsLoc = parser.getCurrentLocation();
  if (parser.parseKeyword("outs") || parser.parseLParen() ||
      parser.parseOperandList(inits) || parser.parseColonTypeList(initTypes) ||
      parser.parseRParen() ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();

  Region *guards = result.addRegion(), *body = result.addRegion();
  if (succeeded(parser.parseOptionalKeyword("guards"))) {
    if (parser.parseArgumentList(atoms, AsmParser::Delimiter::Paren))
      return failure();
    for (OpAsmParser::Argument &atom : atoms)
      atom.type = builder.getI1Type();
    if (parser.parseRegion(*guards, elements))
      return failure();
  }
  SmallVector<Operand> filterNames;
  if (succeeded(parser.parseOptionalKeyword("filter")) &&
      parseConditions(filterNames))
    return failure();

  auto positions =
      [&](ArrayRef<Operand> names) -> FailureOr<DenseI64ArrayAttr> {
    SmallVector<int64_t> list;
    for (const Operand &condition : names) {
      FailureOr<int64_t> position = find(condition, atoms, "guard of this op");
      if (failed(position))
        return failure();
      list.push_back(*position);
    }
    return builder.getDenseI64ArrayAttr(list);
  };
  SmallVector<Attribute> inputGuards;
  for (ArrayRef<Operand> names : conditions) {
    FailureOr<DenseI64ArrayAttr> list = positions(names);
    if (failed(list))
      return failure();
    inputGuards.push_back(*list);
  }
  FailureOr<DenseI64ArrayAttr> filter = positions(filterNames);
  if (failed(filter))
    return failure();

  SmallVector<OpAsmParser::Argument> bodyArguments(elements);
  llvm::append_range(bodyArguments, atoms);
  if (parser.parseRegion(*body, bodyArguments) ||
      parser.parseArrowTypeList(result.types))
    return failure();

  result.addAttribute("iterator_names", builder.getArrayAttr(iteratorNames));
  result.addAttribute("num_parallel", builder.getI64IntegerAttr(numParallel));
  result.addAttribute("static_extents",
                      builder.getDenseI64ArrayAttr(staticExtents));
  result.addAttribute("accesses", builder.getArrayAttr(accesses));
  result.addAttribute("input_guards", builder.getArrayAttr(inputGuards));
  result.addAttribute("filter", *filter);
  result.addAttribute(
      "operandSegmentSizes",
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(extents.size()),
                                    static_cast<int32_t>(inputs.size()),
                                    static_cast<int32_t>(inits.size())}));
  return failure(
      parser.resolveOperands(extents, builder.getIndexType(),
                             result.operands) ||
      parser.resolveOperands(inputs, inputTypes, outsLoc, result.operands) ||
      parser.resolveOperands(inits, initTypes, outsLoc, result.operands));
}

static ParseResult parseStructured(OpAsmParser &parser,
                                   OperationState &result) {
  return StructuredParser(parser, result).parse();
}

ParseResult MapOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseStructured(parser, result);
}

ParseResult SoftmaxOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseStructured(parser, result);
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<ReduceKind> kind = symbolizeReduceKind(word);
  if (!kind)
    return parser.emitError(loc)
           << "expected sum, max, min, any, all, argmax or argmin, found '"
           << word << "'";
  result.addAttribute(getKindAttrName(result.name),
                      ReduceKindAttr::get(parser.getContext(), *kind));
  return parseStructured(parser, result);
}
