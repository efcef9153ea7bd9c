//===- Walk.h - the loops of a contraction, and where the code stands -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What packing and tiles have in common: the iterators of the sum, which of them the
// loops around the code being emitted have set, and how elements of k follow each
// other in a panel.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_CONVERSION_KERNELTOCPU_WALK_H
#define FACET_LIB_CONVERSION_KERNELTOCPU_WALK_H

#include "LanePoint.h"
#include "facet/Planner/Cpu/Contraction.h"

namespace facet::cpu {

class Walk {
public:
  using Body = llvm::function_ref<void()>;
  using BlockBody = llvm::function_ref<void(Num, Num)>;

  Walk(Frame &frame, const Contraction &contraction, Dot dot);

  Frame &frame;
  LocBuilder &b;
  Contraction c;
  kernel::StructuredOpInterface op;
  int64_t group;      ///< elements of k in one word
  int64_t depthUnit;  ///< words of k in one step of the kernel
  mlir::Type element; ///< of the sums; as many bytes as a group of operands
  /// Of every iterator: how many values it has, and the present one.
  llvm::SmallVector<mlir::Value> extents, at;
  /// Of the block of k, where `extents` and `at` count from; null when k is not cut.
  Num kBase;
  mlir::Value isFirst, isLast; ///< block of k; null: it is the only one
  mlir::Block *stack =
      nullptr; ///< where what lives on the stack is made; null:
               ///< at the begin of the function

  /// Sets `at` for each of `iterators`, outermost first.
  void forEach(llvm::ArrayRef<unsigned> iterators, Body body);
  /// The blocks of `step` along the outermost k; 0: all of it.
  void forDepth(int64_t step, Body body);
  /// i from 0 below `n`, in steps of `step`; the body gets i and min(step, n − i).
  void forBlocks(mlir::Value n, int64_t step, BlockBody body);
  /// Sets `at` for the first k of every group; the body gets how many elements of
  /// the group exist, null where all do. `head`, if any, is given the extent of the
  /// innermost k, does a part of it and says where to go on.
  void forGroups(llvm::function_ref<void(mlir::Value)> body,
                 llvm::function_ref<Num(Num extent)> head = nullptr);

  /// The iterators that `at` stands for.
  llvm::SmallVector<mlir::Value> iterators();
  /// Steps along one iterator of k: only the innermost is cut into groups, so that
  /// no group reaches from one row of it into the next.
  Num groupsOf(unsigned k);
  /// Position in the nest of k, which `at` holds, in groups.
  Num linearK();
  /// Groups of k.
  Num depth();
  /// Those that a panel has room for: whole steps of the kernel.
  Num panelDepth();
  /// Those of the blocks of k in front of the present one.
  Num depthBefore();

  Num one() { return frame.i64(1); }
  /// `base` plus so many elements of the sums' type, or groups.
  mlir::Value pointer(mlir::Value base, mlir::Value elements);
  /// Memory on the stack, made once where `stack` says.
  mlir::Value allocate(mlir::Type type, int64_t count, int64_t alignment);
};

/// The number that `value` is; nullopt when it is known at run time only.
std::optional<int64_t> known(mlir::Value value);

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_WALK_H
