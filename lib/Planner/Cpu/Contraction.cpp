//===- Contraction.cpp - sums of products, recognised ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction is recognised by what depends on what, not by its form. The body's
// product is cut into factors; the last dimension of the result is n, along which
// memory is written. Factors that depend on n are b, the others a:
//
//   sum[q, r](x[m, q, r] * bf16(f32(w[q, r, n] - z[q, n]) * s[q, n]))
//            `--- a ---'   `----------------- b -----------------'
//
// Parallel iterators of a alone are m, of b alone n, of both (or of neither) batch;
// each side is packed or read in place by evaluating its factors.
//
//===----------------------------------------------------------------------===//

#include "facet/Planner/Cpu/Contraction.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

/// The factors of a product. Integer products fall into all their factors, those
/// of floats only in two: another order would round otherwise.
static void collectFactors(Value value, llvm::SmallVectorImpl<Value> &factors) {
  Operation *def = value.getDefiningOp();
  if (def && isa<arith::MulIOp>(def)) {
    collectFactors(def->getOperand(0), factors);
    collectFactors(def->getOperand(1), factors);
  } else if (def && isa<arith::MulFOp>(def)) {
    llvm::append_range(factors, def->getOperands());
  } else {
    factors.push_back(value);
  }
}

/// Marks the iterators that an input's place depends on.
static void markInput(StructuredOpInterface op, unsigned input,
                      llvm::BitVector &used) {
  for (const kernel::Subscript &subscript :
       op.getAccess(input).getSubscripts()) {
    if (subscript.kind == kernel::Subscript::Iterator)
      used.set(subscript.value);
    else if (subscript.kind == kernel::Subscript::Element)
      markInput(op, subscript.value, used);
  }
}

/// Marks the iterators that `value` of the body depends on.
static void markValue(StructuredOpInterface op, Value value,
                      llvm::BitVector &used) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getArgNumber() < op.getInputs().size())
      markInput(op, argument.getArgNumber(), used);
    return;
  }
  Operation *def = value.getDefiningOp();
  if (auto index = dyn_cast<kernel::IndexOp>(def))
    for (unsigned i = 0; i < op.getNumIterators(); ++i)
      if (op.getIteratorName(i) == index.getIterator())
        used.set(i);
  if (def->getParentOp() == op)
    for (Value operand : def->getOperands())
      markValue(op, operand, used);
}

std::optional<Epilogue> cpu::matchUnguardedEpilogue(kernel::ReduceOp reduce) {
  std::optional<Epilogue> epilogue = kernel::matchEpilogue(reduce);
  if (!epilogue)
    return std::nullopt;
  auto op = cast<StructuredOpInterface>(epilogue->map.getOperation());
  if (!op.getGuardsOfInput(epilogue->sumsInput).empty())
    return std::nullopt;
  return epilogue;
}

std::optional<unsigned> cpu::elementsOf(const Contraction &contraction,
                                        llvm::ArrayRef<Value> factors) {
  kernel::ReduceOp reduce = contraction.reduce;
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  if (factors.size() != 1 || contraction.k.size() != 1)
    return std::nullopt;
  auto argument = dyn_cast<BlockArgument>(factors[0]);
  if (!argument || argument.getArgNumber() >= op.getInputs().size())
    return std::nullopt;
  unsigned input = argument.getArgNumber();
  Value tensor = op.getInputs()[input];
  bool isMemory = isa<BlockArgument>(tensor) ||
                  tensor.getDefiningOp<StructuredOpInterface>() != nullptr;
  auto sums = cast<RankedTensorType>(reduce.getResult(0).getType());
  if (!isMemory || op.getAccess(input).hasGather() ||
      cast<RankedTensorType>(tensor.getType()).getElementType() !=
          sums.getElementType())
    return std::nullopt;
  return input;
}

std::optional<unsigned> cpu::vectorsOfB(const Contraction &contraction) {
  std::optional<unsigned> input = elementsOf(contraction, contraction.b);
  if (!input)
    return std::nullopt;
  kernel::ReduceOp reduce = contraction.reduce;
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  kernel::Subscript n{kernel::Subscript::Iterator, contraction.n.back()};
  auto subscripts = op.getAccess(*input).getSubscripts();
  if (subscripts.empty() || !(subscripts.back() == n) ||
      llvm::count(subscripts, n) != 1)
    return std::nullopt;
  return input;
}

