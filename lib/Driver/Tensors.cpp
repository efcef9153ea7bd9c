//===- Tensors.cpp - DLTensors as arrays of the driver --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel on this machine looks at DLTensors itself. One that is simulated gets dense
// arrays, so its tensors are looked at here, and copied: any strides will do.
//
//===----------------------------------------------------------------------===//

#include "Tensors.h"
#include "facet/Support/Strided.h"

using namespace llvm;
using namespace facet;

/// DLPack's code of an element type; its bits are bitWidth.
static uint8_t dlpackCode(ScalarType type) {
  switch (type) {
  case ScalarType::Bool:
    return 6;
  case ScalarType::BF16:
    return 4;
  case ScalarType::F8E4M3:
    return 8;
  case ScalarType::F8E4M3FN:
    return 10;
  case ScalarType::F8E5M2:
    return 12;
  case ScalarType::U8:
  case ScalarType::U4:
    return 1;
  default:
    return isFloat(type) ? 2 : 0;
  }
}

static StridedArray stridedArray(const facet_dltensor &tensor) {
  StridedArray array;
  array.data = static_cast<uint8_t *>(tensor.data) + tensor.byte_offset;
  array.bits = tensor.dtype.bits;
  array.shape = ArrayRef(tensor.shape, size_t(tensor.ndim));
  if (tensor.strides)
    array.strides = ArrayRef(tensor.strides, size_t(tensor.ndim));
  return array;
}

bool facet::checkTensor(const facet_dltensor &tensor, const HostParam &param,
                        Diagnostics &diagnostics) {
  auto refuse = [&](const Twine &what) {
    diagnostics.error({}, "argument '" + param.name + "' is " +
                              spelling(param.type) + ", " + what);
    return false;
  };
  constexpr int32_t cpu = 1; // kDLCPU
  if (tensor.device.device_type != cpu)
    return refuse("not a tensor on a device of DLPack's kind " +
                  Twine(tensor.device.device_type));
  if (tensor.dtype.code != dlpackCode(param.type) ||
      tensor.dtype.bits != bitWidth(param.type) || tensor.dtype.lanes != 1)
    return refuse("not a tensor of DLPack type " +
                  Twine(unsigned(tensor.dtype.code)) + " with " +
                  Twine(unsigned(tensor.dtype.bits)) + " bits");
  if (tensor.ndim != int32_t(param.axes.size()))
    return refuse("with " + Twine(param.axes.size()) +
                  " axes; the tensor has " + Twine(tensor.ndim));
  bool isEmpty = false;
  for (int32_t axis = 0; axis < tensor.ndim; ++axis) {
    if (tensor.shape[axis] < 0)
      return refuse("and axis " + Twine(axis) + " has " +
                    Twine(tensor.shape[axis]) + " elements");
    isEmpty |= tensor.shape[axis] == 0;
  }
  if (!tensor.data && !isEmpty)
    return refuse("and the tensor has no memory");
  if (tensor.dtype.bits != 4 || tensor.ndim == 0)
    return true;
  if (tensor.shape[tensor.ndim - 1] % 2)
    return refuse("two to a byte; the last axis has " +
                  Twine(tensor.shape[tensor.ndim - 1]));
  for (int32_t axis = 0; tensor.strides && axis < tensor.ndim; ++axis) {
    bool isLast = axis + 1 == tensor.ndim;
    int64_t stride = tensor.strides[axis];
    if (tensor.shape[axis] > 1 && (isLast ? stride != 1 : stride % 2 != 0))
      return refuse("two to a byte; the stride of axis " + Twine(axis) +
                    " is " + Twine(stride));
  }
  return true;
}

Array facet::readTensor(const facet_dltensor &tensor, const HostParam &param) {
  Array array;
  array.type = param.type;
  array.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  array.bytes = readDense(stridedArray(tensor));
  return array;
}

void facet::writeTensor(const Array &array, const facet_dltensor &tensor) {
  writeDense(stridedArray(tensor), array.bytes);
}
