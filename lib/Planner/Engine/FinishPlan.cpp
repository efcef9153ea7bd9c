//===- FinishPlan.cpp - what follows from the blocks of a contraction -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Once blocks and rings are chosen, the rest of a plan needs no search: each choice
// compares two prices.
//
//   1024 x 1024 x 1024 bf16, blocks of 512 x 512, parts of 128 along k
//     a block's products take 6.9 us, emptying and storing it 2.4 us on vector and
//     scalar: tile by tile, the last 512 of k tile after tile, so that only the last
//     tile's way out follows the products
//   16 products of 1024 x 1024 x 64
//     0.9 us against 2.4 us: scalar copies a tile of four, and four leave at once
//
//===----------------------------------------------------------------------===//

#include "FinishPlan.h"
#include "Prices.h"
#include "VerifyPlan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

namespace {

class Finish {
public:
  Finish(const Problem &problem, ContractionAttr plan, const Machine &machine,
         const Wishes &wishes)
      : problem(problem), plan(plan), machine(machine), wishes(wishes),
        prices(machine), rows(problem.factor(plan.getStationary())),
        columns(problem.factor(plan.getMoving())),
        inner(otherSide(plan.getOuter())), depth(plan.getDepthBlock()),
        slots{plan.getASlots(), plan.getBSlots()}, evict(plan.getEvict()) {}
  ContractionAttr run();

private:
  /// Whether what is chosen so far fits, with room for what follows the sums.
  bool fits() const;
  /// A transfer of the inner factor: `steps` steps of a block.
  Move innerLoad(int64_t steps) const;
  void chooseBatch();
  void chooseWhole();
  void chooseSlots();
  void chooseUnroll();
  void chooseDepths();
  void chooseStaying();
  void chooseWarmUp();
  void chooseExits();
  void chooseRuns();
  double blockTime() const;
  /// Results of a partition, if all of them stay in SBUF.
  int64_t keptBytes() const {
    int64_t width = problem.factor(plan.getMoving()).extent;
    int64_t height = problem.factor(plan.getStationary()).extent;
    return llvm::divideCeil(height, plan.getRowTile()) *
           llvm::alignTo(width, plan.getColumnBlock()) * 4;
  }
  ContractionAttr made() const {
    return ContractionAttr::get(
        plan.getContext(), plan.getStationary(), plan.getOuter(),
        plan.getStays(), plan.getRowTile(), plan.getColumnTile(),
        plan.getRowBlock(), plan.getColumnBlock(), depth, slots[0], slots[1],
        plan.getSumSlots(), plan.getResultSlots(), unroll, plan.getALoad(),
        plan.getBLoad(), evict, doubleRow, firstDepth, lastDepth, warmUp,
        scalarTiles, storeTiles, kRuns, batchBlock, whole, plan.getSumDepth(),
        gpsimdStores, endDepth, keepsResults);
  }

  const Problem &problem;
  ContractionAttr plan;
  const Machine &machine;
  const Wishes &wishes;
  Prices prices;
  const Factor &rows, &columns;
  Side inner;
  int64_t depth, slots[2];
  int64_t unroll = 1, firstDepth = 0, lastDepth = 0, endDepth = 0, warmUp = 0;
  int64_t scalarTiles = 0, storeTiles = 1;
  int64_t batchBlock = 1;
  QueueKind evict;
  bool doubleRow = false, kRuns = false, whole = false, gpsimdStores = false,
       keepsResults = false;
};

} // namespace

/// The products of one block, without waiting.
double Finish::blockTime() const {
  int64_t steps = problem.steps(machine);
  if (doubleRow)
    steps = llvm::divideCeil(steps, 2);
  return double(batchBlock * steps * plan.getRowTiles() *
                plan.getColumnTiles()) *
         prices.matmul(rows.type, plan.getRowTile(), plan.getColumnTile()).port;
}

/// The way back of a loop hides behind a wide product; narrow ones are written out.
void Finish::chooseUnroll() {
  double product =
      prices.matmul(columns.type, plan.getRowTile(), plan.getColumnTile()).port;
  double back = double(machine.core.loopBackPs) / 1e3 +
                prices.loadWeights(rows.type, plan.getRowTile()).done;
  unroll = wishes.unroll.value_or(product >= back ? 2 : 16);
}

