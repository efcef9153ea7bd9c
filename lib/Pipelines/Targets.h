//===- Targets.h - the functions that describe targets --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_PIPELINES_TARGETS_H
#define FACET_LIB_PIPELINES_TARGETS_H

#include "facet/Target/Target.h"

namespace facet {

/// Plain loops: Reference.cpp.
Target referenceTarget();
/// Vectors and packed panels, one target per level: Cpu.cpp.
Target x86V2Target();
Target x86V3Target();
Target x86V3VnniTarget();
Target x86V4Target();
Target zen4Target();
Target sapphireRapidsTarget();
Target aarch64Target();

} // namespace facet

#endif // FACET_LIB_PIPELINES_TARGETS_H
