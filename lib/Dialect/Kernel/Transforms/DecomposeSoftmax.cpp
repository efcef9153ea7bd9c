//===- DecomposeSoftmax.cpp - a softmax as max, exp, sum and division -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   let p[i, j] = softmax[j | j <= i](s[i, j])
//
// is computed as
//
//   let p.max[i] = max[j | j <= i](s[i, j])
//   let p.exp[i, j] = where(j <= i, exp(s[i, j] - p.max[i]), 0)
//   let p.sum[i] = sum[j | j <= i](p.exp[i, j])
//   p[i, j] = where(j <= i, p.exp[i, j] / p.sum[i], 0)
//
// which is the definition, with the exponential stored once. An exponent that is
// more than an element of an input is stored first, as p.e, so that nothing is
// computed twice. Each new op gets the guards of the softmax with the inputs they
// need; what it reads beside them exists only where the filter holds.
//
//===----------------------------------------------------------------------===//

#include "facet/Dialect/Kernel/IR/StructuredParts.h"
#include "facet/Dialect/Kernel/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace facet::kernel;

namespace facet::kernel {
#define GEN_PASS_DEF_DECOMPOSESOFTMAXPASS
#include "facet/Dialect/Kernel/Transforms/Passes.h.inc"
} // namespace facet::kernel

namespace {
/// Builds the ops of one softmax. Every op but the exponents' has, as inputs, those
/// that the guards read and then its own.
class SoftmaxDecomposition {
public:
  SoftmaxDecomposition(SoftmaxOp softmax, IRRewriter &rewriter);
  void run();

private:
  using Input = StructuredParts::Input;
  /// Computes one element from the op's own inputs.
  using Compute = llvm::function_ref<Value(ValueRange own)>;

  Value elementwise(StringRef suffix, ArrayRef<Input> own, Compute compute);
  Value reduction(StringRef suffix, ReduceKind kind, Input own);
  Value exponents();
  Value finish(StructuredParts &parts, ArrayRef<Input> own, bool selects,
               Compute compute);

  Input read(Value tensor, unsigned numIterators, bool filtered);
  StringAttr nameWith(StringRef suffix);
  Value empty(unsigned rank);
  Value constant(double value);

  SoftmaxOp softmax;
  StructuredOpInterface op;
  IRRewriter &rewriter;
  Location loc;
  FloatType type;
  SmallVector<unsigned>
      guardInputs; // inputs that the guards of the filter need
};
} // namespace

SoftmaxDecomposition::SoftmaxDecomposition(SoftmaxOp softmax,
                                           IRRewriter &rewriter)
    : softmax(softmax), op(cast<StructuredOpInterface>(softmax.getOperation())),
      rewriter(rewriter), loc(softmax.getLoc()),
      type(cast<FloatType>(
          getElementTypeOrSelf(softmax.getResult(0).getType()))) {
  if (op.getFilter().empty())
    return; // nothing that the new ops have to ask
  unsigned numInputs = op.getInputs().size();
  SmallVector<bool> needed(numInputs, false);
  for (unsigned i = numInputs; i-- != 0;) {
    needed[i] = needed[i] || !op.getGuards().getArgument(i).use_empty();
    if (!needed[i])
      continue;
    guardInputs.push_back(i);
    for (const Subscript &subscript : op.getAccess(i).getSubscripts())
      if (subscript.kind == Subscript::Element)
        needed[subscript.value] = true;
  }
  std::reverse(guardInputs.begin(), guardInputs.end());
}

StringAttr SoftmaxDecomposition::nameWith(StringRef suffix) {
  return op.getName() ? rewriter.getStringAttr(*op.getName() + suffix)
                      : StringAttr();
}

/// `tensor` at the first iterators of the softmax.
StructuredParts::Input
SoftmaxDecomposition::read(Value tensor, unsigned numIterators, bool filtered) {
  Input input;
  input.tensor = tensor;
  for (unsigned i = 0; i != numIterators; ++i)
    input.subscripts.push_back({Subscript::Iterator, i});
  if (filtered)
    llvm::append_range(input.guards, op.getFilter());
  return input;
}

