//===- LinalgBody.h - the scalar code of a structured op ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_IMPORT_LINALGBODY_H
#define FACET_LIB_IMPORT_LINALGBODY_H

#include "KernelText.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace facet::import {

/// The type in the language, nothing for others; an index is i64.
std::optional<ScalarType> scalarType(mlir::Type type);

/// Whether every op of `block` that `yielded` needs has an expression; an error at the
/// first that has none.
bool isExpression(mlir::Value yielded, mlir::Block *block);

/// A number of an attribute as the language writes it.
Text literalText(mlir::Attribute attribute);

/// The value that a reduction begins with and what it made: `first + all`, say, or `all`
/// where `first` is neutral.
Text combined(llvm::StringRef reduction, const Text &first, const Text &all);

/// The expression of `value`, where `known` has those of the block's arguments. Values of
/// linalg.index come from `indices`.
Text expression(mlir::Value value,
                const llvm::DenseMap<mlir::Value, Text> &known,
                const Subscripts &indices);

} // namespace facet::import

#endif // FACET_LIB_IMPORT_LINALGBODY_H
