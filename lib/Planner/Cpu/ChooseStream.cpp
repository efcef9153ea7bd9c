//===- ChooseStream.cpp - blocks of a softmax between two contractions ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile has as many rows in the first product as in the second: the scores of its
// rows are weights a moment later. What must fit:
//
//   rows × vectors sums, the vectors of b, a broadcast     registers
//   the scores of a tile, rows × key_block                 half of the first cache
//   a block of keys of k and of v, key_block × (D + N)     half of the second
//   the sums and the queries of a block of rows            a quarter of it
//
// The more rows a block has, the less often k and v come from a far cache; the more
// keys, the less often the sums are rescaled.
//
//===----------------------------------------------------------------------===//

#include "ChooseStream.h"
#include "CostModel.h"

#include "llvm/Support/MathExtras.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

/// Packing k and v costs about a cycle for an element of both. Up to 4 rows, storing their
/// weights was faster, from 8 on it was not: 32 heads, 1024 keys, bf16, 64 columns.
static constexpr int64_t fewestRows = 5;
/// Sizes that are open count as these.
static constexpr int64_t openDepth = 64, openKeys = 1024;
/// Blocks hold no more than this.
static constexpr int64_t mostRows = 128, mostKeys = 512;
/// Instructions for one vector of scores beside its map: the maximum, exp, the sum,
/// rounding, loads and stores.
static constexpr double softmaxInstructions = 24;
/// Multiply-adds that pay for a task, as in ChooseBlocks.cpp.
static constexpr int64_t taskGrain = 1 << 21;

namespace {
struct Sizes {
  int64_t depth, columns, rows, keys;
  double repeats = 1;               // heads, times outer rows
  double heads = 1;                 // as often k and v are packed
  std::optional<int64_t> knownRows; // of all outer rows together
  bool isRowsKnown = false, areKeysKnown = false, isClosed = true;
  explicit Sizes(const Stream &stream);
};
} // namespace

Sizes::Sizes(const Stream &stream) {
  kernel::SoftmaxOp softmax = stream.softmax;
  auto op = cast<StructuredOpInterface>(softmax.getOperation());
  auto size = [&](StructuredOpInterface of, unsigned i, int64_t open) {
    std::optional<int64_t> extent = kernel::knownExtent(of, i);
    isClosed &= extent.has_value();
    return extent.value_or(open);
  };
  kernel::ReduceOp scores = stream.scores.reduce, values = stream.values.reduce;
  depth = 1;
  for (unsigned i : stream.scores.k)
    depth *=
        size(cast<StructuredOpInterface>(scores.getOperation()), i, openDepth);
  columns = size(cast<StructuredOpInterface>(values.getOperation()),
                 stream.values.n.back(), openDepth);
  rows = size(op, stream.row, openKeys);
  knownRows = kernel::knownExtent(op, stream.row);
  isRowsKnown = knownRows.has_value();
  areKeysKnown = kernel::knownExtent(op, stream.key).has_value();
  keys = size(op, stream.key, openKeys);
  for (unsigned i : stream.batch)
    heads *= double(size(op, i, 1));
  repeats = heads;
  for (unsigned i : stream.outerRows) {
    repeats *= double(size(op, i, 1));
    std::optional<int64_t> extent = kernel::knownExtent(op, i);
    knownRows = knownRows && extent
                    ? std::optional<int64_t>(*knownRows * *extent)
                    : std::nullopt;
  }
}

bool cpu::streamingPays(const Stream &stream) {
  Sizes sizes(stream);
  return !sizes.knownRows || *sizes.knownRows >= fewestRows;
}

/// Cycles of one step of a tile; loads are not free even where others hide them.
static double stepOf(int64_t rows, int64_t vectors, Dot dot,
                     const Machine &machine) {
  constexpr double cyclesOfLoad = 1. / 16;
  return stepCycles(double(rows), double(vectors), dot, machine) +
         cyclesOfLoad * double(rows + 2 * vectors);
}

