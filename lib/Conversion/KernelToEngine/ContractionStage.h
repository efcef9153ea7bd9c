//===- ContractionStage.h - a contraction on the tensor engine ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One stage, by its plan. ContractionStage.cpp has the loops over blocks and what
// follows the sums, ContractionLoads.cpp what brings the factors in,
// ContractionProducts.cpp what multiplies them, ContractionIntegers.cpp what adds sums
// of parts of k, ContractionResults.cpp what follows the sums.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_CONVERSION_KERNELTOENGINE_CONTRACTIONSTAGE_H
#define FACET_LIB_CONVERSION_KERNELTOENGINE_CONTRACTIONSTAGE_H

#include "TileBody.h"
#include "facet/Planner/Engine/Problem.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

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
  /// Steps of a slot, and products of the batch in it.
  int64_t slotSteps = 1, slotBatch = 1;
  int64_t batchStride = 0;
};

/// A tile of sums and its place in its block.
struct SumTile {
  int64_t row, column;
  Span rows, columns;
  /// Of small matrices, one beside the other: the first and how many.
  int64_t batch = 0, batchSize = 1;
};

/// What one group along k is multiplied from and into.
struct Block {
  const Span &rows, &columns;
  mlir::Value rowSlot, columnSlot;
  /// The group's first step in the slots.
  int64_t rowStep, columnStep;
  llvm::ArrayRef<mlir::Value> sums;
};

