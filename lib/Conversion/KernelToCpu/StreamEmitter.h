//===- StreamEmitter.h - the code of a stream, part by part ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// StreamStage.cpp has heads, blocks and tasks, StreamTile.cpp what happens to a tile.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_CONVERSION_KERNELTOCPU_STREAMEMITTER_H
#define FACET_LIB_CONVERSION_KERNELTOCPU_STREAMEMITTER_H

#include "FilterBounds.h"
#include "Panels.h"
#include "Ranges.h"
#include "StreamStage.h"

namespace facet::cpu {

/// Rows r.. of a block, which is i0.., and keys j0...
struct StreamTile {
  Num first; ///< row of the softmax
  Num r;     ///< in the block
  Num count;
  Num j0, keys;
};

/// Emits the code of one stream, with the scratch of one task.
class StreamEmitter {
public:
  StreamEmitter(Frame &frame, const StreamStage &stage,
                StreamScratch<mlir::Value> scratch);
  /// Units `from` .. `to`, of unitsOfHead() for each head.
  void run(Num from, Num to, mlir::Block *stack);
  Num unitsOfHead();
  Num heads();

private:
  void head(Num number, Num from, Num to);
  void block(Num unit);
  void tile(const StreamTile &tile);
  Live liveOf(const StreamTile &tile);
  void multiplyKeys(const StreamTile &tile, const Live &live);
  void findMaximum(const StreamTile &tile, const Live &live, Num r);
  void rescale(const StreamTile &tile);
  void exponentiate(const StreamTile &tile, const Live &live, Num r);
  void multiplyValues(const StreamTile &tile, const Live &live);
  void multiplyWeights(const StreamTile &tile, const Live &live);
  void noteOdd();
  void begin(Num rows);
  void finish(Num r);

  /// Sets `at` for `iterators` from their linear number.
  void decode(llvm::ArrayRef<unsigned> iterators, Num number);
  Num product(llvm::ArrayRef<unsigned> iterators);
  /// The walks stand where `at` does.
  void placeWalks();
  void loop(Num from, Num to, int64_t step,
            llvm::function_ref<void(Num)> body) {
    forRange(b, from, to, step, body);
  }
  Vectors fold(Num from, Num to, int64_t step, mlir::ValueRange start,
               llvm::function_ref<Vectors(Num, mlir::ValueRange)> body) {
    return foldRange(b, from, to, step, start, body);
  }
  /// `inside` where all keys of the vector at `c` live, else `partly`: `count`
  /// vectors.
  Vectors byLiveness(const Live &live, Num c, unsigned count,
                     llvm::function_ref<Vectors()> inside,
                     llvm::function_ref<Vectors()> partly);
  /// Product of v's factors at key `j`, columns n...
  Num valuesAt(Num j, Num n, mlir::Value mask);
  Num larger(Num a, Num c) {
    return keepsNaN ? loops::max(a, c) : loops::select(a < c, c, a);
  }
  mlir::Value splat(mlir::Value init) { return frame.tensors[init].scalar; }

  mlir::Value pointer(mlir::Type type, mlir::Value base, Num elements) {
    return loops::address(b, type, base, elements);
  }
  Num load(mlir::Value base, Num element) {
    return {b, mlir::LLVM::LoadOp::create(b, vector,
                                          pointer(f32, base, element), 4)};
  }
  void store(Num value, mlir::Value base, Num element) {
    mlir::LLVM::StoreOp::create(b, value, pointer(f32, base, element), 4);
  }
  Num loadOne(mlir::Value base, Num element) {
    return {b,
            mlir::LLVM::LoadOp::create(b, f32, pointer(f32, base, element), 4)};
  }
  Num number(double value) { return {b, loops::constant(b, f32, value)}; }
  Num wide(double value) { return {b, loops::constant(b, vector, value)}; }
  Num wide(Num value) { return {b, widen(b, value, lanes)}; }

  /// Elements between rows of scores, and of sums.
  int64_t scoreStride() const { return plan.getKeyBlock() + lanes; }
  Num sumStride() {
    Num columns = frame.num(valuesWalk.extents[stream.values.n.back()]);
    int64_t panel = plan.getValueVectors() * lanes;
    return loops::quotient(columns + (panel - 1), panel) * panel;
  }

  Frame &frame;
  LocBuilder &b;
  const Stream &stream;
  std::optional<Epilogue> epilogue;
  StreamAttr plan;
  StreamScratch<mlir::Value> scratch;
  int64_t lanes, rows, panel; // of keys
  mlir::Type f32;
  mlir::VectorType vector;
  kernel::StructuredOpInterface op; // the softmax
  llvm::SmallVector<mlir::Value> extents, at;
  bool isFiltered, keepsNaN;
  Walk scoresWalk, valuesWalk;
  Panels scoresPanels, valuesPanels;
};

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_STREAMEMITTER_H
