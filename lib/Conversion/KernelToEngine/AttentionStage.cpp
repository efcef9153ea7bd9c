//===- AttentionStage.cpp - attention in one stage ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Neither scores nor weights reach HBM. 128 queries lie on the partitions and meet
// the keys in blocks of 512, twice:
//
//   maxima    scores in PSUM (tensor), their row maxima (vector)
//   weights   the scores again (tensor), exp(scale·s - max) rounded, and its row
//             sums (scalar); transposed (tensor, vector), times the values (tensor)
//   results   sums / row sums, rounded (scalar)
//
// The maximum is known before the first exponential, so nothing is rescaled: the
// scores a second time cost the tensor engine 0.2 µs a block, a running maximum
// would cost the vector engine, which has most to do, more than that. Where all keys
// are one block the scores are made once. The second pass over one tile of queries
// runs beside the first pass over the next, each engine a few blocks behind the one
// before, so that none waits. Keys, queries and values of one head stay in SBUF.
//
// Blocks that a filter leaves without points are not in the text; blocks that it
// divides get a mask of numbers from gpsimd. Scores that are more than a number times
// the products are made once and kept (AttentionScores.cpp).
//
//===----------------------------------------------------------------------===//

#include "AttentionStage.h"
#include "Stages.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

LogicalResult AttentionStage::describe() {
  StructuredOpInterface scoresOp = attention.scores.op(),
                        valuesOp = attention.values.op();
  auto fill = [&](Panel &panel, StructuredOpInterface op, unsigned input,
                  Type type, unsigned rows, unsigned columns,
                  ArrayRef<unsigned> iterators) -> LogicalResult {
    FailureOr<Home> home = lowering.homeOf(op, input);
    if (failed(home))
      return failure();
    panel.home = *home;
    panel.type = type;
    panel.rowStride = home->strides[rows];
    panel.columnStride = home->strides[columns];
    panel.iterators.assign(iterators.begin(), iterators.end());
    return success();
  };
  unsigned rowIterator = attention.rows, keyIterator = attention.keys();
  if (failed(fill(queries, scoresOp, attention.queryInput,
                  attention.queryType(), attention.depth,
                  attention.inScores[rowIterator], attention.inScores)) ||
      failed(fill(keys, scoresOp, attention.keyInput, attention.keyType(),
                  attention.depth, attention.inScores[keyIterator],
                  attention.inScores)) ||
      failed(fill(values, valuesOp, attention.valueInput, attention.valueType(),
                  attention.inValues[keyIterator], attention.column,
                  attention.inValues)))
    return failure();
  queries.rows = keys.rows = attention.depthExtent;
  queries.columns = attention.extents[rowIterator];
  keys.columns = values.rows = attention.extents[keyIterator];
  values.columns = attention.columnExtent;
  weightType = attention.weightType();

  auto read = [&](const Panel &panel, unsigned iterator) {
    return panel.home.strides[panel.iterators[iterator]] != 0;
  };
  for (unsigned i : attention.outer)
    if (read(keys, i) || read(values, i))
      outer.push_back(i);
  shared = outer.size();
  for (unsigned i : attention.outer)
    if (!llvm::is_contained(outer, i))
      outer.push_back(i);
  at.assign(attention.extents.size(), Linear());
  filter = attention.plane();
  return prepareScores();
}

/// Bands of queries, and for each the kinds and runs of its blocks.
void AttentionStage::divide() {
  for (RowBand &rows : attentionBands(attention, machine)) {
    Band band;
    int64_t number = 0, count = 0;
    for (const ColumnRun &run : rows.columns)
      count += run.count;
    for (const ColumnRun &run : rows.columns)
      for (int64_t i = 0; i < run.count;) {
        bool first = number == 0, last = number + 1 == count;
        // The first and the last block are steps of their own.
        int64_t repeats =
            first || last ? 1 : std::min(run.count - i, count - 1 - number);
        band.blocks.push_back({unsigned(kinds.size()),
                               (run.start + i * run.width) / chunk(),
                               run.width / chunk(), repeats});
        kinds.push_back({run.width, run.masked, first, last});
        i += repeats;
        number += repeats;
      }
    for (const StepRun &run : band.blocks)
      masked |= kinds[run.kind].masked;
    band.rows = rows;
    bands.push_back(std::move(band));
  }
}

