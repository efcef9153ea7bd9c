//===- JudgePoint.h - a point computed as values with bounds --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOLOOPS_JUDGEPOINT_H
#define FACET_LIB_CONVERSION_KERNELTOLOOPS_JUDGEPOINT_H

#include "Judged.h"
#include "Point.h"

namespace facet::loops {

/// A tensor that the judge computes: values, and bounds unless all are exact.
struct JudgedTensor {
  Storage value, bound;
  bool isExact = false;
};
using JudgedTensors = llvm::DenseMap<mlir::Value, JudgedTensor>;

/// The type in which the judge keeps elements of `type`: f64, i1, i32 or i64.
mlir::Type judgedType(mlir::Type type);
/// An element of a parameter, or of a result as the road stored it.
Judged loadStored(LocBuilder &b, const Storage &from,
                  llvm::ArrayRef<mlir::Value> index);
Judged loadJudged(LocBuilder &b, const JudgedTensor &from,
                  llvm::ArrayRef<mlir::Value> index);
void storeJudged(LocBuilder &b, JudgedTensor &to,
                 llvm::ArrayRef<mlir::Value> index, const Judged &element);

class JudgePoint : public Point<Judged> {
public:
  /// `computed`: the tensors that are not in `frame.tensors`, where parameters and
  /// stored results are.
  JudgePoint(Frame &frame, const JudgedTensors &computed,
             kernel::StructuredOpInterface op,
             llvm::ArrayRef<mlir::Value> iterators)
      : Point(frame, op, iterators), computed(computed) {}

  /// Whether all of `wanted` surely hold, an i1; null when that is what holds()
  /// says: no road can see it differently.
  mlir::Value surelyHolds(llvm::ArrayRef<int64_t> wanted);
  /// Whether all of `wanted` hold by value, an i1; null when nothing is asked.
  mlir::Value holdsByValue(llvm::ArrayRef<int64_t> wanted);

  /// A value of the body.
  Judged element(mlir::Value value) { return lookup(value); }

protected:
  Judged evaluate(mlir::Operation *inner,
                  llvm::ArrayRef<Judged> operands) override;
  Judged read(unsigned input, llvm::ArrayRef<mlir::Value> index,
              mlir::Value guard) override;
  Judged outer(mlir::Value value) override;
  mlir::Value mayHold(const Judged &condition) override;
  mlir::Value elementSubscript(unsigned k, unsigned dim, unsigned source,
                               mlir::Value &guard) override;
  mlir::Value constantSubscript(unsigned k, unsigned dim, int64_t value,
                                mlir::Value &guard) override;

private:
  /// Nothing is read out of range, even where only a condition that the road saw
  /// differently keeps an index from being used.
  void keepInRange(unsigned k, unsigned dim, Num index, mlir::Value &guard);
  bool isSoftmaxElement(mlir::Value value);
  bool mayFuse(mlir::Operation *product);
  const JudgedTensors &computed;
};

} // namespace facet::loops

#endif // FACET_LIB_CONVERSION_KERNELTOLOOPS_JUDGEPOINT_H
