//===- LongLoops.cpp - loops that carry sums are long ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM takes every loop of unknown length for one of some thirty steps:
//
//   for s < depth: 24 sums += a·b        1 step of 30
//   for each tile, row: y = gelu(sum)    30 · 30 steps, with 13 constants
//
// so its register allocator keeps the constants of the epilogue in registers and the
// sums in memory: for a linear layer with gelu in bf16, 16 of 24 sums were loaded and
// stored in each step. The loop that carries the sums is the long one.
//
//===----------------------------------------------------------------------===//

#include "LongLoops.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;

/// The loop of a product carries this many vectors; chains of a reduction are fewer.
static constexpr unsigned fewestSums = 4;
/// Steps, about: those of a sum over a thousand.
static constexpr uint32_t steps = 1000;

static bool carriesSums(const BasicBlock &block) {
  return count_if(block.phis(), [](const PHINode &carried) {
           return carried.getType()->isVectorTy();
         }) >= fewestSums;
}

/// Marks the branch of `header` that stays in its loop.
static void mark(BasicBlock &header, const LoopInfo &loops) {
  auto *branch = dyn_cast<BranchInst>(header.getTerminator());
  const Loop *loop = loops.getLoopFor(&header);
  if (!branch || !branch->isConditional() || !loop ||
      loop->getHeader() != &header)
    return;
  bool first = loop->contains(branch->getSuccessor(0));
  if (first == loop->contains(branch->getSuccessor(1)))
    return;
  branch->setMetadata(
      LLVMContext::MD_prof,
      MDBuilder(header.getContext())
          .createBranchWeights(first ? steps : 1, first ? 1 : steps));
}

void facet::markLongLoops(Module &module) {
  for (Function &function : module) {
    SmallVector<BasicBlock *> headers;
    for (BasicBlock &block : function)
      if (carriesSums(block))
        headers.push_back(&block);
    if (headers.empty())
      continue;
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    for (BasicBlock *header : headers)
      mark(*header, loops);
  }
}