Value SoftmaxDecomposition::empty(unsigned rank) {
  SmallVector<OpFoldResult> extents = op.getMixedExtents();
  extents.truncate(rank);
  return tensor::EmptyOp::create(rewriter, loc, extents, type);
}

Value SoftmaxDecomposition::constant(double value) {
  return arith::ConstantOp::create(rewriter, loc,
                                   rewriter.getFloatAttr(type, value));
}

/// Creates the op of `parts` with the guards of the softmax, the inputs that those
/// need, and `own` behind them. With `selects` the element is 0 where the filter
/// does not hold.
Value SoftmaxDecomposition::finish(StructuredParts &parts, ArrayRef<Input> own,
                                   bool selects, Compute compute) {
  bool guarded = !op.getFilter().empty();
  SmallVector<Input> all;
  for (unsigned i : guardInputs) {
    all.push_back(parts.inputs[i]);
    for (Subscript &subscript : all.back().subscripts)
      if (subscript.kind == Subscript::Element)
        subscript.value =
            llvm::find(guardInputs, subscript.value) - guardInputs.begin();
  }
  llvm::append_range(all, own);
  parts.inputs = all;
  StructuredOpInterface created = parts.create(rewriter, loc);

  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<Type> types;
  for (const Input &input : all)
    types.push_back(getElementTypeOrSelf(input.tensor.getType()));
  if (guarded) {
    Block *block =
        rewriter.createBlock(&created.getGuards(), {}, types,
                             SmallVector<Location>(types.size(), loc));
    IRMapping mapping;
    for (auto [i, from] : llvm::enumerate(guardInputs))
      mapping.map(op.getGuards().getArgument(from), block->getArgument(i));
    for (Operation &nested : op.getGuards().front())
      rewriter.clone(nested, mapping);
  }
  if (guarded)
    types.append(op.getNumGuardAtoms(), rewriter.getI1Type());
  Block *block = rewriter.createBlock(&created.getBody(), {}, types,
                                      SmallVector<Location>(types.size(), loc));
  Value value =
      compute(block->getArguments().slice(guardInputs.size(), own.size()));
  if (selects && !op.getFilter().empty()) {
    Value holds;
    for (int64_t atom : op.getFilter()) {
      Value next = block->getArgument(all.size() + atom);
      holds =
          holds ? arith::AndIOp::create(rewriter, loc, holds, next).getResult()
                : next;
    }
    value = arith::SelectOp::create(rewriter, loc, holds, value, constant(0));
  }
  YieldOp::create(rewriter, loc, value);
  return created->getResult(0);
}

/// A map over all iterators, 0 where the filter drops the point.
Value SoftmaxDecomposition::elementwise(StringRef suffix, ArrayRef<Input> own,
                                        Compute compute) {
  StructuredParts parts(op);
  parts.opName = MapOp::getOperationName();
  parts.numParallel = parts.iteratorNames.size();
  parts.filter.clear();
  if (!suffix
           .empty()) { // else the result itself, where the softmax would have put it
    parts.name = nameWith(suffix);
    parts.inits = {empty(parts.numParallel)};
    parts.discardable.clear();
  }
  return finish(parts, own, /*selects=*/true, compute);
}

/// Combines `own` over the normalised iterators, at the points that exist.
Value SoftmaxDecomposition::reduction(StringRef suffix, ReduceKind kind,
                                      Input own) {
  StructuredParts parts(op);
  parts.opName = ReduceOp::getOperationName();
  parts.kind = kind;
  parts.name = nameWith(suffix);
  double neutral =
      kind == ReduceKind::Max ? -std::numeric_limits<double>::infinity() : 0.0;
  SmallVector<Value> sizes;
  SmallVector<int64_t> shape;
  dispatchIndexOpFoldResults(
      ArrayRef(parts.extents).take_front(parts.numParallel), sizes, shape);
  parts.inits = {tensor::SplatOp::create(rewriter, loc,
                                         RankedTensorType::get(shape, type),
                                         constant(neutral), sizes)};
  parts.discardable.clear();
  return finish(parts, own, /*selects=*/false,
                [](ValueRange own) { return own.front(); });
}

