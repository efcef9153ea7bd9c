//===- Tiles.h - the micro-kernels of a block, and what follows the sums --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOCPU_TILES_H
#define FACET_LIB_CONVERSION_KERNELTOCPU_TILES_H

#include "CpuForm.h"
#include "Panels.h"

namespace facet::cpu {

/// Operands of one block, as tiles read them.
struct Operands {
  /// The panels, where there are any.
  mlir::Value aPanel, bPanel;
  /// Where they are not.
  std::optional<InPlace> a, b;
  /// Σ_k b of each column, if a is packed shifted: of the block's k, or, of a packed
  /// array, of all.
  mlir::Value columnSums;
  /// b's region of a packed array, and the steps of a panel there; null: `bPanel`
  /// or `b`.
  mlir::Value constant;
  Num constantDepth;
  /// Where the sums of a block enter and leave tile registers.
  mlir::Value sums;
};

/// Cuts a block into tiles and computes each: the sums so far, the micro-kernel, and
/// behind the last block of k the epilogue.
class Tiles {
public:
  /// `partial`: where sums rest between blocks of k, when not in the result.
  Tiles(Walk &walk, const ContractionStage &stage,
        std::optional<Storage> partial);

  /// Columns jc.., which is all that `partial` holds, by rows ic.. of the present
  /// block of k.
  void compute(const Operands &operands, Num jc, Num columns, Num ic, Num rows);

private:
  /// One vector of rows of the tile after the other, of the columns from n0 on.
  struct Sliver {
    int64_t vectors;
    Num n0;
    mlir::Value b, bStep;
    mlir::Value mask; ///< of the last vector
    mlir::Value columnSums;
  };
  /// Of vectors from column `within` on of the panel that begins with column `panel`
  /// of the block. `width`: columns of the panel in a packed array.
  Sliver sliverOf(int64_t vectors, Num panel, Num width, Num within,
                  mlir::Value mask);
  void rowsOf(const Sliver &sliver, Num ic, Num rows);
  /// TileRegisters.cpp: the same in tile registers.
  void rowsInTiles(const Sliver &sliver, Num ic, Num rows);
  void block(const Sliver &sliver, int64_t tiles, Num rows, Num m0,
             mlir::Value a);
  llvm::SmallVector<mlir::Value> linesAhead(Num r, Num rows);
  void tile(const Sliver &sliver, int64_t rows, Num m0, mlir::Value a,
            mlir::Value aRow, mlir::Value aStep, mlir::ValueRange ahead);
  llvm::SmallVector<mlir::Value> place(Num m, Num n);
  mlir::Value initialSum(Num m, Num n, mlir::Value mask);
  /// Where the sums of one row and vector rest between blocks of k.
  llvm::SmallVector<mlir::Value> placeOfPartial(Num m, Num n);
  const Storage &partialSums() {
    return partial ? *partial : frame.tensors[c.reduce.getResult(0)];
  }
  int64_t vectorBytes() const {
    return lanes * walk.element.getIntOrFloatBitWidth() / 8;
  }
  void finish(mlir::Value sums, Num m, Num n, mlir::Value mask);
  bool hasLongEpilogue();
  void finishInLoop(mlir::ValueRange sums, const Sliver &sliver, Num m0);

  Walk &walk;
  Frame &frame;
  LocBuilder &b;
  Contraction &c;
  std::optional<Epilogue> epilogue;
  ContractionAttr plan;
  int64_t lanes;
  std::optional<Storage> partial;
  Operands operands;   // of the block
  Num columnBase;      // its first column
  mlir::Value onStack; // the sums of one tile, for an epilogue in a loop
};

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_TILES_H
