//===- LiveOps.h - which ops of a kernel are computed, and how fully ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_KERNEL_IR_LIVEOPS_H
#define FACET_DIALECT_KERNEL_IR_LIVEOPS_H

#include "facet/Dialect/Kernel/IR/Kernel.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace facet::kernel {

/// The structured ops of a kernel that something needs, and which of them are
/// computed only where a later one needs them.
struct LiveOps {
  /// In order, dead ones left out.
  llvm::SmallVector<StructuredOpInterface> ops;
  /// Those whose result has a value only at some elements: subscripts that may be
  /// out of range are read there, or a `let` that is such an op is.
  llvm::SmallPtrSet<mlir::Operation *, 8> partial;

  /// With `everywhere`, every op is partial (the judge).
  explicit LiveOps(FuncOp kernel, bool everywhere = false);
};

/// Input `k` has a subscript that may be out of range: an element, or a number on
/// an axis whose size is known at the call only.
bool mayLeaveRange(StructuredOpInterface op, unsigned k);

/// Whether the kernel returns a value of `op`.
bool isReturned(mlir::Operation *op);

} // namespace facet::kernel

#endif // FACET_DIALECT_KERNEL_IR_LIVEOPS_H