static double cyclesOf(const Sizes &sizes, StreamAttr plan,
                       const Machine &machine) {
  auto ceil = [](int64_t a, int64_t b) {
    return double(llvm::divideCeil(a, b));
  };
  double tiles = ceil(sizes.rows, plan.getRows()) * sizes.repeats;
  double keyGroup = double(MicroKernelOp::groupSize(plan.getKeyDot())),
         valueGroup = double(MicroKernelOp::groupSize(plan.getValueDot()));
  double keyPanels = ceil(sizes.keys, plan.getKeys());
  double first =
      keyPanels * std::ceil(double(sizes.depth) / keyGroup) *
      stepOf(plan.getRows(), plan.getKeyVectors(), plan.getKeyDot(), machine);
  // The last panel of columns is as wide as the others.
  double second =
      ceil(sizes.columns, plan.getValueVectors() * plan.getLanes()) *
      std::ceil(double(sizes.keys) / valueGroup) *
      stepOf(plan.getRows(), plan.getValueVectors(), plan.getValueDot(),
             machine);
  double softmax = double(plan.getRows()) * keyPanels *
                   double(plan.getKeyVectors()) * softmaxInstructions /
                   double(machine.cpu.arithmeticPorts);
  double packing = double(sizes.keys) * double(sizes.depth + sizes.columns) *
                   packCyclesA * sizes.heads;
  return tiles * (first + second + softmax) + packing;
}

double cpu::streamCycles(const Stream &stream, StreamAttr plan,
                         const Machine &machine) {
  return cyclesOf(Sizes(stream), plan, machine);
}

StreamAttr cpu::chooseStream(const Stream &stream, const Machine &machine) {
  Sizes sizes(stream);
  int64_t lanes = machine.cpu.vectorBytes / 4;
  int64_t registers = machine.cpu.vectorRegisters;
  Dot keyDot = chooseDot(stream.scores, machine),
      valueDot = chooseDot(stream.values, machine);
  kernel::SoftmaxOp softmax = stream.softmax;

  // Bytes of a key's row in both operands, of a query's and its sums.
  int64_t bytes = 4 * std::max<int64_t>(sizes.depth + sizes.columns, 1);
  auto make = [&](int64_t rows, int64_t keyVectors, int64_t valueVectors) {
    auto most = [](int64_t limit, int64_t unit) {
      return std::max<int64_t>(limit / unit, 1) * unit;
    };
    int64_t unit = keyVectors * lanes;
    int64_t keys = std::min({mostKeys, machine.cache.l1Bytes / 2 / (4 * rows),
                             machine.cache.l2Bytes / 2 / bytes});
    int64_t rowsOfBlock = std::min(mostRows, machine.cache.l2Bytes / 4 / bytes);
    // No more than there are.
    if (sizes.isRowsKnown)
      rowsOfBlock =
          std::min(rowsOfBlock, int64_t(llvm::alignTo(sizes.rows, rows)));
    if (sizes.areKeysKnown)
      keys = std::min(keys, int64_t(llvm::alignTo(sizes.keys, unit)));
    return StreamAttr::get(softmax.getContext(), rows, keyVectors, valueVectors,
                           lanes, most(rowsOfBlock, rows), most(keys, unit),
                           keyDot, valueDot, 0);
  };
  StreamAttr best;
  double least = INFINITY;
  int64_t mostInTile = std::min(lanes, std::max<int64_t>(sizes.rows, 1));
  // Without a fused multiply-add, a product takes a register on its way to its sum.
  int64_t others = machine.cpu.fma ? 1 : 2;
  auto fits = [&](int64_t rows, int64_t vectors) {
    return rows * vectors + vectors + others <= registers;
  };
  for (int64_t rows = 1; rows <= mostInTile; ++rows)
    for (int64_t k = 1; fits(rows, k); ++k)
      for (int64_t v = 1; fits(rows, v); ++v) {
        StreamAttr plan = make(rows, k, v);
        double cycles = cyclesOf(sizes, plan, machine);
        if (cycles < least) {
          least = cycles;
          best = plan;
        }
      }
  double work = double(sizes.rows) * sizes.repeats * double(sizes.keys) *
                double(sizes.depth + sizes.columns);
  if (sizes.isClosed && work < 2 * double(taskGrain))
    return best;
  return StreamAttr::get(softmax.getContext(), best.getRows(),
                         best.getKeyVectors(), best.getValueVectors(), lanes,
                         best.getRowBlock(), best.getKeyBlock(), keyDot,
                         valueDot, taskGrain);
}

StageAttr cpu::streamStage(const Stages &stages, const Stream &stream,
                           StreamAttr choices,
                           llvm::DenseSet<Operation *> &joined) {
  SmallVector<int64_t> ops;
  for (Operation *op : stream.ops()) {
    joined.insert(op);
    ops.push_back(stages.numberOf(op));
  }
  std::string reason;
  if (std::optional<Epilogue> epilogue =
          stages.epilogueOf(stream.values.reduce, joined, reason)) {
    joined.insert(epilogue->map);
    ops.push_back(stages.numberOf(epilogue->map));
  }
  llvm::sort(ops);
  return StageAttr::get(choices.getContext(), Form::Stream, ops,
                        ContractionAttr(), choices);
}
