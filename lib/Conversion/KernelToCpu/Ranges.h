//===- Ranges.h - loops over blocks, and lanes folded into one ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOCPU_RANGES_H
#define FACET_LIB_CONVERSION_KERNELTOCPU_RANGES_H

#include "LanePoint.h"

namespace facet::cpu {

using Vectors = llvm::SmallVector<mlir::Value>;

/// from ≤ i < to in steps of `step`.
void forRange(LocBuilder &b, Num from, Num to, int64_t step,
              llvm::function_ref<void(Num)> body);
/// The same, with values carried from round to round.
Vectors foldRange(LocBuilder &b, Num from, Num to, int64_t step,
                  mlir::ValueRange start,
                  llvm::function_ref<Vectors(Num, mlir::ValueRange)> body);
/// a/c of integers, neither negative.
Num divide(Num a, Num c);
/// All lanes of a vector into one, in halves.
Num acrossLanes(Num vector, llvm::function_ref<Num(Num, Num)> combine);

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_RANGES_H
