//===- KernelEmitter.h - the two halves of emission
//------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// KernelEmitter walks the statements and makes tensors; OpEmitter makes one
// structured op: its inputs, guards and regions. They call each other, because
// a reduction inside an expression is an op of its own.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_FRONTEND_KERNELEMITTER_H
#define FACET_LIB_FRONTEND_KERNELEMITTER_H

#include "LetInlining.h"
#include "facet/Frontend/EmitKernel.h"

namespace facet {

class KernelEmitter;

/// One structured op in the making.
class OpEmitter {
public:
  OpEmitter(KernelEmitter &kernel, mlir::Location loc)
      : kernel(kernel), loc(loc) {}

  void addIterator(const checked::Index *index) { iterators.push_back(index); }
  void setNumParallel(unsigned n) { numParallel = n; }
  /// The atoms of a filter, which hold for all that is collected later.
  void collectFilter(const checked::Expr *condition);
  /// Finds what `expr` reads; call once per yielded expression.
  void collect(const checked::Expr *expr) { collect(expr, {}); }

  using BodyBuilder =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &)>;
  kernel::MapOp buildMap(llvm::StringRef name, mlir::Value init,
                         BodyBuilder body);
  kernel::ReduceOp buildReduce(kernel::ReduceKind kind, llvm::StringRef name,
                               mlir::ValueRange inits, BodyBuilder body);
  kernel::SoftmaxOp buildSoftmax(llvm::StringRef name, mlir::Value init,
                                 BodyBuilder body);

  /// Scalar code for `expr` in the region being built.
  mlir::Value emit(mlir::OpBuilder &builder, const checked::Expr *expr);
  /// The same, as an element of storage type `type` (the root of a statement).
  mlir::Value emitStored(mlir::OpBuilder &builder, const checked::Expr *expr,
                         ScalarType type);
  mlir::Value emitIndexValue(mlir::OpBuilder &builder,
                             const checked::Index *index);
  /// Scalar code outside of a structured op: fills `region` up to its
  /// terminator, with one block argument per scalar argument.
  mlir::Value emitOverScalars(mlir::OpBuilder &builder, mlir::Region &region,
                              llvm::ArrayRef<const checked::Variable *> scalars,
                              const checked::Expr *expr);

private:
  struct Input {
    mlir::Value tensor;
    llvm::SmallVector<kernel::Subscript> subscripts;
    llvm::SmallVector<int64_t> guards;
  };
  struct Atom {
    const checked::Expr *condition;
    bool negated;
  };
  using Guards = llvm::SmallVector<int64_t>;

  void collect(const checked::Expr *expr, const Guards &guards);
  unsigned addRead(const checked::Expr *read, const Guards &guards);
  unsigned addInput(Input input);
  void addConjuncts(const checked::Expr *condition, const Guards &guards,
                    Guards &atoms);
  int64_t iteratorPosition(const checked::Index *index);
  void buildRegions(mlir::Operation *op, BodyBuilder body);
  void addBlock(mlir::OpBuilder &builder, mlir::Region &region, bool withAtoms);
  mlir::Value readInput(mlir::OpBuilder &builder, unsigned input,
                        ScalarType type);

  struct Operands {
    mlir::ArrayAttr names, accesses, guards;
    llvm::SmallVector<int64_t> staticExtents;
    llvm::SmallVector<mlir::Value> extents, inputs;
  };
  Operands operands();

  KernelEmitter &kernel;
  mlir::Location loc;
  llvm::SmallVector<const checked::Index *> iterators;
  unsigned numParallel = 0;
  llvm::SmallVector<Input> inputs;
  llvm::SmallVector<Atom> atoms;
  Guards filter;
  /// Input of each read and each nested reduction (of its count: see countOf).
  llvm::DenseMap<const checked::Expr *, unsigned> inputOf;
  llvm::DenseMap<const checked::Expr *, unsigned> countOf;
  /// Atoms that stand for the condition of a `where`, in the body.
  llvm::DenseMap<const checked::Expr *, Guards> atomsOf;
  mlir::Block *current = nullptr; // of the region being built
};

class KernelEmitter {
public:
  KernelEmitter(const checked::Kernel &kernel, mlir::ModuleOp module)
      : kernel(kernel), builder(module.getContext()), lets(kernel) {
    builder.setInsertionPointToEnd(module.getBody());
  }

  kernel::FuncOp run(const FixedSizes &fixed);

  // What an OpEmitter asks for.
  mlir::OpBuilder &ops() { return builder; }
  mlir::Location location(const Place &place) const;
  mlir::Value tensorOf(const checked::Variable *variable) {
    return tensors.lookup(variable);
  }
  mlir::Value sizeValue(unsigned size) { return sizes[size]; }
  llvm::StringRef sizeName(unsigned size) const {
    return kernel.sizes[size].name;
  }
  mlir::Type type(ScalarType type) {
    return elementType(builder.getContext(), type);
  }

  /// The op for a reduction or softmax, over `parallel`. The tensor read by
  /// others.
  mlir::Value emitReduce(const checked::Expr *expr,
                         llvm::ArrayRef<const checked::Index *> parallel,
                         llvm::StringRef name);
  mlir::Value emitSoftmax(const checked::Expr *expr,
                          llvm::ArrayRef<const checked::Index *> dims,
                          llvm::StringRef name);
  /// For the mean under a filter: how many points there are, an i64 tensor.
  mlir::Value emitCount(const checked::Expr *expr,
                        llvm::ArrayRef<const checked::Index *> parallel);

private:
  mlir::Attribute dimAttr(const checked::Dim &dim);
  kernel::ParamAttr paramAttr(const checked::Variable &variable);
  mlir::RankedTensorType tensorType(const checked::Variable &variable);
  mlir::Value emptyTensor(mlir::Location loc,
                          llvm::ArrayRef<const checked::Index *> dims,
                          ScalarType type);
  mlir::Value splat(mlir::Location loc,
                    llvm::ArrayRef<const checked::Index *> dims,
                    mlir::TypedAttr value);
  mlir::TypedAttr identity(checked::Reduction reduction, ScalarType type);
  void emitStatement(const checked::Statement &statement);
  void emitRequire(const checked::Require &require);

  const checked::Kernel &kernel;
  mlir::OpBuilder builder;
  LetInlining lets;
  llvm::SmallVector<mlir::Value> sizes;
  llvm::DenseMap<const checked::Variable *, mlir::Value> tensors;
};

/// The op's name attribute; null when it has none.
mlir::StringAttr nameAttr(mlir::OpBuilder &builder, llvm::StringRef name);

} // namespace facet

#endif // FACET_LIB_FRONTEND_KERNELEMITTER_H
