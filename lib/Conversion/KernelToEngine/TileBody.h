//===- TileBody.h - a scalar body on tiles --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOENGINE_TILEBODY_H
#define FACET_LIB_CONVERSION_KERNELTOENGINE_TILEBODY_H

#include "Lowering.h"
#include "Recipe.h"

namespace facet::engine {

/// What one value of a body is for a tile of points: rows of elements, one element
/// per row, or one number.
struct TileValue {
  enum Kind { Tile, Column, Constant };
  Kind kind = Constant;
  mlir::Value tile;
  double constant = 0;
};

/// Computes the body of a map or reduce for tiles of its points: one iterator runs
/// over rows, one over the elements of a row, the others stand still.
///
///   TileBody body(lowering, op, rowIterator, columnIterator, 128, 512);
///   if (failed(body.prepare())) …                 // errors, rings; once
///   body.load(rows, columns, others);              // per tile, some ahead
///   body.emit(rows, columns, others, given, ring); // leaves it in a slot of ring
class TileBody {
public:
  /// `rows` or `columns` are nullopt for an op that has no such iterator.
  TileBody(Lowering &lowering, kernel::StructuredOpInterface op,
           std::optional<unsigned> rows, std::optional<unsigned> columns,
           int64_t maxRows, int64_t maxColumns, int64_t inputDepth = 3)
      : lowering(lowering), op(op), rowIterator(rows), columnIterator(columns),
        maxRows(maxRows), maxColumns(maxColumns), inputDepth(inputDepth) {}

  /// Says that input `input` is given to emit: sums in PSUM, or one element per row.
  /// `evict` copies sums where nothing else is computed on them first.
  void give(unsigned input, QueueKind evict) {
    givenInputs.insert(input);
    evicts = evict;
  }
  /// Says that runs have more than one tile.
  void shareRows() { sharesRows = true; }
  /// Splits what is only added to the given input, an i32, from the body: a sum that
  /// is made in SBUF may begin with it. False: nothing is, or not by inputs of its own.
  bool splitStart(unsigned input);
  /// Checks that every op of the body can be computed on tiles.
  llvm::LogicalResult prepare();

  /// Tiles below each other are computed one after the other: what is the same for all
  /// of them is loaded and computed for the first and kept until the last.
  struct Run {
    bool first = true, last = true;
  };
  /// Emits the loads of a tile's inputs. Tiles may be loaded ahead, up to the depth
  /// of the inputs' rings, in the order in which they are computed.
  void load(const Span &rows, const Span &columns, llvm::ArrayRef<Linear> at,
            Run run);
  void load(const Span &rows, const Span &columns, llvm::ArrayRef<Linear> at) {
    load(rows, columns, at, Run());
  }
  /// Emits the body for one tile that was loaded, into a slot of `into`. `at` has the
  /// values of the other iterators, `given` the tiles of given inputs. Where the op's
  /// filter does not hold, the value is `otherwise`.
  void emit(const Span &rows, const Span &columns, llvm::ArrayRef<Linear> at,
            const llvm::SmallDenseMap<unsigned, mlir::Value> &given,
            RingOp into, double otherwise, Run run);
  void emit(const Span &rows, const Span &columns, llvm::ArrayRef<Linear> at,
            const llvm::SmallDenseMap<unsigned, mlir::Value> &given,
            RingOp into, double otherwise = 0) {
    emit(rows, columns, at, given, into, otherwise, Run());
  }

  /// Nothing else is computed on the given input.
  bool yieldsStartedSum() {
    return startedSum &&
           op.getBody().front().getTerminator()->getOperand(0) == startedSum;
  }
  /// Emits the start of one tile that was loaded, into `total`, on gpsimd.
  void emitStart(const Span &rows, const Span &columns,
                 llvm::ArrayRef<Linear> at, mlir::Value total, Run run);