class ContractionStage {
public:
  ContractionStage(Lowering &lowering, Problem problem, ContractionAttr plan)
      : lowering(lowering), machine(lowering.machine),
        problem(std::move(problem)), contraction(this->problem.contraction),
        plan(plan),
        groupSteps(plan.getGroups(this->problem.depth, machine.tensor.rows)),
        result(contraction.epilogue
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
  llvm::SmallVector<SumTile> tilesOf(const Span &rows,
                                     const Span &columns) const;
  void emitBlock(const Span &rows, const Span &columns,
                 llvm::ArrayRef<mlir::Value> kept);

  // ContractionIntegers.cpp
  void prepareParts();
  void beginTotals(llvm::ArrayRef<SumTile> tiles);
  void clearTotals();
  void takePart(int64_t tile);
  void addPart(int64_t tile);
  void finishTotals(llvm::ArrayRef<SumTile> tiles);
  void multiplySteps(const Linear &at, int64_t step, int64_t count, bool opens,
                     bool closes, Block block);
  void multiplyParts(int64_t group, const Block &block);

  // ContractionResults.cpp
  /// An engine that copies sums out of PSUM, and what it fills.
  struct Exit {
    QueueKind queue;
    RingOp ring;
  };
  /// Tiles of a block that one engine copies and one transfer stores.
  struct Parcel {
    bool helps; ///< scalar beside vector
    size_t first, size;
  };
  llvm::SmallVector<Parcel> parcelsOf(size_t tiles) const;
  /// The results of the block at hand wait for the last loads.
  bool keeps() const { return !isEnd && !keptExits.empty(); }
  llvm::ArrayRef<Exit> exitsNow() const { return keeps() ? keptExits : exits; }
  void storeKept(const Span &rows, const Span &columns);
  void finishBlock(llvm::ArrayRef<SumTile> tiles);
  void computeTile(const SumTile &tile, TileBody::Run run);
  void copyTiles(llvm::ArrayRef<SumTile> tiles);
  void store(RingOp ring, llvm::ArrayRef<SumTile> tiles,
             QueueKind queue = QueueKind::Scalar, int dmaRing = 2);

  // ContractionLoads.cpp
  void load(Operand &operand, const Span &span, int64_t firstStep,
            int64_t count);
  llvm::SmallVector<mlir::Value> loadWhatStays(const Span &span);

  // ContractionProducts.cpp
  void warmUp();
  void multiplyOuter(unsigned next, const Span &rows, const Span &columns,
                     llvm::ArrayRef<mlir::Value> kept,
                     llvm::ArrayRef<mlir::Value> sums);
  void multiplyGroup(int64_t group, const Block &block);
  /// What one load of weights takes of a group: one or two steps of `depth` each.
  struct Pass {
    int64_t step, steps, depth;
  };
  llvm::SmallVector<Pass> passesOf(int64_t group) const;
  void multiplyTile(int64_t unit, const Linear &step, const Pass &pass,
                    const Block &block, bool first, bool last);
  void matmul(mlir::Value sums, mlir::Value moving,
              llvm::ArrayRef<mlir::NamedAttribute> common, bool first,
              bool last);

  /// Parts of k that are loaded at once, in steps of the array.
  int64_t groups() const { return groupSteps.size(); }
  int64_t stepsOf(int64_t group) const { return groupSteps[group]; }
  int64_t firstStepOf(int64_t group) const {
    return std::accumulate(groupSteps.begin(), groupSteps.begin() + group,
                           int64_t(0));
  }
  int64_t depthOf(int64_t step) const {
    return std::min(machine.tensor.rows,
                    problem.depth - step * machine.tensor.rows);
  }
  /// The ring of a block's tile, by its place.
  RingOp sumsOf(int64_t tile) const {
    return scalarHelps() && tile < plan.getScalarTiles() ? scalarSums : sums;
  }
  /// The sums leave PSUM in several parts of k, which are added as integers.
  bool inParts() const { return plan.getSumDepth() != 0; }
  /// Nothing is computed on the sums when they leave.
  bool isCopied() const {
    return contraction.isOnlyRounded() && !(inParts() && contraction.epilogue);
  }
  /// Scalar empties some tiles of a block, vector the others.
  bool scalarHelps() const {
    return isCopied() && !inParts() && plan.getScalarTiles() &&
           plan.getEvict() != QueueKind::Scalar;
  }
  bool isBatched() const { return plan.getBatchBlock() > 1; }
  /// Products of the batch whose sums share a tile.
  int64_t pack() const {
    return isBatched()
               ? std::max<int64_t>(1, machine.psum.bankBytes / 4 / columns.tile)
               : 1;
  }
  /// Tiles of a block with one column of them share what is the same in each row.
  static TileBody::Run runOf(size_t i, llvm::ArrayRef<SumTile> tiles) {
    bool isColumn = llvm::all_of(
        tiles, [](const SumTile &tile) { return tile.column == 0; });
    return isColumn ? TileBody::Run{i == 0, i + 1 == tiles.size()}
                    : TileBody::Run();
  }
  int64_t tilesIn(const Operand &operand, const Span &span) const {
    return llvm::divideCeil(span.size, operand.tile);
  }

  Lowering &lowering;
  const Machine &machine;
  Problem problem;
  Contraction &contraction;
  ContractionAttr plan;
  llvm::SmallVector<int64_t> groupSteps;
  kernel::StructuredOpInterface result;

  Operand rows, columns;
  Operand *outer = nullptr, *inner = nullptr;
  llvm::SmallVector<unsigned> batch; ///< iterators of the result
  /// Sums that scalar empties, where vector empties the others.
  RingOp sums, scalarSums;
  llvm::SmallVector<Exit> exits, keptExits;
  std::optional<TileBody> body;

  // Of sums in parts.
  RingOp totals, parts;
  llvm::SmallVector<mlir::Value> partSums, totalTiles;
  bool hasStart = false;  ///< they begin with something of the map's
  bool hasTotals = false; ///< something was added to them
  bool isPending = false; ///< the last part was not

  // Of what is being emitted.
  llvm::SmallVector<Linear> at; ///< by iterator of the result
  llvm::SmallVector<Linear> kOuterAt;
  int64_t batchSize = 1;
  bool isEnd = false; ///< the last block, where it stands apart
  /// Counters of loops along k that are open, and their trips.
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> kLoops;
};

} // namespace facet::engine

#endif // FACET_LIB_CONVERSION_KERNELTOENGINE_CONTRACTIONSTAGE_H
