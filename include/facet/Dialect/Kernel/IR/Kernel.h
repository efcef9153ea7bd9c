//===- Kernel.h - the kernel dialect --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_KERNEL_IR_KERNEL_H
#define FACET_DIALECT_KERNEL_IR_KERNEL_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace facet {
class Diagnostics;
struct Machine;
} // namespace facet

namespace facet::kernel {

struct ScheduleEntry; // Plan.h
struct Explanation;   // Explanation.h

/// One subscript of an access. `value` is the position of an iterator, the number
/// itself, or the position of the earlier input whose element is the subscript.
struct Subscript {
  enum Kind : int32_t { Iterator, Constant, Element };
  Kind kind = Iterator;
  int64_t value = 0;
  bool operator==(const Subscript &other) const {
    return kind == other.kind && value == other.value;
  }
};
inline llvm::hash_code hash_value(const Subscript &s) {
  return llvm::hash_combine(s.kind, s.value);
}

class FuncOp;

/// Extents of a structured op: attributes where static, else its extent operands.
llvm::SmallVector<mlir::OpFoldResult> mixedExtents(mlir::Operation *op);

} // namespace facet::kernel

#include "facet/Dialect/Kernel/IR/KernelDialect.h.inc"
#include "facet/Dialect/Kernel/IR/KernelEnums.h.inc"
#include "facet/Dialect/Kernel/IR/PlanInterface.h.inc"
#define GET_ATTRDEF_CLASSES
#include "facet/Dialect/Kernel/IR/KernelAttrs.h.inc"
#include "facet/Dialect/Kernel/IR/KernelInterfaces.h.inc"
#define GET_OP_CLASSES
#include "facet/Dialect/Kernel/IR/KernelOps.h.inc"

#endif // FACET_DIALECT_KERNEL_IR_KERNEL_H