void AttentionStage::makeRings() {
  Type f32 = lowering.builder.getF32Type(),
       bf16 = lowering.builder.getBF16Type();
  auto ring = [&](StringRef name, int64_t depth, ArrayRef<int64_t> shape,
                  Type type, Memory memory = Memory::Sbuf) {
    return lowering.ring(name, depth, lowering.tileType(shape, type, memory));
  };
  int64_t held = headsHeld(attention, machine);
  auto panel = [&](StringRef name, Panel &panel) {
    panel.ring =
        ring(name, held,
             {std::min(panel.rows, chunk()), steps(panel), panel.columns},
             panel.type);
  };
  panel("queries", queries);
  panel("keys", keys);
  panel("values", values);
  if (turnsValues()) {
    rawValues = values;
    std::swap(rawValues.rows, rawValues.columns);
    std::swap(rawValues.rowStride, rawValues.columnStride);
    panel("raw_values", rawValues);
  }

  int64_t rows = rowTile(), width = std::min(block(), keys.columns);
  int64_t chunks = llvm::divideCeil(width, chunk());
  int64_t chunkRows = std::min(width, chunk());
  // Four rings share the banks.
  int64_t depth = std::min<int64_t>(2, machine.psum.banks / 4);
  trial = ring("trial", depth, {rows, width}, f32, Memory::Psum);
  if (!attention.computesScores())
    scores = ring("scores", depth, {rows, width}, f32, Memory::Psum);
  turned = ring("turned", depth, {chunkRows, chunks, rows}, weightType,
                Memory::Psum);
  // How many keys exist is counted beside them.
  sums = ring("sums", depth, {rows, values.columns + conditional()}, f32,
              Memory::Psum);
  maxima = ring("maxima", 2, {rows, 1}, f32);
  shifts = ring("shifts", 3, {rows, 1}, f32);
  tops = ring("tops", 3, {rows, 1}, f32);
  totals = ring("totals", conditional() ? 8 : 4, {rows, 1}, f32);
  inverses = ring("inverses", 5, {rows, 1}, f32);
  weights = ring("weights", 4, {rows, width}, weightType);
  moved = ring("moved", 4, {chunkRows, chunks, rows}, weightType);
  movedByScalar =
      ring("moved_by_scalar", 4, {chunkRows, chunks, rows}, weightType);
  Type element = storedType(
      cast<RankedTensorType>(attention.result()->getResult(0).getType())
          .getElementType());
  out = ring("out", 3, {rows, values.columns}, element);
  if (attention.computesScores())
    makeScoreRings();
  if (!masked || conditional())
    return;
  findPatterns();
  int64_t most = std::max(width, rows);
  ones = ring("ones", 1, {rows, most}, bf16);
  larges = ring("larges", 1, {chunkRows, rows}, bf16);
  if (!keptMasks.empty()) {
    const KeptMask &last = keptMasks.back();
    int64_t turnedSize =
        last.turnedPlace + llvm::divideCeil(last.width, chunk()) * rows;
    keptRing = ring("kept", 1, {rows, last.place + last.width}, bf16);
    keptTurned = ring("kept_turned", 1, {chunkRows, turnedSize}, bf16);
  }
  masks = ring("mask", 3, {rows, width}, bf16);
  turnedMasks = ring("turned_mask", 2, {chunkRows, chunks, rows}, bf16);
  // From the maximum of a tile to its weights, beside those of the tile before.
  int64_t mostMasked = 0;
  for (const Band &band : bands) {
    int64_t count = 0;
    for (const StepRun &run : band.blocks)
      count += kinds[run.kind].masked ? run.count : 0;
    mostMasked = std::max(mostMasked, count);
  }
  if (!chosen)
    chosen = ring("chosen", 2 * mostMasked + 1, {rows, width}, f32);
  movedMasked = ring("moved_masked", 4, {chunkRows, chunks, rows}, weightType);
  // Made with the scores, used two blocks later.
  sound = ring("sound", 5, {chunkRows, chunks, values.columns}, values.type);
  faults = ring("faults", 5, {chunkRows, faultPlanes(), chunks, values.columns},
                bf16);
  vanished = ring("vanished", 2, {chunkRows, chunks, rows}, bf16);
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

void AttentionStage::emitPlane() {
  bool oneBlock = llvm::all_of(bands, [](const Band &band) {
    return band.blocks.size() == 1 && band.blocks.front().count == 1;
  });
  if (oneBlock)
    emitInOnePass();
  else
    emitInTwoPasses();
}

/// What the first products need is loaded first.
void AttentionStage::emitOuter(unsigned next) {
  bool ownValues = shared == outer.size();
  if (next == shared) {
    load(keys);
    if (ownValues)
      load(queries);
    load(turnsValues() ? rawValues : values);
    keys.slot = lowering.wait(keys.ring);
    if (!turnsValues()) {
      values.slot = lowering.wait(values.ring);
      if (conditional())
        sortAllValues();
    } else if (!ownValues) {
      turnValues();
    }
  }
  if (next == outer.size()) {
    if (!ownValues)
      load(queries);
    loadNumbers(/*perHead=*/true);
    queries.slot = lowering.wait(queries.ring);
    emitPlane();
    lowering.release(queries.ring);
    releaseNumbers(/*perHead=*/true);
  } else {
    lowering.forTiles(attention.extents[outer[next]], 1, [&](Span one) {
      at[outer[next]] = one.start;
      emitOuter(next + 1);
    });
  }
  if (next == shared) {
    lowering.release(keys.ring);
    lowering.release(values.ring);
    if (conditional()) {
      lowering.release(sound);
      lowering.release(faults);
    }
  }
}

LogicalResult AttentionStage::run() {
  if (failed(describe()))
    return failure();
  divide();
  makeRings();
  loadNumbers(/*perHead=*/false);
  if (conditional())
    openConditions();
  else if (masked)
    openMasks();
  emitOuter(0);
  if (conditional())
    lowering.release(unit);
  else if (masked)
    closeMasks();
  releaseNumbers(/*perHead=*/false);
  return success();
}

LogicalResult engine::emitAttention(Lowering &lowering, Attention &attention) {
  return AttentionStage(lowering, attention).run();
}
