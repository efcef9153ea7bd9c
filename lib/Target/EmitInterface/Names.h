//===- Names.h - which words C leaves to a kernel -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_TARGET_EMITINTERFACE_NAMES_H
#define FACET_LIB_TARGET_EMITINTERFACE_NAMES_H

#include "llvm/ADT/StringRef.h"

namespace facet::interface {

/// Letters, digits and underscores of ASCII, no digit first.
bool isIdentifier(llvm::StringRef name);

/// A keyword of C or C++, or a word that facet/abi.h, the headers it includes or
/// the compilers define: neither a function nor a parameter can bear it.
bool isReservedWord(llvm::StringRef name);

/// The C library, or facet/abi.h, has something of this name.
bool isLibraryName(llvm::StringRef name);

} // namespace facet::interface

#endif // FACET_LIB_TARGET_EMITINTERFACE_NAMES_H
