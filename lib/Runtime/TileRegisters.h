//===- TileRegisters.h - may this process use tile registers? -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_RUNTIME_TILEREGISTERS_H
#define FACET_LIB_RUNTIME_TILEREGISTERS_H

namespace facet {

/// Asks Linux to save tile registers, which it does for processes that have asked; false
/// where it refuses, or is not there.
bool requestTileRegisters();

} // namespace facet

#endif // FACET_LIB_RUNTIME_TILEREGISTERS_H
