//===- EmitScalar.h - one operator or function, one scalar op -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_FRONTEND_EMITSCALAR_H
#define FACET_LIB_FRONTEND_EMITSCALAR_H

#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "facet/Frontend/CheckedKernel.h"

namespace facet {

/// `expr` is ExprKind::Constant; `type` is the dialect's form of its type.
mlir::Value emitConstant(mlir::OpBuilder &builder, mlir::Location loc,
                         const checked::Expr *expr, mlir::Type type);
mlir::Value emitUnary(mlir::OpBuilder &builder, mlir::Location loc,
                      checked::UnaryOp op, mlir::Value x);
/// Operands of one type, as the checker leaves them.
mlir::Value emitBinary(mlir::OpBuilder &builder, mlir::Location loc,
                       checked::BinaryOp op, mlir::Value a, mlir::Value b);
kernel::CastMode castMode(checked::ConvertMode mode);

} // namespace facet

#endif // FACET_LIB_FRONTEND_EMITSCALAR_H
