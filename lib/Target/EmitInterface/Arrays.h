//===- Arrays.h - the arrays of a call, measured and checked --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_TARGET_EMITINTERFACE_ARRAYS_H
#define FACET_LIB_TARGET_EMITINTERFACE_ARRAYS_H

#include "Function.h"

namespace facet::interface {

/// One parameter with an address, as a call sees it. A scalar has no axes.
struct Array {
  unsigned index; ///< among the parameters
  mlir::Value pointer;
  llvm::SmallVector<mlir::Value> extents; ///< per axis, in elements
  llvm::SmallVector<mlir::Value> strides; ///< per axis but the last
  mlir::Value isEmpty;                    ///< i1
  mlir::Value bytes; ///< from the first element to the end of the last
};

/// Refuses negative sizes and values that the kernel was not compiled for.
void checkSizes(Function &f, llvm::ArrayRef<unsigned> sizes);

/// Extents of a parameter; refuses odd 4-bit rows and, with `isDense`, arrays of
/// more than 2^63 - 1 bytes (else takeStrides does). `pointer` and `strides` stay
/// empty.
Array measure(Function &f, unsigned parameter, bool isDense);

/// Strides of a dense array with the extents of `array`.
llvm::SmallVector<mlir::Value> denseStrides(Function &f, const Array &array);

/// Takes the strides that the caller gave for `array` (all null: dense), refuses
/// those that do not fit, and sets `strides` and `bytes`. Where an axis has at
/// most one element its stride has no meaning and is replaced by the dense one.
void takeStrides(Function &f, Array &array,
                 llvm::ArrayRef<mlir::Value> strides);

/// The strides in the formals of `array`'s parameter.
llvm::SmallVector<mlir::Value> givenStrides(Function &f, const Array &array);

/// FACET_CHECK: alignment of every array; no written one shares memory.
void checkMemory(Function &f, llvm::ArrayRef<Array> arrays);

/// Whether arrays of a call share memory (Overlap.cpp).
class Overlap {
public:
  Overlap(Function &f, llvm::ArrayRef<Array> arrays);
  /// i1: arrays i and j may have a byte in common.
  mlir::Value ofPair(unsigned i, unsigned j);

private:
  Function &f;
  llvm::ArrayRef<Array> arrays;
  llvm::SmallVector<mlir::Value> shapes; ///< null for a scalar
};

} // namespace facet::interface

#endif // FACET_LIB_TARGET_EMITINTERFACE_ARRAYS_H
