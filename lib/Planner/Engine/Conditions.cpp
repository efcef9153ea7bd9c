//===- Conditions.cpp - what a filter says, in two parts ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inequalities of iterators say which blocks are left out of a program; what else a
// filter says is computed for each of its points. The statements of one softmax each
// have a copy of the filter, so copies are compared as they are written:
//
//   j <= i && seg[i] == seg[j]      i - j >= 0, and the condition seg[i] == seg[j]
//
//===----------------------------------------------------------------------===//

#include "facet/Planner/Engine/Conditions.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;
using kernel::Subscript;

/// The iterator `name` of the condition's op, renamed.
static unsigned iteratorOf(Condition condition, StringRef name) {
  unsigned i = 0;
  while (condition.op.getIteratorName(i) != name)
    ++i;
  return condition.iterators[i];
}

static bool sameInput(Condition a, unsigned inputA, Condition b,
                      unsigned inputB) {
  ArrayRef<Subscript> ofA = a.op.getAccess(inputA).getSubscripts(),
                      ofB = b.op.getAccess(inputB).getSubscripts();
  if (a.op.getInputs()[inputA] != b.op.getInputs()[inputB] ||
      ofA.size() != ofB.size())
    return false;
  return llvm::all_of(llvm::zip_equal(ofA, ofB), [&](auto pair) {
    auto [x, y] = pair;
    if (x.kind == Subscript::Iterator && y.kind == Subscript::Iterator)
      return a.iterators[x.value] == b.iterators[y.value];
    return x.kind == Subscript::Constant && x == y;
  });
}

static bool sameValue(const Condition &a, Value x, const Condition &b,
                      Value y) {
  auto argumentX = dyn_cast<BlockArgument>(x),
       argumentY = dyn_cast<BlockArgument>(y);
  if (argumentX && argumentY)
    return sameInput(a, argumentX.getArgNumber(), b, argumentY.getArgNumber());
  Operation *defX = x.getDefiningOp(), *defY = y.getDefiningOp();
  if (!defX || !defY || defX->getName() != defY->getName() ||
      x.getType() != y.getType())
    return false;
  if (auto index = dyn_cast<kernel::IndexOp>(defX))
    return iteratorOf(a, index.getIterator()) ==
           iteratorOf(b, cast<kernel::IndexOp>(defY).getIterator());
  return defX->getAttrDictionary() == defY->getAttrDictionary() &&
         llvm::all_of(llvm::zip_equal(defX->getOperands(), defY->getOperands()),
                      [&](auto pair) {
                        return sameValue(a, std::get<0>(pair), b,
                                         std::get<1>(pair));
                      });
}

Conditions engine::conditionsOf(StructuredOpInterface op,
                                ArrayRef<int64_t> atoms,
                                ArrayRef<unsigned> iterators,
                                unsigned numIterators) {
  Conditions conditions;
  SmallVector<int64_t> inequalities;
  for (int64_t atom : atoms) {
    if (affineFilter(op, atom, iterators, numIterators))
      inequalities.push_back(atom);
    else
      conditions.others.push_back({op, atom, SmallVector<unsigned>(iterators)});
  }
  conditions.inequalities =
      *affineFilter(op, inequalities, iterators, numIterators);
  return conditions;
}

bool engine::sameConditions(const Conditions &a, const Conditions &b) {
  auto valueOf = [](Condition condition) {
    return condition.op.getGuards().front().getTerminator()->getOperand(
        condition.atom);
  };
  auto contains = [&](const Conditions &all, const Condition &one) {
    return llvm::any_of(all.others, [&](const Condition &other) {
      return sameValue(other, valueOf(other), one, valueOf(one));
    });
  };
  return a.inequalities == b.inequalities &&
         llvm::all_of(a.others,
                      [&](const Condition &c) { return contains(b, c); }) &&
         llvm::all_of(b.others,
                      [&](const Condition &c) { return contains(a, c); });
}
