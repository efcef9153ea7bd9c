//===- Tasks.h - loops whose rounds may run at the same time --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOCPU_TASKS_H
#define FACET_LIB_CONVERSION_KERNELTOCPU_TASKS_H

#include "../KernelToLoops/Frame.h"

namespace facet::cpu {

/// Emits body(task) for 0 ≤ task < count, as tasks of frame.exec. What the body needs
/// on the stack it allocates at the begin of `stack`, the block it is given.
void forTasks(
    loops::Frame &frame, mlir::Value count,
    llvm::function_ref<void(mlir::Value task, mlir::Block &stack)> body);

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_TASKS_H
