//===- Targets.h - the functions that describe targets --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PIPELINES_TARGETS_H
#define FACET_LIB_PIPELINES_TARGETS_H

#include "facet/Target/Target.h"

namespace facet {

/// Plain loops: Reference.cpp.
Target referenceTarget();

} // namespace facet

#endif // FACET_LIB_PIPELINES_TARGETS_H
