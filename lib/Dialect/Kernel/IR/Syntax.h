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

/// Only scalar operations without effects, which use nothing from above but
/// integers and constants (CSE reaches for a constant wherever it stands).
llvm::LogicalResult verifyScalarRegion(mlir::Operation *op,
                                       mlir::Region &region,
                                       llvm::StringRef what);

/// Element types that a tensor of a kernel may have.
bool isElementType(mlir::Type type);
/// i1, i32, i64, f32, f64.
bool isArithmeticType(mlir::Type type);

} // namespace facet::kernel

#endif // FACET_LIB_DIALECT_KERNEL_IR_SYNTAX_H
