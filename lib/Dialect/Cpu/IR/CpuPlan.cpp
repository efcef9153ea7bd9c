//===- CpuPlan.cpp - the parts of a plan agree with each other ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be said of a plan without its kernel and machine: blocks are whole
// numbers of tiles, a contraction has its choices and nothing else has. Whether a
// plan fits a kernel is the planner's to say (PlanAttrInterface::verify).
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Cpu/IR/Cpu.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace facet;
using namespace facet::cpu;

#define GET_ATTRDEF_CLASSES
#include "facet/Dialect/Cpu/IR/CpuAttrs.cpp.inc"

void CpuDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "facet/Dialect/Cpu/IR/CpuAttrs.cpp.inc"
      >();
}

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

LogicalResult ContractionAttr::verify(EmitError emitError, int64_t rows,
                                      int64_t vectors, int64_t lanes,
                                      int64_t rowBlock, int64_t columnBlock,
                                      Pack pack, Dot dot, int64_t depthBlock,
                                      Split split, int64_t grain, bool constant,
                                      int64_t prefetch) {
  if (rows < 1 || vectors < 1 || lanes < 1)
    return emitError() << "a tile of " << rows << " rows by " << vectors
                       << " vectors of " << lanes << " elements is empty";
  if (rowBlock < 1 || rowBlock % rows != 0)
    return emitError() << "row_block = " << rowBlock
                       << " is no multiple of the tile's " << rows << " rows";
  if (columnBlock < 1 || columnBlock % (vectors * lanes) != 0)
    return emitError() << "column_block = " << columnBlock
                       << " is no multiple of the tile's " << vectors * lanes
                       << " columns";
  if (isTile(dot) && (rows != tilesAcross * tileRows || vectors > tilesAcross ||
                      lanes != tileWords))
    return emitError() << "dot = " << stringifyDot(dot) << " takes blocks of "
                       << tilesAcross * tileRows << " rows by 1 or "
                       << tilesAcross << " vectors of " << tileWords
                       << " elements, not " << rows << " by " << vectors
                       << " of " << lanes;
  Pack needed = constant ? Pack::A : Pack::AB;
  if (MicroKernelOp::groupSize(dot) > 1 && pack != needed)
    return emitError() << "pack = " << stringifyPack(pack)
                       << ", but dot = " << stringifyDot(dot)
                       << " takes groups of " << MicroKernelOp::groupSize(dot)
                       << " elements, which packing makes";
  if (constant && (uint32_t(pack) & uint32_t(Pack::B)))
    return emitError() << "pack = " << stringifyPack(pack)
                       << ", but b is read from its packed array";
  if (prefetch < 0)
    return emitError() << "prefetch = " << prefetch << " is negative";
  int64_t step = MicroKernelOp::groupSize(dot) * groupsPerStep(dot);
  if (depthBlock < 0 || depthBlock % step != 0)
    return emitError() << "depth_block = " << depthBlock
                       << " is no multiple of the " << step
                       << " elements of a dot product";
  if (grain < 0 || (split == Split::None) != (grain == 0))
    return emitError() << "grain = " << grain
                       << " with split = " << stringifySplit(split)
                       << "; tasks have a grain, one task has none";
  return success();
}

LogicalResult StreamAttr::verify(EmitError emitError, int64_t rows,
                                 int64_t keyVectors, int64_t valueVectors,
                                 int64_t lanes, int64_t rowBlock,
                                 int64_t keyBlock, Dot, Dot, int64_t grain) {
  if (rows < 1 || keyVectors < 1 || valueVectors < 1 || lanes < 1)
    return emitError() << "a tile of " << rows << " rows by " << keyVectors
                       << " and " << valueVectors << " vectors of " << lanes
                       << " elements is empty";
  if (rows > lanes)
    return emitError() << "a tile of " << rows << " rows has more than the "
                       << lanes << " elements of a vector";
  if (rowBlock < 1 || rowBlock % rows != 0)
    return emitError() << "row_block = " << rowBlock
                       << " is no multiple of the tile's " << rows << " rows";
  if (keyBlock < 1 || keyBlock % (keyVectors * lanes) != 0)
    return emitError() << "key_block = " << keyBlock
                       << " is no multiple of the tile's " << keyVectors * lanes
                       << " keys";
  if (grain < 0)
    return emitError() << "grain = " << grain << " is less than 0";
  return success();
}