/// The tensor of exponents: an input as it stands, or a new map.
Value SoftmaxDecomposition::exponents() {
  Operation *yield = op.getBody().front().getTerminator();
  auto element = dyn_cast<BlockArgument>(yield->getOperand(0));
  unsigned numIterators = op.getNumIterators();
  if (element && element.getOwner() == &op.getBody().front() &&
      element.getArgNumber() < op.getInputs().size()) {
    unsigned i = element.getArgNumber();
    AffineMap map = op.getAccess(i).getMap(numIterators);
    bool onlyFiltered = llvm::all_of(op.getGuardsOfInput(i), [&](int64_t atom) {
      return llvm::is_contained(op.getFilter(), atom);
    });
    if (map && map.isIdentity() && onlyFiltered)
      return op.getInputs()[i];
  }
  StructuredParts parts(op);
  parts.opName = MapOp::getOperationName();
  parts.numParallel = numIterators;
  parts.name = nameWith(".e");
  parts.filter.clear();
  parts.inits = {empty(numIterators)};
  parts.discardable.clear();
  // Every input exists only where the filter holds, but for those that decide it.
  for (auto [i, input] : llvm::enumerate(parts.inputs))
    if (!llvm::is_contained(guardInputs, i))
      for (int64_t atom : op.getFilter())
        if (!llvm::is_contained(input.guards, atom))
          input.guards.push_back(atom);
  StructuredOpInterface created = parts.create(rewriter, loc);
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(op->getRegions(), created->getRegions()))
    from.cloneInto(&to, mapping);
  if (!op.getFilter().empty()) {
    OpBuilder::InsertionGuard guard(rewriter);
    Block &block = created.getBody().front();
    Operation *terminator = block.getTerminator();
    rewriter.setInsertionPoint(terminator);
    Value holds;
    for (int64_t atom : op.getFilter()) {
      Value next = block.getArgument(op.getInputs().size() + atom);
      holds =
          holds ? arith::AndIOp::create(rewriter, loc, holds, next).getResult()
                : next;
    }
    Value value = arith::SelectOp::create(
        rewriter, loc, holds, terminator->getOperand(0), constant(0));
    terminator->setOperand(0, value);
  }
  return created->getResult(0);
}

void SoftmaxDecomposition::run() {
  rewriter.setInsertionPoint(softmax);
  unsigned rank = op.getNumIterators(), numParallel = op.getNumParallel();
  Value e = exponents();
  Value max =
      reduction(".max", ReduceKind::Max, read(e, rank, /*filtered=*/false));
  Value exp =
      elementwise(".exp",
                  {read(e, rank, /*filtered=*/true),
                   read(max, numParallel, /*filtered=*/true)},
                  [&](ValueRange own) -> Value {
                    Value difference =
                        arith::SubFOp::create(rewriter, loc, own[0], own[1]);
                    return math::ExpOp::create(rewriter, loc, difference);
                  });
  Value sum =
      reduction(".sum", ReduceKind::Sum, read(exp, rank, /*filtered=*/false));
  Value quotient =
      elementwise("",
                  {read(exp, rank, /*filtered=*/true),
                   read(sum, numParallel, /*filtered=*/true)},
                  [&](ValueRange own) -> Value {
                    return arith::DivFOp::create(rewriter, loc, own[0], own[1]);
                  });
  rewriter.replaceOp(softmax, quotient);
}

namespace {
struct DecomposeSoftmaxPass
    : facet::kernel::impl::DecomposeSoftmaxPassBase<DecomposeSoftmaxPass> {
  void runOnOperation() final {
    IRRewriter rewriter(&getContext());
    SmallVector<SoftmaxOp> softmaxes;
    getOperation().walk(
        [&](SoftmaxOp softmax) { softmaxes.push_back(softmax); });
    for (SoftmaxOp softmax : softmaxes)
      SoftmaxDecomposition(softmax, rewriter).run();
  }
};
} // namespace
