//===- AttentionTiles.cpp - tiles of queries, one behind the other ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text interleaves what is independent, because engines work in its order: while
// the array waits for the exponentials of one block it turns those of the block before
// and multiplies those of the block before that, and makes scores for the maxima of
// the next tile.
//
//   trial t+1 | scores t, a block later | turn, 3 later | multiply, 5 later |
//   results, 7 later
//
// Tiles written out one behind the other are one sequence; a loop over tiles ends it.
//
//===----------------------------------------------------------------------===//

#include "AttentionStage.h"

#include <limits>

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

/// exp(scale·s - scale·max): the second term, from the maximum that was committed.
void AttentionStage::shiftOf(const Tile &rows) {
  Value top = lowering.view(lowering.wait(maxima), 0, {rows.size(), 1});
  auto scaled = [&](RingOp into, double factor) {
    Value tile = lowering.view(lowering.acquire(into), 0, {rows.size(), 1});
    SmallVector<NamedAttribute> fields = {lowering.word("op0", "mul"),
                                          lowering.number("imm0", factor)};
    // Of a row without keys: -inf + inf would be NaN.
    if (conditional() && factor < 0) {
      fields.push_back(lowering.word("op1", "min"));
      fields.push_back(
          lowering.number("imm1", std::numeric_limits<float>::max()));
    }
    lowering.issue(QueueKind::Vector, "tensor_scalar",
                   {{"dst", tile}, {"src", top}}, fields);
    lowering.commit(into);
  };
  scaled(shifts, -attention.scale);
  for (kernel::ReduceOp op : attention.maxima)
    if (attention.leaves(op)) {
      scaled(tops, attention.scale);
      storeColumn(tops, op, rows);
    }
  lowering.release(maxima);
}

/// What the sums are multiplied with: one over the row's sum of exponentials.
void AttentionStage::invertTotal(const Tile &rows, Value sumsSlot) {
  Value total = lowering.view(lowering.wait(totals), 0, {rows.size(), 1});
  if (conditional()) {
    invertExisting(rows, total, sumsSlot);
  } else {
    Value inverse =
        lowering.view(lowering.acquire(inverses), 0, {rows.size(), 1});
    lowering.issue(QueueKind::Vector, "tensor_scalar",
                   {{"dst", inverse}, {"src", total}},
                   {lowering.word("op0", "reciprocal")});
    lowering.commit(inverses);
  }
  for (kernel::ReduceOp op : attention.sums)
    if (attention.leaves(op)) {
      Home home =
          lowering.homeOfResult(cast<StructuredOpInterface>(op.getOperation()));
      SmallVector<unsigned> iterators =
          llvm::to_vector(llvm::seq<unsigned>(attention.extents.size()));
      Linear base = baseOf(home, iterators);
      base += rows.start * home.strides[attention.rows];
      lowering.issue(
          QueueKind::Gpsimd, "dma_copy",
          {{"dst", lowering.hbmView(home.buffer, base, {rows.size(), 1},
                                    home.strides[attention.rows], {1})},
           {"src", total}});
    }
  lowering.release(totals);
}

void AttentionStage::finish(const Tile &rows) {
  SmallVector<int64_t> shape = {rows.size(), values.columns};
  Value slot = lowering.wait(sums);
  if (conditional())
    invertTotal(rows, slot);
  Value factor = lowering.view(lowering.wait(inverses), 0, {rows.size(), 1});
  Value tile = lowering.view(lowering.acquire(out), 0, shape);
  lowering.issue(QueueKind::Scalar, "activate",
                 {{"dst", tile},
                  {"src", lowering.view(slot, 0, shape)},
                  {"scale", factor}});
  lowering.commit(out);
  lowering.release(inverses);
  lowering.release(sums);
  store(lowering.view(lowering.wait(out), 0, shape), rows);
  lowering.release(out);
}

