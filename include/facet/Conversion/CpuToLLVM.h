//===- CpuToLLVM.h - the micro-kernel in instructions ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_CONVERSION_CPUTOLLVM_H
#define FACET_CONVERSION_CPUTOLLVM_H

#include "facet/Dialect/Cpu/IR/Cpu.h"
#include "mlir/IR/PatternMatch.h"

namespace facet {

/// What the instructions of a function's target can do.
struct CpuFeatures {
  int64_t vectorBytes = 16;
  bool fma = false;        ///< fused multiply-add
  bool bf16Dot = false;    ///< AVX512_BF16
  bool i8Dot = false;      ///< AVX512_VNNI or AVX_VNNI
  bool tileMatrix = false; ///< AMX_TILE, AMX_BF16 and AMX_INT8
};

/// Replaces every cpu.micro_kernel below `root` by a loop over its steps. Fails,
/// with a message, on a dot product that `features` has no instruction for: LLVM
/// would abort on it.
mlir::LogicalResult lowerMicroKernels(mlir::Operation *root,
                                      const CpuFeatures &features);

/// Replaces every op on tile registers below `root` by their instructions. Fails, with
/// a message, where `features` has none.
mlir::LogicalResult lowerTileKernels(mlir::Operation *root,
                                     const CpuFeatures &features);

} // namespace facet

#endif // FACET_CONVERSION_CPUTOLLVM_H
