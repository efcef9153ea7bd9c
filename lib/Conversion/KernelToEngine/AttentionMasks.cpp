//===- AttentionMasks.cpp - blocks that a filter divides ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scores where no point exists become -inf, for the maximum and for the exponential,
// which makes weights of 0 of them. A value that is infinite or NaN must not meet such
// a weight, so values are 0 there; where the point exists, what it does to the sum is
// brought back by products that overflow:
//
//   sums += 2^100 [exists] * 2^100 [v is +inf or NaN]
//   sums -= 2^100 [exists] * 2^100 [v is -inf or NaN]
//   sums += and -= 2^100 [exists, weight is 0] * 2^100 [v is no number]     NaN
//
// Which points of a block exist is mostly the same for many blocks (all those on the
// diagonal of a triangle): such masks are made once.
//
//===----------------------------------------------------------------------===//

#include "AttentionStage.h"

#include <limits>
#include <utility>

using namespace mlir;
using namespace facet;
using namespace facet::engine;

/// The square of it is infinite in f32.
static constexpr double large = 0x1p100;

/// Planes of a slot of `faults`.
namespace {
enum Plane { Plus, Either, Minus, MinusEither, Sound, NumPlanes };
} // namespace

int64_t AttentionStage::faultPlanes() { return NumPlanes; }

/// What decides which points of a block exist: the values of the filter's inequalities
/// at its first point. Nullopt where a loop changes them.
std::optional<SmallVector<int64_t>>
AttentionStage::patternOf(const Linear &row, const Linear &start) {
  if (!row.terms.empty() || !start.terms.empty())
    return std::nullopt;
  SmallVector<int64_t> pattern;
  for (const HalfPlane &half : filter)
    pattern.push_back(half.constant + half.row * row.constant +
                      half.column * chunk() * start.constant);
  return pattern;
}

/// Writes 1 where a point exists, else 0: rows and columns as in scores, or turned,
/// with 2^100 for 1.
void AttentionStage::writeMask(Value tile, bool isTurned, const Linear &row,
                               const Linear &key, Value source) {
  auto type = cast<TileType>(tile.getType());
  if (!source)
    source = lowering.view(isTurned ? largeSlot : onesSlot, 0, type.getShape());
  for (const HalfPlane &half : filter) {
    Linear value = half.constant;
    value += row * half.row;
    value += key * half.column;
    int64_t down = isTurned ? half.column : half.row;
    int64_t along = isTurned ? half.row : half.column;
    lowering.issue(
        QueueKind::Gpsimd, "affine_select",
        {{"dst", tile},
         {"src", source},
         {"index", lowering.index(value, type.getShape(), down, along)}},
        {lowering.word("cmp", "ge")});
    source = tile;
  }
}

void AttentionStage::writeTurnedMask(Value slot, int64_t place,
                                     const Linear &row, const Linear &start,
                                     int64_t rows, int64_t width) {
  for (int64_t first = 0; first < width; first += chunk()) {
    Linear key = start * chunk();
    key += Linear(first);
    writeMask(lowering.view(slot, place + first / chunk() * rowTile(),
                            {std::min(chunk(), width - first), rows}),
              /*isTurned=*/true, row, key);
  }
}

/// Masks that hold for the whole stage, when they are few.
void AttentionStage::openMasks() {
  auto filled = [&](RingOp ring, double value) {
    Value slot = lowering.acquire(ring);
    lowering.issue(QueueKind::Gpsimd, "fill", {{"dst", slot}},
                   {lowering.number("value", value)});
    lowering.commit(ring);
    return lowering.wait(ring);
  };
  onesSlot = filled(ones, 1);
  largeSlot = filled(larges, large);
  if (keptMasks.empty())
    return;
  Value mask = lowering.acquire(keptRing);
  Value turnedMask = lowering.acquire(keptTurned);
  for (const KeptMask &kept : keptMasks) {
    writeMask(lowering.view(mask, kept.place, {kept.rows, kept.width}), false,
              kept.row, kept.start * chunk());
    writeTurnedMask(turnedMask, kept.turnedPlace, kept.row, kept.start,
                    kept.rows, kept.width);
  }
  lowering.commit(keptRing);
  lowering.commit(keptTurned);
  keptSlot = lowering.wait(keptRing);
  keptTurnedSlot = lowering.wait(keptTurned);
}

void AttentionStage::closeMasks() {
  if (!keptMasks.empty()) {
    lowering.release(keptRing);
    lowering.release(keptTurned);
  }
  lowering.release(ones);
  lowering.release(larges);
}

