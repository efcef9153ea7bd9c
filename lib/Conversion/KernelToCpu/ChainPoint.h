//===- ChainPoint.h - a point of an op whose inputs are at hand -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOCPU_CHAINPOINT_H
#define FACET_LIB_CONVERSION_KERNELTOCPU_CHAINPOINT_H

#include "LanePoint.h"
#include "facet/Planner/Cpu/Stream.h"

namespace facet::cpu {

/// Evaluates an op of a stream for neighbouring keys: elements of tensors that are
/// never in memory are `given`, or computed by the map that makes them.
class ChainPoint : public GivenPoint {
public:
  /// `at`: the iterators of the softmax; the key is the first lane's.
  ChainPoint(Frame &frame, const Stream &stream, mlir::Operation *op,
             llvm::ArrayRef<mlir::Value> at, int64_t lanes, mlir::Value mask,
             const Given &given);

protected:
  mlir::Value read(unsigned input, llvm::ArrayRef<mlir::Value> index,
                   mlir::Value guard) override;

private:
  const Stream &stream;
  llvm::SmallVector<mlir::Value> at;
};

/// The iterators of `op` where those of the softmax are `at`; 0 for others.
llvm::SmallVector<mlir::Value> iteratorsOf(Frame &frame, const Stream &stream,
                                           mlir::Operation *op,
                                           llvm::ArrayRef<mlir::Value> at);

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_CHAINPOINT_H
