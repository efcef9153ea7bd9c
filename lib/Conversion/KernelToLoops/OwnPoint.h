//===- OwnPoint.h - a point computed in the types of the text -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOLOOPS_OWNPOINT_H
#define FACET_LIB_CONVERSION_KERNELTOLOOPS_OWNPOINT_H

#include "Point.h"

namespace facet::loops {

class OwnPoint : public Point<mlir::Value> {
public:
  using Point::Point;

protected:
  mlir::Value evaluate(mlir::Operation *inner,
                       llvm::ArrayRef<mlir::Value> operands) override;
  mlir::Value read(unsigned input, llvm::ArrayRef<mlir::Value> index,
                   mlir::Value guard) override;
  mlir::Value outer(mlir::Value value) override;
  mlir::Value mayHold(const mlir::Value &condition) override {
    return condition;
  }
  mlir::Value elementSubscript(unsigned k, unsigned dim, unsigned source,
                               mlir::Value &guard) override;
};

/// a/b rounded down; 0 when b is 0 (a size may be).
Num floorDivide(Num a, Num b);
/// kernel.cast on travel forms.
Num convert(Num x, mlir::Type from, mlir::Type to, kernel::CastMode mode);
Num relu(Num x);
/// The function that an op of math or kernel.apply stands for, if it is one.
std::optional<Function> functionOf(mlir::Operation *inner);

} // namespace facet::loops

#endif // FACET_LIB_CONVERSION_KERNELTOLOOPS_OWNPOINT_H
