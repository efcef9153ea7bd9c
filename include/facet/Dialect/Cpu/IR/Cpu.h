//===- Cpu.h - the cpu dialect --------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_CPU_IR_CPU_H
#define FACET_DIALECT_CPU_IR_CPU_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "facet/Dialect/Cpu/IR/CpuDialect.h.inc"
#include "facet/Dialect/Cpu/IR/CpuEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "facet/Dialect/Cpu/IR/CpuAttrs.h.inc"
#define GET_OP_CLASSES
#include "facet/Dialect/Cpu/IR/CpuOps.h.inc"

#endif // FACET_DIALECT_CPU_IR_CPU_H
