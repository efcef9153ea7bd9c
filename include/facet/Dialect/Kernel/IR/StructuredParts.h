//===- StructuredParts.h - a structured op in editable form ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transformations that change what an op reads or iterates over take it apart,
// change the parts and create it anew:
//
//   StructuredParts parts(op);
//   parts.inputs.pop_back();
//   StructuredOpInterface smaller = parts.create(builder, op.getLoc());
//
// The new op has two empty regions; the caller fills them.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_DIALECT_KERNEL_IR_STRUCTUREDPARTS_H
#define FACET_DIALECT_KERNEL_IR_STRUCTUREDPARTS_H

#include "facet/Dialect/Kernel/IR/Kernel.h"

namespace facet::kernel {

struct StructuredParts {
  struct Input {
    mlir::Value tensor;
    llvm::SmallVector<Subscript> subscripts;
    llvm::SmallVector<int64_t> guards;
    bool operator==(const Input &other) const {
      return tensor == other.tensor && subscripts == other.subscripts &&
             guards == other.guards;
    }
  };

  /// Everything of `op` but its regions and results.
  explicit StructuredParts(StructuredOpInterface op);

  /// The op of these parts; results have the types of the inits.
  StructuredOpInterface create(mlir::OpBuilder &builder,
                               mlir::Location loc) const;

  /// One of kernel.map, kernel.reduce, kernel.softmax, with `kind` for a reduce.
  llvm::StringRef opName;
  ReduceKind kind = ReduceKind::Sum;
  mlir::StringAttr name; // may be null
  llvm::SmallVector<mlir::Attribute> iteratorNames;
  unsigned numParallel = 0;
  llvm::SmallVector<mlir::OpFoldResult> extents;
  llvm::SmallVector<Input> inputs;
  llvm::SmallVector<int64_t> filter;
  llvm::SmallVector<mlir::Value> inits;
  llvm::SmallVector<mlir::NamedAttribute> discardable;
};

} // namespace facet::kernel

#endif // FACET_DIALECT_KERNEL_IR_STRUCTUREDPARTS_H
