//===- Flops.cpp - how much arithmetic one run is -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts, per point of each structured op, the additions, multiplications and
// function calls on values (not on subscripts), and multiplies by its extents:
//
//   y[m, n] = gelu(sum[k](x[m, k] * w[k, n]) + b[n])   ─▶   2·M·N·K + 2·M·N
//
// In double, because the count of a large product passes 2^63 before its time
// does. Filters are taken as true: what they drop depends on the data.
//
//===----------------------------------------------------------------------===//

#include "EntryPoints.h"

#include "facet/Dialect/Kernel/IR/Operations.h"

using namespace mlir;
using namespace facet;
using namespace facet::interface;

std::string facet::interface::emitFlops(Emission &emission) {
  const Signature &signature = emission.signature;
  MLIRContext *context = emission.kernel->getContext();
  ImplicitLocOpBuilder b(emission.loc(), context);
  b.setInsertionPointToEnd(emission.constants.getModule().getBody());
  Type f64 = b.getF64Type(), pointer = LLVM::LLVMPointerType::get(context);
  std::string name = signature.name + ".flops";
  // llvm.func, because a constant cannot hold the address of a func.func.
  auto function = LLVM::LLVMFuncOp::create(
      b, name, LLVM::LLVMFunctionType::get(f64, {pointer}),
      LLVM::Linkage::Internal);
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getF64FloatAttr(value));
  };
  auto extentOf = [&](OpFoldResult extent) -> Value {
    auto value = dyn_cast<Value>(extent);
    if (!value)
      return constant(cast<IntegerAttr>(cast<Attribute>(extent)).getInt());
    while (auto castOp = value.getDefiningOp<arith::IndexCastOp>())
      value = castOp.getIn();
    auto size = value.getDefiningOp<kernel::SizeOp>();
    if (!size) // no size of the kernel: counted as one point
      return constant(1);
    Value address =
        LLVM::GEPOp::create(b, pointer, b.getI64Type(), entry->getArgument(0),
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(
                                signature.sizeIndex(size.getNameAttr()))});
    Value loaded = LLVM::LoadOp::create(b, b.getI64Type(), address);
    return arith::SIToFPOp::create(b, f64, loaded);
  };
  Value total = constant(0);
  emission.kernel.walk([&](kernel::StructuredOpInterface op) {
    unsigned count = kernel::operationsPerPoint(op);
    if (count == 0)
      return;
    Value term = constant(count);
    for (OpFoldResult extent : op.getMixedExtents())
      term = arith::MulFOp::create(b, term, extentOf(extent));
    total = arith::AddFOp::create(b, total, term);
  });
  LLVM::ReturnOp::create(b, total);
  return name;
}
