//===- Combine.h - one step of a reduction --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOLOOPS_COMBINE_H
#define FACET_LIB_CONVERSION_KERNELTOLOOPS_COMBINE_H

#include "Frame.h"

namespace facet::loops {

/// What `values` make of `state`: one value, or a value and an index.
llvm::SmallVector<mlir::Value> combine(Frame &frame, kernel::ReduceKind kind,
                                       mlir::ValueRange state,
                                       llvm::ArrayRef<mlir::Value> values);

} // namespace facet::loops

#endif // FACET_LIB_CONVERSION_KERNELTOLOOPS_COMBINE_H
