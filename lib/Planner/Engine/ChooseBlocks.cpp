//===- ChooseBlocks.cpp - blocks, order and rings of one contraction ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tries what is worth trying, a few hundred plans at most, and keeps the one for which
// the cost model predicts the least time:
//
//   which factor is stationary, which one the outer loop runs over, whether its blocks
//   stay; blocks of 1, 2, 4, … tiles or of a whole part of them, columns as wide as a
//   bank or all alike; k in up to 16 parts; which engine empties PSUM
//
// Rings are as deep as SBUF allows, and as is of use. A schedule narrows the search:
// what it says is the only value tried.
//
//===----------------------------------------------------------------------===//

#include "ChooseBlocks.h"
#include "CostModel.h"
#include "FinishPlan.h"
#include "VerifyPlan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using llvm::divideCeil;

namespace {

class Search {
public:
  Search(const Problem &problem, const Machine &machine, const Wishes &wishes)
      : problem(problem), machine(machine), wishes(wishes) {}
  ContractionAttr run();
  std::string misfit;

private:
  void tryOrders(Choices choices);
  void tryBlocks(const Choices &choices);
  void tryDepths(Choices choices);
  void tryRings(Choices choices);
  void judge(const Choices &choices);

  const Problem &problem;
  const Machine &machine;
  const Wishes &wishes;
  ContractionAttr best;
  double bestScore = 0;
};

} // namespace

template <typename T>
static SmallVector<T> options(const std::optional<T> &wish,
                              std::initializer_list<T> all) {
  return wish ? SmallVector<T>{*wish} : SmallVector<T>(all);
}

ContractionAttr Search::run() {
  // Sums whose rows are not rows of the result leave element by element: never worth
  // while, so that it is done on demand only.
  for (Side stationary :
       options(wishes.stationary, {otherSide(problem.last)})) {
    Choices choices;
    choices.stationary = stationary;
    Side moving = otherSide(stationary);
    auto tile = [&](Side side, int64_t most) {
      choices.tile[side] = wishes.tile[side].value_or(
          std::min(problem.factor(side).extent, most));
    };
    tile(stationary, machine.tensor.columns);
    for (Side side : {Side::A, Side::B})
      choices.load[side] = wishes.load[side].value_or(
          problem.factor(side).canTranspose() ? Load::Transpose : Load::Copy);
    choices.sumDepth = problem.sumDepth(machine);
    choices.sumSlots = wishes.sumSlots.value_or(machine.psum.banks);
    // Steps written out: enough that the loop's way back is no hundredth.
    choices.unroll = wishes.unroll.value_or(16);
    // As wide as they can be, or all of one width: a sliver at the end would take as
    // long as its weights take to load.
    int64_t extent = problem.factor(moving).extent, most = widestTile(machine);
    tile(moving, most);
    tryOrders(choices);
    int64_t equal = divideCeil(extent, divideCeil(extent, most));
    if (!wishes.tile[moving] && !wishes.block[moving] && equal < most &&
        extent > most) {
      tile(moving, equal);
      tryOrders(choices);
    }
  }
  return best;
}

void Search::tryOrders(Choices choices) {
  // Vector has what follows the sums of all parts.
  std::optional<QueueKind> wished = wishes.evict;
  if (choices.sumDepth && !wished)
    wished = QueueKind::Scalar;
  for (QueueKind evict :
       options(wished, {QueueKind::Vector, QueueKind::Scalar}))
    for (Side outer : options(wishes.outer, {Side::B, Side::A}))
      for (bool stays : options(wishes.stays, {true, false})) {
        choices.evict = evict;
        choices.outer = outer;
        choices.stays = stays;
        if (stays && !wishes.stays && !problem.outer.empty())
          continue;
        tryBlocks(choices);
      }
}

