//===- Passes.h - passes that prepare a module for emission ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_TARGET_PASSES_H
#define FACET_TARGET_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace facet {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "facet/Target/Passes.h.inc"

} // namespace facet

#endif // FACET_TARGET_PASSES_H
