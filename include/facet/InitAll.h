//===- InitAll.h - every dialect and pass of Facet's tools ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line per dialect, one line per group of passes. facet-opt and
// facet-lsp-server know what is listed here.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_INITALL_H
#define FACET_INITALL_H

#include "facet/Conversion/Passes.h"
#include "facet/Conversion/VerifyLowered.h"
#include "facet/Dialect/Cpu/IR/Cpu.h"
#include "facet/Dialect/Engine/IR/Engine.h"
#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "facet/Dialect/Kernel/Transforms/Passes.h"
#include "facet/Pipelines/Pipelines.h"
#include "facet/Planner/Cpu/Planner.h"
#include "facet/Planner/Engine/Planner.h"
#include "facet/Target/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

namespace facet {

inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::affine::AffineDialect, mlir::arith::ArithDialect,
                  mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                  mlir::tensor::TensorDialect, mlir::vector::VectorDialect>();
  registry
      .insert<kernel::KernelDialect, cpu::CpuDialect, engine::EngineDialect>();
  cpu::registerPlanModel(registry);
  engine::registerPlanModel(registry);
}

inline void registerAllPasses() {
  kernel::registerKernelPasses();
  mlir::registerTransformsPasses(); // canonicalize, cse, inline, ...
  registerConversionPasses();
  mlir::registerPass(createLowerToLLVMPass);
  mlir::registerPass(createVerifyLoweredPass);
  registerFacetTargetPasses();
}

} // namespace facet

#endif // FACET_INITALL_H
