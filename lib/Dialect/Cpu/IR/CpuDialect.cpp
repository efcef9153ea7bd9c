//===- CpuDialect.cpp - the cpu dialect -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers the micro-kernel and checks what its operands must agree on: one
// accumulator per row and vector, all of the dot product's type and width.
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Cpu/IR/Cpu.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace facet::cpu;

#include "facet/Dialect/Cpu/IR/CpuDialect.cpp.inc"
#include "facet/Dialect/Cpu/IR/CpuEnums.cpp.inc"
#define GET_OP_CLASSES
#include "facet/Dialect/Cpu/IR/CpuOps.cpp.inc"

void CpuDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "facet/Dialect/Cpu/IR/CpuOps.cpp.inc"
      >();
}

static Type accumulatorType(MLIRContext *context, Dot dot) {
  switch (dot) {
  case Dot::F32:
  case Dot::BF16:
  case Dot::TileBF16:
    return Float32Type::get(context);
  case Dot::F64:
    return Float64Type::get(context);
  case Dot::I32:
  case Dot::U8S8:
  case Dot::S8U8:
  case Dot::I16:
  case Dot::TileU8S8:
  case Dot::TileS8U8:
  case Dot::TileS8S8:
  case Dot::TileU8U8:
    return IntegerType::get(context, 32);
  }
  llvm_unreachable("all dots are listed");
}

LogicalResult TileKernelOp::verify() {
  if (!isTile(getDot()))
    return emitOpError("multiplies ")
           << stringifyDot(getDot())
           << " in tile registers; it takes tile_bf16 "
           << "and the tile_ kinds of bytes";
  return success();
}

LogicalResult MicroKernelOp::verify() {
  if (isTile(getDot()))
    return emitOpError("multiplies ")
           << stringifyDot(getDot()) << " in vector registers; that is what "
           << "cpu.tile_kernel is for";
  uint64_t count = getRows() * getVectors();
  if (getInits().size() != count || getResults().size() != count)
    return emitOpError("has ")
           << getInits().size() << " inits and " << getResults().size()
           << " results, but " << getRows() << " rows of " << getVectors()
           << " vectors";
  auto expected = VectorType::get({int64_t(getLanes())},
                                  accumulatorType(getContext(), getDot()));
  for (Type type :
       llvm::concat<Type>(getInits().getTypes(), getResults().getTypes()))
    if (type != expected)
      return emitOpError("accumulates ")
             << stringifyDot(getDot()) << " products in " << type << ", not in "
             << expected;
  if (!getMask())
    return success();
  if (groupSize(getDot()) != 1)
    return emitOpError("masks the last vector of ")
           << stringifyDot(getDot()) << " groups; pack b and pad it";
  if (cast<VectorType>(getMask().getType()).getNumElements() !=
      int64_t(getLanes()))
    return emitOpError("has a mask of ")
           << getMask().getType() << " for vectors of " << getLanes()
           << " lanes";
  return success();
}
