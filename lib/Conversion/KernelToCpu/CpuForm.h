//===- CpuForm.h - a kernel computed in vectors ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOCPU_CPUFORM_H
#define FACET_LIB_CONVERSION_KERNELTOCPU_CPUFORM_H

#include "../KernelToLoops/OwnForm.h"
#include "Constants.h"
#include "FilteredStage.h"
#include "LanePoint.h"
#include "StreamStage.h"
#include "facet/Conversion/KernelToCpu.h"
#include "facet/Planner/Cpu/Contraction.h"
#include "facet/Planner/Cpu/Planner.h"

#include "llvm/ADT/MapVector.h"

namespace facet::cpu {

/// A contraction, the map behind it, the plan's choices for both, and the panels
/// in the workspace that these ask for.
struct ContractionStage {
  Contraction contraction;
  std::optional<Epilogue> epilogue;
  ContractionAttr plan;
  bool shiftsA = false; ///< a is packed shifted
  /// b's packed array, if it is read from there.
  std::optional<PackedArray> constant;
  unsigned aSlot = 0, bSlot = 0;
  /// Where sums rest between blocks of k, when not in the result.
  std::optional<unsigned> partialSlot;
  std::optional<unsigned> columnSumsSlot; // where a is packed shifted
  /// The sums of one block, on their way to and from tile registers.
  std::optional<unsigned> sumsSlot;
};

/// Computes a kernel as one variant of its plan says.
class CpuForm : public loops::OwnForm {
public:
  CpuForm(kernel::FuncOp kernel, loops::Functions &functions, PlanAttr plan,
          VariantAttr variant, const CpuFeatures &features);

protected:
  void emitOp(kernel::StructuredOpInterface op) override;
  bool hasHome(mlir::Value value) override;

private:
  // LaneOps.cpp: one op, its innermost loop in vectors.
  void emitLaneMap(kernel::MapOp op);
  void emitLaneReduce(kernel::ReduceOp op);
  void emitLaneSoftmax(kernel::SoftmaxOp op);
  /// The parallel iterator along which neighbours should be computed together;
  /// nullopt when there is none worth it.
  std::optional<unsigned> parallelLane(kernel::StructuredOpInterface op);
  /// How many inputs of `op` are read at neighbouring places along `iterator`.
  unsigned neighbours(kernel::StructuredOpInterface op, unsigned iterator);
  mlir::Value horizontal(kernel::ReduceKind kind, mlir::Value value);
  mlir::Value identity(kernel::ReduceKind kind, mlir::Type type, unsigned init);

  using LaneBody = llvm::function_ref<void(mlir::Value base, mlir::Value mask)>;
  /// 0 ≤ base < n in steps of a vector; the last, partial one under a mask.
  void forLanes(mlir::Value n, LaneBody body);
  using LaneFold = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value base, mlir::Value mask, mlir::ValueRange state)>;
  /// `start` holds the states of so many chains, one behind the other: neighbouring
  /// vectors go to different ones, which do not wait for each other.
  llvm::SmallVector<mlir::Value> foldLanes(mlir::Value n,
                                           mlir::ValueRange start,
                                           LaneFold body, int64_t chains = 1);

  void addStream(StageAttr stage,
                 llvm::ArrayRef<kernel::StructuredOpInterface> ops);

  // Scratch.cpp
  void addPanels(ContractionStage &stage);
  unsigned addPanel(ContractionStage &stage, std::optional<unsigned> outer,
                    int64_t block, int64_t unit, llvm::ArrayRef<unsigned> k);

  // ContractionStage.cpp
  void emitContraction(ContractionStage &stage);
  void emitTask(ContractionStage &stage, mlir::Value task, Num from, Num size,
                mlir::Block *block);

  int64_t lanes; // of 32 bits
  llvm::DenseMap<mlir::Operation *, Form> forms;
  llvm::MapVector<mlir::Operation *, ContractionStage> contractions; // by sum
  llvm::MapVector<mlir::Operation *, FilteredStage> filtered;        // by sum
  llvm::MapVector<mlir::Operation *, StreamStage> streams; // by sum of values
  llvm::DenseSet<mlir::Operation *> fused; // computed where another op is
  llvm::DenseSet<mlir::Value> homeless;    // never in memory
};

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_CPUFORM_H
