//===- Engine.h - the engine dialect --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_ENGINE_IR_ENGINE_H
#define FACET_DIALECT_ENGINE_IR_ENGINE_H

#include "facet/Isa/Program.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "facet/Dialect/Engine/IR/EngineDialect.h.inc"
#include "facet/Dialect/Engine/IR/EngineEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "facet/Dialect/Engine/IR/EngineTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "facet/Dialect/Engine/IR/EngineAttrs.h.inc"
#define GET_OP_CLASSES
#include "facet/Dialect/Engine/IR/EngineOps.h.inc"

namespace facet::engine {

/// The machine's type for an element type, or nullopt: index (i64 numbers), i1,
/// f64 and others it cannot compute with.
std::optional<DType> dtypeOf(mlir::Type elementType);
/// How elements of a kernel lie in the machine's memory: a bool and a half of a byte are
/// bytes, an i64 has 32 bits where only the program sees it.
mlir::Type storedType(mlir::Type elementType);

} // namespace facet::engine

#endif // FACET_DIALECT_ENGINE_IR_ENGINE_H
