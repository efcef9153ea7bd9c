//===- KernelToLoops.h - the reference road and the judge -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `kernel.func` to plain loops over raw memory, obvious on purpose. Two forms of
// the same walk: the own-type form computes in the types of the text; the judge
// form computes in f64 and carries a first-order error bound beside every value.
//
// Symbols made for a kernel NAME (functions of func.func, i64 sizes in the order
// of `sizes`, pointers as !llvm.ptr):
//
//   NAME.impl(sizes..., memory..., workspace, error) -> i32
//     memory: for each parameter, then each result (inout appears once, among the
//     parameters): a pointer, then the strides, in elements, of all its axes in
//     memory but the last, whose stride is 1 (a group is one axis; rank 0 and 1
//     have no strides; 4-bit elements count as elements). Scalars and scalar
//     results are pointers to one element; bool is one byte.
//     workspace: at least NAME.workspace(sizes) bytes, 64-byte aligned.
//     error: null, or a facet_error to fill; returns 0 or a negative code of
//     facet/abi.h. Checks gathers before anything is written; promises, fixed
//     sizes and NULL arguments are the interface's business (EmitInterface.h).
//   NAME.workspace(sizes...) -> i64        bytes; -1 when it overflows 63 bits
//
//   NAME.judge(sizes..., memory..., judged..., workspace, error) -> i32
//     memory as above, holding the inputs, and for the results what the road under
//     test stored: a result that is read again is read from there. An inout appears
//     twice: its old contents among the parameters, the road's new contents among
//     the results, in front of the other results.
//     judged, per output (inouts, then results): three dense row-major arrays over
//     the output's dimensions: demanded (u8, which elements to judge), value (f64),
//     bound (f64). Only demanded elements are computed, and only what they need.
//     Subscripts out of range are the road's to refuse: nothing is read there, and
//     the judge returns 0. Judge.h says what a value and a bound accept.
//   NAME.judge.workspace(sizes...) -> i64
//
//===----------------------------------------------------------------------===//

#ifndef FACET_CONVERSION_KERNELTOLOOPS_H
#define FACET_CONVERSION_KERNELTOLOOPS_H

#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace facet {

struct KernelToLoopsOptions {
  /// Make the judge form instead of the own-type form.
  bool judge = false;
};

/// Adds the functions above for `kernel` in front of it; `kernel` stays.
mlir::LogicalResult convertKernelToLoops(kernel::FuncOp kernel,
                                         const KernelToLoopsOptions &options);

} // namespace facet

#endif // FACET_CONVERSION_KERNELTOLOOPS_H
