//===- Passes.h - transformations inside the kernel dialect ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_KERNEL_TRANSFORMS_PASSES_H
#define FACET_DIALECT_KERNEL_TRANSFORMS_PASSES_H

#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "mlir/Pass/Pass.h"

namespace facet::kernel {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "facet/Dialect/Kernel/Transforms/Passes.h.inc"

} // namespace facet::kernel

#endif // FACET_DIALECT_KERNEL_TRANSFORMS_PASSES_H
