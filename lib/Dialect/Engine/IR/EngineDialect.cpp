//===- EngineDialect.cpp - tiles and rings --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers the dialect and reads, prints and checks its types:
//
//   !engine.tile<128x4x512xbf16, sbuf>      !engine.ring<3 x 128x512xbf16, sbuf>
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Engine/IR/Engine.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

#include "facet/Dialect/Engine/IR/EngineDialect.cpp.inc"
#include "facet/Dialect/Engine/IR/EngineEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "facet/Dialect/Engine/IR/EngineTypes.cpp.inc"

void EngineDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "facet/Dialect/Engine/IR/EngineOps.cpp.inc"
      >();
}

void EngineDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "facet/Dialect/Engine/IR/EngineTypes.cpp.inc"
      >();
}

Type engine::storedType(Type element) {
  Builder builder(element.getContext());
  if (element.isInteger(64))
    return builder.getI32Type();
  if (element.isInteger(4))
    return element.isUnsignedInteger() ? builder.getIntegerType(8, false)
                                       : builder.getIntegerType(8);
  return element.isInteger(1) ? builder.getIntegerType(8, /*isSigned=*/false)
                              : element;
}

std::optional<DType> engine::dtypeOf(Type type) {
  if (type.isTF32())
    return DType::TF32;
  if (type.isF32())
    return DType::F32;
  if (type.isBF16())
    return DType::BF16;
  if (type.isF16())
    return DType::F16;
  if (type.isF64())
    return DType::F64;
  if (isa<Float8E4M3Type>(type))
    return DType::F8E4M3;
  if (isa<Float8E5M2Type>(type))
    return DType::F8E5M2;
  if (isa<Float8E4M3FNType>(type))
    return DType::F8E4M3FN;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  switch (integer.getWidth()) {
  case 8:
    return integer.isUnsigned() ? DType::U8 : DType::I8;
  case 16:
    return DType::I16;
  case 32:
    return DType::I32;
  case 64:
    return DType::I64;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// `128x512xbf16, sbuf`
static ParseResult parseTile(AsmParser &parser, SmallVectorImpl<int64_t> &shape,
                             Type &elementType, Memory &memory) {
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma())
    return failure();
  FailureOr<Memory> parsed = FieldParser<Memory>::parse(parser);
  if (failed(parsed))
    return failure();
  memory = *parsed;
  return success();
}

static void printTile(AsmPrinter &printer, TileType tile) {
  printer.printDimensionList(tile.getShape());
  printer << 'x' << tile.getElementType() << ", "
          << stringifyMemory(tile.getMemory());
}

Type TileType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  Memory memory;
  if (parser.parseLess() || parseTile(parser, shape, elementType, memory) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); },
                    parser.getContext(), shape, elementType, memory);
}

void TileType::print(AsmPrinter &printer) const {
  printer << '<';
  printTile(printer, *this);
  printer << '>';
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType,
                               Memory memory) {
  if (shape.empty() || (memory != Memory::Hbm && shape.size() > 1 + maxDims))
    return emitError() << "a tile has rows and up to " << maxDims
                       << " dimensions inside a row, not " << shape.size()
                       << " dimensions in all";
  int64_t elements = 1;
  for (int64_t extent : shape)
    if (extent < 1 || llvm::MulOverflow(elements, extent, elements))
      return emitError() << "the extents of a tile are positive and their "
                            "product fits 64 bits";
  if (!dtypeOf(elementType))
    return emitError() << "the machine has no elements of type " << elementType;
  return success();
}

int64_t TileType::getRowElements() const {
  int64_t elements = 1;
  for (int64_t extent : getShape().drop_front())
    elements *= extent;
  return elements;
}

int64_t TileType::getRowBytes() const {
  return getRowElements() * dtypeBytes(*dtypeOf(getElementType()));
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

/// `3 x 128x512xbf16, sbuf`, written with a blank so that the depth is no extent.
Type RingType::parse(AsmParser &parser) {
  int64_t depth;
  SmallVector<int64_t> shape;
  Type elementType;
  Memory memory;
  if (parser.parseLess() || parser.parseInteger(depth) ||
      parser.parseKeyword("x") ||
      parseTile(parser, shape, elementType, memory) || parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(parser.getNameLoc()); };
  TileType tile = TileType::getChecked(emitError, parser.getContext(), shape,
                                       elementType, memory);
  return tile ? getChecked(emitError, parser.getContext(), depth, tile)
              : Type();
}

void RingType::print(AsmPrinter &printer) const {
  printer << '<' << getDepth() << " x ";
  printTile(printer, getTile());
  printer << '>';
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t depth, TileType tile) {
  if (depth < 1)
    return emitError() << "a ring has at least one slot, not " << depth;
  if (tile.getMemory() != Memory::Sbuf && tile.getMemory() != Memory::Psum)
    return emitError() << "a ring lies in sbuf or psum, not in "
                       << stringifyMemory(tile.getMemory());
  return success();
}
