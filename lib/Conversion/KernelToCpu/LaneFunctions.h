//===- LaneFunctions.h - exp, tanh, erf and their kin in f32 --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOCPU_LANEFUNCTIONS_H
#define FACET_LIB_CONVERSION_KERNELTOCPU_LANEFUNCTIONS_H

#include "../KernelToLoops/Functions.h"
#include "facet/Conversion/CpuToLLVM.h"

namespace facet::cpu {

/// The functions of f32 in f32, within 2 ulp (docs/Numerics.md), where the target
/// multiplies and adds in one rounding. All others are Functions'.
class LaneFunctions : public loops::Functions {
public:
  LaneFunctions(mlir::ModuleOp module, const CpuFeatures &features)
      : Functions(module), features(features) {}

  /// Vectors in place, scalars by a call, with the same bits.
  loops::Num call(loops::Function function, loops::Num x) override;

private:
  const CpuFeatures &features;
};

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_LANEFUNCTIONS_H