/// Small products of a batch share transfers and banks of sums, up to half of PSUM.
void Finish::chooseBatch() {
  if (problem.batch.empty() || plan.getSumDepth())
    return;
  int64_t perTile =
      std::max<int64_t>(1, widestTile(machine) / plan.getColumnTile());
  int64_t tiles = std::max<int64_t>(1, plan.getSumSlots() / 2);
  batchBlock = std::min(perTile * tiles, problem.batchExtents.back());
  while (batchBlock > 1 && !fits())
    batchBlock /= 2;
  batchBlock = std::max<int64_t>(1, batchBlock);
  // Where the array waits for data, what follows the last transfer should be little:
  // one product less in each block leaves as many for the last one as there are blocks.
  int64_t count = problem.batchExtents.back(), blocks = count / batchBlock;
  if (batchBlock > 1 && count % batchBlock == 0 && blocks > 1 &&
      blocks < batchBlock &&
      innerLoad(problem.steps(machine) * batchBlock).busy > blockTime())
    --batchBlock;
}

Move Finish::innerLoad(int64_t steps) const {
  return prices.load(problem.factor(inner), plan.getLoad(inner),
                     QueueKind::Sync,
                     std::min(problem.depth, machine.tensor.rows), steps,
                     inner == plan.getStationary() ? plan.getRowBlock()
                                                   : plan.getColumnBlock());
}

/// Where what stays is less than one transfer of what passes, it comes at once, and
/// the other in the smallest transfers that keep the DMA at its rate.
void Finish::chooseWhole() {
  Side outer = plan.getOuter();
  const Factor &stays = problem.factor(outer), &passes = problem.factor(inner);
  int64_t staysBlock = outer == plan.getStationary() ? plan.getRowBlock()
                                                     : plan.getColumnBlock();
  int64_t passesBlock = outer == plan.getStationary() ? plan.getColumnBlock()
                                                      : plan.getRowBlock();
  if (!plan.getStays() || plan.getLoad(outer) != Load::Copy ||
      wishes.depthBlock || wishes.slots[Side::A] || wishes.slots[Side::B] ||
      staysBlock * problem.depth * stays.bytes() >
          passesBlock * depth * passes.bytes())
    return;
  int64_t steps = 1;
  double rate = double(machine.dma.sustainedMBs) / 1e3; // bytes per ns
  for (Move move = innerLoad(1); move.busy > 1.001 * move.bytes / rate &&
                                 steps * machine.tensor.rows < depth;
       move = innerLoad(steps))
    ++steps;
  int64_t oldDepth = depth, oldInner = slots[unsigned(inner)];
  whole = true;
  depth = steps * machine.tensor.rows;
  slots[unsigned(inner)] = oldInner * (oldDepth / depth);
  slots[unsigned(outer)] = 2;
  while (!fits() && slots[unsigned(inner)] > oldInner)
    --slots[unsigned(inner)];
  if (fits())
    return;
  whole = false;
  depth = oldDepth;
  slots[0] = plan.getASlots();
  slots[1] = plan.getBSlots();
}

/// Short ones come often: eight slots of each keep several on their way.
void Finish::chooseSlots() {
  for (unsigned side : {unsigned(inner), 1 - unsigned(inner)})
    while (!wishes.slots[Side(side)] && slots[side] < 8) {
      ++slots[side];
      if (fits())
        continue;
      --slots[side];
      break;
    }
}

bool Finish::fits() const {
  if (misfitOf(problem, made(), machine, wishes.registers))
    return false;
  // The rest is for results and what follows the sums.
  int64_t steps = problem.steps(machine), bytes = 0;
  for (Side side : {Side::A, Side::B})
    bytes += slots[unsigned(side)] * batchBlock *
             (whole && side != inner
                  ? steps
                  : std::min(steps, depth / machine.tensor.rows)) *
             (side == plan.getStationary() ? plan.getRowBlock()
                                           : plan.getColumnBlock()) *
             problem.factor(side).bytes();
  return bytes <= machine.sbuf.partitionBytes * wishes.sbufEighths / 8;
}