/// Scores and weights of a tile that has one block of keys.
void AttentionStage::scoreTile(const Tile &rows) {
  const StepRun &run = rows.band->blocks.front();
  const BlockKind &kind = kinds[run.kind];
  Linear start = run.start;
  SmallVector<int64_t> column = {rows.size(), 1};
  bool computed = attention.computesScores();
  Value tile, top = lowering.view(lowering.acquire(maxima), 0, column);
  if (computed) {
    if (conditional())
      holds(rows, kind, start);
    computeScores(top, rows, kind, start);
  } else {
    product(
        lowering.view(lowering.acquire(scores), 0, {rows.size(), kind.width}),
        rows, kind, start);
    lowering.commit(scores);
    tile = lowering.view(lowering.wait(scores), 0, {rows.size(), kind.width});
    maximum(top, tile, rows, kind, start);
  }
  lowering.commit(maxima);
  shiftOf(rows);
  Value shift = lowering.view(lowering.wait(shifts), 0, column);
  Value total = lowering.view(lowering.acquire(totals), 0, column);
  bool kept = computed || kind.masked;
  if (kind.masked && !conditional())
    sortValues(kind, start);
  if (kept)
    tile = lowering.view(lowering.wait(chosen), 0, {rows.size(), kind.width});
  exponential(tile, shift, total, rows, kind);
  if (kept)
    lowering.release(chosen);
  lowering.commit(totals);
  lowering.release(shifts);
  if (!computed)
    lowering.release(scores);
}

/// All keys are one block: scores are made once.
void AttentionStage::emitInOnePass() {
  SmallVector<StepRun> tiles;
  for (auto [i, band] : llvm::enumerate(bands))
    tiles.push_back(
        {unsigned(i), band.rows.start, band.rows.size, band.rows.tiles});
  bool turnsLate = turnsValues() && shared == outer.size();
  interleave(lowering, {tiles, tiles, tiles}, {0, 1, 2},
             [&](ArrayRef<std::optional<Step>> steps) {
               auto tileOf = [&](unsigned i) {
                 return Tile{&bands[steps[i]->kind], steps[i]->start};
               };
               auto runOf = [&](const Tile &tile) {
                 return tile.band->blocks.front();
               };
               if (steps[0])
                 scoreTile(tileOf(0));
               if (turnsLate)
                 turnValues();
               turnsLate = false;
               if (steps[1]) {
                 turn(tileOf(1), kinds[runOf(tileOf(1)).kind]);
                 if (!conditional())
                   invertTotal(tileOf(1));
               }
               if (!steps[2])
                 return;
               Tile tile = tileOf(2);
               Value sumsTile = lowering.acquire(sums);
               multiply(sumsTile, tile, kinds[runOf(tile).kind],
                        runOf(tile).start);
               lowering.commit(sums);
               finish(tile);
             });
}

