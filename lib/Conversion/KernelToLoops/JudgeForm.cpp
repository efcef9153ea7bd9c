//===- JudgeForm.cpp - NAME.judge and NAME.judge.workspace ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Forms.h"

mlir::LogicalResult facet::loops::emitJudgeForm(kernel::FuncOp kernel,
                                                Functions &) {
  return kernel.emitOpError("has no judge form in this build");
}
