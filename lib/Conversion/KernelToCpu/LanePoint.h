//===- LanePoint.h - several neighbouring points, one per vector lane -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scalar body evaluated for `lanes` values of one iterator at once. A value that
// does not depend on the lane stays a scalar until it meets a vector.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_CONVERSION_KERNELTOCPU_LANEPOINT_H
#define FACET_LIB_CONVERSION_KERNELTOCPU_LANEPOINT_H

#include "../KernelToLoops/OwnPoint.h"

namespace facet::cpu {

using loops::Frame;
using loops::LocBuilder;
using loops::Num;
using loops::Storage;

/// Which lanes there are: `lanes` values of iterator `iterator` from the value that
/// the point's iterators give for it; `mask` (vector of i1) when not all exist.
struct LaneRange {
  unsigned iterator = 0;
  int64_t lanes = 1;
  mlir::Value mask;
};

class LanePoint : public loops::OwnPoint {
public:
  LanePoint(Frame &frame, kernel::StructuredOpInterface op,
            llvm::ArrayRef<mlir::Value> iterators, LaneRange range)
      : OwnPoint(frame, op, iterators), range(range) {}

  /// The value of one op of the body, as far as the body needs it.
  mlir::Value valueOf(mlir::Value value);

protected:
  mlir::Value evaluate(mlir::Operation *inner,
                       llvm::ArrayRef<mlir::Value> operands) override;
  mlir::Value read(unsigned input, llvm::ArrayRef<mlir::Value> index,
                   mlir::Value guard) override;

  LaneRange range;

private:
  /// What element index[i]·strides[i] of an input is, per lane.
  bool dependsOnLane(unsigned input, llvm::ArrayRef<mlir::Value> index) const;
  bool isContiguous(unsigned input, const Storage &storage,
                    llvm::ArrayRef<mlir::Value> index) const;
};

/// An op some of whose inputs are `given` instead of read.
class GivenPoint : public LanePoint {
public:
  using Given = llvm::DenseMap<mlir::Value, mlir::Value>;
  GivenPoint(Frame &frame, kernel::StructuredOpInterface op,
             llvm::ArrayRef<mlir::Value> iterators, LaneRange range,
             const Given &given)
      : LanePoint(frame, op, iterators, range), given(given) {}

protected:
  mlir::Value read(unsigned input, llvm::ArrayRef<mlir::Value> index,
                   mlir::Value guard) override;

  const Given &given;
};

bool isVector(mlir::Value value);
/// `value` in every lane; itself when it is a vector.
mlir::Value widen(LocBuilder &b, mlir::Value value, int64_t lanes);
/// 0, 1, 2, … as a vector of i64.
mlir::Value iota(LocBuilder &b, int64_t lanes);
/// Both, where null means all.
mlir::Value andMasks(LocBuilder &b, mlir::Value a, mlir::Value c,
                     int64_t lanes);
/// Lanes below `count` (i64).
mlir::Value maskBelow(LocBuilder &b, mlir::Value count, int64_t lanes);
/// True when `value` is the constant `expected`.
bool isConstant(mlir::Value value, int64_t expected);

/// Elements from `index` on along dimension `dim`, one per lane, in travel form;
/// lanes outside of `mask` (null: all) are not read and are 0.
mlir::Value loadLanes(LocBuilder &b, const Storage &from,
                      llvm::ArrayRef<mlir::Value> index, unsigned dim,
                      int64_t lanes, mlir::Value mask);
void storeLanes(LocBuilder &b, const Storage &to,
                llvm::ArrayRef<mlir::Value> index, unsigned dim, int64_t lanes,
                mlir::Value mask, mlir::Value value);

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_LANEPOINT_H
