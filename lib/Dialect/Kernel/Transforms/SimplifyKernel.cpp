//===- SimplifyKernel.cpp - removes work that no result needs -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Local clean-ups of one structured op, run to a fixed point together with
// MergeMaps.cpp and the folds of bodies:
//
//   %y = kernel.map [i: 4] ins(%x[i] as %a, %x[i] as %b, %z[i] as %c) ... {
//     %p = arith.mulf %a, %b
//
// becomes
//
//   %y = kernel.map [i: 4] ins(%x[i] as %a) ... {
//     %p = arith.mulf %a, %a
//
// A gather that nobody reads stays: the indices it goes by are checked at run time,
// and a kernel that refused them must go on refusing them.
//
//===----------------------------------------------------------------------===//

#include "Simplifications.h"

#include "facet/Dialect/Kernel/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace facet::kernel;

namespace facet::kernel {
#define GEN_PASS_DEF_SIMPLIFYKERNELPASS
#include "facet/Dialect/Kernel/Transforms/Passes.h.inc"
} // namespace facet::kernel

//===----------------------------------------------------------------------===//
// Replacing an op by one with fewer inputs or guards
//===----------------------------------------------------------------------===//

/// Moves the regions of `op` into an op made of `parts`, which lack input `dropped`;
/// its block arguments have no uses any more.
static void replaceWithoutInput(PatternRewriter &rewriter,
                                StructuredOpInterface op,
                                StructuredParts &parts, unsigned dropped) {
  for (StructuredParts::Input &input : parts.inputs)
    for (Subscript &subscript : input.subscripts)
      if (subscript.kind == Subscript::Element && subscript.value > dropped)
        --subscript.value;
  StructuredOpInterface smaller = parts.create(rewriter, op.getLoc());
  for (auto [from, to] : llvm::zip(op->getRegions(), smaller->getRegions())) {
    if (from.empty())
      continue;
    rewriter.inlineRegionBefore(from, to, to.end());
    to.front().eraseArgument(dropped);
  }
  rewriter.replaceOp(op, smaller->getResults());
}

static bool isSubscript(const StructuredParts &parts, unsigned input) {
  for (const StructuredParts::Input &other : parts.inputs)
    for (const Subscript &subscript : other.subscripts)
      if (subscript.kind == Subscript::Element && subscript.value == input)
        return true;
  return false;
}

static bool isRead(StructuredOpInterface op, unsigned input) {
  return !op.getBody().getArgument(input).use_empty() ||
         (!op.getGuards().empty() &&
          !op.getGuards().getArgument(input).use_empty());
}

/// Bodies own their constants: who reads or lowers a body finds them in it.
static void bringConstantsIn(Operation *op) {
  for (Region &region : op->getRegions()) {
    DenseMap<Operation *, Operation *> inside;
    region.walk([&](Operation *user) {
      for (OpOperand &operand : user->getOpOperands()) {
        Operation *outside = operand.get().getDefiningOp();
        if (!outside || outside->getParentRegion() == &region ||
            !outside->hasTrait<OpTrait::ConstantLike>())
          continue;
        Operation *&copy = inside[outside];
        if (!copy)
          copy = OpBuilder::atBlockBegin(&region.front()).clone(*outside);
        operand.set(copy->getResult(0));
      }
    });
  }
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
struct DropInputNobodyReads : OpInterfaceRewritePattern<StructuredOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(StructuredOpInterface op,
                                PatternRewriter &rewriter) const final {
    StructuredParts parts(op);
    for (unsigned i = 0, e = parts.inputs.size(); i != e; ++i) {
      if (op.getAccess(i).hasGather() || isSubscript(parts, i) || isRead(op, i))
        continue;
      parts.inputs.erase(parts.inputs.begin() + i);
      replaceWithoutInput(rewriter, op, parts, i);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "every input is read");
  }
};

struct ReadEqualInputsOnce : OpInterfaceRewritePattern<StructuredOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(StructuredOpInterface op,
                                PatternRewriter &rewriter) const final {
    StructuredParts parts(op);
    for (unsigned i = 0, e = parts.inputs.size(); i != e; ++i) {
      auto *twin = std::find(parts.inputs.begin() + i + 1, parts.inputs.end(),
                             parts.inputs[i]);
      if (twin == parts.inputs.end())
        continue;
      unsigned dropped = twin - parts.inputs.begin();
      for (StructuredParts::Input &input : parts.inputs)
        for (Subscript &subscript : input.subscripts)
          if (subscript.kind == Subscript::Element &&
              subscript.value == dropped)
            subscript.value = i;
      for (Region &region : op->getRegions())
        if (!region.empty())
          rewriter.replaceAllUsesWith(region.getArgument(dropped),
                                      region.getArgument(i));
      parts.inputs.erase(parts.inputs.begin() + dropped);
      replaceWithoutInput(rewriter, op, parts, dropped);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no two inputs are equal");
  }
};