/// Both passes over `tiles`, the first of which has its maximum; `next` gets its.
void AttentionStage::emitTogether(ArrayRef<Tile> tiles,
                                  const std::optional<Tile> &next) {
  constexpr unsigned idle = ~0u;
  struct Unit {
    const Tile *tile;
    unsigned kind;
  };
  SmallVector<Unit> units;
  SmallVector<StepRun> trials, passes;
  auto append = [&](SmallVector<StepRun> &sequence, const Tile &tile) {
    int64_t count = 0;
    for (const StepRun &run : tile.band->blocks) {
      sequence.push_back(
          {unsigned(units.size()), run.start, run.stride, run.count});
      units.push_back({&tile, run.kind});
      count += run.count;
    }
    return count;
  };
  // Who has fewer blocks waits: the maximum of a tile is complete before its weights.
  for (size_t i = 0; i < std::max<size_t>(tiles.size(), 1); ++i) {
    int64_t ahead = 0, behind = 0;
    if (i + 1 < tiles.size())
      ahead = append(trials, tiles[i + 1]);
    else if (next)
      ahead = append(trials, *next);
    if (i < tiles.size())
      behind = append(passes, tiles[i]);
    if (ahead < behind)
      trials.push_back({idle, 0, 0, behind - ahead});
    if (behind < ahead)
      passes.push_back({idle, 0, 0, ahead - behind});
  }
  Value shift, total, sumsTile, top;
  auto scoresIn = [&](RingOp ring, const Tile &rows, const BlockKind &kind,
                      const Linear &start) {
    SmallVector<int64_t> shape = {rows.size(), kind.width};
    product(lowering.view(lowering.acquire(ring), 0, shape), rows, kind, start);
    lowering.commit(ring);
    return lowering.view(lowering.wait(ring), 0, shape);
  };
  auto trialStep = [&](const Tile &rows, const BlockKind &kind,
                       const Linear &start) {
    if (kind.first)
      top = lowering.view(lowering.acquire(maxima), 0, {rows.size(), 1});
    if (attention.computesScores()) {
      computeScores(top, rows, kind, start);
    } else {
      maximum(top, scoresIn(trial, rows, kind, start), rows, kind, start);
      lowering.release(trial);
    }
    if (!kind.last)
      return;
    lowering.commit(maxima);
    shiftOf(rows);
  };
  auto scoreStep = [&](const Tile &rows, const BlockKind &kind,
                       const Linear &start) {
    SmallVector<int64_t> column = {rows.size(), 1};
    if (kind.first) {
      shift = lowering.view(lowering.wait(shifts), 0, column);
      total = lowering.view(lowering.acquire(totals), 0, column);
    }
    if (kind.masked || attention.computesScores()) {
      if (kind.masked && !conditional())
        sortValues(kind, start);
      exponential(
          lowering.view(lowering.wait(chosen), 0, {rows.size(), kind.width}),
          shift, total, rows, kind);
      lowering.release(chosen);
    } else {
      exponential(scoresIn(scores, rows, kind, start), shift, total, rows,
                  kind);
      lowering.release(scores);
    }
    if (!kind.last)
      return;
    lowering.release(shifts);
    lowering.commit(totals);
  };
  auto multiplyStep = [&](const Tile &rows, const BlockKind &kind,
                          const Linear &start) {
    if (kind.first)
      sumsTile = lowering.acquire(sums);
    multiply(sumsTile, rows, kind, start);
    if (!kind.last)
      return;
    lowering.commit(sums);
  };
  // The first exponential of a tile finds its maximum there, and the scores of a
  // block the conditions they stand under.
  int64_t early = conditional() ? 1 : 0;
  int64_t lead = (tiles.empty() ? 0 : 1) + early;
  SmallVector<StepRun> none;
  interleave(
      lowering,
      {passes, trials, passes, passes, passes,
       conditional() ? ArrayRef(trials) : none},
      {lead, early, lead + 2, lead + 4, lead + 6, 0},
      [&](ArrayRef<std::optional<Step>> steps) {
        auto at = [&](unsigned i, auto step) {
          if (!steps[i] || steps[i]->kind == idle)
            return;
          const Unit &unit = units[steps[i]->kind];
          step(*unit.tile, kinds[unit.kind], steps[i]->start);
        };
        at(5, [&](const Tile &rows, const BlockKind &kind,
                  const Linear &start) { holds(rows, kind, start); });
        at(0, scoreStep);
        at(1, trialStep);
        at(2, [&](const Tile &rows, const BlockKind &kind, const Linear &) {
          turn(rows, kind);
          if (kind.last && !conditional())
            invertTotal(rows);
        });
        // Not before the scalar engine would have to wait for it.
        at(4, [&](const Tile &rows, const BlockKind &kind, const Linear &) {
          if (kind.last)
            finish(rows);
        });
        at(3, multiplyStep);
      });
}

void AttentionStage::emitInTwoPasses() {
  auto tileOf = [&](const Band &band, Linear number) {
    Linear start = number * band.rows.size;
    start += Linear(band.rows.start);
    return Tile{&band, start};
  };
  emitTogether({}, tileOf(bands.front(), 0));
  if (turnsValues() && shared == outer.size())
    turnValues();
  // Tiles that are written out, waiting for what follows them.
  SmallVector<Tile> text;
  // A loop takes several where there are few of them.
  int64_t each = bands.size() > 2 ? 1 : 4;
  for (const Band &band : bands) {
    int64_t done = 0, loops = (band.rows.tiles - 1) / each;
    if (loops > 1) {
      if (!text.empty())
        emitTogether(text, tileOf(band, 0));
      text.clear();
      auto loop = ForOp::create(lowering.builder, lowering.location, loops);
      OpBuilder::InsertionGuard guard(lowering.builder);
      lowering.builder.setInsertionPointToEnd(loop.getBody());
      auto number = [&](int64_t i) {
        Linear tile = i;
        tile.terms.push_back({loop.getCounter(), each});
        return tile;
      };
      SmallVector<Tile> body;
      for (int64_t i = 0; i < each; ++i)
        body.push_back(tileOf(band, number(i)));
      emitTogether(body, tileOf(band, number(each)));
      done = loops * each;
    }
    for (int64_t i = done; i < band.rows.tiles; ++i)
      text.push_back(tileOf(band, i));
  }
  emitTogether(text, std::nullopt);
}
