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

/// Shares `units` out evenly: no more tasks than threads, none with less work than
/// `grain`, where all of it is the product of `extents`. The body gets a range.
void forParts(loops::Frame &frame, loops::Num units,
              llvm::ArrayRef<mlir::Value> extents, int64_t grain,
              llvm::function_ref<void(mlir::Value task, loops::Num from,
                                      loops::Num to, mlir::Block &stack)>
                  body);

/// The array of one task, of an array for each; with a null task, the one there is.
loops::Storage arrayOf(loops::Frame &frame, const loops::Storage &all,
                       mlir::Value task);

} // namespace facet::cpu

#endif // FACET_LIB_CONVERSION_KERNELTOCPU_TASKS_H
