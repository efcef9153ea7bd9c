//===- Forms.h - the two forms of a kernel as loops -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOLOOPS_FORMS_H
#define FACET_LIB_CONVERSION_KERNELTOLOOPS_FORMS_H

#include "Functions.h"
#include "facet/Dialect/Kernel/IR/Kernel.h"

namespace facet::loops {

/// Emits NAME.impl and NAME.workspace in front of `kernel`.
mlir::LogicalResult emitOwnForm(kernel::FuncOp kernel, Functions &functions);
/// Emits NAME.judge and NAME.judge.workspace in front of `kernel`.
mlir::LogicalResult emitJudgeForm(kernel::FuncOp kernel, Functions &functions);

} // namespace facet::loops

#endif // FACET_LIB_CONVERSION_KERNELTOLOOPS_FORMS_H
