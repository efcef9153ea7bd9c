//===- Interpreter.h - runs kernel IR, element by element -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A third reading of the dialect's meaning, for tests of rewrites: the IR before and
// after must give the same elements. It shares nothing with the lowerings; scalar ops
// are evaluated by folding them on constants. Knows kernel ops, scf.for around them,
// and the tensor ops that tiling makes.
//
// An element that nothing computed (an input under a guard that does not hold, a read
// out of range, a division by zero) is a null attribute, and so is all that is
// computed from it, until a select discards it.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_TEST_UNIT_DIALECT_INTERPRETER_H
#define FACET_TEST_UNIT_DIALECT_INTERPRETER_H

#include "facet/Dialect/Kernel/IR/Kernel.h"

#include <map>
#include <string>

namespace facet::test {

/// Row-major.
struct Tensor {
  llvm::SmallVector<int64_t> shape;
  std::vector<mlir::Attribute> elements;

  explicit Tensor(llvm::ArrayRef<int64_t> shape, mlir::Attribute fill = {});
  int64_t offset(llvm::ArrayRef<int64_t> indices) const;
  bool operator==(const Tensor &other) const {
    return shape == other.shape && elements == other.elements;
  }
};

class Interpreter {
public:
  explicit Interpreter(std::map<std::string, int64_t> sizes)
      : sizes(std::move(sizes)) {}

  /// Values of kernel.return, or nothing with `error` set.
  std::optional<std::vector<Tensor>> run(kernel::FuncOp kernel,
                                         std::vector<Tensor> arguments);
  std::string error;

private:
  bool runBlock(mlir::Block &block);
  bool runOp(mlir::Operation &op);
  bool runFor(mlir::Operation &op);
  bool runTensorOp(mlir::Operation &op);
  bool runStructured(kernel::StructuredOpInterface op);
  bool runScalar(mlir::Operation &op);
  bool fail(mlir::Operation &op, llvm::StringRef why);

  mlir::Attribute scalar(mlir::Value value) const {
    return scalars.lookup(value);
  }
  int64_t integer(mlir::OpFoldResult value) const;
  Tensor &tensor(mlir::Value value) { return tensors.find(value)->second; }
  mlir::Attribute read(kernel::StructuredOpInterface op, unsigned input,
                       llvm::ArrayRef<int64_t> point);

  std::map<std::string, int64_t> sizes;
  llvm::DenseMap<mlir::Value, mlir::Attribute> scalars;
  struct Less {
    bool operator()(mlir::Value a, mlir::Value b) const {
      return a.getAsOpaquePointer() < b.getAsOpaquePointer();
    }
  };
  std::map<mlir::Value, Tensor, Less> tensors;
  llvm::StringMap<int64_t> iterators; // of the op being run
};

} // namespace facet::test

#endif // FACET_TEST_UNIT_DIALECT_INTERPRETER_H
