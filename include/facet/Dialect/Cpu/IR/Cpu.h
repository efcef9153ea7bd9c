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

namespace facet::cpu {
/// Whether `dot` is done in tile registers.
inline bool isTile(Dot dot) { return dot >= Dot::TileBF16; }
/// Rows of a tile register, and words of 32 bits in each of them.
inline constexpr int64_t tileRows = 16, tileWords = 16;
/// Tiles of sums beside and above each other: with two of a and two of b, these are
/// all registers that there are.
inline constexpr int64_t tilesAcross = 2;
/// A step of the kernel takes so many groups of k.
inline int64_t groupsPerStep(Dot dot) { return isTile(dot) ? tileWords : 1; }
} // namespace facet::cpu

#define GET_ATTRDEF_CLASSES
#include "facet/Dialect/Cpu/IR/CpuAttrs.h.inc"
#define GET_OP_CLASSES
#include "facet/Dialect/Cpu/IR/CpuOps.h.inc"

#endif // FACET_DIALECT_CPU_IR_CPU_H
