//===- AttentionStage.h - attention in one stage --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOENGINE_ATTENTIONSTAGE_H
#define FACET_LIB_CONVERSION_KERNELTOENGINE_ATTENTIONSTAGE_H

#include "Interleave.h"
#include "Lowering.h"
#include "TileBody.h"
#include "facet/Planner/Engine/Attention.h"

#include "llvm/Support/MathExtras.h"

namespace facet::engine {

/// A matrix of one head in SBUF: rows on partitions, in steps of as many as there are.
struct Panel {
  Home home;
  mlir::Type type; ///< as the array sees it
  int64_t rowStride = 0, columnStride = 0, rows = 1, columns = 1;
  /// Iterator of the home for each of the stage's.
  llvm::SmallVector<unsigned> iterators;
  RingOp ring;
  mlir::Value slot;
};

/// What all blocks of one kind have in common.
struct BlockKind {
  int64_t width = 0;
  bool masked = false, first = false, last = false;
};

struct Band {
  RowBand rows;
  llvm::SmallVector<StepRun> blocks; ///< starts are in chunks
  bool masked = false;               ///< some of them are
};

/// Queries of one tile.
struct Tile {
  const Band *band = nullptr;
  Linear start;
  int64_t size() const { return band->rows.size; }
};

/// A mask that is made once, by the values of the filter at its first point.
struct KeptMask {
  llvm::SmallVector<int64_t> pattern;
  Linear row, start;
  int64_t rows = 0, width = 0;
  /// Elements before it in a row of the slot of all.
  int64_t place = 0, turnedPlace = 0;
};

/// What scores need that is the same for a whole head, one element per row.
struct Number {
  kernel::StructuredOpInterface op;
  unsigned input = 0;
  Home home;
  bool perHead = false;
  /// Which row of numbers it lies in, and where there.
  size_t row = 0;
  int64_t place = 0;
};

/// Numbers of one type, in one slot.
struct NumberRow {
  bool perHead = false;
  mlir::Type type;
  int64_t count = 0;
  RingOp ring;
  mlir::Value slot;
};

class AttentionStage {
public:
  AttentionStage(Lowering &lowering, Attention &attention)
      : lowering(lowering), machine(lowering.machine), attention(attention) {}
  llvm::LogicalResult run();

private:
  // What there is.
  llvm::LogicalResult describe();
  void divide();
  void makeRings();
  int64_t chunk() const { return machine.tensor.rows; }
  int64_t rowTile() const {
    return std::min(queries.columns, machine.tensor.columns);
  }
  int64_t block() const {
    return std::min<int64_t>(machine.tensor.movingMax,
                             machine.psum.bankBytes / 4);
  }
  int64_t chunksOfBlock() const {
    return llvm::divideCeil(std::min(block(), keys.columns), chunk());
  }
  int64_t steps(const Panel &panel) const {
    return llvm::divideCeil(panel.rows, chunk());
  }
  int64_t depthOf(const Panel &panel, int64_t step) const {
    return std::min(chunk(), panel.rows - step * chunk());
  }

  // Loops and transfers.
  void emitOuter(unsigned next);
  void emitPlane();
  void load(Panel &panel);
  /// Values come as they lie and are transposed by the array.
  bool turnsValues() const;
  void turnValues();
  Linear baseOf(const Home &home, llvm::ArrayRef<unsigned> iterators);
  void store(mlir::Value tile, const Tile &rows);
  void storeColumn(RingOp ring, kernel::ReduceOp op, const Tile &rows);

  // Steps of a block.
  void product(mlir::Value sums, const Tile &rows, const BlockKind &kind,
               const Linear &start);
  mlir::Value choose(mlir::Value scores, const Tile &rows,
                     const BlockKind &kind, const Linear &start);
  void maximum(mlir::Value top, mlir::Value scores, const Tile &rows,
               const BlockKind &kind, const Linear &start);
  void exponential(mlir::Value scores, mlir::Value shift, mlir::Value total,
                   const Tile &rows, const BlockKind &kind);
  /// Where the weights of a block go. The vector engine has most to do: the scalar
  /// engine makes some of its copies.
  RingOp movedOf(const BlockKind &kind) const {
    return kind.masked || conditional() ? movedMasked
           : attention.computesScores() ? moved
           : (kind.width < block() || kind.first) && !kind.last && masked
               ? movedByScalar
               : moved;
  }
  /// With scores of their own the vector engine has even more to do.
  QueueKind copierOf(RingOp into) const {
    return into == movedByScalar || attention.computesScores()
               ? QueueKind::Scalar
               : QueueKind::Vector;
  }
  void turn(const Tile &rows, const BlockKind &kind);
  void multiply(mlir::Value sums, const Tile &rows, const BlockKind &kind,
                const Linear &start);

