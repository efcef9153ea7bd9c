//===- IntegerRange.h - how large integers of a body can be ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOENGINE_INTEGERRANGE_H
#define FACET_LIB_CONVERSION_KERNELTOENGINE_INTEGERRANGE_H

#include "Lowering.h"

namespace facet::engine {

/// The least and greatest value that an integer of the body or guards of `op` can
/// have, or nullopt: not known, or beyond 64 bits.
std::optional<std::pair<int64_t, int64_t>>
integerRange(Lowering &lowering, kernel::StructuredOpInterface op,
             mlir::Value value);

/// Whether f32 holds all those values exactly.
bool fitsF32(Lowering &lowering, kernel::StructuredOpInterface op,
             mlir::Value value);

} // namespace facet::engine

#endif // FACET_LIB_CONVERSION_KERNELTOENGINE_INTEGERRANGE_H