BlockArgument cpu::constantOf(const Contraction &contraction) {
  kernel::ReduceOp reduce = contraction.reduce;
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  if (contraction.b.size() != 1 || isFiltered(contraction))
    return {};
  Value factor = contraction.b[0];
  while (auto cast = factor.getDefiningOp<kernel::CastOp>())
    factor = cast.getValue();
  auto element = dyn_cast<BlockArgument>(factor);
  if (!element || element.getOwner() != &op.getBody().front() ||
      element.getArgNumber() >= op.getInputs().size())
    return {};
  unsigned input = element.getArgNumber();
  auto array = dyn_cast<BlockArgument>(op.getInputs()[input]);
  if (!array || !array.hasOneUse() ||
      op->getParentOfType<kernel::FuncOp>()
              .getParam(array.getArgNumber())
              .getMode() != kernel::ParamMode::Const)
    return {};
  llvm::SmallDenseSet<int64_t> seen;
  for (const kernel::Subscript &subscript : op.getAccess(input).getSubscripts())
    if (subscript.kind != kernel::Subscript::Iterator ||
        !seen.insert(subscript.value).second)
      return {};
  return array;
}

/// The contraction that `reduce` would be without its filter.
static std::optional<Contraction> matchProduct(kernel::ReduceOp reduce) {
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  if (reduce.getKind() != kernel::ReduceKind::Sum)
    return std::nullopt;
  Contraction contraction;
  contraction.reduce = reduce;
  Value product = op.getBody().front().getTerminator()->getOperand(0);
  Type type = product.getType();
  if (type.isF32())
    contraction.dot = Dot::F32;
  else if (type.isF64())
    contraction.dot = Dot::F64;
  else if (type.isInteger(32))
    contraction.dot = Dot::I32;
  else
    return std::nullopt;

  unsigned numParallel = op.getNumParallel(),
           numIterators = op.getNumIterators();
  if (numParallel == 0 || numParallel == numIterators)
    return std::nullopt;
  unsigned lane = numParallel - 1;

  llvm::SmallVector<Value> factors;
  collectFactors(product, factors);
  llvm::BitVector usedA(numIterators), usedB(numIterators);
  for (Value factor : factors) {
    llvm::BitVector used(numIterators);
    markValue(op, factor, used);
    bool isB = used.test(lane);
    (isB ? usedB : usedA) |= used;
    (isB ? contraction.b : contraction.a).push_back(factor);
  }
  if (contraction.a.empty() || contraction.b.empty())
    return std::nullopt;

  for (unsigned i = 0; i < numIterators; ++i) {
    bool inA = usedA.test(i), inB = usedB.test(i);
    if (i >= numParallel) {
      if (!inA || !inB)
        return std::nullopt; // a plain sum of one side times the other
      contraction.k.push_back(i);
    } else {
      (inA == inB ? contraction.batch
       : inA      ? contraction.m
                  : contraction.n)
          .push_back(i);
    }
  }
  if (contraction.n.empty() || contraction.n.back() != lane)
    return std::nullopt;
  return contraction;
}

std::optional<Contraction> cpu::matchContraction(kernel::ReduceOp reduce) {
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  if (!reduce.getFilter().empty() || op.getNumGuardAtoms() != 0)
    return std::nullopt;
  return matchProduct(reduce);
}

std::optional<Contraction>
cpu::matchFilteredContraction(kernel::ReduceOp reduce) {
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  if (op.getNumGuardAtoms() != reduce.getFilter().size())
    return std::nullopt;
  for (unsigned k = 0; k < op.getInputs().size(); ++k)
    if (!op.getGuardsOfInput(k).empty())
      return std::nullopt;
  auto atoms =
      op.getBody().front().getArguments().drop_front(op.getInputs().size());
  if (!llvm::all_of(atoms, [](Value atom) { return atom.use_empty(); }))
    return std::nullopt;
  std::optional<Contraction> contraction = matchProduct(reduce);
  if (!contraction || op.getNumGuardAtoms() == 0)
    return contraction;
  // Rows and steps are left out, columns are not.
  llvm::BitVector used(op.getNumIterators());
  for (Value atom : op.getGuards().front().getTerminator()->getOperands())
    markValue(op, atom, used);
  for (unsigned n : contraction->n)
    if (used.test(n))
      return std::nullopt;
  return contraction;
}
