//===- Constants.h - packed arrays of constants ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOCPU_CONSTANTS_H
#define FACET_LIB_CONVERSION_KERNELTOCPU_CONSTANTS_H

#include "../KernelToLoops/Workspace.h"
#include "facet/Planner/Cpu/Contraction.h"

namespace facet::cpu {

/// Where the panels of a packed array lie. Regions are those of its batch and outer n.
struct PackedArray {
  PackedArray(const Contraction &contraction, LayoutAttr layout);

  /// The iterators of regions, outermost first.
  llvm::SmallVector<unsigned> regions;
  /// One array behind the other: the panels, and Σ_k of the columns, if they are kept.
  loops::Workspace arrays;
  bool hasSums;
};

/// Appends the extents of k in words to those of a panel. Where a step of the kernel takes
/// `unit` of them, all of k is one extent, of whole steps.
void appendDepth(std::vector<loops::Workspace::Extent> &dims,
                 std::vector<loops::Workspace::Extent> words, int64_t unit);

/// Emits NAME.pack.W(sizes..., W, strides..., target), which writes the packed array of
/// the argument `layout` is for, NAME.pack.W.bytes(sizes...) -> i64, -1 when it is more
/// than 63 bits hold, and NAME.pack.W.layout() -> i32. Sizes that are none of W's may be
/// anything.
mlir::LogicalResult emitPackFunctions(kernel::FuncOp kernel,
                                      loops::Functions &functions,
                                      LayoutAttr layout);

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_CONSTANTS_H
