//===- VerifyLowered.cpp - closes the CPU road ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Behind the road, LLVM lowers whatever it is given, and some of it badly without a
// word:
//
//   vector.contract            scalar multiply-adds instead of a dot product
//   vector<24xf32>             thousands of spills: its length is no power of two
//   memref.copy, memref.alloc  a copy nobody asked for, memory nobody counted
//
// So what later passes may rely on is written down here: scalars, vectors of a power
// of two, loops, branches, calls, and memory through pointers alone.
//
//===----------------------------------------------------------------------===//

#include "facet/Conversion/VerifyLowered.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

static bool isOurs(Operation *op) {
  // The address of a task.
  if (isa<UnrealizedConversionCastOp>(op))
    return isa<FunctionType>(op->getOperand(0).getType());
  // What moves or joins elements; the others would be expanded.
  if (isa<vector::VectorDialect>(op->getDialect()))
    return isa<vector::BitCastOp, vector::BroadcastOp, vector::ExtractOp,
               vector::InterleaveOp, vector::ReductionOp, vector::ShuffleOp>(
        op);
  StringRef dialect = op->getName().getDialectNamespace();
  return llvm::is_contained({"arith", "cf", "func", "llvm", "scf"}, dialect);
}

LogicalResult facet::verifyLowered(ModuleOp module) {
  WalkResult result = WalkResult::advance();
  for (auto function : module.getOps<func::FuncOp>()) {
    result = function.walk([](Operation *op) {
      if (!isOurs(op)) {
        op->emitError() << "'" << op->getName()
                        << "' is left behind the CPU road";
        return WalkResult::interrupt();
      }
      for (Type type : op->getResultTypes()) {
        auto vector = dyn_cast<VectorType>(type);
        if (!vector || (vector.getRank() == 1 && !vector.isScalable() &&
                        llvm::isPowerOf2_64(vector.getNumElements())))
          continue;
        op->emitError() << "a " << type
                        << " is left behind the CPU road; vectors have one "
                           "dimension, and a power of two elements";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

namespace {

class VerifyLoweredPass
    : public PassWrapper<VerifyLoweredPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyLoweredPass)
  StringRef getArgument() const override { return "cpu-verify-lowered"; }
  StringRef getDescription() const override {
    return "refuse what the CPU road must not leave";
  }
  void runOnOperation() override {
    if (failed(facet::verifyLowered(getOperation())))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> facet::createVerifyLoweredPass() {
  return std::make_unique<VerifyLoweredPass>();
}