  /// The same for guard atoms: 1 where all of `atoms` hold, else 0.
  void emitConditions(llvm::ArrayRef<int64_t> atoms, const Span &rows,
                      const Span &columns, llvm::ArrayRef<Linear> at,
                      const llvm::SmallDenseMap<unsigned, mlir::Value> &given,
                      RingOp into);

private:
  /// Begins a tile whose inputs among `wanted` are waited for.
  void begin(const Span &rows, const Span &columns, llvm::ArrayRef<Linear> at,
             llvm::ArrayRef<unsigned> wanted, Run run);
  /// Gives back what is not kept for the next tile of the run.
  void end(Run run);
  /// A given tile that has one element per row, where rows have more.
  bool isColumn(mlir::Value tile) {
    return columns.size != 1 &&
           mlir::cast<TileType>(tile.getType()).getShape()[1] == 1;
  }
  TileValue evaluate(mlir::Value value);
  /// A guard atom, and the conjunction of several, in a slot of `into` if there are
  /// more than one and it is given.
  mlir::Value atom(unsigned number) {
    return op.getGuards().front().getTerminator()->getOperand(number);
  }
  TileValue conjunction(llvm::ArrayRef<int64_t> atoms, RingOp into);
  /// Computes what the body yields and leaves it in a slot of `into`.
  void yieldInto(mlir::Value yielded, RingOp into);
  llvm::LogicalResult prepare(mlir::Region &region);
  /// Its elements differ inside a row.
  bool dependsOnColumns(mlir::Value value);
  /// It is not the same for tiles below each other.
  bool dependsOnRows(mlir::Value value);
  bool dependsOnRows(unsigned input);
  TileValue compute(mlir::Operation *def, mlir::Type type, RingOp into);
  TileValue waitFor(unsigned input);
  /// Inputs that the body reads and that are not given.
  llvm::SmallVector<unsigned> loadedInputs();
  /// Those of the start, or the others.
  llvm::SmallVector<unsigned> loadedInputs(bool ofStart) {
    return llvm::filter_to_vector(loadedInputs(), [&](unsigned input) {
      return startInputs.contains(input) == ofStart;
    });
  }
  void inputsOf(mlir::Value value, mlir::Value without,
                llvm::SmallDenseSet<unsigned> &inputs);
  /// Slots of an input's ring: what a run shares is loaded once for all of it.
  int64_t depthOf(unsigned input) {
    return sharesRows && !dependsOnRows(input) ? 2 : inputDepth;
  }
  TileValue::Kind kindOf(const Home &home) const {
    return columnIterator && home.strides[*columnIterator] ? TileValue::Tile
                                                           : TileValue::Column;
  }
  TileValue indexValue(mlir::Operation *def);
  /// A column as a tile that reads the one element of a row again and again.
  mlir::Value spread(mlir::Value column);
  /// The same value as a whole tile.
  TileValue widen(TileValue value, const void *key, unsigned part,
                  mlir::Type type = {});
  TileValue select(const void *key, TileValue mask, TileValue yes, TileValue no,
                   mlir::Type type, RingOp into);
  void fill(mlir::Value tile, double value,
            QueueKind queue = QueueKind::Vector);
  TileValue unary(mlir::Operation *def, llvm::StringRef alu,
                  mlir::Value operand, mlir::Type type, RingOp into);
  TileValue binary(mlir::Operation *def, llvm::StringRef alu, mlir::Value a,
                   mlir::Value b, mlir::Type type, RingOp into);
  void prepareDivision(mlir::Operation *def, TileValue &a, TileValue &b);
  std::optional<TileValue> unaryThenScalar(mlir::Operation *def,
                                           llvm::StringRef alu, mlir::Type type,
                                           RingOp into);
  bool isRoundedByReaders(mlir::Operation *def);
  /// One instruction for one or two operands of which not both are numbers, of any
  /// kinds.
  TileValue combine(QueueKind queue, llvm::StringRef alu, TileValue a,
                    std::optional<TileValue> b, const void *key,
                    mlir::Type type, RingOp into, unsigned part = 0);
  void combineInto(mlir::Value tile, QueueKind queue, llvm::StringRef alu,
                   const TileValue &a, const std::optional<TileValue> &b);

  // Integers that f32 cannot count (IntegerBody.cpp).
  llvm::LogicalResult checkIntegers(mlir::Operation &inner);
  /// The same of what a region gives: an i64 that is only passed on.
  llvm::LogicalResult checkGiven(mlir::Region &region);
  bool countsInI32(mlir::Operation *def);
  TileValue asI32(TileValue value, const void *key, unsigned part);
  TileValue integer(mlir::Operation *def, mlir::Type type, RingOp into);
  /// A number as an element of an integer type, as saturating conversions give it.
  static double clampTo(mlir::Type type, double value);
  TileValue integerCopy(mlir::Operation *def, mlir::Type type, RingOp into,
                        bool saturate);
  TileValue integerSelect(const void *key, TileValue mask, TileValue yes,
                          TileValue no, RingOp into);
  bool comparesWide(mlir::Operation *def);
  TileValue compareWide(mlir::Operation *def, RingOp into);

  TileValue function(mlir::Operation *def, llvm::StringRef name,
                     mlir::Value operand, mlir::Type type, RingOp into);
  TileValue copy(mlir::Operation *def, mlir::Value operand, mlir::Type type,
                 RingOp into, bool saturate);
  /// The engine that copies `value`.
  QueueKind copierOf(mlir::Value value);
  /// A tile for the result of `def`, or the one it was asked to fill.
  mlir::Value target(const void *key, unsigned part, TileValue::Kind kind,
                     mlir::Type type, RingOp into);
  /// Whether vector alone writes and reads that part of the computation of `key`: its
  /// ring needs one slot then, and neither semaphores nor ring registers.
  bool isLocal(const void *key, unsigned part);
  /// The engine that an op of the body runs on.
  QueueKind engineOf(mlir::Operation *def);
  /// Ends the writing of target's tile: what is read from then on.
  mlir::Value finish(const void *key, unsigned part, RingOp into,
                     mlir::Value tile);
  RingOp ringFor(const void *key, unsigned part, TileValue::Kind kind,
                 mlir::Type type, int64_t depth = 2);

  Lowering &lowering;
  kernel::StructuredOpInterface op;
  std::optional<unsigned> rowIterator, columnIterator;
  int64_t maxRows, maxColumns, inputDepth;
  llvm::SmallDenseSet<unsigned> givenInputs;
  bool sharesRows = false;
  /// Terms and what adds them.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Operation *>> startTerms;
  mlir::Value startedSum; ///< the given input with the start
  llvm::SmallDenseSet<unsigned> startInputs;
  QueueKind evicts = QueueKind::Vector;
  llvm::DenseMap<std::pair<const void *, unsigned>, RingOp> rings;

  // Of the tile being emitted.
  Span rows, columns;
  llvm::SmallVector<Linear> at;
  llvm::SmallDenseMap<unsigned, mlir::Value> given;
  llvm::DenseMap<mlir::Value, TileValue> values;
  llvm::SmallDenseMap<unsigned, TileValue> indices; ///< by iterator
  llvm::SmallVector<RingOp> open;
  /// What the tiles of a run share, and its open slots.
  llvm::DenseMap<mlir::Value, TileValue> kept;
  llvm::SmallDenseMap<unsigned, TileValue> keptIndices;
  llvm::SmallVector<RingOp> keptOpen;
  bool keeps = false; ///< more tiles of the run follow, or came before
};

} // namespace facet::engine

#endif // FACET_LIB_CONVERSION_KERNELTOENGINE_TILEBODY_H
