//===- Tensors.h - DLTensors as arrays of the driver ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_TENSORS_H
#define FACET_LIB_DRIVER_TENSORS_H

#include "HostKernel.h"
#include "facet/Support/Diagnostics.h"
#include "facet/abi.h"

namespace facet {

/// Whether `tensor` can stand for `param`, its extents aside; an error if not.
bool checkTensor(const facet_dltensor &tensor, const HostParam &param,
                 Diagnostics &diagnostics);

/// A dense copy of a tensor that was checked.
Array readTensor(const facet_dltensor &tensor, const HostParam &param);

/// Stores an array of the tensor's shape.
void writeTensor(const Array &array, const facet_dltensor &tensor);

} // namespace facet

#endif // FACET_LIB_DRIVER_TENSORS_H