LogicalResult StageAttr::verify(EmitError emitError, Form form,
                                ArrayRef<int64_t> ops,
                                ContractionAttr contraction,
                                StreamAttr stream) {
  bool isContraction = form == Form::Contraction;
  if (isContraction != bool(contraction))
    return emitError() << "a stage of form " << stringifyForm(form)
                       << (isContraction ? " needs the choices for its sum"
                                         : " has no sum to choose for");
  bool isStream = form == Form::Stream;
  if (isStream != bool(stream))
    return emitError() << "a stage of form " << stringifyForm(form)
                       << (isStream ? " needs the choices for its blocks"
                                    : " has no blocks to choose");
  if (isStream) {
    if (ops.size() < 3)
      return emitError() << "a stage of form stream has " << ops.size()
                         << " ops; it takes 3 or more";
    return success();
  }
  size_t most = isContraction ? 2 : 1;
  if (ops.empty() || ops.size() > most)
    return emitError() << "a stage of form " << stringifyForm(form) << " has "
                       << ops.size() << " ops; it takes 1"
                       << (isContraction ? " or 2" : "");
  return success();
}

LogicalResult GuardAttr::verify(EmitError emitError, StringRef size,
                                int64_t most) {
  if (size.empty() || most < 1)
    return emitError() << "a guard wants '" << size << "' to be " << most
                       << " at most; it takes a size and 1 or more";
  return success();
}

LogicalResult LayoutAttr::verify(EmitError emitError, int64_t argument,
                                 int64_t columns, int64_t lanes, Dot dot) {
  constexpr int64_t most = INT16_MAX; // what the tag holds
  if (argument < 0 || lanes < 1 || lanes > UINT8_MAX || columns < 1 ||
      columns > most || columns % lanes != 0)
    return emitError() << "panels of " << columns << " columns for argument "
                       << argument << " are no whole vectors of " << lanes
                       << " elements";
  return success();
}

/// What tells one layout from another: `columns`, `lanes` and `dot`, none of which
/// makes it 0.
int32_t LayoutAttr::getTag() const {
  return int32_t(getColumns() << 16 | getLanes() << 8 | int64_t(getDot()));
}

LogicalResult VariantAttr::verify(EmitError emitError, bool packed,
                                  ArrayRef<GuardAttr> guards,
                                  ArrayRef<StageAttr> stages) {
  for (StageAttr stage : stages)
    if (stage.getContraction() && stage.getContraction().getConstant() &&
        !packed)
      return emitError() << "a stage reads packed arrays, but its variant is "
                            "for calls with plain ones";
  return success();
}

Attribute VariantAttr::parse(AsmParser &parser, Type) {
  SmallVector<GuardAttr> guards;
  SmallVector<StageAttr> stages;
  if (parser.parseLess())
    return {};
  bool packed = succeeded(parser.parseOptionalKeyword("packed"));
  auto parseGuard = [&] {
    FailureOr<GuardAttr> guard = FieldParser<GuardAttr>::parse(parser);
    if (failed(guard))
      return failure();
    guards.push_back(*guard);
    return success();
  };
  if (succeeded(parser.parseOptionalKeyword("when")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseGuard))
    return {};
  auto parseStage = [&] {
    FailureOr<StageAttr> stage = FieldParser<StageAttr>::parse(parser);
    if (failed(stage))
      return failure();
    stages.push_back(*stage);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     parseStage) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<VariantAttr>(parser.getContext(), packed, guards,
                                        stages);
}

void VariantAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (getPacked())
    printer << "packed ";
  if (!getGuards().empty()) {
    printer << "when [";
    llvm::interleaveComma(getGuards(), printer.getStream(), [&](GuardAttr a) {
      printer.printStrippedAttrOrType(a);
    });
    printer << "] ";
  }
  printer << "[";
  llvm::interleaveComma(getStages(), printer.getStream(), [&](StageAttr a) {
    printer.printStrippedAttrOrType(a);
  });
  printer << "]>";
}

VariantAttr PlanAttr::getGeneral(bool packed) const {
  for (VariantAttr variant : getVariants())
    if (variant.getPacked() == packed && variant.getGuards().empty())
      return variant;
  return {};
}

LayoutAttr PlanAttr::getLayout(int64_t argument) const {
  for (LayoutAttr layout : getLayouts())
    if (layout.getArgument() == argument)
      return layout;
  return {};
}

LogicalResult PlanAttr::verify(EmitError emitError, StringRef machine,
                               ArrayRef<VariantAttr> variants,
                               ArrayRef<LayoutAttr> layouts) {
  if (machine.empty())
    return emitError() << "a plan names no machine";
  for (bool packed : {false, true}) {
    SmallVector<bool> guarded;
    for (VariantAttr variant : variants)
      if (variant.getPacked() == packed)
        guarded.push_back(!variant.getGuards().empty());
    bool wanted = !packed || !layouts.empty();
    StringRef kind = packed ? "packed calls" : "calls";
    if (wanted != !guarded.empty())
      return emitError() << "a plan with " << layouts.size() << " layouts has "
                         << guarded.size() << " variants for " << kind;
    if (wanted && (guarded.back() || llvm::count(guarded, false) != 1))
      return emitError() << "the last variant for " << kind
                         << ", and no other one, has no guard";
  }
  return success();
}
