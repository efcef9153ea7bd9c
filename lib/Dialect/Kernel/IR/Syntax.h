//===- Syntax.h - pieces of assembly that attributes and ops share --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DIALECT_KERNEL_IR_SYNTAX_H
#define FACET_LIB_DIALECT_KERNEL_IR_SYNTAX_H

#include "facet/Dialect/Kernel/IR/Kernel.h"

namespace facet::kernel {

/// A name: bare where MLIR can read it bare and it is not one of `reserved`,
/// else in quotes.
void printName(mlir::AsmPrinter &printer, llvm::StringRef name,
               llvm::ArrayRef<llvm::StringRef> reserved = {});
mlir::ParseResult parseName(mlir::AsmParser &parser, mlir::StringAttr &name);

/// `[M, 128, (Q, 128)]`
void printAxes(mlir::AsmPrinter &printer, llvm::ArrayRef<AxisAttr> axes);
mlir::ParseResult parseAxes(mlir::AsmParser &parser,
                            llvm::SmallVectorImpl<AxisAttr> &axes);

/// Everything of map, reduce and softmax between the op's own words and its
/// end.
void printStructured(mlir::OpAsmPrinter &printer, StructuredOpInterface op);
mlir::ParseResult parseStructured(mlir::OpAsmParser &parser,
                                  mlir::OperationState &result);

/// The part of verification that map, reduce and softmax share.
llvm::LogicalResult verifyStructured(StructuredOpInterface op);

/// Element types that a tensor of a kernel may have.
bool isElementType(mlir::Type type);
/// i1, i32, i64, f32, f64.
bool isArithmeticType(mlir::Type type);

} // namespace facet::kernel

#endif // FACET_LIB_DIALECT_KERNEL_IR_SYNTAX_H
