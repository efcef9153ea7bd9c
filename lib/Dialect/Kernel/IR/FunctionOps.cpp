//===- FunctionOps.cpp - func, size, require, return ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembly and verifiers of a kernel as a function:
//
//   kernel.func @scale sizes [M] (a = %a: tensor<?xf32> [M]) -> (y:
//   tensor<?xf32> [M]) {
//     ...
//     kernel.return %y : tensor<?xf32>
//   }
//
// A parameter is written once, where its value is named; name, use, type and
// axes stand together because that is how they are read. The verifier keeps
// them consistent, so that everybody behind it may trust the axes.
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace facet::kernel;

//===----------------------------------------------------------------------===//
// kernel.func
//===----------------------------------------------------------------------===//

std::optional<unsigned> FuncOp::getSizeIndex(StringRef name) {
  for (auto [i, size] : llvm::enumerate(getSizes()))
    if (cast<StringAttr>(size).getValue() == name)
      return i;
  return std::nullopt;
}

std::optional<int64_t> FuncOp::getFixedSize(StringRef name) {
  auto values = getFixedAttr() ? getFixedAttr().getAs<DenseI64ArrayAttr>(name)
                               : DenseI64ArrayAttr();
  if (!values || values.size() != 1)
    return std::nullopt;
  return values[0];
}

static constexpr StringLiteral planName = "kernel.plan";

PlanAttrInterface FuncOp::getPlan() {
  return (*this)->getAttrOfType<PlanAttrInterface>(planName);
}

void FuncOp::setPlan(PlanAttrInterface plan) {
  (*this)->setAttr(planName, plan);
}

SmallVector<unsigned> FuncOp::getInoutParams() {
  SmallVector<unsigned> inouts;
  for (unsigned i = 0, e = getParams().size(); i != e; ++i)
    if (getParam(i).getMode() == ParamMode::Inout)
      inouts.push_back(i);
  return inouts;
}

void FuncOp::getAsmBlockArgumentNames(Region &region,
                                      OpAsmSetValueNameFn setName) {
  for (auto [arg, param] : llvm::zip(region.getArguments(), getParams()))
    if (auto attr = dyn_cast<ParamAttr>(param))
      setName(arg, attr.getName().getValue());
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes))
    return failure();

  SmallVector<Attribute> sizes;
  if (succeeded(parser.parseOptionalKeyword("sizes")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        StringAttr size;
        ParseResult parsed = parseName(parser, size);
        sizes.push_back(size);
        return parsed;
      }))
    return failure();

  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> params, outputs, outputTypes;
  auto parseParam = [&]() -> ParseResult {
    ParamMode mode = ParamMode::In;
    if (succeeded(parser.parseOptionalKeyword("const")))
      mode = ParamMode::Const;
    else if (succeeded(parser.parseOptionalKeyword("inout")))
      mode = ParamMode::Inout;
    StringAttr paramName;
    SmallVector<AxisAttr> axes;
    OpAsmParser::Argument &argument = arguments.emplace_back();
    if (parseName(parser, paramName) || parser.parseEqual() ||
        parser.parseArgument(argument) ||
        parser.parseColonType(argument.type) || parseAxes(parser, axes))
      return failure();
    params.push_back(
        ParamAttr::get(builder.getContext(), paramName, mode, axes));
    return success();
  };
  auto parseOutput = [&]() -> ParseResult {
    StringAttr outputName;
    Type type;
    SmallVector<AxisAttr> axes;
    if (parseName(parser, outputName) || parser.parseColonType(type) ||
        parseAxes(parser, axes))
      return failure();
    outputs.push_back(
        ParamAttr::get(builder.getContext(), outputName, ParamMode::Out, axes));
    outputTypes.push_back(TypeAttr::get(type));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseParam) ||
      (succeeded(parser.parseOptionalArrow()) &&
       parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                      parseOutput)))
    return failure();

  result.addAttribute(getSizesAttrName(result.name),
                      builder.getArrayAttr(sizes));
  result.addAttribute(getParamsAttrName(result.name),
                      builder.getArrayAttr(params));
  result.addAttribute(getOutputsAttrName(result.name),
                      builder.getArrayAttr(outputs));
  result.addAttribute(getOutputTypesAttrName(result.name),
                      builder.getArrayAttr(outputTypes));

  if (succeeded(parser.parseOptionalKeyword("fixed"))) {
    DictionaryAttr fixed;
    if (parser.parseAttribute(fixed))
      return failure();
    result.addAttribute(getFixedAttrName(result.name), fixed);
  }
  if (succeeded(parser.parseOptionalKeyword("documentation"))) {
    std::string text;
    if (parser.parseString(&text))
      return failure();
    result.addAttribute(getDocumentationAttrName(result.name),
                        builder.getStringAttr(text));
  }
  return failure(parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*result.addRegion(), arguments));
}

void FuncOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  if (!getSizes().empty()) {
    printer << " sizes [";
    llvm::interleaveComma(
        getSizes().getAsRange<StringAttr>(), printer,
        [&](StringAttr size) { printName(printer, size.getValue()); });
    printer << ']';
  }
  printer << " (";
  for (unsigned i = 0, e = getParams().size(); i != e; ++i) {
    ParamAttr param = getParam(i);
    BlockArgument argument = getBody().getArgument(i);
    printer << (i ? ", " : "");
    if (param.getMode() != ParamMode::In)
      printer << stringifyParamMode(param.getMode()) << ' ';
    printName(printer, param.getName().getValue(), {"const", "inout"});
    printer << " = ";
    printer.printRegionArgument(argument, {}, /*omitType=*/true);
    printer << ": " << argument.getType() << ' ';
    printAxes(printer, param.getAxes());
  }
  printer << ')';
  if (!getOutputs().empty()) {
    printer << " -> (";
    for (unsigned i = 0, e = getOutputs().size(); i != e; ++i) {
      printer << (i ? ", " : "");
      printName(printer, getOutput(i).getName().getValue());
      printer << ": " << cast<TypeAttr>(getOutputTypes()[i]).getValue() << ' ';
      printAxes(printer, getOutput(i).getAxes());
    }
    printer << ')';
  }
  if (DictionaryAttr fixed = getFixedAttr())
    printer << " fixed " << fixed;
  if (std::optional<StringRef> text = getDocumentation()) {
    printer << " documentation ";
    printer.printString(*text);
  }
  SmallVector<NamedAttribute> discardable((*this)->getDiscardableAttrs());
  printer.printOptionalAttrDictWithKeyword(discardable);
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// One parameter or result against its type and the sizes of the kernel.
static LogicalResult verifyParam(FuncOp func, ParamAttr param, Type type) {
  StringRef name = param.getName().getValue();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return func.emitOpError() << "'" << name << "' has type " << type
                              << ", a ranked tensor is needed";
  if (tensor.getEncoding())
    return func.emitOpError()
           << "'" << name << "' has an encoding, " << tensor.getEncoding()
           << "; tensors of a kernel have none";
  if (!isElementType(tensor.getElementType()))
    return func.emitOpError() << "'" << name << "' has elements of type "
                              << tensor.getElementType()
                              << ", which is no element type of a kernel";
  SmallVector<Attribute> dims = param.getDims();
  if (static_cast<int64_t>(dims.size()) != tensor.getRank())
    return func.emitOpError()
           << "'" << name << "' has axes with " << dims.size()
           << " dimensions and a tensor of rank " << tensor.getRank();
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (auto size = dyn_cast<StringAttr>(dim)) {
      if (!func.getSizeIndex(size.getValue()))
        return func.emitOpError()
               << "'" << name << "' has an axis of size '" << size.getValue()
               << "', which is not among the sizes of the kernel";
    } else if (int64_t number = cast<IntegerAttr>(dim).getInt();
               number != tensor.getDimSize(i)) {
      auto diagnostic = func.emitOpError() << "'" << name << "' has " << number
                                           << " as dimension " << i << " and ";
      if (tensor.isDynamicDim(i))
        return diagnostic << "? in its type";
      return diagnostic << tensor.getDimSize(i) << " in its type";
    }
  }
  return success();
}

LogicalResult FuncOp::verify() {
  llvm::StringSet<> sizes, names;
  for (auto size : getSizes().getAsRange<StringAttr>()) {
    if (size.getValue().empty())
      return emitOpError("has a size without a name");
    if (!sizes.insert(size.getValue()).second)
      return emitOpError() << "names the size '" << size.getValue()
                           << "' twice";
  }
  if (getBody().empty())
    return emitOpError("has no body");
  if (getParams().size() != getBody().getNumArguments())
    return emitOpError() << "has " << getParams().size() << " parameters and "
                         << getBody().getNumArguments() << " block arguments";
  if (getOutputs().size() != getOutputTypes().size())
    return emitOpError() << "has " << getOutputs().size() << " results and "
                         << getOutputTypes().size() << " result types";

  auto verifyOne = [&](Attribute attr, Type type,
                       bool isOutput) -> LogicalResult {
    auto param = dyn_cast<ParamAttr>(attr);
    if (!param)
      return emitOpError() << "describes a parameter by " << attr
                           << ", a #kernel.param is needed";
    StringRef name = param.getName().getValue();
    if ((param.getMode() == ParamMode::Out) != isOutput)
      return emitOpError() << "'" << name << "' is a "
                           << (isOutput ? "result" : "parameter")
                           << " and has the mode "
                           << stringifyParamMode(param.getMode());
    if (name.empty())
      return emitOpError("has a parameter without a name");
    if (!names.insert(name).second || sizes.contains(name))
      return emitOpError() << "uses the name '" << name << "' twice";
    return verifyParam(*this, param, type);
  };
  for (auto [attr, arg] : llvm::zip(getParams(), getBody().getArguments()))
    if (failed(verifyOne(attr, arg.getType(), /*isOutput=*/false)))
      return failure();
  for (auto [attr, type] : llvm::zip(getOutputs(), getOutputTypes()))
    if (failed(verifyOne(attr, cast<TypeAttr>(type).getValue(),
                         /*isOutput=*/true)))
      return failure();

  for (NamedAttribute entry :
       getFixed().value_or(DictionaryAttr::get(getContext()))) {
    if (!sizes.contains(entry.getName().getValue()))
      return emitOpError() << "fixes '" << entry.getName().getValue()
                           << "', which is not among the sizes of the kernel";
    auto values = dyn_cast<DenseI64ArrayAttr>(entry.getValue());
    if (!values || values.empty() ||
        llvm::any_of(values.asArrayRef(),
                     [](int64_t value) { return value < 0; }))
      return emitOpError() << "fixes '" << entry.getName().getValue() << "' to "
                           << entry.getValue()
                           << ", an array<i64: ...> of sizes is needed";
  }
  if (!isa<ReturnOp>(getBody().front().back()))
    return emitOpError("must end in kernel.return");
  return success();
}

