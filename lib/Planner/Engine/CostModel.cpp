//===- CostModel.cpp - how long a contraction takes on an engine ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the instructions of a plan by kind, prices one of each kind (Prices.h), and
// takes the engine that has most to do; what is not hidden behind it is added:
//
//   4096 x 4096 x 4096 bf16, blocks of 512 x 512
//     tensor  32 · 32 · 8 matmuls of 215.9 ns     1769 us
//     DMA     32 MiB once, 32 MiB eight times, …   1000 us
//     begin   the first transfers                  4 us
//
// Engines are taken to overlap as far as the rings allow, which is what they do in
// the simulator once the first block is there (docs/Rationale/Engine.md has the
// measured error).
//
//===----------------------------------------------------------------------===//

#include "CostModel.h"
#include "Prices.h"
#include "VerifyPlan.h"
#include "facet/Dialect/Kernel/IR/Operations.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

double StageCost::total() const {
  double tensorTime = begin + waiting + tensor + end;
  return std::max({tensorTime, start + dma + drain + end, begin + turns + end,
                   begin + vector + end, begin + scalar + end, begin + sync,
                   begin + gpsimd});
}

llvm::StringRef StageCost::limit() const {
  std::pair<double, llvm::StringRef> times[] = {{waiting + tensor, "tensor"},
                                                {dma, "DMA"},
                                                {turns, "rings"},
                                                {vector, "vector"},
                                                {scalar, "scalar"},
                                                {sync, "sync"},
                                                {gpsimd, "gpsimd"}};
  return std::max_element(std::begin(times), std::end(times),
                          [](auto &x, auto &y) { return x.first < y.first; })
      ->second;
}

namespace {

/// Equal parts of an extent, and the one that is left.
struct Parts {
  int64_t size, whole, rest;
  Parts(int64_t extent, int64_t size)
      : size(size), whole(extent / size), rest(extent % size) {}
  double count() const { return double(whole + (rest != 0)); }
  /// Σ of value(size) over the parts.
  template <typename Value>
  double sum(Value value) const {
    return (whole ? double(whole) * value(size) : 0) + (rest ? value(rest) : 0);
  }
};

class Model {
public:
  Model(const Problem &problem, ContractionAttr plan, const Machine &machine)
      : problem(problem), plan(plan), machine(machine), prices(machine),
        rows(problem.factor(plan.getStationary())),
        columns(problem.factor(plan.getMoving())),
        rowBlocks(rows.extent, plan.getRowBlock()),
        columnBlocks(columns.extent, plan.getColumnBlock()) {}
  StageCost cost();

private:
  double blockTime(int64_t height, int64_t width) const;
  double clockLoss(double busy) const;
  /// Steps along k that the array makes, two of 8-bit factors at once.
  double steps() const {
    int64_t steps = problem.steps(machine);
    return double(canDoubleRow(problem, machine) ? llvm::divideCeil(steps, 2)
                                                 : steps);
  }
  /// Products of the last block of the batch.
  int64_t lastBatch() const {
    int64_t batch = plan.getBatchBlock();
    return batch == 1 ? 1 : (problem.batchExtents.back() - 1) % batch + 1;
  }
  void countLoads();
  void countResults();
  void countCopies(Type type);
  void countInputs();
  void countParts();
  void countWaiting();

  const Problem &problem;
  ContractionAttr plan;
  const Machine &machine;
  Prices prices;
  const Factor &rows, &columns;
  Parts rowBlocks, columnBlocks;
  StageCost result;

  double repeats = 1;    ///< of all blocks, by the batch
  double rounds = 1;     ///< of all transfers: fewer where they are shared
  double outerTrips = 1; ///< of a block's k, by the other axes of the sum
  double groups = 1;
  double lastGroup = 1;      ///< share of the last one of k
  double fullGroups = 1;     ///< of the longest, as many as k has room for
  Move outerLoad, innerLoad; ///< of one whole group
  double outerBlocks = 1, innerBlocks = 1;
  double wholeBlock = 0; ///< products of one, ns
};

} // namespace

/// One step along k of a block: weights of a tile of rows load while those before
/// stream.
double Model::blockTime(int64_t height, int64_t width) const {
  double delay = double(machine.tensor.weightDelayPs) / 1e3;
  double load = prices.loadWeights(rows.type, plan.getRowTile()).done + delay;
  return Parts(height, plan.getRowTile()).sum([&](int64_t tileRows) {
    double stream =
        Parts(width, plan.getColumnTile()).sum([&](int64_t tileColumns) {
          return prices.matmul(rows.type, tileRows, tileColumns).port;
        });
    return std::max(stream, load);
  });
}

