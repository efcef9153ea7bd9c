//===- ContractionStage.h - a contraction on the tensor engine ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One stage, by its plan. ContractionStage.cpp has the loops over blocks and what
// follows the sums, ContractionLoads.cpp what brings the factors in,
// ContractionProducts.cpp what multiplies them.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_CONVERSION_KERNELTOENGINE_CONTRACTIONSTAGE_H
#define FACET_LIB_CONVERSION_KERNELTOENGINE_CONTRACTIONSTAGE_H

#include "TileBody.h"
#include "facet/Planner/Engine/Problem.h"

#include "llvm/Support/MathExtras.h"

namespace facet::engine {

/// One factor: where its elements are by the iterators of the result, and how the
/// plan cuts it.
struct Operand {
  Side side;
  Factor factor;
  Home home;
  /// The iterator of the result that tiles are cut along.
  std::optional<unsigned> iterator;
  int64_t stride = 0, kStride = 0;
  llvm::SmallVector<int64_t> kOuterStrides;
  /// Elements of one tile and of a block.
  int64_t tile = 1, block = 1;
  /// In the order of k, the groups of one block.
  RingOp ring;
};

/// What one group along k is multiplied from and into.
struct Block {
  const Span &rows, &columns;
  mlir::Value rowSlot, columnSlot;
  llvm::ArrayRef<mlir::Value> sums;
};

class ContractionStage {
public:
  ContractionStage(Lowering &lowering, Problem problem, ContractionAttr plan)
      : lowering(lowering), machine(lowering.machine),
        problem(std::move(problem)), contraction(this->problem.contraction),
        plan(plan), result(contraction.epilogue
                               ? llvm::cast<kernel::StructuredOpInterface>(
                                     contraction.epilogue->map.getOperation())
                               : contraction.op()) {}
  llvm::LogicalResult run();

private:
  llvm::LogicalResult describe(Operand &operand, Side side, int64_t tile,
                               int64_t block);
  llvm::LogicalResult prepare();
  void emitBatch(unsigned next);
  void emitBlocks();
  void emitBlock(const Span &rows, const Span &columns,
                 llvm::ArrayRef<mlir::Value> kept);
  void finishTile(const Span &rows, const Span &columns);

  // ContractionLoads.cpp
  void load(Operand &operand, const Span &span, int64_t group);
  llvm::SmallVector<mlir::Value> openGroups(Operand &operand);

  // ContractionProducts.cpp
  void multiplyOuter(unsigned next, const Span &rows, const Span &columns,
                     llvm::ArrayRef<mlir::Value> kept,
                     llvm::ArrayRef<mlir::Value> sums);
  void multiplyGroup(int64_t group, const Block &block);
  void multiplyTile(int64_t rowTile, const Linear &step, int64_t depth,
                    const Block &block, bool first, bool last);
  void matmul(mlir::Value sums, mlir::Value moving, bool first, bool last);

  /// Steps of the array along k, and those of one group.
  int64_t steps() const { return problem.steps(machine); }
  int64_t groupSteps() const {
    return std::min(steps(), plan.getDepthBlock() / machine.tensor.rows);
  }
  int64_t groups() const { return llvm::divideCeil(steps(), groupSteps()); }
  int64_t stepsOf(int64_t group) const {
    return std::min(groupSteps(), steps() - group * groupSteps());
  }
  int64_t depthOf(int64_t step) const {
    return std::min(machine.tensor.rows,
                    problem.depth - step * machine.tensor.rows);
  }
  int64_t tilesIn(const Operand &operand, const Span &span) const {
    return llvm::divideCeil(span.size, operand.tile);
  }

  Lowering &lowering;
  const Machine &machine;
  Problem problem;
  Contraction &contraction;
  ContractionAttr plan;
  kernel::StructuredOpInterface result;

  Operand rows, columns;
  Operand *outer = nullptr, *inner = nullptr;
  llvm::SmallVector<unsigned> batch; ///< iterators of the result
  RingOp sums, out;
  std::optional<TileBody> body;

  // Of what is being emitted.
  llvm::SmallVector<Linear> at; ///< by iterator of the result
  llvm::SmallVector<Linear> kOuterAt;
  /// Counters of loops along k that are open, and their trips.
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> kLoops;
};

} // namespace facet::engine

#endif // FACET_LIB_CONVERSION_KERNELTOENGINE_CONTRACTIONSTAGE_H
