//===- ElementType.h - one row per element type ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one table that says what an element type is called in the language, in C,
// in facet/abi.h and in DLPack.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_TARGET_EMITINTERFACE_ELEMENTTYPE_H
#define FACET_LIB_TARGET_EMITINTERFACE_ELEMENTTYPE_H

#include "mlir/IR/Types.h"

namespace facet::interface {

struct ElementType {
  int32_t number;       ///< facet_type
  const char *spelling; ///< in the language
  const char *cType;    ///< the C type of an element, of a pair for 4-bit ones
  unsigned bits;        ///< in an array
  uint8_t dlCode;       ///< DLPack's type code; its bits are `bits`
  /// The MLIR type in which one travels by value: an integer for the struct
  /// types of abi.h, which the C calling conventions pass as such.
  char
      passed; ///< 'i' an integer of `bits` or 8, whichever is more; 'f' the float

  bool isNibble() const { return bits == 4; }
};

/// Null for a type that no kernel has.
const ElementType *lookUpElementType(mlir::Type type);

} // namespace facet::interface

#endif // FACET_LIB_TARGET_EMITINTERFACE_ELEMENTTYPE_H