/// Products begin when the first part of k is there. The last part goes tile by tile:
/// when a tile takes at least as long there as it takes to empty, only the last one's
/// way out follows the products.
void Finish::chooseDepths() {
  int64_t unit = machine.tensor.rows * (doubleRow ? 2 : 1);
  auto choose = [&](int64_t &what, int64_t value) {
    int64_t before = what;
    what = value;
    if (!fits())
      what = before;
  };
  // What the array waits for should end soon after the last transfer. Short ones cost
  // the DMA time, so that only the last block has one where it can stand apart.
  bool waits = innerLoad(problem.steps(machine)).busy > blockTime();
  if (depth > unit && waits && whole && problem.outerComesOnce(plan) &&
      !plan.getSumDepth()) {
    choose(endDepth, unit);
    keepsResults = endDepth && keptBytes() <= machine.sbuf.partitionBytes / 8;
    if (endDepth)
      return;
  }
  if (depth > unit)
    choose(firstDepth, unit);
  if (waits) {
    if (depth > unit)
      choose(lastDepth, unit);
    return;
  }
  Type type = Float32Type::get(plan.getContext());
  double empty = prices.evict(plan.getEvict(), type, plan.getColumnTile()).port;
  double step =
      prices.matmul(rows.type, plan.getRowTile(), plan.getColumnTile()).port *
      double(plan.getColumnTiles());
  int64_t wanted = unit * int64_t(empty / step + 1);
  if (wanted > depth && problem.depth > wanted)
    choose(lastDepth, wanted);
}

/// One queue brings both factors of sums in parts: it must not wait with the next
/// block's parts until those of this one are done with, or what passes waits as well.
void Finish::chooseStaying() {
  Side outer = plan.getOuter();
  if (!plan.getSumDepth() || !plan.getStays() || whole || wishes.slots[outer])
    return;
  int64_t groups = made().getGroups(problem.depth, machine.tensor.rows).size();
  int64_t &mine = slots[unsigned(outer)], before = mine;
  mine = std::max(mine, 2 * groups);
  if (!fits())
    mine = before;
}

/// As many products of zeros as fit before the first data.
void Finish::chooseWarmUp() {
  if (!machine.tensor.clockWindow)
    return;
  int64_t step = std::min(problem.depth, machine.tensor.rows);
  Move load = prices.load(rows, plan.getLoad(plan.getStationary()),
                          QueueKind::Sync, step, 1, plan.getRowBlock());
  double data = load.alone() + prices.hop(true);
  // Vector writes the zeros first.
  double zeros = prices
                     .evict(QueueKind::Vector, columns.type,
                            std::max(plan.getRowTile(), plan.getColumnTile()))
                     .done +
                 prices.hop(false);
  double product = prices
                       .matmul(columns.type, plan.getRowTile(),
                               plan.getColumnTile(), /*slow=*/true)
                       .port;
  if (data > zeros)
    warmUp = int64_t((data - zeros) / product);
}

