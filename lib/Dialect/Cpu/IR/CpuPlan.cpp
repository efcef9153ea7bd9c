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
                                      Split split, int64_t grain) {
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
  if (MicroKernelOp::groupSize(dot) > 1 && pack != Pack::AB)
    return emitError() << "pack = " << stringifyPack(pack)
                       << ", but dot = " << stringifyDot(dot)
                       << " takes groups of " << MicroKernelOp::groupSize(dot)
                       << " elements, which packing makes";
  if (depthBlock < 0 || depthBlock % MicroKernelOp::groupSize(dot) != 0)
    return emitError() << "depth_block = " << depthBlock
                       << " is no multiple of the "
                       << MicroKernelOp::groupSize(dot)
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

LogicalResult PlanAttr::verify(EmitError emitError, StringRef machine,
                               ArrayRef<VariantAttr> variants) {
  if (machine.empty())
    return emitError() << "a plan names no machine";
  if (variants.size() != 1)
    return emitError() << "a plan has " << variants.size()
                       << " variants; it takes 1";
  return success();
}
