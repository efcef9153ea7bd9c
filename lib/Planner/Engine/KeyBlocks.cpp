//===- KeyBlocks.cpp - which keys meet which queries ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A filter of inequalities is known for a rectangle by its corners: no point of it
// exists, all do, or it needs a mask. Blocks without points are left out of the text,
// so they cost nothing at all; what is whole runs in a loop.
//
//   j <= i, tiles of 128 rows, chunks of 128 columns, blocks of 512
//   rows 640 on:  [0, 512) whole, [512, 640) whole, [640, 768) masked
//
// Rows are taken together in bands where there are many, so that the text does not
// grow with them: a band meets what any of its tiles meets.
//
//===----------------------------------------------------------------------===//

#include "facet/Planner/Engine/KeyBlocks.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

namespace {
enum class Presence { None, Some, All };
} // namespace

static Presence presenceOf(ArrayRef<HalfPlane> filter, int64_t row,
                           int64_t rows, int64_t column, int64_t columns) {
  Presence presence = Presence::All;
  for (const HalfPlane &half : filter) {
    int64_t least = half.constant, most = half.constant;
    auto extend = [&](int64_t factor, int64_t start, int64_t size) {
      int64_t first = factor * start, last = factor * (start + size - 1);
      least += std::min(first, last);
      most += std::max(first, last);
    };
    extend(half.row, row, rows);
    extend(half.column, column, columns);
    if (most < 0)
      return Presence::None;
    if (least < 0)
      presence = Presence::Some;
  }
  return presence;
}

static SmallVector<ColumnRun> columnsOf(int64_t row, int64_t rows,
                                        int64_t columns,
                                        ArrayRef<HalfPlane> filter,
                                        int64_t chunk, int64_t block) {
  SmallVector<ColumnRun> runs;
  for (int64_t start = 0; start < columns; start += chunk) {
    int64_t width = std::min(chunk, columns - start);
    Presence presence = presenceOf(filter, row, rows, start, width);
    if (presence == Presence::None)
      continue;
    bool masked = presence == Presence::Some;
    if (!runs.empty()) {
      ColumnRun &last = runs.back();
      bool joins = last.masked == masked && last.start + last.width == start &&
                   last.width + width <= block;
      if (joins) {
        last.width += width;
        continue;
      }
    }
    runs.push_back({start, width, 1, masked});
  }
  SmallVector<ColumnRun> merged;
  for (const ColumnRun &run : runs) {
    if (!merged.empty()) {
      ColumnRun &last = merged.back();
      if (last.masked == run.masked && last.width == run.width &&
          run.width == block &&
          last.start + last.count * last.width == run.start) {
        ++last.count;
        continue;
      }
    }
    merged.push_back(run);
  }
  return merged;
}

SmallVector<RowBand> engine::divideRows(int64_t rows, int64_t columns,
                                        ArrayRef<HalfPlane> filter,
                                        int64_t rowTile, int64_t chunk,
                                        int64_t block, int64_t maxBands) {
  SmallVector<RowBand> bands;
  int64_t whole = rows / rowTile;
  bool same = filter.empty();
  int64_t perBand =
      same ? whole : llvm::divideCeil(std::max<int64_t>(whole, 1), maxBands);
  auto add = [&](int64_t start, int64_t size, int64_t tiles) {
    bands.push_back(
        {start, size, tiles,
         columnsOf(start, size * tiles, columns, filter, chunk, block)});
  };
  for (int64_t tile = 0; tile < whole; tile += perBand)
    add(tile * rowTile, rowTile, std::min(perBand, whole - tile));
  if (int64_t rest = rows % rowTile)
    add(whole * rowTile, rest, 1);
  return bands;
}

bool engine::everyRowExists(int64_t rows, int64_t columns,
                            ArrayRef<HalfPlane> filter) {
  for (int64_t row = 0; row < rows && !filter.empty(); ++row) {
    int64_t low = 0, high = columns - 1;
    for (const HalfPlane &half : filter) {
      int64_t rest = half.row * row + half.constant;
      if (half.column > 0)
        low = std::max(low, -llvm::divideFloorSigned(rest, half.column));
      else if (half.column < 0)
        high = std::min(high, llvm::divideFloorSigned(rest, -half.column));
      else if (rest < 0)
        return false;
    }
    if (low > high)
      return false;
  }
  return true;
}
