//===- Interface.cpp - the memory arguments of a kernel's functions -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parameter arrives as a pointer and the strides of all its axes but the last.
// A group is one axis there and several dimensions in the tensor: (Q, 128) with
// stride s gives the dimensions strides 128·s and s.
//
//===----------------------------------------------------------------------===//

#include "Interface.h"

using namespace facet;
using namespace facet::loops;
using namespace mlir;

void facet::loops::appendMemoryTypes(kernel::ParamAttr param,
                                     MLIRContext *context,
                                     llvm::SmallVectorImpl<Type> &types) {
  types.push_back(LLVM::LLVMPointerType::get(context));
  if (param.getAxes().size() > 1)
    types.append(param.getAxes().size() - 1, IntegerType::get(context, 64));
}

Storage facet::loops::takeMemory(Frame &frame, kernel::ParamAttr param,
                                 Type element, ValueRange &arguments) {
  Storage storage;
  storage.kind = Storage::Memory;
  storage.element = element;
  storage.packed = storedBytes(element) == 1 && !element.isInteger(1) &&
                   element.getIntOrFloatBitWidth() == 4;
  storage.pointer = arguments.front();
  arguments = arguments.drop_front();
  llvm::ArrayRef<kernel::AxisAttr> axes = param.getAxes();
  for (auto [i, axis] : llvm::enumerate(axes)) {
    Num stride = frame.i64(1);
    if (i + 1 < axes.size()) {
      stride = frame.num(arguments.front());
      arguments = arguments.drop_front();
    }
    llvm::SmallVector<Value> dims, strides;
    for (Attribute dim : axis.getDims())
      dims.push_back(frame.dim(dim));
    strides.resize(dims.size());
    for (size_t j = dims.size(); j-- > 0;) {
      strides[j] = stride;
      stride = stride * frame.num(dims[j]);
    }
    llvm::append_range(storage.dims, dims);
    llvm::append_range(storage.strides, strides);
  }
  return storage;
}

ValueRange facet::loops::returned(kernel::FuncOp kernel) {
  return kernel.getBody().front().getTerminator()->getOperands();
}

kernel::ParamAttr facet::loops::outputParam(kernel::FuncOp kernel, unsigned i) {
  llvm::SmallVector<unsigned> inouts = kernel.getInoutParams();
  if (i < inouts.size())
    return kernel.getParam(inouts[i]);
  return kernel.getOutput(i - inouts.size());
}