void Search::tryBlocks(const Choices &choices) {
  // Half of PSUM for the block that is summed, half for the one that is emptied.
  int64_t most = std::max<int64_t>(1, choices.sumSlots / 2);
  auto tilesOf = [&](Side side) {
    if (wishes.block[side])
      return SmallVector<int64_t>{*wishes.block[side] / choices.tile[side]};
    SmallVector<int64_t> counts;
    int64_t all = divideCeil(problem.factor(side).extent, choices.tile[side]);
    for (int64_t count = 1; count <= std::min(most, all); ++count)
      if (llvm::isPowerOf2_64(count) || all % count == 0)
        counts.push_back(count);
    return counts;
  };
  for (Side side : {Side::A, Side::B})
    if (wishes.block[side] && *wishes.block[side] % choices.tile[side] != 0) {
      misfit = "a block of " + std::to_string(*wishes.block[side]) +
               (side == choices.stationary ? " rows" : " columns") +
               " is no whole number of tiles of " +
               std::to_string(choices.tile[side]);
      return;
    }
  bool isOpen = !wishes.block[Side::A] || !wishes.block[Side::B];
  for (int64_t aTiles : tilesOf(Side::A))
    for (int64_t bTiles : tilesOf(Side::B)) {
      if (isOpen && aTiles * bTiles > most)
        continue;
      Choices next = choices;
      next.block[Side::A] = aTiles * next.tile[Side::A];
      next.block[Side::B] = bTiles * next.tile[Side::B];
      if (next.blockTiles() > next.sumSlots) {
        misfit = "a block of " + std::to_string(next.blockTiles()) +
                 " tiles; there are " + std::to_string(next.sumSlots) +
                 " for sums";
        continue;
      }
      tryDepths(next);
    }
}

void Search::tryDepths(Choices choices) {
  int64_t steps = problem.steps(machine), before = 0;
  if (wishes.depthBlock) {
    choices.depthBlock = *wishes.depthBlock;
    return tryRings(choices);
  }
  // Parts that stay are held open at once, and each takes a ring register.
  for (int64_t parts : {8, 4, 2, 1, 16, 32}) {
    int64_t groupSteps = divideCeil(steps, parts);
    if (groupSteps == before)
      continue;
    before = groupSteps;
    choices.depthBlock = groupSteps * machine.tensor.rows;
    tryRings(choices);
  }
}

/// As many slots as are of use, fewer where SBUF does not hold them.
void Search::tryRings(Choices choices) {
  Side outer = choices.outer, inner = otherSide(outer);
  int64_t groups = divideCeil(problem.depth, choices.depthBlock);
  int64_t groupSteps = divideCeil(choices.depthBlock, machine.tensor.rows);
  auto bytes = [&](Side side) {
    return choices.slots[side] * groupSteps * choices.block[side] *
           problem.factor(side).bytes();
  };
  // The rest is for tiles of the epilogue.
  int64_t budget = machine.sbuf.partitionBytes * wishes.sbufEighths / 8;
  auto shrink = [&](Side side, int64_t least) {
    while (!wishes.slots[side] && bytes(Side::A) + bytes(Side::B) > budget &&
           choices.slots[side] > least)
      --choices.slots[side];
  };
  if (choices.stays) {
    choices.slots[outer] =
        wishes.slots[outer].value_or(std::max<int64_t>(2 * groups, 4));
    choices.slots[inner] = wishes.slots[inner].value_or(
        std::max<int64_t>(groups + std::min<int64_t>(groups, 4), 6));
    shrink(inner, 4);
    shrink(outer, groups + 1);
    shrink(inner, 2);
    shrink(outer, groups);
  } else {
    for (Side side : {inner, outer})
      choices.slots[side] = wishes.slots[side].value_or(6);
    for (Side side : {inner, outer})
      shrink(side, 2);
  }
  for (int64_t slots : options<int64_t>(wishes.resultSlots, {4, 8})) {
    choices.resultSlots = slots;
    judge(choices);
  }
}

void Search::judge(const Choices &choices) {
  ContractionAttr plan = choices.get(problem.a.type.getContext());
  if (std::optional<std::string> wrong =
          misfitOf(problem, plan, machine, wishes.registers)) {
    misfit = *wrong;
    return;
  }
  StageCost cost = costOf(problem, plan, machine);
  // Where the array does not take longest, it matters how the plan is finished: who
  // empties PSUM, how many tiles leave and how many products of a batch come at once.
  double others = std::max({cost.vector, cost.scalar, cost.dma});
  if (problem.contraction.isOnlyRounded() && !plan.getSumDepth() &&
      (!problem.batch.empty() || others > cost.tensor) &&
      (!best || cost.total() < 1.5 * bestScore))
    cost = costOf(problem, finishPlan(problem, plan, machine, wishes), machine);
  // Of plans that take the same time, the one that moves less and whose engines have
  // more time to spare.
  double score =
      cost.total() + (cost.dma + std::max(cost.vector, cost.scalar)) / 64;
  if (best && score >= bestScore)
    return;
  best = plan;
  bestScore = score;
}

ContractionAttr engine::chooseBlocks(const Problem &problem,
                                     const Machine &machine,
                                     const Wishes &wishes,
                                     std::string *misfit) {
  Search search(problem, machine, wishes);
  ContractionAttr best = search.run();
  if (!best && misfit)
    *misfit = search.misfit;
  return best ? finishPlan(problem, best, machine, wishes) : best;
}
