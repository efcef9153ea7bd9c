//===- KeyBlocks.h - which keys meet which queries ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_PLANNER_ENGINE_KEYBLOCKS_H
#define FACET_PLANNER_ENGINE_KEYBLOCKS_H

#include "mlir/Support/LLVM.h"

#include <cstdint>

namespace facet::engine {

/// a·row + b·column + constant >= 0.
struct HalfPlane {
  int64_t row = 0, column = 0, constant = 0;
};

/// `count` blocks of columns, side by side.
struct ColumnRun {
  int64_t start = 0, width = 0, count = 1;
  /// Some points of it do not exist.
  bool masked = false;
};

/// `tiles` tiles of rows, one after the other, that meet the same columns.
struct RowBand {
  int64_t start = 0, size = 0, tiles = 1;
  llvm::SmallVector<ColumnRun> columns;
};

/// Divides a plane of rows x columns into bands of tiles of `rowTile` rows, with the
/// blocks of at most `block` columns in which points exist; starts of blocks are
/// multiples of `chunk`. At most `maxBands` bands, and one more for the rows that are
/// left.
llvm::SmallVector<RowBand> divideRows(int64_t rows, int64_t columns,
                                      llvm::ArrayRef<HalfPlane> filter,
                                      int64_t rowTile, int64_t chunk,
                                      int64_t block, int64_t maxBands);

/// True when at least one column exists for every row.
bool everyRowExists(int64_t rows, int64_t columns,
                    llvm::ArrayRef<HalfPlane> filter);

} // namespace facet::engine

#endif // FACET_PLANNER_ENGINE_KEYBLOCKS_H
