//===- LowerToLLVM.cpp - loops and functions to the LLVM dialect ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of every road on a CPU: scf to branches, then arith, branches and
// functions to the LLVM dialect. Only these dialects arrive here; an op of
// another one is an error of ours and ends with a message, not with a crash.
// No clean-up runs in between: LLVM's own passes do it better and faster.
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Cpu/IR/Cpu.h"
#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "facet/Pipelines/Pipelines.h"
#include "facet/Planner/Cpu/Planner.h"
#include "facet/Planner/Engine/Planner.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

LogicalResult facet::lowerToLLVM(ModuleOp module) {
  MLIRContext *context = module.getContext();
  context->loadDialect<cf::ControlFlowDialect, LLVM::LLVMDialect>();
  for (auto kernel :
       llvm::make_early_inc_range(module.getOps<kernel::FuncOp>()))
    kernel.erase();

  RewritePatternSet structure(context);
  populateSCFToControlFlowConversionPatterns(structure);
  ConversionTarget branches(*context);
  branches.addIllegalDialect<scf::SCFDialect>();
  branches.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  if (failed(applyPartialConversion(module, branches, std::move(structure))))
    return failure();

  LLVMTypeConverter types(context);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  populateVectorToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  // The address of a task, a function before and a pointer after.
  target.addLegalOp<UnrealizedConversionCastOp>();
  if (failed(applyFullConversion(module, target, std::move(patterns))))
    return failure();
  SmallVector<UnrealizedConversionCastOp> casts, left;
  module.walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  reconcileUnrealizedCasts(casts, &left);
  return success(left.empty());
}

namespace {

class LowerToLLVMPass
    : public PassWrapper<LowerToLLVMPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerToLLVMPass)
  llvm::StringRef getArgument() const override { return "facet-lower-to-llvm"; }
  llvm::StringRef getDescription() const override {
    return "drop kernels and lower their functions to the LLVM dialect";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, cf::ControlFlowDialect>();
  }
  void runOnOperation() override {
    if (failed(facet::lowerToLLVM(getOperation())))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> facet::createLowerToLLVMPass() {
  return std::make_unique<LowerToLLVMPass>();
}

void facet::registerReferenceDialects(DialectRegistry &registry) {
  registry.insert<kernel::KernelDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, tensor::TensorDialect,
                  vector::VectorDialect, cpu::CpuDialect>();
  cpu::registerPlanModel(registry);
  engine::registerPlanModel(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}