/// Finds the patterns of blocks outside of loops over tiles.
void AttentionStage::findPatterns() {
  // More would take a notable part of SBUF.
  constexpr size_t most = 8;
  for (const Band &band : bands)
    for (const StepRun &run : band.blocks) {
      const BlockKind &kind = kinds[run.kind];
      if (!kind.masked)
        continue;
      Linear row = band.rows.start, start = run.start;
      auto pattern = patternOf(row, start);
      auto at = llvm::find_if(keptMasks, [&](const KeptMask &kept) {
        return kept.pattern == *pattern;
      });
      if (at == keptMasks.end()) {
        keptMasks.push_back({*pattern, row, start, 0, 0, 0, 0});
        at = std::prev(keptMasks.end());
      }
      at->rows = std::max(at->rows, band.rows.size);
      at->width = std::max(at->width, kind.width);
    }
  if (keptMasks.size() > most)
    keptMasks.clear();
  int64_t place = 0, chunks = 0;
  for (KeptMask &kept : keptMasks) {
    kept.place = std::exchange(place, place + kept.width);
    kept.turnedPlace = chunks * rowTile();
    chunks += llvm::divideCeil(kept.width, chunk());
  }
}

const KeptMask *AttentionStage::keptMask(const Linear &row,
                                         const Linear &start) {
  std::optional<SmallVector<int64_t>> pattern = patternOf(row, start);
  for (const KeptMask &kept : keptMasks)
    if (pattern && kept.pattern == *pattern)
      return &kept;
  return nullptr;
}

/// The scores where points exist, -inf elsewhere, in a slot that the caller commits.
Value AttentionStage::choose(Value scoresTile, const Tile &rows,
                             const BlockKind &kind, const Linear &start) {
  SmallVector<int64_t> shape = {rows.size(), kind.width};
  const KeptMask *kept = keptMask(rows.start, start);
  Value exists;
  if (kept) {
    exists = lowering.view(keptSlot, kept->place, shape);
  } else {
    writeMask(lowering.view(lowering.acquire(masks), 0, shape), false,
              rows.start, start * chunk());
    lowering.commit(masks);
    exists = lowering.view(lowering.wait(masks), 0, shape);
  }
  Value tile = lowering.view(lowering.acquire(chosen), 0, shape);
  lowering.issue(
      QueueKind::Vector, "select",
      {{"dst", tile}, {"mask", exists}, {"a", scoresTile}},
      {lowering.number("imm0", -std::numeric_limits<double>::infinity())});
  if (!kept)
    lowering.release(masks);
  return tile;
}

/// Values of `count` chunks of keys from `first` on, each `depth` high: 0 where they
/// are no number, and what they were.
void AttentionStage::sortChunks(Value to, Value faultsTile, int64_t slotChunks,
                                const Linear &from, int64_t first,
                                int64_t count, int64_t depth) {
  int64_t width = values.columns, size = count * width;
  constexpr double greatest = std::numeric_limits<float>::max();
  Linear value = from * width;
  value += Linear(first * width);
  Value source = lowering.view(values.slot, value, {depth, 1, size});
  auto planes = [&](int64_t plane, int64_t number) {
    return lowering.view(faultsTile, (plane * slotChunks + first) * width,
                         {depth, number, size}, {slotChunks * width, 1});
  };
  auto compute = [&](Value dst, Value src, StringRef op0, double imm0,
                     StringRef op1, double imm1) {
    lowering.issue(QueueKind::Gpsimd, "tensor_scalar",
                   {{"dst", dst}, {"src", src}},
                   {lowering.word("op0", op0), lowering.number("imm0", imm0),
                    lowering.word("op1", op1), lowering.number("imm1", imm1)});
  };
  compute(planes(Sound, 1), source, "mul", 0, "eq", 0);
  lowering.issue(QueueKind::Gpsimd, "select",
                 {{"dst", lowering.view(to, first * width, {depth, 1, size})},
                  {"mask", planes(Sound, 1)},
                  {"a", source}},
                 {lowering.number("imm0", 0)});
  compute(planes(Plus, 1), source, "le", greatest, "eq", 0);
  compute(planes(Either, 1), source, "mul", 0, "ne", 0);
  compute(planes(Minus, 1), source, "ge", -greatest, "sub", 1);
  // 1 or -1 so far.
  compute(planes(Plus, 3), planes(Plus, 3), "mul", large, "bypass", 0);
  compute(planes(MinusEither, 1), planes(Sound, 1), "sub", 1, "mul", large);
}

