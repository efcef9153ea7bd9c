//===- KernelDialect.cpp - the kernel dialect -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers ops and attributes, and keeps the constants of a scalar body inside
// that body: a greedy rewrite would move them in front of the op, where bodies
// may not reach for floats, and where a reader would have to look for them.
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"

using namespace mlir;
using namespace facet::kernel;

#include "facet/Dialect/Kernel/IR/KernelDialect.cpp.inc"
#include "facet/Dialect/Kernel/IR/KernelInterfaces.cpp.inc"

namespace {
struct KeepConstantsInBodies : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *region) const final {
    return isa<StructuredOpInterface, RequireOp>(region->getParentOp());
  }
};
} // namespace

void KernelDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "facet/Dialect/Kernel/IR/KernelOps.cpp.inc"
      >();
  addInterfaces<KeepConstantsInBodies>();
}

Operation *KernelDialect::materializeConstant(OpBuilder &builder,
                                              Attribute value, Type type,
                                              Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

SmallVector<OpFoldResult> facet::kernel::mixedExtents(Operation *op) {
  auto structured = cast<StructuredOpInterface>(op);
  return getMixedValues(structured.getStaticExtents(), structured.getExtents(),
                        op->getContext());
}
