//===- Point.h - one point of a structured op, computed as far as needed --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// At a point of its iteration an op has guard atoms, inputs and a body. Guards
// may read inputs, inputs may stand under guards, subscripts may be elements of
// other inputs; so everything is emitted when first asked for and kept. What is
// asked for inside of a branch must not be asked for again outside of it.
//
// `Element` is what a scalar is in the form being emitted: an SSA value in the
// own-type form, a value and its error bound in the judge form.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_LIB_CONVERSION_KERNELTOLOOPS_POINT_H
#define FACET_LIB_CONVERSION_KERNELTOLOOPS_POINT_H

#include "Frame.h"

#include "llvm/ADT/SetVector.h"

namespace facet::loops {

/// The ops of `block` that `value` depends on, in order.
llvm::SmallVector<mlir::Operation *> slice(mlir::Block &block,
                                           mlir::Value value);

template <typename Element>
class Point {
public:
  Point(Frame &frame, kernel::StructuredOpInterface op,
        llvm::ArrayRef<mlir::Value> iterators)
      : frame(frame), b(frame.b), op(op),
        iterators(iterators.begin(), iterators.end()),
        atoms(op.getNumGuardAtoms()), inputs(op.getInputs().size()) {}
  virtual ~Point() = default;

  /// Guard atom `i`.
  const Element &atom(unsigned i) {
    if (!atoms[i]) {
      mlir::Block &block = op.getGuards().front();
      mlir::Value value = block.getTerminator()->getOperand(i);
      for (mlir::Operation *inner : slice(block, value))
        evaluateInto(inner);
      atoms[i] = lookup(value);
    }
    return *atoms[i];
  }

  /// Whether all of `wanted` may hold, an i1; null when nothing is asked.
  mlir::Value holds(llvm::ArrayRef<int64_t> wanted) {
    mlir::Value all;
    for (int64_t i : wanted) {
      if (ignoresAtom(i))
        continue;
      mlir::Value one = mayHold(atom(i));
      all = all ? mlir::Value(frame.num(all) & frame.num(one)) : one;
    }
    return all;
  }

  /// The element that input `k` has at this point; some value when it is not read.
  const Element &input(unsigned k) {
    if (!inputs[k]) {
      mlir::Value guard = holds(op.getGuardsOfInput(k));
      llvm::SmallVector<mlir::Value> index = subscripts(k, guard);
      inputs[k] = read(k, index, guard);
    }
    return *inputs[k];
  }

  /// i64 subscripts of input `k`. May narrow `guard` to where they are in range.
  llvm::SmallVector<mlir::Value> subscripts(unsigned k, mlir::Value &guard) {
    llvm::SmallVector<mlir::Value> index;
    for (auto [dim, subscript] :
         llvm::enumerate(op.getAccess(k).getSubscripts())) {
      switch (subscript.kind) {
      case kernel::Subscript::Iterator:
        index.push_back(iterators[subscript.value]);
        break;
      case kernel::Subscript::Constant:
        index.push_back(constantSubscript(k, dim, subscript.value, guard));
        break;
      case kernel::Subscript::Element:
        index.push_back(elementSubscript(k, dim, subscript.value, guard));
        break;
      }
    }
    return index;
  }

  /// What the body yields.
  llvm::SmallVector<Element> body() {
    mlir::Block &block = op.getBody().front();
    for (mlir::Operation &inner : block.without_terminator())
      evaluateInto(&inner);
    llvm::SmallVector<Element> results;
    for (mlir::Value value : block.getTerminator()->getOperands())
      results.push_back(lookup(value));
    return results;
  }

protected:
  virtual Element evaluate(mlir::Operation *inner,
                           llvm::ArrayRef<Element> operands) = 0;
  virtual Element read(unsigned input, llvm::ArrayRef<mlir::Value> index,
                       mlir::Value guard) = 0;
  /// A scalar of the kernel's top level.
  virtual Element outer(mlir::Value value) = 0;
  virtual mlir::Value mayHold(const Element &condition) = 0;
  /// The number `value` as subscript `dim` of input `k`, i64.
  virtual mlir::Value constantSubscript(unsigned, unsigned, int64_t value,
                                        mlir::Value &) {
    return frame.i64(value);
  }
  /// The element of input `source` as subscript `dim` of input `k`, i64.
  virtual mlir::Value elementSubscript(unsigned k, unsigned dim,
                                       unsigned source, mlir::Value &guard) = 0;
  /// Atoms that count as true.
  virtual bool ignoresAtom(unsigned) { return false; }

  Element lookup(mlir::Value value) {
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value)) {
      unsigned number = argument.getArgNumber();
      if (number < inputs.size())
        return input(number);
      return atom(number - inputs.size());
    }
    if (auto it = values.find(value); it != values.end())
      return it->second;
    return outer(value);
  }

  void evaluateInto(mlir::Operation *inner) {
    if (inner->getNumResults() != 1) {
      frame.refuse(inner, "has no place in the body of a kernel op");
      return;
    }
    if (frame.failed || values.contains(inner->getResult(0)))
      return;
    llvm::SmallVector<Element> operands;
    for (mlir::Value operand : inner->getOperands())
      operands.push_back(lookup(operand));
    b.setLoc(inner->getLoc());
    values.try_emplace(inner->getResult(0), evaluate(inner, operands));
  }

  mlir::Value iterator(llvm::StringRef name) {
    for (unsigned i = 0; i < iterators.size(); ++i)
      if (op.getIteratorName(i) == name)
        return iterators[i];
    return {};
  }

  Frame &frame;
  LocBuilder &b;
  kernel::StructuredOpInterface op;
  llvm::SmallVector<mlir::Value> iterators;
  llvm::SmallVector<std::optional<Element>> atoms, inputs;
  llvm::DenseMap<mlir::Value, Element> values;
};

} // namespace facet::loops

#endif // FACET_LIB_CONVERSION_KERNELTOLOOPS_POINT_H
