//===- IssueOp.cpp - instructions by the table of the instruction set -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// engine.issue knows no instruction by itself: names of operands, fields and flags,
// the engines that run it and the memories and types it takes are looked up in the
// table of docs/InstructionSet.md.
//
//   engine.issue vector "tensor_tensor"(dst = %c, a = %a, b = %b) {op = "add"} : …
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Engine/IR/Engine.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const OperandInfo *operandOf(IssueOp op, unsigned tile) {
  const OpcodeInfo *info = opcodeByMnemonic(op.getMnemonic());
  StringRef name = cast<StringAttr>(op.getNames()[tile]).getValue();
  for (const OperandInfo &operand : info->operands)
    if (name == operand.name)
      return &operand;
  return nullptr;
}

unsigned IssueOp::getSlot(unsigned tile) {
  return operandOf(*this, tile)->slot;
}
bool IssueOp::writes(unsigned tile) {
  return operandOf(*this, tile)->mode != OperandMode::Read;
}
bool IssueOp::reads(unsigned tile) {
  return operandOf(*this, tile)->mode != OperandMode::Write;
}

void IssueOp::build(OpBuilder &builder, OperationState &state, QueueKind queue,
                    StringRef mnemonic,
                    ArrayRef<std::pair<StringRef, Value>> operands,
                    ArrayRef<NamedAttribute> fields) {
  SmallVector<StringRef> names;
  SmallVector<Value> tiles;
  for (auto [name, tile] : operands) {
    names.push_back(name);
    tiles.push_back(tile);
  }
  build(builder, state, QueueKindAttr::get(builder.getContext(), queue),
        builder.getStringAttr(mnemonic), builder.getStrArrayAttr(names), tiles,
        builder.getDictionaryAttr(fields), IntegerSetAttr(), ValueRange());
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

ParseResult IssueOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  StringRef word;
  llvm::SMLoc place = parser.getCurrentLocation();
  StringAttr mnemonic;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<QueueKind> queue = symbolizeQueueKind(word);
  if (!queue)
    return parser.emitError(place) << "'" << word << "' is no engine";
  if (parser.parseAttribute(mnemonic, builder.getNoneType(), "mnemonic",
                            state.attributes))
    return failure();
  state.addAttribute("queue", QueueKindAttr::get(parser.getContext(), *queue));

  SmallVector<Attribute> names;
  SmallVector<OpAsmParser::UnresolvedOperand> tiles, counters;
  auto parseOperand = [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual() ||
        parser.parseOperand(tiles.emplace_back()))
      return failure();
    names.push_back(builder.getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOperand))
    return failure();
  state.addAttribute("names", builder.getArrayAttr(names));
  NamedAttrList fields;
  if (parser.parseOptionalAttrDict(fields))
    return failure();
  state.addAttribute("fields", fields.getDictionary(parser.getContext()));
  if (succeeded(parser.parseOptionalKeyword("if"))) {
    IntegerSetAttr condition;
    if (parser.parseAttribute(condition, builder.getNoneType(), "condition",
                              state.attributes) ||
        parser.parseOperandList(counters, AsmParser::Delimiter::Paren))
      return failure();
  }
  SmallVector<Type> types;
  place = parser.getCurrentLocation();
  if (parser.parseOptionalColonTypeList(types) ||
      parser.resolveOperands(tiles, types, place, state.operands) ||
      parser.resolveOperands(counters, builder.getIndexType(), state.operands))
    return failure();
  state.addAttribute(
      getOperandSegmentSizeAttr(),
      builder.getDenseI32ArrayAttr({int(tiles.size()), int(counters.size())}));
  return success();
}

void IssueOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyQueueKind(getQueue()) << ' ' << getMnemonicAttr()
          << '(';
  llvm::interleaveComma(
      llvm::zip_equal(getNames(), getTiles()), printer, [&](auto pair) {
        printer << cast<StringAttr>(std::get<0>(pair)).getValue() << " = "
                << std::get<1>(pair);
      });
  printer << ')';
  printer.printOptionalAttrDict(getFields().getValue());
  if (getCondition())
    printer << " if " << getConditionAttr() << '(' << getCounters() << ')';
  if (!getTiles().empty())
    printer << " : " << getTiles().getTypes();
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static char spaceLetter(Memory memory) {
  switch (memory) {
  case Memory::Hbm:
    return 'h';
  case Memory::Sbuf:
    return 's';
  case Memory::Psum:
    return 'p';
  case Memory::Index:
    return 'x';
  }
  llvm_unreachable("all memories are listed");
}

static LogicalResult verifyField(IssueOp op, const OpcodeInfo &info,
                                 NamedAttribute field) {
  for (const FlagInfo &flag : info.flags)
    if (field.getName() == flag.name)
      return isa<UnitAttr>(field.getValue())
                 ? success()
                 : op.emitOpError("gives flag '") << flag.name << "' a value";
  for (const FieldInfo &known : info.fields)
    if (field.getName() == known.name)
      return isa<StringAttr, IntegerAttr, FloatAttr>(field.getValue())
                 ? success()
                 : op.emitOpError("gives field '")
                       << known.name << "' neither a word nor a number";
  return op.emitOpError("'") << info.mnemonic << "' has no field or flag '"
                             << field.getName().getValue() << "'";
}

LogicalResult IssueOp::verify() {
  const OpcodeInfo *info = opcodeByMnemonic(getMnemonic());
  if (!info || info->opcode == Opcode::Loop || info->opcode == Opcode::End ||
      info->opcode == Opcode::Advance)
    return emitOpError("'") << getMnemonic() << "' is no instruction";
  if (!info->runsOn(Engine(getQueue())))
    return emitOpError("'") << getMnemonic() << "' does not run on "
                            << stringifyQueueKind(getQueue());
  if (getNames().size() != getTiles().size())
    return emitOpError("names ")
           << getNames().size() << " operands and has " << getTiles().size();
  llvm::SmallDenseSet<unsigned> given;
  for (auto [i, tile] : llvm::enumerate(getTiles())) {
    const OperandInfo *operand = operandOf(*this, i);
    StringRef name = cast<StringAttr>(getNames()[i]).getValue();
    if (!operand || !given.insert(operand->slot).second)
      return emitOpError("'")
             << getMnemonic() << "' has no "
             << (operand ? "second operand '" : "operand '") << name << "'";
    Memory memory = cast<TileType>(tile.getType()).getMemory();
    if (!StringRef(operand->spaces).contains(spaceLetter(memory)))
      return emitOpError("operand '")
             << name << "' cannot lie in " << stringifyMemory(memory);
    if (memory == Memory::Hbm && !tile.getDefiningOp<ViewOp>())
      return emitOpError("operand '")
             << name << "' is a whole buffer; a view says what its rows are";
  }
  for (const OperandInfo &operand : info->operands)
    if (operand.need == Need::Required && !given.contains(operand.slot))
      return emitOpError("'")
             << getMnemonic() << "' needs operand '" << operand.name << "'";
  for (NamedAttribute field : getFields().getValue())
    if (failed(verifyField(*this, *info, field)))
      return failure();
  if (std::optional<IntegerSet> set = getCondition()) {
    if (set->getNumDims() != getCounters().size() || set->getNumSymbols() != 0)
      return emitOpError("has a condition on ")
             << set->getNumDims() << " counters and " << getCounters().size()
             << " of them";
    if (set->getNumConstraints() > 4)
      return emitOpError("has ") << set->getNumConstraints()
                                 << " conditions; an instruction takes four";
  }
  return success();
}
