//===- OwnForm.h - NAME.impl and NAME.workspace ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOLOOPS_OWNFORM_H
#define FACET_LIB_CONVERSION_KERNELTOLOOPS_OWNFORM_H

#include "Combine.h"
#include "Demand.h"
#include "Forms.h"

namespace facet::loops {

/// Emits a kernel op by op: where its tensors rest, the index checks, then each
/// op as a loop nest. A road that computes ops another way overrides emitOp.
class OwnForm {
public:
  OwnForm(kernel::FuncOp kernel, Functions &functions)
      : kernel(kernel), functions(functions), demand(kernel, false),
        frame(kernel, functions), b(frame.b) {}
  virtual ~OwnForm() = default;

  mlir::LogicalResult run();

protected:
  /// Code for one op, in the order of the kernel.
  virtual void emitOp(kernel::StructuredOpInterface op);
  /// False for a value that is never in memory.
  virtual bool hasHome(mlir::Value) { return true; }
  /// Called once NAME.impl is open and tensors are known, in front of any op.
  virtual void prepare() {}

  void emitMap(kernel::MapOp op);
  void emitReduce(kernel::ReduceOp op);
  void emitSoftmax(kernel::SoftmaxOp op);

  /// NAME.impl takes the facet_exec, NAME.workspace the threads.
  bool takesExec = false;
  kernel::FuncOp kernel;
  Functions &functions;
  Demand demand;
  Workspace workspace;
  Frame frame; // of NAME.impl
  LocBuilder &b;
  /// The arrays of `workspace`.
  llvm::SmallVector<Storage> placed;

private:
  void chooseHomes();
  bool updatesInPlace(mlir::Value value, mlir::BlockArgument parameter);
  void emitImpl();
  /// The nest over the parallel iterators, where needed.
  void forNeeded(kernel::StructuredOpInterface op,
                 llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);
  void copy(mlir::Value from, unsigned output);

  /// Results of structured ops: where they are computed.
  llvm::DenseMap<mlir::Value, unsigned> outputHome, slotHome;
  llvm::SmallVector<std::pair<mlir::Value, unsigned>> copies;
  llvm::SmallVector<Storage> outputs;
};

} // namespace facet::loops

#endif // FACET_LIB_CONVERSION_KERNELTOLOOPS_OWNFORM_H