void AttentionStage::sortValues(int64_t width, const Linear &start,
                                int64_t slotChunks) {
  Value to = lowering.acquire(sound), faultsTile = lowering.acquire(faults);
  int64_t whole = width / chunk(), rest = width % chunk();
  if (whole)
    sortChunks(to, faultsTile, slotChunks, start, 0, whole, chunk());
  if (rest)
    sortChunks(to, faultsTile, slotChunks, start, whole, 1, rest);
  lowering.commit(sound);
  lowering.commit(faults);
}

/// Values of a masked block.
void AttentionStage::sortValues(const BlockKind &kind, const Linear &start) {
  sortValues(kind.width, start, chunksOfBlock());
}

/// Values of a head: any block may be masked.
void AttentionStage::sortAllValues() {
  sortValues(values.rows, 0, steps(values));
  soundSlot = lowering.wait(sound);
  faultsSlot = lowering.wait(faults);
}

/// Adds to the sums what values that are no number make of them, and counts the keys
/// that exist where a row may have none.
void AttentionStage::addFaults(Value sumsTile, Value weightsTile,
                               const Tile &rows, const BlockKind &kind,
                               const Linear &start) {
  const KeptMask *kept = conditional() ? nullptr : keptMask(rows.start, start);
  Value existing;
  if (conditional()) {
    existing = lowering.wait(exists);
  } else if (kept) {
    existing = keptTurnedSlot;
  } else {
    Value slot = lowering.acquire(turnedMasks);
    writeTurnedMask(slot, 0, rows.start, start, rows.size(), kind.width);
    lowering.commit(turnedMasks);
    existing = lowering.wait(turnedMasks);
  }
  int64_t width = values.columns;
  int64_t count = llvm::divideCeil(kind.width, chunk());
  auto at = [&](Value slot, int64_t i) {
    int64_t place = kept && slot == existing ? kept->turnedPlace : 0;
    return lowering.view(
        slot, place + i * rowTile(),
        {std::min(chunk(), kind.width - i * chunk()), rows.size()});
  };
  Value zeros = lowering.acquire(vanished);
  for (int64_t i = 0; i < count; ++i)
    lowering.issue(QueueKind::Gpsimd, "scalar_tensor_tensor",
                   {{"dst", at(zeros, i)},
                    {"src", at(weightsTile, i)},
                    {"b", at(existing, i)}},
                   {lowering.word("op0", "eq"), lowering.number("imm0", 0),
                    lowering.word("op1", "mul")});
  lowering.commit(vanished);
  zeros = lowering.wait(vanished);
  Value faultsTile = conditional() ? faultsSlot : lowering.wait(faults);
  int64_t slotChunks = conditional() ? steps(values) : chunksOfBlock();
  Value dst = lowering.view(sumsTile, 0, {rows.size(), width});
  for (int64_t i = 0; i < count; ++i) {
    int64_t depth = std::min(chunk(), kind.width - i * chunk());
    auto add = [&](Value weightsOf, Plane first, Plane second, bool ends) {
      lowering.issue(QueueKind::Tensor, "load_weights",
                     {{"weights", at(weightsOf, i)}});
      for (Plane plane : {first, second}) {
        Linear place = conditional() ? start * width : Linear();
        place += Linear((plane * slotChunks + i) * width);
        SmallVector<NamedAttribute> fields;
        if (ends && plane == second)
          fields.push_back(lowering.flag("stop"));
        lowering.issue(
            QueueKind::Tensor, "matmul",
            {{"dst", dst},
             {"moving", lowering.view(faultsTile, place, {depth, width})}},
            fields);
      }
    };
    bool last = kind.last && i + 1 == count;
    add(existing, Plus, Minus, false);
    if (conditional()) {
      SmallVector<NamedAttribute> fields;
      if (kind.first && i == 0)
        fields.push_back(lowering.flag("start"));
      if (last)
        fields.push_back(lowering.flag("stop"));
      lowering.issue(QueueKind::Tensor, "matmul",
                     {{"dst", lowering.view(sumsTile, width, {rows.size(), 1})},
                      {"moving", lowering.view(unitSlot, 0, {depth, 1})}},
                     fields);
    }
    add(zeros, Either, MinusEither, last);
  }
  lowering.release(vanished);
  if (conditional()) {
    lowering.release(exists);
    return;
  }
  lowering.release(faults);
  if (!kept)
    lowering.release(turnedMasks);
}