/// Time that slow windows cost, as the mean over how old the first one is: what is
/// left of the window in which streaming begins, and the next one unless that was
/// filled well enough.
double Model::clockLoss(double busy) const {
  const TensorEngine &t = machine.tensor;
  if (!t.clockWindow)
    return 0;
  double window = double(t.windowCycles) / double(t.windowClockMHz) * 1e3;
  double share = double(t.windowShare) / 1e3, factor = double(t.slowFactor);
  double slow = (0.5 + std::min(1.0, factor * share)) * window;
  return std::min(busy * (factor - 1), slow * (1 - 1 / factor));
}

void Model::countLoads() {
  int64_t depth = std::min(problem.depth, machine.tensor.rows);
  int64_t steps = problem.steps(machine);
  SmallVector<int64_t> parts =
      plan.getGroups(problem.depth, machine.tensor.rows);
  groups = double(parts.size());
  lastGroup = double(parts.back()) / double(steps);
  fullGroups = double(steps) / double(*llvm::max_element(parts));
  std::map<int64_t, double> counts; // of parts, by their steps
  for (int64_t number : parts)
    ++counts[number];
  std::map<int64_t, double> whole = {{steps, 1.0}};
  Side outerSide = plan.getOuter();
  Side innerSide = outerSide == Side::A ? Side::B : Side::A;
  bool rowsAreOuter = outerSide == plan.getStationary();
  const Parts &outer = rowsAreOuter ? rowBlocks : columnBlocks;
  const Parts &inner = rowsAreOuter ? columnBlocks : rowBlocks;
  outerBlocks = outer.count();
  innerBlocks = inner.count();
  bool isApart = plan.getStays() && !plan.getWhole() && !plan.getSumDepth() &&
                 !plan.getGpsimdStores();
  QueueKind outerQueue = isApart ? QueueKind::Gpsimd : QueueKind::Sync;
  // Products of a batch that come together are as many more steps of one.
  int64_t together = plan.getBatchBlock();
  auto add = [&](Side side, QueueKind queue, const Parts &blocks,
                 double times) {
    Move all;
    bool isWhole = plan.getWhole() && side == outerSide;
    blocks.sum([&](int64_t width) {
      double count = width == blocks.size ? double(blocks.whole) : 1;
      for (auto [number, inBlock] : isWhole ? whole : counts) {
        Move move = prices.load(problem.factor(side), plan.getLoad(side), queue,
                                depth, number * together, width);
        all.busy += move.busy * count * inBlock * times;
        all.issue += move.issue * count * inBlock * times;
        all.bytes += move.bytes * count * inBlock * times;
      }
      return 0.0;
    });
    result.dma += all.busy;
    result.bytes += all.bytes;
    (queue == QueueKind::Sync ? result.sync : result.gpsimd) += all.issue;
  };
  add(outerSide, outerQueue, outer,
      rounds * (plan.getStays() ? 1 : innerBlocks * outerTrips));
  add(innerSide, QueueKind::Sync, inner, rounds * outerBlocks * outerTrips);
  auto one = [&](Side side, QueueKind queue, const Parts &blocks) {
    return prices.load(problem.factor(side), plan.getLoad(side), queue, depth,
                       *llvm::max_element(parts) * together,
                       blocks.whole ? blocks.size : blocks.rest);
  };
  outerLoad = one(outerSide, outerQueue, outer);
  innerLoad = one(innerSide, QueueKind::Sync, inner);
}

/// Functions run on scalar, the rest of a map on vector.
static void countMap(kernel::MapOp map, double &onVector, double &onScalar) {
  for (Operation &op : map.getBody().front().without_terminator()) {
    auto apply = dyn_cast<kernel::ApplyOp>(op);
    if ((apply && apply.getFunction() != kernel::ScalarFunction::Relu) ||
        isa<math::ExpOp, math::LogOp, math::TanhOp, math::ErfOp>(op))
      ++onScalar;
    else if (auto cast = dyn_cast<kernel::CastOp>(op))
      // Rounding is part of what made the value, if anything did.
      onVector += cast.getMode() != kernel::CastMode::Exact &&
                  !cast.getValue().getDefiningOp();
    else
      onVector += !isa<arith::ConstantOp>(op);
  }
}

