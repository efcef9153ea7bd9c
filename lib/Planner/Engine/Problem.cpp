//===- Problem.cpp - a contraction as the tensor engine sees it -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any contraction is a product of two matrices with loops around it:
//
//   c[p, h, m, n] = sum[k, l](a[p, k, l, m] * b[p, k, l, h, n])
//     rows m of a, columns n of b, steps along the longer of k and l
//     a loop for the other one, which keeps the sums; loops for p and h
//
//===----------------------------------------------------------------------===//

#include "facet/Planner/Engine/Problem.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

bool engine::suitsTensorEngine(const Contraction &contraction) {
  unsigned numParallel = contraction.op().getNumParallel();
  if (numParallel == 0)
    return false; // one number: a product of two vectors
  return llvm::none_of(contraction.both, [&](unsigned iterator) {
    return contraction.inResult(iterator) + 1 == numParallel;
  });
}

/// Whether neighbours along `iterator` are neighbours in memory.
static bool isDense(StructuredOpInterface op, unsigned input,
                    unsigned iterator) {
  auto subscripts = op.getAccess(input).getSubscripts();
  kernel::Subscript wanted{kernel::Subscript::Iterator, int64_t(iterator)};
  return !subscripts.empty() && subscripts.back() == wanted &&
         llvm::count(subscripts, wanted) == 1;
}

int64_t Problem::terms() const {
  int64_t product = depth;
  for (int64_t extent : outerExtents)
    if (llvm::MulOverflow(product, extent, product))
      return std::numeric_limits<int64_t>::max();
  return product;
}

FailureOr<Problem> Problem::of(const Contraction &contraction) {
  StructuredOpInterface op = contraction.op();
  SmallVector<int64_t> extents;
  for (unsigned i = 0; i < op.getNumIterators(); ++i) {
    std::optional<int64_t> extent = kernel::knownExtent(op, i);
    if (!extent)
      return failure();
    extents.push_back(std::max<int64_t>(1, *extent));
  }
  Problem problem;
  problem.contraction = contraction;
  problem.k = contraction.k.back();
  for (unsigned i : contraction.k)
    if (extents[i] > extents[problem.k])
      problem.k = i;
  problem.depth = extents[problem.k];
  for (unsigned i : contraction.k)
    if (i != problem.k) {
      problem.outer.push_back(i);
      problem.outerExtents.push_back(extents[i]);
    }

  auto isLast = [&](unsigned i) {
    return contraction.inResult(i) + 1 == op.getNumParallel();
  };
  auto fill = [&](Factor &factor, unsigned input, Type type,
                  ArrayRef<unsigned> own) {
    factor.input = input;
    factor.type = type;
    Type element = cast<RankedTensorType>(op.getInputs()[input].getType())
                       .getElementType();
    factor.stored = storedType(element);
    // The one in the result's last place, else the longest.
    for (unsigned i : llvm::reverse(own))
      if (!factor.iterator || isLast(i) ||
          (!isLast(*factor.iterator) && extents[i] > extents[*factor.iterator]))
        factor.iterator = i;
    if (factor.iterator)
      factor.extent = extents[*factor.iterator];
    factor.isDense = !factor.iterator || ::isDense(op, input, *factor.iterator);
    factor.kIsDense = factor.extent > 1 && problem.depth > 1 &&
                      ::isDense(op, input, problem.k);
  };
  fill(problem.a, contraction.a, contraction.aType, contraction.onlyA);
  fill(problem.b, contraction.b, contraction.bType, contraction.onlyB);
  for (unsigned i = 0; i < op.getNumParallel(); ++i)
    if (problem.a.iterator != i && problem.b.iterator != i) {
      problem.batch.push_back(i);
      problem.batchExtents.push_back(extents[i]);
    }
  // With nothing in the last place, what there is alone goes to the columns.
  bool lastInA = llvm::any_of(contraction.onlyA, isLast),
       lastInB = llvm::any_of(contraction.onlyB, isLast);
  problem.last =
      lastInA || (!lastInB && contraction.onlyB.empty()) ? Side::A : Side::B;
  return problem;
}
