//===- Passes.h - conversions between dialects ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_CONVERSION_PASSES_H
#define FACET_CONVERSION_PASSES_H

#include "facet/Dialect/Engine/IR/Engine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace facet {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "facet/Conversion/Passes.h.inc"

} // namespace facet

#endif // FACET_CONVERSION_PASSES_H