void Model::countResults() {
  StructuredOpInterface op = problem.contraction.op();
  double onVector = 0, onScalar = 0;
  if (problem.contraction.epilogue) {
    kernel::MapOp map = problem.contraction.epilogue->map;
    op = cast<StructuredOpInterface>(map.getOperation());
    countMap(map, onVector, onScalar);
  }
  if (onVector + onScalar <= 1 && onScalar == 0) {
    onVector = plan.getEvict() == QueueKind::Vector;
    onScalar = !onVector;
  }
  Type type =
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  if (!dtypeOf(type))
    type = IntegerType::get(type.getContext(), 8);
  if (problem.contraction.isOnlyRounded() && !plan.getSumDepth())
    return countCopies(type);
  bool dense = plan.getMoving() == problem.last;
  Parts rowTiles(rows.extent, plan.getRowTile());
  Parts columnTiles(columns.extent, plan.getColumnTile());
  double tiles = repeats * rowTiles.count() * columnTiles.count();
  double vectorPort = 0, scalarPort = 0;
  columnTiles.sum([&](int64_t width) {
    double count = repeats * rowTiles.count() *
                   (width == columnTiles.size ? double(columnTiles.whole) : 1);
    vectorPort += count * prices.evict(QueueKind::Vector, type, width).port;
    scalarPort += count * prices.evict(QueueKind::Scalar, type, width).port;
    rowTiles.sum([&](int64_t height) {
      double each = count / rowTiles.count() *
                    (height == rowTiles.size ? double(rowTiles.whole) : 1);
      Move move = prices.store(type, height, width, dense);
      result.dma += each * move.busy;
      result.bytes += each * move.bytes;
      result.scalar += each * move.issue;
      return 0.0;
    });
    return 0.0;
  });
  result.vector += onVector * vectorPort;
  result.scalar += onScalar * scalarPort;

  Work evict = prices.evict(plan.getEvict(), type, plan.getColumnTile());
  Move store =
      prices.store(type, plan.getRowTile(), plan.getColumnTile(), dense);
  double passes = std::max(1.0, onVector + onScalar);
  double after = prices.hop(false) + passes * evict.done + prices.hop(false) +
                 store.alone();
  // Tiles of the last block come one after the other; where each takes longer than the
  // next one needs to be summed, they queue up. What scalar computes, it finishes before
  // it triggers the store.
  Work function = prices.evict(QueueKind::Scalar, type, plan.getColumnTile());
  double eachTile = onScalar > 0 ? onScalar * function.done + store.issue
                                 : std::max(onVector * evict.port, store.issue);
  double lastTiles = double(plan.getRowTiles() * plan.getColumnTiles());
  double apart = wholeBlock / groups / lastTiles;
  result.end = after + (lastTiles - 1) * std::max(0.0, eachTile - apart);
  result.turns = std::max(result.turns, tiles * (after + prices.hop(true)) /
                                            double(plan.getResultSlots()));
  // Banks of sums that are emptied while the next block is summed.
  double blockTiles = double(plan.getRowTiles() * plan.getColumnTiles());
  double blocks = repeats * rowBlocks.count() * columnBlocks.count();
  if (double(plan.getSumSlots()) < 2 * blockTiles)
    result.waiting += blocks * (evict.done + 2 * prices.hop(false)) *
                      (2 * blockTiles - double(plan.getSumSlots())) /
                      blockTiles;
}

