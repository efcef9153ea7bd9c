//===- Simplifications.h - pattern families of kernel-simplify ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DIALECT_KERNEL_TRANSFORMS_SIMPLIFICATIONS_H
#define FACET_LIB_DIALECT_KERNEL_TRANSFORMS_SIMPLIFICATIONS_H

#include "facet/Dialect/Kernel/IR/StructuredParts.h"
#include "mlir/IR/PatternMatch.h"

namespace facet::kernel {

/// MergeMaps.cpp: computes a map inside its only reader.
void populateMergeMaps(mlir::RewritePatternSet &patterns);

} // namespace facet::kernel

#endif // FACET_LIB_DIALECT_KERNEL_TRANSFORMS_SIMPLIFICATIONS_H