/// Copies out of PSUM and triggers of stores, by vector and scalar: what takes longest
/// for a block counts for all blocks, and how long the last one takes to leave counts
/// once.
void Finish::chooseExits() {
  if (plan.getSumDepth())
    return; // one engine empties all parts
  if (!problem.contraction.isOnlyRounded())
    return;
  Operation *op = problem.contraction.op();
  if (problem.contraction.epilogue)
    op = kernel::MapOp(problem.contraction.epilogue->map);
  Type type =
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  if (!dtypeOf(type))
    return;
  int64_t tiles = sumTiles(made(), machine);
  int64_t width = batchBlock == 1 ? plan.getColumnTile()
                                  : widestTile(machine) / plan.getColumnTile() *
                                        plan.getColumnTile();
  double vector = prices.evict(QueueKind::Vector, type, width).port;
  double scalar = prices.evict(QueueKind::Scalar, type, width).port;
  Move store = prices.store(type, plan.getRowTile(), width, /*dense=*/true);
  Move gpsimd = prices.store(type, plan.getRowTile(), width, /*dense=*/true,
                             QueueKind::Gpsimd);
  double products = blockTime();
  double blocks =
      double(llvm::divideCeil(rows.extent, plan.getRowBlock()) *
             llvm::divideCeil(columns.extent, plan.getColumnBlock()));
  for (int64_t extent : problem.batchExtents)
    blocks *= double(extent);
  blocks = std::max(1.0, blocks / double(batchBlock));
  // Tiles of the last part end one after the other, those of a row at once.
  int64_t lastSteps =
      plan.getColumnTiles() > 1
          ? 0
          : made().getGroups(problem.depth, machine.tensor.rows).back();
  double apart = double(lastSteps) *
                 prices.matmul(rows.type, plan.getRowTile(), width).port;
  int64_t perRow = plan.getRowTiles() > 1 && plan.getColumnTiles() > 1
                       ? plan.getColumnTiles()
                       : tiles;
  double passes = double(tiles) * store.busy +
                  innerLoad(problem.steps(machine) * batchBlock).busy;
  // Sync stores what vector copies of the last block, and all that was kept.
  auto time = [&](int64_t onScalar, int64_t together, bool byGpsimd) {
    bool both = onScalar > 0 && onScalar < tiles;
    double vectorAt = 0, scalarAt = 0, vectorBusy = 0, scalarBusy = 0;
    double gpsimdAt = 0, gpsimdBusy = 0, syncAt = 0;
    SmallVector<std::pair<double, double>> left;
    int64_t open[2] = {0, 0};
    for (int64_t i = 0; i < tiles; ++i) {
      bool mine = i < onScalar;
      double &at = mine ? scalarAt : vectorAt;
      double cost = mine ? scalar : vector;
      at = std::max(at, double(i) * apart) + cost;
      (mine ? scalarBusy : vectorBusy) += cost;
      bool isLast = i + 1 == tiles || i + 1 == onScalar;
      if (++open[mine] < together && !isLast)
        continue;
      // Tiles below each other do not follow each other in HBM.
      int64_t first = (i + 1 - open[mine]) / perRow, last = i / perRow;
      bool software = byGpsimd && !mine;
      double issue =
          (software ? gpsimd.issue : store.issue) * double(last - first + 1);
      open[mine] = 0;
      if (keepsResults && !mine) {
        syncAt = std::max(syncAt, at) + issue;
        continue;
      }
      if (software) {
        gpsimdBusy += issue;
        gpsimdAt = std::max(gpsimdAt, at) + issue;
        continue;
      }
      scalarBusy += issue;
      if (both)
        left.push_back({at, issue});
      else
        scalarAt = std::max(scalarAt, at) + issue;
    }
    for (auto [ready, issue] : left)
      scalarAt = std::max(scalarAt, ready) + issue;
    if (byGpsimd)
      scalarAt = std::max(scalarAt, gpsimdAt + gpsimd.latency - store.latency);
    double end = std::max(scalarAt, syncAt) - double(tiles - 1) * apart +
                 double(together) * store.busy;
    return blocks * std::max({products, passes, vectorBusy, scalarBusy,
                              gpsimdBusy}) +
           end;
  };
  // What a schedule says about the engine stays.
  int64_t least = wishes.evict == QueueKind::Scalar ? tiles : 0;
  int64_t most = wishes.evict == QueueKind::Vector ? tiles - 1 : tiles;
  double best = 0;
  for (int64_t onScalar = least; onScalar <= most; ++onScalar)
    for (int64_t together = 1; together <= tiles; ++together)
      for (bool byGpsimd : {false, true}) {
        if (byGpsimd && (onScalar == 0 || onScalar == tiles || keepsResults))
          continue;
        double now = time(onScalar, together, byGpsimd);
        if (best != 0 && now >= best)
          continue;
        best = now;
        evict = onScalar == tiles ? QueueKind::Scalar : QueueKind::Vector;
        scalarTiles = onScalar == tiles ? 0 : onScalar;
        storeTiles = together;
        gpsimdStores = byGpsimd;
      }
}

/// Rows of a factor that is narrow enough to be one block follow one another in HBM;
/// several of them make a packet that is worth its fixed time.
void Finish::chooseRuns() {
  auto isRun = [&](const Factor &factor, int64_t block) {
    return !factor.kIsDense && (factor.isDense || factor.extent == 1) &&
           block >= factor.extent;
  };
  // The gap between packets, in bytes at the rate of an engine.
  double gap =
      double(machine.dma.packetGapPs) * double(machine.dma.rateMBs) / 1e6;
  auto isShort = [&](const Factor &factor) {
    return double(factor.extent * factor.bytes()) < 16 * gap;
  };
  kRuns = plan.getALoad() == Load::Copy && plan.getBLoad() == Load::Copy &&
          !problem.a.kIsDense && !problem.b.kIsDense &&
          ((isRun(rows, plan.getRowBlock()) && isShort(rows)) ||
           (isRun(columns, plan.getColumnBlock()) && isShort(columns)));
}

ContractionAttr Finish::run() {
  doubleRow = canDoubleRow(problem, machine);
  chooseBatch();
  chooseWhole();
  chooseSlots();
  chooseUnroll();
  chooseDepths();
  chooseStaying();
  chooseWarmUp();
  chooseExits();
  chooseRuns();
  return made();
}

ContractionAttr engine::finishPlan(const Problem &problem, ContractionAttr plan,
                                   const Machine &machine,
                                   const Wishes &wishes) {
  return Finish(problem, plan, machine, wishes).run();
}