/// Sums that are only rounded: copied by vector, scalar or both, stored several at once.
void Model::countCopies(Type type) {
  bool dense = plan.getMoving() == problem.last;
  int64_t batch = plan.getBatchBlock();
  int64_t blockTiles = sumTiles(plan, machine);
  int64_t onScalar = plan.getEvict() == QueueKind::Scalar
                         ? blockTiles
                         : std::min(plan.getScalarTiles(), blockTiles);
  double share = double(onScalar) / double(blockTiles);
  int64_t perTile = batch == 1
                        ? 1
                        : std::max<int64_t>(1, machine.psum.bankBytes / 4 /
                                                   plan.getColumnTile());
  Parts rowTiles(rows.extent, plan.getRowTile());
  Parts columnTiles(columns.extent, plan.getColumnTile());
  double tiles =
      repeats / double(perTile) * rowTiles.count() * columnTiles.count();
  double vectorPort = 0, scalarPort = 0;
  columnTiles.sum([&](int64_t width) {
    double count = tiles / columnTiles.count() *
                   (width == columnTiles.size ? double(columnTiles.whole) : 1);
    vectorPort +=
        count * prices.evict(QueueKind::Vector, type, perTile * width).port;
    scalarPort +=
        count * prices.evict(QueueKind::Scalar, type, perTile * width).port;
    rowTiles.sum([&](int64_t height) {
      double each = count * double(perTile) / rowTiles.count() *
                    (height == rowTiles.size ? double(rowTiles.whole) : 1);
      Move move = prices.store(type, height, width, dense);
      result.dma += each * move.busy;
      result.bytes += each * move.bytes;
      return 0.0;
    });
    return 0.0;
  });
  // Transfers of one block: each exit's tiles in groups, of which those of another row
  // do not follow in HBM.
  int64_t together = std::max<int64_t>(1, plan.getStoreTiles());
  int64_t perRow = plan.getRowTiles() > 1 && plan.getColumnTiles() > 1
                       ? plan.getColumnTiles()
                       : blockTiles;
  double transfers = 0, byGpsimd = 0, groups = 0;
  for (auto [first, last] :
       {std::pair(int64_t(0), onScalar), std::pair(onScalar, blockTiles)})
    for (int64_t i = first; i < last; i += together) {
      int64_t end = std::min(i + together, last);
      int64_t firstRow = i / perRow, lastRow = (end - 1) / perRow;
      (plan.getGpsimdStores() && first == onScalar ? byGpsimd : transfers) +=
          double(lastRow - firstRow + 1);
      ++groups;
    }
  Move store =
      prices.store(type, plan.getRowTile(), plan.getColumnTile(), dense);
  double blocks = tiles / double(blockTiles);
  result.vector += (1 - share) * vectorPort;
  result.scalar += share * scalarPort + blocks * transfers * store.issue;
  if (byGpsimd > 0) {
    store = prices.store(type, plan.getRowTile(), plan.getColumnTile(), dense,
                         QueueKind::Gpsimd);
    result.gpsimd += blocks * byGpsimd * store.issue;
  }

  QueueKind last = share < 1 ? QueueKind::Vector : QueueKind::Scalar;
  Work evict = prices.evict(last, type, perTile * plan.getColumnTile());
  double after = 2 * prices.hop(false) + evict.done + store.alone() +
                 double(perTile * together - 1) * store.busy;
  double each =
      std::max({(1 - share) * vectorPort, share * scalarPort}) / tiles;
  each = std::max(each, transfers * store.issue / double(blockTiles));
  double apart = wholeBlock / this->groups / double(blockTiles);
  // The last block of a batch may be a small one.
  int64_t lastTiles = llvm::divideCeil(lastBatch(), perTile);
  if (batch == 1)
    lastTiles = blockTiles;
  result.end =
      after + double(lastTiles - 1) * std::max(0.0, each - apart) -
      double(perTile * std::max<int64_t>(0, together - lastTiles)) * store.busy;
  int64_t exits = share > 0 && share < 1 ? 2 : 1;
  result.turns =
      std::max(result.turns, blocks * groups * (after + prices.hop(true)) /
                                 double(exits * plan.getResultSlots()));
  // Banks of sums that are emptied while the next block is summed.
  double missing = double(2 * blockTiles - plan.getSumSlots());
  if (missing > 0)
    result.waiting += blocks * (evict.done + 2 * prices.hop(false)) * missing /
                      double(blockTiles);
}

/// What the map reads beside the sums, tile by tile.
void Model::countInputs() {
  const Contraction &contraction = problem.contraction;
  if (!contraction.epilogue)
    return;
  kernel::MapOp map = contraction.epilogue->map;
  auto op = cast<StructuredOpInterface>(map.getOperation());
  Parts rowTiles(rows.extent, plan.getRowTile());
  Parts columnTiles(columns.extent, plan.getColumnTile());
  double tiles = repeats * rowTiles.count() * columnTiles.count();
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    Type type =
        cast<RankedTensorType>(op.getInputs()[i].getType()).getElementType();
    if (i == contraction.epilogue->sumsInput || !dtypeOf(type))
      continue;
    auto subscripts = op.getAccess(i).getSubscripts();
    auto isOf = [&](const Factor &factor, const kernel::Subscript &subscript) {
      return factor.iterator && subscript.kind == kernel::Subscript::Iterator &&
             subscript.value == int64_t(contraction.inResult(*factor.iterator));
    };
    auto isColumn = [&](const kernel::Subscript &subscript) {
      return isOf(columns, subscript);
    };
    bool isWide = llvm::any_of(subscripts, isColumn);
    // What is the same for the tiles of a block comes once.
    bool isShared = plan.getColumnTiles() == 1 &&
                    llvm::none_of(subscripts, [&](auto &subscript) {
                      return isOf(rows, subscript);
                    });
    double times =
        isShared ? repeats * rowBlocks.count() * columnTiles.count() : tiles;
    Move move = prices.loadTile(
        type, std::min(rows.extent, plan.getRowTile()),
        isWide ? std::min(columns.extent, plan.getColumnTile()) : 1,
        !isWide || isColumn(subscripts.back()));
    result.dma += times * move.busy;
    result.bytes += times * move.bytes;
    result.sync += times * move.issue;
  }
}

