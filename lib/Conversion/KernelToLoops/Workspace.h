//===- Workspace.h - which tensors rest in scratch memory, and where ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOLOOPS_WORKSPACE_H
#define FACET_LIB_CONVERSION_KERNELTOLOOPS_WORKSPACE_H

#include "Frame.h"

#include <functional>

namespace facet::loops {

/// Arrays in the workspace, one behind the other, each 64-byte aligned.
class Workspace {
public:
  /// An extent, computed in the function that asks for it.
  using Extent = std::function<Num(Frame &)>;

  /// Adds an array of elements of `type`; returns its number.
  unsigned add(mlir::Type type, std::vector<Extent> dims) {
    slots.push_back({type, std::move(dims)});
    return slots.size() - 1;
  }
  unsigned add(mlir::Type type, llvm::ArrayRef<mlir::OpFoldResult> dims) {
    std::vector<Extent> extents;
    for (mlir::OpFoldResult dim : dims)
      extents.push_back([dim](Frame &f) { return f.num(f.extent(dim)); });
    return add(type, std::move(extents));
  }
  /// Emits NAME`suffix`(sizes...) -> i64: bytes, or -1 when it overflows. With
  /// `takesThreads`, their number is an i32 behind the sizes.
  void emitSizeFunction(Frame &frame, const llvm::Twine &suffix,
                        bool takesThreads = false) const;
  /// The arrays in memory at `base`.
  llvm::SmallVector<Storage> place(Frame &frame, mlir::Value base) const;

private:
  struct Slot {
    mlir::Type type;
    std::vector<Extent> dims;
  };
  /// Bytes of a slot, rounded up to 64. `overflow`, when given, is widened.
  Num bytes(Frame &frame, const Slot &slot, Num *overflow) const;
  llvm::SmallVector<Slot> slots;
};

} // namespace facet::loops

#endif // FACET_LIB_CONVERSION_KERNELTOLOOPS_WORKSPACE_H
