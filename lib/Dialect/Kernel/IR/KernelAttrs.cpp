//===- KernelAttrs.cpp - axes, parameters, accesses -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the attributes are written when they stand alone. Inside an op they are
// part of its assembly: `x = %x: tensor<?x?xf32> [M, K]` holds
// #kernel.param<in x [M, K]>, and `%x[m, 3]` holds #kernel.access<[d0, 3]>.
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace facet::kernel;

#include "facet/Dialect/Kernel/IR/KernelEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "facet/Dialect/Kernel/IR/KernelAttrs.cpp.inc"

void KernelDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "facet/Dialect/Kernel/IR/KernelAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Names and axes
//===----------------------------------------------------------------------===//

void facet::kernel::printName(AsmPrinter &printer, StringRef name,
                              ArrayRef<StringRef> reserved) {
  if (llvm::is_contained(reserved, name))
    printer.printString(name);
  else
    printer.printKeywordOrString(name);
}

ParseResult facet::kernel::parseName(AsmParser &parser, StringAttr &name) {
  std::string text;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeywordOrString(&text)))
    return parser.emitError(loc, "expected a name");
  if (text.empty())
    return parser.emitError(loc, "a name may not be empty");
  name = parser.getBuilder().getStringAttr(text);
  return success();
}

static void printDim(AsmPrinter &printer, Attribute dim) {
  if (auto size = dyn_cast<StringAttr>(dim))
    printName(printer, size.getValue());
  else
    printer << cast<IntegerAttr>(dim).getInt();
}

static ParseResult parseDim(AsmParser &parser, Attribute &dim) {
  int64_t number;
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult parsed = parser.parseOptionalInteger(number);
  if (parsed.has_value()) {
    if (failed(*parsed))
      return failure();
    if (number < 0)
      return parser.emitError(loc)
             << "a dimension of " << number << " is negative";
    dim = parser.getBuilder().getI64IntegerAttr(number);
    return success();
  }
  StringAttr name;
  if (parseName(parser, name))
    return failure();
  dim = name;
  return success();
}

static void printAxisBare(AsmPrinter &printer, AxisAttr axis) {
  if (axis.getDims().size() == 1)
    return printDim(printer, axis.getDims().front());
  printer << '(';
  llvm::interleaveComma(axis.getDims(), printer,
                        [&](Attribute dim) { printDim(printer, dim); });
  printer << ')';
}

static ParseResult parseAxisBare(AsmParser &parser, AxisAttr &axis) {
  SmallVector<Attribute> dims;
  auto parseOne = [&] { return parseDim(parser, dims.emplace_back()); };
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalLParen())) {
    if (parser.parseCommaSeparatedList(parseOne) || parser.parseRParen())
      return failure();
  } else if (parseOne()) {
    return failure();
  }
  axis = AxisAttr::getChecked([&] { return parser.emitError(loc); },
                              parser.getContext(), dims);
  return success(axis != nullptr);
}

void facet::kernel::printAxes(AsmPrinter &printer, ArrayRef<AxisAttr> axes) {
  printer << '[';
  llvm::interleaveComma(axes, printer,
                        [&](AxisAttr axis) { printAxisBare(printer, axis); });
  printer << ']';
}

ParseResult facet::kernel::parseAxes(AsmParser &parser,
                                     SmallVectorImpl<AxisAttr> &axes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parseAxisBare(parser, axes.emplace_back());
  });
}

//===----------------------------------------------------------------------===//
// #kernel.axis
//===----------------------------------------------------------------------===//

LogicalResult AxisAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<Attribute> dims) {
  if (dims.empty())
    return emitError() << "an axis needs at least one dimension";
  for (Attribute dim : dims) {
    if (auto name = dyn_cast_or_null<StringAttr>(dim)) {
      if (name.getValue().empty())
        return emitError() << "the name of a size may not be empty";
      continue;
    }
    auto number = dyn_cast_or_null<IntegerAttr>(dim);
    if (!number || !number.getType().isSignlessInteger(64))
      return emitError()
             << "a dimension is the name of a size or an i64 number, found "
             << dim;
    if (number.getInt() < 0)
      return emitError() << "a dimension of " << number.getInt()
                         << " is negative";
  }
  return success();
}

void AxisAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printAxisBare(printer, *this);
  printer << '>';
}

Attribute AxisAttr::parse(AsmParser &parser, Type) {
  AxisAttr axis;
  if (parser.parseLess() || parseAxisBare(parser, axis) ||
      parser.parseGreater())
    return {};
  return axis;
}

//===----------------------------------------------------------------------===//
// #kernel.param
//===----------------------------------------------------------------------===//

SmallVector<Attribute> ParamAttr::getDims() const {
  SmallVector<Attribute> dims;
  for (AxisAttr axis : getAxes())
    llvm::append_range(dims, axis.getDims());
  return dims;
}

void ParamAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyParamMode(getMode()) << ' ';
  printName(printer, getName().getValue());
  printer << ' ';
  printAxes(printer, getAxes());
  printer << '>';
}

Attribute ParamAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  StringAttr name;
  SmallVector<AxisAttr> axes;
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return {};
  std::optional<ParamMode> mode = symbolizeParamMode(word);
  if (!mode) {
    parser.emitError(loc) << "expected in, const, inout or out, found '" << word
                          << "'";
    return {};
  }
  if (parseName(parser, name) || parseAxes(parser, axes) ||
      parser.parseGreater())
    return {};
  return ParamAttr::get(parser.getContext(), name, *mode, axes);
}

//===----------------------------------------------------------------------===//
// #kernel.access
//===----------------------------------------------------------------------===//

AffineMap AccessAttr::getMap(unsigned numIterators) const {
  SmallVector<AffineExpr> results;
  for (const Subscript &subscript : getSubscripts()) {
    if (subscript.kind == Subscript::Element)
      return {};
    results.push_back(
        subscript.kind == Subscript::Iterator
            ? getAffineDimExpr(subscript.value, getContext())
            : getAffineConstantExpr(subscript.value, getContext()));
  }
  return AffineMap::get(numIterators, 0, results, getContext());
}

bool AccessAttr::hasGather() const {
  return llvm::any_of(getSubscripts(), [](const Subscript &subscript) {
    return subscript.kind == Subscript::Element;
  });
}

void AccessAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getSubscripts(), printer,
                        [&](const Subscript &subscript) {
                          if (subscript.kind == Subscript::Iterator)
                            printer << 'd';
                          else if (subscript.kind == Subscript::Element)
                            printer << 'e';
                          printer << subscript.value;
                        });
  printer << "]>";
}

Attribute AccessAttr::parse(AsmParser &parser, Type) {
  SmallVector<Subscript> subscripts;
  auto parseOne = [&]() -> ParseResult {
    Subscript &subscript = subscripts.emplace_back();
    OptionalParseResult number = parser.parseOptionalInteger(subscript.value);
    if (number.has_value()) {
      subscript.kind = Subscript::Constant;
      return *number;
    }
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    if (word.empty() || (word[0] != 'd' && word[0] != 'e') ||
        word.drop_front().getAsInteger(10, subscript.value))
      return parser.emitError(loc)
             << "expected a number, dN for iterator N or eN for the "
                "element of input N, found '"
             << word << "'";
    subscript.kind = word[0] == 'd' ? Subscript::Iterator : Subscript::Element;
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne) ||
      parser.parseGreater())
    return {};
  return AccessAttr::get(parser.getContext(), subscripts);
}