/// Parts of k of sums of integers: out of PSUM by one engine, into the totals by gpsimd.
void Model::countParts() {
  if (!plan.getSumDepth())
    return;
  double parts =
      outerTrips * double(llvm::divideCeil(problem.depth, plan.getSumDepth()));
  Type i32 = IntegerType::get(rows.type.getContext(), 32);
  int64_t width = std::min(columns.extent, plan.getColumnTile());
  double tiles = repeats * Parts(rows.extent, plan.getRowTile()).count() *
                 Parts(columns.extent, plan.getColumnTile()).count();
  (plan.getEvict() == QueueKind::Scalar ? result.scalar : result.vector) +=
      tiles * parts * prices.evict(plan.getEvict(), i32, width).port;
  result.gpsimd += tiles * parts * prices.addIntegers(width).port;
}

/// What the tensor engine waits for at the beginning of a block.
void Model::countWaiting() {
  double load = outerLoad.busy + innerLoad.busy;
  result.start = std::min(outerLoad.latency, innerLoad.latency);
  result.drain = prices.hop(true) + wholeBlock * lastGroup *
                                        double(lastBatch()) /
                                        double(plan.getBatchBlock());
  result.begin =
      std::max(outerLoad.latency, innerLoad.latency) + load + prices.hop(true);
  double perGroup = wholeBlock / groups;
  if (plan.getStays()) {
    // The first block of the outer factor comes while its first products run; later
    // ones as far as the ring has slots beside those in use.
    double exposed = std::max(0.0, fullGroups * load - load - wholeBlock);
    double ahead =
        std::min(groups, double(plan.getSlots(plan.getOuter())) - groups);
    double late = (groups - ahead) * load - ahead * perGroup;
    if (ahead < groups)
      late += outerLoad.latency + prices.hop(true) - ahead * perGroup;
    result.waiting += exposed;
    result.waiting += std::max(0.0, late) * (outerBlocks * rounds - 1);
    // The last block may be so small that the other factor does not pass behind its
    // products.
    bool rowsAreOuter = plan.getOuter() == plan.getStationary();
    const Parts &outer = rowsAreOuter ? rowBlocks : columnBlocks;
    const Parts &inner = rowsAreOuter ? columnBlocks : rowBlocks;
    if (outer.rest && outer.whole) {
      double products = steps() * inner.sum([&](int64_t size) {
        return rowsAreOuter ? blockTime(outer.rest, size)
                            : blockTime(size, outer.rest);
      });
      double pass = innerBlocks * groups * innerLoad.busy;
      result.waiting += repeats * std::max(0.0, pass - products);
    }
  }
  // A slot is taken from its trigger to its last product.
  auto turns = [&](const Move &move, Side side, double times) {
    double turn =
        move.alone() + prices.hop(true) + prices.hop(false) + perGroup;
    result.turns =
        std::max(result.turns, times * turn / double(plan.getSlots(side)));
  };
  double each = rounds * outerBlocks * innerBlocks * outerTrips * groups;
  Side inner = plan.getOuter() == Side::A ? Side::B : Side::A;
  turns(innerLoad, inner, each);
  if (!plan.getStays())
    turns(outerLoad, plan.getOuter(), each);
}

StageCost Model::cost() {
  for (int64_t extent : problem.batchExtents)
    repeats *= double(extent);
  for (int64_t extent : problem.outerExtents)
    outerTrips *= double(extent);
  rounds = repeats;
  if (int64_t batch = plan.getBatchBlock(); batch > 1)
    rounds = repeats / double(batch); // a small last one counts as a part
  double perStep = rowBlocks.sum([&](int64_t height) {
    return columnBlocks.sum(
        [&](int64_t width) { return blockTime(height, width); });
  });
  wholeBlock = steps() * outerTrips * double(plan.getBatchBlock()) *
               blockTime(std::min(rows.extent, plan.getRowBlock()),
                         std::min(columns.extent, plan.getColumnBlock()));
  result.tensor = repeats * outerTrips * steps() * perStep;
  countLoads();
  countResults();
  countInputs();
  countParts();
  countWaiting();
  // An array that waits for data most of the time never leaves the slow clock.
  double share = double(machine.tensor.windowShare) / 1e3;
  if (machine.tensor.clockWindow && result.tensor < share * result.total())
    result.tensor *= double(machine.tensor.slowFactor);
  else
    result.tensor += clockLoss(result.tensor);
  return result;
}

StageCost engine::costOf(const Problem &problem, ContractionAttr plan,
                         const Machine &machine) {
  return Model(problem, plan, machine).cost();
}