struct DropGuardsNobodyUses : OpInterfaceRewritePattern<StructuredOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(StructuredOpInterface op,
                                PatternRewriter &rewriter) const final {
    if (op.getGuards().empty())
      return rewriter.notifyMatchFailure(op, "no guards");
    StructuredParts parts(op);
    unsigned numInputs = parts.inputs.size(), numAtoms = op.getNumGuardAtoms();
    for (unsigned atom = 0; atom != numAtoms; ++atom) {
      BlockArgument argument = op.getBody().getArgument(numInputs + atom);
      bool used =
          !argument.use_empty() || llvm::is_contained(parts.filter, atom);
      for (const StructuredParts::Input &input : parts.inputs)
        used |= llvm::is_contained(input.guards, atom);
      if (used)
        continue;
      auto close = [&](SmallVectorImpl<int64_t> &atoms) {
        for (int64_t &other : atoms)
          other -= other > atom;
      };
      close(parts.filter);
      for (StructuredParts::Input &input : parts.inputs)
        close(input.guards);
      StructuredOpInterface smaller = parts.create(rewriter, op.getLoc());
      if (numAtoms > 1) {
        rewriter.inlineRegionBefore(op.getGuards(), smaller.getGuards(),
                                    smaller.getGuards().end());
        Operation *yield = smaller.getGuards().front().getTerminator();
        rewriter.modifyOpInPlace(yield, [&] { yield->eraseOperand(atom); });
      }
      rewriter.inlineRegionBefore(op.getBody(), smaller.getBody(),
                                  smaller.getBody().end());
      rewriter.modifyOpInPlace(smaller, [&] {
        smaller.getBody().front().eraseArgument(numInputs + atom);
      });
      rewriter.replaceOp(op, smaller->getResults());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "every guard has a use");
  }
};

struct ForgetGuardThatAlwaysHolds
    : OpInterfaceRewritePattern<StructuredOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(StructuredOpInterface op,
                                PatternRewriter &rewriter) const final {
    unsigned numInputs = op.getInputs().size();
    for (unsigned atom = 0, e = op.getNumGuardAtoms(); atom != e; ++atom) {
      BlockArgument argument = op.getBody().getArgument(numInputs + atom);
      StructuredParts parts(op);
      bool used = !argument.use_empty();
      auto forget = [&](SmallVectorImpl<int64_t> &atoms) {
        used |= llvm::is_contained(atoms, atom);
        llvm::erase(atoms, atom);
      };
      forget(parts.filter);
      for (StructuredParts::Input &input : parts.inputs)
        forget(input.guards);
      Value condition =
          op.getGuards().front().getTerminator()->getOperand(atom);
      if (!used || !matchPattern(condition, m_One()))
        continue;
      StructuredOpInterface freed = parts.create(rewriter, op.getLoc());
      rewriter.inlineRegionBefore(op.getGuards(), freed.getGuards(),
                                  freed.getGuards().end());
      rewriter.inlineRegionBefore(op.getBody(), freed.getBody(),
                                  freed.getBody().end());
      rewriter.setInsertionPointToStart(&freed.getBody().front());
      rewriter.replaceAllUsesWith(
          argument, arith::ConstantIntOp::create(rewriter, op.getLoc(),
                                                 rewriter.getI1Type(), 1));
      rewriter.replaceOp(op, freed->getResults());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no guard always holds");
  }
};

struct ReplaceMapThatRepeatsItsInput : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MapOp op,
                                PatternRewriter &rewriter) const final {
    auto yielded = dyn_cast<BlockArgument>(
        op.getBody().front().getTerminator()->getOperand(0));
    if (!yielded || yielded.getOwner()->getParentOp() != op)
      return rewriter.notifyMatchFailure(op, "computes something");
    auto structured = cast<StructuredOpInterface>(op.getOperation());
    unsigned input = yielded.getArgNumber();
    if (input >= op.getInputs().size() ||
        !structured.getGuardsOfInput(input).empty())
      return rewriter.notifyMatchFailure(
          op, "yields a condition or a guarded element");
    for (unsigned i = 0, e = op.getInputs().size(); i != e; ++i)
      if (structured.getAccess(i).hasGather())
        return rewriter.notifyMatchFailure(op,
                                           "a gather is checked at run time");
    AffineMap map =
        structured.getAccess(input).getMap(structured.getNumIterators());
    if (!map.isIdentity() ||
        op.getInputs()[input].getType() != op.getResult(0).getType())
      return rewriter.notifyMatchFailure(op, "moves elements");
    for (Operation *user : op->getUsers())
      if (isa<ReturnOp>(user))
        return rewriter.notifyMatchFailure(op, "fills a result of the kernel");
    rewriter.replaceOp(op, op.getInputs()[input]);
    return success();
  }
};

struct SimplifyKernelPass
    : facet::kernel::impl::SimplifyKernelPassBase<SimplifyKernelPass> {
  using Base::Base;

  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns
        .add<DropInputNobodyReads, ReadEqualInputsOnce, DropGuardsNobodyUses,
             ForgetGuardThatAlwaysHolds, ReplaceMapThatRepeatsItsInput>(
            &getContext());
    if (mergeMaps)
      populateMergeMaps(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation().walk([](StructuredOpInterface op) { bringConstantsIn(op); });
  }
};
} // namespace