//===----------------------------------------------------------------------===//
// kernel.size
//===----------------------------------------------------------------------===//

void SizeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getName());
}

LogicalResult SizeOp::verify() {
  auto func = (*this)->getParentOfType<FuncOp>();
  if (!func)
    return emitOpError("must stand in a kernel.func");
  if (!func.getSizeIndex(getName()))
    return emitOpError() << "reads '" << getName()
                         << "', which is not among the sizes of kernel '"
                         << func.getSymName() << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// kernel.require
//===----------------------------------------------------------------------===//

ParseResult RequireOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr text;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> types;
  if (parser.parseAttribute(text, parser.getBuilder().getNoneType(),
                            getTextAttrName(result.name), result.attributes))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  auto parseInput = [&]() -> ParseResult {
    SMLoc typeLoc;
    if (parser.parseOperand(inputs.emplace_back()) ||
        parser.parseKeyword("as") ||
        parser.parseArgument(arguments.emplace_back()) || parser.parseColon() ||
        parser.getCurrentLocation(&typeLoc) ||
        parser.parseType(types.emplace_back()))
      return failure();
    auto tensor = dyn_cast<RankedTensorType>(types.back());
    if (!tensor)
      return parser.emitError(typeLoc, "an input is a ranked tensor");
    arguments.back().type = tensor.getElementType();
    return success();
  };
  if (succeeded(parser.parseOptionalKeyword("ins")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseInput))
    return failure();
  return failure(parser.resolveOperands(inputs, types, loc, result.operands) ||
                 parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*result.addRegion(), arguments));
}

void RequireOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printAttributeWithoutType(getTextAttr());
  if (!getInputs().empty()) {
    printer << " ins(";
    llvm::interleaveComma(llvm::zip(getInputs(), getBody().getArguments()),
                          printer, [&](auto pair) {
                            auto [input, argument] = pair;
                            printer << input << " as ";
                            printer.printRegionArgument(argument, {},
                                                        /*omitType=*/true);
                            printer << " : " << input.getType();
                          });
    printer << ')';
  }
  SmallVector<NamedAttribute> discardable((*this)->getDiscardableAttrs());
  printer.printOptionalAttrDictWithKeyword(discardable);
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult RequireOp::verify() {
  if (getBody().getNumArguments() != getInputs().size())
    return emitOpError() << "has " << getInputs().size() << " inputs and "
                         << getBody().getNumArguments() << " block arguments";
  for (auto [input, argument] :
       llvm::zip(getInputs(), getBody().getArguments())) {
    auto tensor = cast<RankedTensorType>(input.getType());
    if (tensor.getRank() != 0)
      return emitOpError() << "reads a tensor of rank " << tensor.getRank()
                           << "; a promise is about scalar arguments and sizes";
    if (argument.getType() != tensor.getElementType())
      return emitOpError() << "has a block argument of type "
                           << argument.getType() << " for an element of type "
                           << tensor.getElementType();
  }
  Block &block = getBody().front();
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getValues().size() != 1 ||
      !yield.getValues().front().getType().isSignlessInteger(1))
    return emitOpError("must end in a kernel.yield of one i1");
  return verifyScalarRegion(*this, getBody(), "promise");
}

//===----------------------------------------------------------------------===//
// kernel.return
//===----------------------------------------------------------------------===//

LogicalResult ReturnOp::verify() {
  auto func = cast<FuncOp>((*this)->getParentOp());
  SmallVector<std::pair<StringRef, Type>> wanted;
  for (unsigned i : func.getInoutParams())
    wanted.push_back({func.getParam(i).getName().getValue(),
                      func.getBody().getArgument(i).getType()});
  for (unsigned i = 0, e = func.getOutputs().size(); i != e; ++i)
    wanted.push_back({func.getOutput(i).getName().getValue(),
                      cast<TypeAttr>(func.getOutputTypes()[i]).getValue()});
  if (wanted.size() != getValues().size())
    return emitOpError() << "returns " << getValues().size()
                         << " values; kernel '" << func.getSymName() << "' has "
                         << wanted.size() << " (inouts, then results)";
  for (auto [i, value] : llvm::enumerate(getValues()))
    if (value.getType() != wanted[i].second)
      return emitOpError() << "returns " << value.getType() << " for '"
                           << wanted[i].first << "', which is "
                           << wanted[i].second;
  return success();
}
