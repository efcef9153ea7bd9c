//===- Panels.h - operands copied to where tiles read them ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOCPU_PANELS_H
#define FACET_LIB_CONVERSION_KERNELTOCPU_PANELS_H

#include "Walk.h"

namespace facet::cpu {

/// An operand where it is: where it starts for one m (n) and k, and its steps.
struct InPlace {
  mlir::Value base, outerStep, kStep; ///< in elements
};

/// Writes the panels of one contraction, as `plan` wants them.
class Panels {
public:
  /// `columnSums`: where packing b puts Σ_k b of each column, if at all. `shiftsA`: a is
  /// packed with its highest bit flipped.
  Panels(Walk &walk, ContractionAttr plan, mlir::Value columnSums,
         bool shiftsA = false);

  /// Columns jc.. of b to `target`: [jr][k][NR], zeros behind the last column, and
  /// behind the last k where a step of the kernel is longer.
  void packB(mlir::Value target, Num jc, Num columns);
  /// All columns of b to `target`, the last panel as many whole vectors wide as it
  /// needs: a packed array.
  void packExactly(mlir::Value target);
  /// Rows ic.. of a to `target`: [ir][k][MR]; rows behind the last are never read. For
  /// tile registers [ir][k / 16][MR][16], in words.
  void packA(mlir::Value target, Num ic, Num rows);
  /// The elements of `input`, read where they are. `outer` is its m or n.
  InPlace inPlace(unsigned input, std::optional<unsigned> outer);

private:
  mlir::Value product(llvm::ArrayRef<mlir::Value> factors, LanePoint &point);
  mlir::Value narrow(Num value);
  mlir::Value groupOfB(Num column, mlir::Value mask, mlir::Value exist);
  void sumColumns(mlir::Value panel, Num width, Num jr, int64_t vectors);
  void packVector(mlir::Value panel, Num width, Num first, Num jc,
                  mlir::Value mask, int64_t v, mlir::Value exist);
  void clearDepth(mlir::Value panel, Num width, int64_t vectors);
  void packPanelB(Num jc, Num jr, Num columns, mlir::Value panel);
  /// Turned.cpp: neighbours of b in memory are neighbours in k.
  bool isTurned();
  Num packTurned(Num column, mlir::Value panel, Num extent);
  mlir::Value groupsOfA(Num value, mlir::Value mask);
  /// A row of a block of a: where its panel of MR rows starts, in words, and its place
  /// among these.
  struct RowOfA {
    Num start, within;
  };
  RowOfA rowOfA(Num row);
  Num placeInA(RowOfA row, Num word);
  void clearDepthOfA(mlir::Value target, RowOfA row);

  Walk &walk;
  Frame &frame;
  LocBuilder &b;
  Contraction &c;
  ContractionAttr plan;
  Dot dot;
  int64_t lanes, group;
  bool shiftsA;
  mlir::Value columnSums;
  mlir::Value ones; // a group of them
};

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_PANELS_H
