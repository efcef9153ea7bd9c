//===- Scratch.cpp - what a contraction keeps in the workspace -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The panels of a block, the sums of columns and the sums between blocks of k:
//
//   b: [threads] × min(N, NC) rounded up to NR × steps of a block of k
//
// once for each task that runs at a time, where tasks do not share them.
//
//===----------------------------------------------------------------------===//

#include "CpuForm.h"
#include "facet/Dialect/Kernel/IR/Operations.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

static loops::Workspace::Extent extentOf(StructuredOpInterface op, unsigned i) {
  OpFoldResult mixed = op.getMixedExtents()[i];
  return [mixed](Frame &f) { return f.num(f.extent(mixed)); };
}

/// One array for each task that runs at a time.
static Num eachThread(Frame &f) { return f.num(f.threads); }

/// At most `block` of an extent, rounded up to `unit`.
static loops::Workspace::Extent blockOf(loops::Workspace::Extent extent,
                                        int64_t block, int64_t unit) {
  return [=](Frame &f) {
    Num count = loops::min(extent(f), f.i64(block));
    return loops::quotient(count + (unit - 1), unit) * unit;
  };
}

/// Scratch for a packed block: at most `block` of `outer`, rounded up to `unit`,
/// times a block of `k`, whose innermost iterator comes in groups.
unsigned CpuForm::addPanel(ContractionStage &stage,
                           std::optional<unsigned> outer, int64_t block,
                           int64_t unit, llvm::ArrayRef<unsigned> k) {
  kernel::ReduceOp reduce = stage.contraction.reduce;
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  int64_t group = MicroKernelOp::groupSize(stage.plan.getDot());
  int64_t depth = stage.plan.getDepthBlock();
  loops::Workspace::Extent single = [](Frame &f) { return f.i64(1); };
  std::vector<loops::Workspace::Extent> dims;
  if (stage.plan.getSplit() != Split::None)
    dims.push_back(eachThread);
  dims.push_back(blockOf(outer ? extentOf(op, *outer) : single, block, unit));
  std::vector<loops::Workspace::Extent> words;
  for (unsigned i : k)
    words.push_back([=, extent = extentOf(op, i), isFirst = i == k.front(),
                     isLast = i == k.back()](Frame &f) {
      Num count = extent(f);
      if (isFirst && depth)
        count = loops::min(count, f.i64(depth));
      return isLast ? loops::quotient(count + (group - 1), group) : count;
    });
  appendDepth(dims, std::move(words), groupsPerStep(stage.plan.getDot()));
  return workspace.add(loops::elementType(reduce.getResult(0)),
                       std::move(dims));
}

void cpu::appendDepth(std::vector<loops::Workspace::Extent> &dims,
                      std::vector<loops::Workspace::Extent> words,
                      int64_t unit) {
  if (unit == 1 || words.empty()) {
    llvm::append_range(dims, words);
    return;
  }
  dims.push_back([=](Frame &f) {
    Num product = f.i64(1);
    for (const loops::Workspace::Extent &extent : words)
      product = product * extent(f);
    return loops::quotient(product + (unit - 1), unit) * unit;
  });
}

void CpuForm::addPanels(ContractionStage &stage) {
  const Contraction &c = stage.contraction;
  ContractionAttr plan = stage.plan;
  kernel::ReduceOp reduce = c.reduce;
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  if (plan.packsB())
    stage.bSlot = addPanel(stage, c.n.back(), plan.getColumnBlock(),
                           plan.getColumns(), c.k);
  if (stage.shiftsA && !plan.getConstant())
    stage.columnSumsSlot = addPanel(stage, c.n.back(), plan.getColumnBlock(),
                                    plan.getColumns(), /*k=*/{});
  if (plan.packsA()) {
    std::optional<unsigned> iterator;
    if (!c.m.empty())
      iterator = c.m.back();
    stage.aSlot =
        addPanel(stage, iterator, plan.getRowBlock(), plan.getRows(), c.k);
  }
  if (isTile(plan.getDot())) {
    std::vector<loops::Workspace::Extent> dims;
    if (plan.getSplit() != Split::None)
      dims.push_back(eachThread);
    int64_t sums = plan.getRows() * plan.getColumns();
    dims.push_back([sums](Frame &f) { return f.i64(sums); });
    stage.sumsSlot =
        workspace.add(loops::elementType(reduce.getResult(0)), std::move(dims));
  }
  if (!plan.getDepthBlock() || !stage.epilogue)
    return;
  std::optional<int64_t> k = kernel::knownExtent(op, c.k.front());
  if (k && *k <= plan.getDepthBlock())
    return;
  std::vector<loops::Workspace::Extent> dims;
  if (plan.getSplit() == Split::N) // tasks that share rows out share the sums
    dims.push_back(eachThread);
  for (unsigned i : c.m)
    dims.push_back(extentOf(op, i));
  dims.push_back(blockOf(extentOf(op, c.n.back()), plan.getColumnBlock(),
                         plan.getColumns()));
  stage.partialSlot =
      workspace.add(loops::elementType(reduce.getResult(0)), std::move(dims));
}
