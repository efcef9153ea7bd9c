//===- Interface.h - the memory arguments of a kernel's functions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOLOOPS_INTERFACE_H
#define FACET_LIB_CONVERSION_KERNELTOLOOPS_INTERFACE_H

#include "Frame.h"

namespace facet::loops {

/// Types of the arguments for one parameter: a pointer, then its strides.
void appendMemoryTypes(kernel::ParamAttr param, mlir::MLIRContext *context,
                       llvm::SmallVectorImpl<mlir::Type> &types);
/// The storage that the next of `arguments` describe; drops them.
Storage takeMemory(Frame &frame, kernel::ParamAttr param, mlir::Type element,
                   mlir::ValueRange &arguments);
/// The operands of kernel.return.
mlir::ValueRange returned(kernel::FuncOp kernel);
/// Where output `i` (inouts first, then results) is described.
kernel::ParamAttr outputParam(kernel::FuncOp kernel, unsigned i);

} // namespace facet::loops

#endif // FACET_LIB_CONVERSION_KERNELTOLOOPS_INTERFACE_H
