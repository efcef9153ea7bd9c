//===- Sums.h - from the sums of a contraction to memory ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOCPU_SUMS_H
#define FACET_LIB_CONVERSION_KERNELTOCPU_SUMS_H

#include "LanePoint.h"
#include "facet/Planner/Cpu/Contraction.h"

namespace facet::cpu {

/// Stores one vector of the sums of `reduce`, or what the map behind them makes of
/// it. `iterators` are those of the reduction; lanes run along its iterator `lane`.
void storeSums(Frame &frame, kernel::ReduceOp reduce,
               const std::optional<Epilogue> &epilogue,
               llvm::ArrayRef<mlir::Value> iterators, LaneRange lane,
               mlir::Value sums);

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_SUMS_H
