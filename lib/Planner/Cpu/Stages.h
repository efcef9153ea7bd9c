//===- Stages.h - what a stage of a plan stands for -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PLANNER_CPU_STAGES_H
#define FACET_LIB_PLANNER_CPU_STAGES_H

#include "facet/Dialect/Kernel/IR/LiveOps.h"
#include "facet/Planner/Cpu/Contraction.h"
#include "facet/Planner/Cpu/Planner.h"
#include "facet/Planner/Cpu/Stream.h"

namespace facet::cpu {

/// A kernel as the planner sees it: its ops by number, and which can share a stage.
class Stages {
public:
  explicit Stages(kernel::FuncOp kernel);

  llvm::ArrayRef<kernel::StructuredOpInterface> live() const {
    return liveOps.ops;
  }
  kernel::StructuredOpInterface op(int64_t number) const { return ops[number]; }
  int64_t numberOf(mlir::Operation *op) const { return numbers.lookup(op); }

  /// How `op` is computed when it stands alone.
  Form formOf(kernel::StructuredOpInterface op) const;
  /// The contraction that `op` can be computed as.
  std::optional<Contraction>
  contractionOf(kernel::StructuredOpInterface op) const;
  /// The map that can be computed on the sums of `reduce`; without one, `reason`
  /// says why. `joined` are the maps that other contractions have taken.
  std::optional<Epilogue>
  epilogueOf(kernel::ReduceOp reduce,
             const llvm::DenseSet<mlir::Operation *> &joined,
             std::string &reason) const;

  /// The stream that `softmax` is the middle of; without one, `reason` says why.
  std::optional<Stream> streamOf(kernel::SoftmaxOp softmax,
                                 std::string &reason) const;

private:
  mutable kernel::FuncOp kernel;
  kernel::LiveOps liveOps;
  llvm::SmallVector<kernel::StructuredOpInterface> ops;
  llvm::DenseMap<mlir::Operation *, int64_t> numbers;
};

/// The maps that are computed on sums in `variant`, and what is in its streams.
llvm::DenseSet<mlir::Operation *> joinedMaps(const Stages &stages,
                                             VariantAttr variant);

} // namespace facet::cpu

#endif // FACET_LIB_PLANNER_CPU_STAGES_H
