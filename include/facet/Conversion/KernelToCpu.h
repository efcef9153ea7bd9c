//===- KernelToCpu.h - the CPU road ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_CONVERSION_KERNELTOCPU_H
#define FACET_CONVERSION_KERNELTOCPU_H

#include "facet/Conversion/CpuToLLVM.h"
#include "facet/Dialect/Kernel/IR/Kernel.h"

namespace facet {

/// Emits NAME.impl and NAME.workspace in front of `kernel`, as KernelToLoops.h
/// describes them, computed in vectors: contractions through packed panels and the
/// micro-kernel with the map behind them on the sums in registers, everything else
/// with its innermost loop in lanes. `plan` decides, and has been verified.
mlir::LogicalResult convertKernelToCpu(kernel::FuncOp kernel,
                                       cpu::PlanAttr plan,
                                       const CpuFeatures &features);

} // namespace facet

#endif // FACET_CONVERSION_KERNELTOCPU_H
