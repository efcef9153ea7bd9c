//===- JudgeForm.h - the making of NAME.judge -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOLOOPS_JUDGEFORM_H
#define FACET_LIB_CONVERSION_KERNELTOLOOPS_JUDGEFORM_H

#include "Demand.h"
#include "JudgePoint.h"

namespace facet::loops {

class JudgeForm {
public:
  JudgeForm(kernel::FuncOp kernel, Functions &functions)
      : kernel(kernel), functions(functions),
        demand(kernel, /*everywhere=*/true), frame(kernel, functions),
        b(frame.b) {}
  mlir::LogicalResult run();

private:
  struct Output {
    Storage stored;                 // what the road under test wrote
    Storage demanded, value, bound; // the caller's arrays
  };

  void reserve();
  void open();
  void demandOutputs();
  void forNeeded(kernel::StructuredOpInterface op,
                 llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);
  void emitOp(kernel::StructuredOpInterface op);
  void emitMap(kernel::MapOp op);
  void emitOutput(mlir::Value value, Output &output);

  // JudgeReduce.cpp
  void emitReduce(kernel::ReduceOp op);
  void emitFloatSum(kernel::ReduceOp op);
  void emitIntegerSum(kernel::ReduceOp op);
  void emitExtreme(kernel::ReduceOp op);
  void emitBools(kernel::ReduceOp op);
  void emitArg(kernel::ReduceOp op);
  void emitSoftmax(kernel::SoftmaxOp op);
  /// One step of a reduction: the state, the point's elements, an i1 that says
  /// that the point surely exists (null: it does), and its iterators.
  using Step = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::ValueRange, JudgePoint &, mlir::Value,
      llvm::ArrayRef<mlir::Value>)>;
  /// Folds the points of `op` at `index` that may exist.
  llvm::SmallVector<mlir::Value> fold(kernel::StructuredOpInterface op,
                                      llvm::ArrayRef<mlir::Value> index,
                                      mlir::ValueRange start, Step step);
  Judged initOf(kernel::ReduceOp op, unsigned i,
                llvm::ArrayRef<mlir::Value> index);
  /// The output whose stored elements are this argmax's indices, if there is one.
  std::optional<unsigned> storedIndices(kernel::ReduceOp op);

  kernel::FuncOp kernel;
  Functions &functions;
  Demand demand;
  Workspace workspace;
  llvm::DenseMap<mlir::Value, std::pair<unsigned, unsigned>> slots;
  Frame frame;
  LocBuilder &b;
  llvm::SmallVector<Storage> placed;
  std::vector<Output> outputs;
  JudgedTensors own;      // everything computed
  JudgedTensors readable; // of that, what later ops may read
};

} // namespace facet::loops

#endif // FACET_LIB_CONVERSION_KERNELTOLOOPS_JUDGEFORM_H