  // Scores with instructions of their own.
  bool conditional() const { return !attention.conditions.empty(); }
  llvm::LogicalResult prepareScores();
  void makeScoreRings();
  void loadNumbers(bool perHead);
  void releaseNumbers(bool perHead);
  void openConditions();
  llvm::SmallDenseMap<unsigned, mlir::Value>
  numbersOf(kernel::StructuredOpInterface op, int64_t rows);
  void holds(const Tile &rows, const BlockKind &kind, const Linear &start);
  std::pair<RingOp, mlir::Value>
  conditionsOf(const Tile &rows, const BlockKind &kind, const Linear &start);
  void computeScores(mlir::Value top, const Tile &rows, const BlockKind &kind,
                     const Linear &start);
  void turnCondition(mlir::Value mask, const Tile &rows, const BlockKind &kind);
  void invertExisting(const Tile &rows, mlir::Value total,
                      mlir::Value sumsSlot);

  // Masks.
  static int64_t faultPlanes();
  std::optional<llvm::SmallVector<int64_t>> patternOf(const Linear &row,
                                                      const Linear &start);
  void findPatterns();
  void openMasks();
  void closeMasks();
  /// `source`: what it is where a point exists; 1 or 2^100 unless given.
  void writeMask(mlir::Value tile, bool isTurned, const Linear &row,
                 const Linear &key, mlir::Value source = {});
  void writeTurnedMask(mlir::Value slot, int64_t place, const Linear &row,
                       const Linear &start, int64_t rows, int64_t width);
  const KeptMask *keptMask(const Linear &row, const Linear &start);
  void sortValues(const BlockKind &kind, const Linear &start);
  void sortAllValues();
  void sortValues(int64_t width, const Linear &start, int64_t slotChunks);
  void sortChunks(mlir::Value to, mlir::Value faultsTile, int64_t slotChunks,
                  const Linear &from, int64_t first, int64_t count,
                  int64_t depth);
  void addFaults(mlir::Value sums, mlir::Value weights, const Tile &rows,
                 const BlockKind &kind, const Linear &start);

  // Tiles of queries.
  void shiftOf(const Tile &rows);
  void invertTotal(const Tile &rows, mlir::Value sumsSlot = {});
  void finish(const Tile &rows);
  void scoreTile(const Tile &rows);
  void emitInOnePass();
  void emitInTwoPasses();
  void emitTogether(llvm::ArrayRef<Tile> tiles,
                    const std::optional<Tile> &next);

  Lowering &lowering;
  const Machine &machine;
  Attention &attention;
  Panel queries, keys, values, rawValues;
  mlir::Type weightType;
  llvm::SmallVector<unsigned> outer; ///< those of keys and values first
  unsigned shared = 0;               ///< how many those are
  llvm::SmallVector<HalfPlane> filter;
  llvm::SmallVector<Band> bands;
  llvm::SmallVector<BlockKind> kinds;
  llvm::SmallVector<Linear> at;
  /// Some block is masked.
  bool masked = false;

  RingOp trial, scores, maxima, shifts, totals, tops, weights, turned, moved,
      movedByScalar, sums, inverses, out;
  // Of masked blocks.
  RingOp ones, larges, masks, turnedMasks, keptRing, keptTurned, chosen,
      movedMasked, sound, faults, vanished;
  std::vector<KeptMask> keptMasks;
  // Of scores and conditions.
  std::optional<TileBody> transform, conditions;
  std::vector<Number> numbers;
  std::vector<NumberRow> numberRows;
  RingOp mapped, condition, turnedCondition, exists, reciprocals, unit;
  mlir::Value unitSlot, soundSlot, faultsSlot;
  mlir::Value onesSlot, largeSlot, keptSlot, keptTurnedSlot;
};

} // namespace facet::engine

#endif // FACET_LIB_CONVERSION_KERNELTOENGINE_ATTENTIONSTAGE_H
