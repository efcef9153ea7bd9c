//===- Frame.h - one function being emitted for a kernel ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOLOOPS_FRAME_H
#define FACET_LIB_CONVERSION_KERNELTOLOOPS_FRAME_H

#include "Formats.h"
#include "Functions.h"
#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace facet::loops {

/// Where the elements of one tensor are, in the function being emitted.
struct Storage {
  enum Kind {
    Nothing, ///< tensor.empty: may be written by nobody, read by nobody
    Splat,   ///< every element is `scalar`
    Memory   ///< at `pointer`, dimension i in steps of strides[i] elements
  };
  Kind kind = Nothing;
  mlir::Type element;
  llvm::SmallVector<mlir::Value> dims; // i64
  mlir::Value pointer;
  llvm::SmallVector<mlir::Value> strides; // i64
  bool packed = false;                    // two 4-bit elements per byte
  mlir::Value scalar;
};

/// One function of a kernel: its builder, what the sizes and the scalars of the
/// kernel's top level are in it, and where tensors are.
struct Frame {
  kernel::FuncOp kernel;
  LocBuilder b;
  Functions &functions;
  llvm::SmallVector<mlir::Value> sizes; // i64, in the kernel's order
  llvm::DenseMap<mlir::Value, mlir::Value> scalars; // index becomes i64
  llvm::DenseMap<mlir::Value, Storage> tensors;
  mlir::Value error, status; // facet_error or null; an i32 that is 0 so far
  /// The facet_exec and its threads, an i64 of at least 1; null on a road that runs
  /// on one thread. The function of the workspace knows the threads alone.
  mlir::Value exec, threads;
  bool failed = false; // a message was given

  Frame(kernel::FuncOp kernel, Functions &functions)
      : kernel(kernel), b(kernel.getLoc(), kernel.getContext()),
        functions(functions) {}

  Num num(mlir::Value value) { return {b, value}; }
  Num i64(int64_t value) { return {b, constant(b, b.getI64Type(), value)}; }
  Num i1(bool value) { return {b, constant(b, b.getI1Type(), int64_t(value))}; }
  Num f64(double value) { return {b, constant(b, b.getF64Type(), value)}; }
  /// Gives a message at `op`; the conversion ends as failed.
  void refuse(mlir::Operation *op, const llvm::Twine &message);

  /// Opens the function `name` in front of the kernel and sets `sizes` from its
  /// first arguments. Returns the arguments behind them.
  mlir::ValueRange open(const llvm::Twine &name,
                        llvm::ArrayRef<mlir::Type> more, mlir::Type result);
  /// Emits the scalars of the kernel's top level and notes constant tensors.
  void emitTopLevel();
  mlir::Value dim(mlir::Attribute dimension); // of a #kernel.axis
  mlir::Value extent(mlir::OpFoldResult extent);
  llvm::SmallVector<mlir::Value> extents(kernel::StructuredOpInterface op);
};

/// i64 loop 0 ≤ i < n.
void forLoop(LocBuilder &b, mlir::Value n,
             llvm::function_ref<void(mlir::Value)> body);
/// The nest over `extents`, outermost first.
void forNest(LocBuilder &b, llvm::ArrayRef<mlir::Value> extents,
             llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);
/// The same, with values carried from point to point.
llvm::SmallVector<mlir::Value>
foldNest(LocBuilder &b, llvm::ArrayRef<mlir::Value> extents,
         mlir::ValueRange start,
         llvm::function_ref<llvm::SmallVector<mlir::Value>(
             llvm::ArrayRef<mlir::Value>, mlir::ValueRange)>
             body);
/// Body under a condition; a null condition is true.
void ifHolds(LocBuilder &b, mlir::Value condition,
             llvm::function_ref<void()> body);
/// Value of `then` under a condition, else `otherwise`; null is true.
llvm::SmallVector<mlir::Value>
ifElse(LocBuilder &b, mlir::Value condition, mlir::ValueRange otherwise,
       llvm::function_ref<llvm::SmallVector<mlir::Value>()> then);

/// The type in memory: bool is a byte, all else as it travels.
mlir::Type memoryType(mlir::Type element);
/// Σ index·stride, in elements.
Num elementOffset(LocBuilder &b, const Storage &storage,
                  llvm::ArrayRef<mlir::Value> index);
/// `pointer` plus `offset` elements.
mlir::Value address(LocBuilder &b, mlir::Type element, mlir::Value pointer,
                    mlir::Value offset);
/// The element at `index`, in its travel form (Formats.h).
mlir::Value load(LocBuilder &b, const Storage &from,
                 llvm::ArrayRef<mlir::Value> index);
void store(LocBuilder &b, const Storage &to, llvm::ArrayRef<mlir::Value> index,
           mlir::Value value);
/// Dense row-major storage at `pointer`.
Storage denseStorage(LocBuilder &b, mlir::Type element, mlir::Value pointer,
                     llvm::ArrayRef<mlir::Value> dims);
/// Travel type of an element.
mlir::Type elementType(mlir::Value tensor);

} // namespace facet::loops

#endif // FACET_LIB_CONVERSION_KERNELTOLOOPS_FRAME_H
