//===- ChooseBlocks.cpp - tile, blocks and packing of a contraction -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost model: what a tile of sums in registers loads per multiply-add, what a
// panel costs to pack and how often it is used again.
//
//   x86-64-v4, f32, M = N = K = 1024  ─▶  8 rows by 3 vectors, pack a and b
//   x86-64-v4, f32, M = 1             ─▶  1 row by 8 vectors, b where it is
//
// Sizes, rates and registers come from the machine file. The constants below are
// what no such file says; each was measured with AVX-512 on a Zen 5 core, as a
// share of the rate that the multiply-adds alone reach.
//
//===----------------------------------------------------------------------===//

#include "ChooseBlocks.h"
#include "CostModel.h"

#include "llvm/Support/MathExtras.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;

namespace {

/// Up to this many rows, reading b from memory is what takes the time: a tile has
/// all the rows, and b is read once.
constexpr int64_t fewRows = 4;
/// A tile of few rows loads no more neighbouring vectors than this at a time: the
/// prefetchers follow whole lines well beyond it.
constexpr int64_t mostVectors = 8;
/// A vector of b is a whole line that comes from the second-level cache, a scalar
/// of a lies in the first: the first counts as this many of the second.
constexpr double lineWeight = 2;
/// Sums this short read a in place without that loss: a few rows of it fit.
constexpr int64_t shortSum = 512;
/// Elements of k that a panel holds at most, beside an a that is packed, too, and one that
/// is not. Of 256 to 4096 and all, these were the fastest for 512·4096·11008.
constexpr int64_t longestDepthOfA = 1024, longestDepth = 4096;
/// Up to so many rows, a panel of b is read too seldom to make up for leaving the
/// second-level cache: 128·4096·4096 was fastest inside of it.
constexpr int64_t rowsInSecondLevel = 384;
/// Shorter blocks of k spend their time on loading and storing sums.
constexpr int64_t shortestDepth = 256;
/// Blocks of k are whole numbers of this many elements, of every vector and group.
constexpr int64_t depthUnit = 64;
/// Up to so many rows b may come from memory as fast as it can: it is read as so many
/// streams at once, each along a row of b, which the prefetchers follow. Tiles of so
/// many sums are enough. 16·4096·4096 was 7 % faster in blocks.
constexpr int64_t streamedRows = 8, streams = 8, streamedSums = 16;
/// Up to so many rows, where their number is open, calls have a variant of their own
/// beside that for `fewRows`.
constexpr int64_t variantRows = 16;
/// Multiply-adds that pay for a task: some 30 microseconds, several times what it
/// takes to wake a thread.
constexpr int64_t taskGrain = 1 << 21;
/// Tasks share out rows when there are this many times fewer columns: each packs the
/// other operand for itself.
constexpr int64_t tallFactor = 4;
/// Rows and elements of k of a block under a filter: its sums, and its a, stay in the
/// second-level cache.
constexpr int64_t filteredRows = 64, filteredDepth = 512;
/// Tiles of a block that packs a, and of one that reads it where it is: there, few
/// columns keep the panels of b near, and many rows read them.
constexpr int64_t rowTiles = 12, columnTiles = 16;
constexpr int64_t manyRowTiles = 32, fewColumnTiles = 8;
/// Those of a block of a packed array, at most.
constexpr int64_t constantRowTiles = 16, constantColumnTiles = 64;
/// How far ahead the panels of a packed array are asked for: it comes from memory in
/// one stream, faster than the prefetchers dare to fetch it. Of 1 to 64 KiB, 16 and
/// more were fastest for 1 to 16 rows of 4096·4096.
constexpr int64_t prefetchBytes = 1 << 15;

struct Tile {
  int64_t rows, vectors;
};

class BlockChooser {
public:
  BlockChooser(const Contraction &c, const Machine &machine, const Calls &calls)
      : problem(c, machine, dotFor(c, machine, calls), calls),
        machine(machine) {
    kernel::ReduceOp reduce = c.reduce;
    context = reduce.getContext();
  }

  ContractionAttr choose();
  ContractionAttr ofConstant(LayoutAttr layout);
  LayoutAttr layoutOf(int64_t argument);
  bool readsFewRowsInPlace();

private:
  static Dot dotFor(const Contraction &c, const Machine &machine,
                    const Calls &calls);
  Tile chooseTile();
  bool packingAPays();
  bool packingBPays();
  int64_t chooseDepth(Tile tile, bool packsA, bool constant);
  bool streamsB();
  ContractionAttr streamingB();
  Split chooseSplit(Tile tile);

  Problem problem;
  const Machine &machine;
  MLIRContext *context;
};

} // namespace

/// In tile registers, but where rows are few: their tiles would be all but empty. A
/// packed array has one layout for any number of rows.
Dot BlockChooser::dotFor(const Contraction &c, const Machine &machine,
                         const Calls &calls) {
  Dot plain = chooseDot(c, machine);
  std::optional<Dot> tile = chooseTileDot(c, machine);
  bool isFew =
      !constantOf(c) &&
      Problem(c, machine, plain, calls).m.value_or(tileRows) <= fewRows;
  return tile && !isFew ? *tile : plain;
}

/// The tile whose sums, vectors of b and one broadcast fit the registers, whose
/// sums are enough to hide the latency of a multiply-add, and that loads least per
/// multiply-add. An open number of rows left over goes to tiles of 2ⁱ rows, so a tile has
/// 2ⁱ of them.
Tile BlockChooser::chooseTile() {
  if (isTile(problem.dot))
    return {tilesAcross * tileRows, tilesAcross};
  int64_t registers = machine.cpu.vectorRegisters;
  if (problem.m && *problem.m <= fewRows) {
    int64_t rows = std::max<int64_t>(*problem.m, 1);
    return {rows, std::min(mostVectors, (registers - 1) / (rows + 1))};
  }
  int64_t sumsInFlight =
      machine.cpu.arithmeticPorts * machine.cpu.arithmeticLatencyCycles;
  // A broadcast; a product on its way to the sum where that is an instruction more.
  int64_t others = isTwoInstructions(problem.dot, machine) ? 2 : 1;
  Tile best{1, 1};
  double least = INFINITY;
  for (int64_t rows = 1; rows < registers; rows *= 2)
    for (int64_t vectors = 1; rows * vectors + vectors + others <= registers;
         ++vectors) {
      double sums = double(rows * vectors);
      double loads = (double(rows) + lineWeight * double(vectors)) / sums;
      double stall = std::max(1., double(sumsInFlight) / sums);
      if (loads * stall < least) {
        least = loads * stall;
        best = {rows, vectors};
      }
    }
  return best;
}

bool BlockChooser::packingAPays() {
  if (problem.k && *problem.k <= shortSum)
    return false;
  return packCyclesA * problem.sizeM() * problem.sizeK() * problem.repeats <
         unpackedCyclesA(problem, machine);
}

bool BlockChooser::packingBPays() {
  return packCyclesB * problem.sizeN() * problem.sizeK() * problem.repeats <
         unpackedCyclesB(problem, machine);
}

/// Blocks of k of equal size, or 0: all of it.
int64_t BlockChooser::chooseDepth(Tile tile, bool packsA, bool constant) {
  int64_t longest = packsA ? longestDepthOfA : longestDepth;
  bool isStream = constant && !packsA; // panels come in their order
  if (problem.m && *problem.m <= rowsInSecondLevel && !isStream) {
    int64_t columns =
        (packsA ? columnTiles : fewColumnTiles) * tile.vectors * problem.lanes;
    if (problem.n)
      columns = std::clamp<int64_t>(*problem.n, 1, columns);
    int64_t bytes = columns * problem.bytes;
    longest = std::clamp(machine.cache.l2Bytes / bytes / depthUnit * depthUnit,
                         shortestDepth, longest);
  }
  int64_t unit = depthUnit;
  if (problem.hasSeveralK) {
    // The outermost axis is cut; a block holds all of the others.
    if (!problem.k)
      return 0;
    longest =
        std::max<int64_t>(longest / std::max<int64_t>(problem.innerK, 1), 1);
    unit = problem.group * groupsPerStep(problem.dot);
  }
  if (!problem.outerK)
    return longest;
  if (*problem.outerK <= longest + longest / 2)
    return 0;
  int64_t blocks = llvm::divideCeil(*problem.outerK, longest);
  return llvm::alignTo(llvm::divideCeil(*problem.outerK, blocks), unit);
}

/// Few rows of a b that no cache holds, and their sums stay in the second cache.
bool BlockChooser::streamsB() {
  if (!problem.bInPlace || !problem.m || !problem.n || !problem.k ||
      *problem.m > streamedRows || packingBPays())
    return false;
  auto bytes = double(problem.bytes), cache = double(machine.cache.l2Bytes);
  return problem.sizeN() * problem.sizeK() * bytes > cache &&
         problem.sizeM() * problem.sizeN() * bytes <= cache / 2;
}

/// A tile that went through all of k would read each vector of b from another page:
/// all columns see a few rows of b before the next few are read.
ContractionAttr BlockChooser::streamingB() {
  int64_t rows = std::clamp<int64_t>(*problem.m, 1, streamedRows);
  int64_t vectors = std::min<int64_t>(4, streamedSums / rows);
  int64_t columns = vectors * problem.lanes;
  Split split = chooseSplit({rows, vectors});
  return ContractionAttr::get(context, rows, vectors, problem.lanes, rows,
                              llvm::divideCeil(*problem.n, columns) * columns,
                              problem.aInPlace ? Pack::None : Pack::A,
                              problem.dot, streams, split,
                              split == Split::None ? 0 : taskGrain,
                              /*constant=*/false, /*prefetch=*/0);
}

/// Calls with few rows lose by packing b.
bool BlockChooser::readsFewRowsInPlace() {
  return problem.bInPlace && !packingBPays();
}

/// Panels as wide as the tile for many rows.
LayoutAttr BlockChooser::layoutOf(int64_t argument) {
  problem.m.reset();
  int64_t vectors = chooseTile().vectors;
  if (problem.n)
    vectors = std::clamp<int64_t>(llvm::divideCeil(*problem.n, problem.lanes),
                                  1, vectors);
  return LayoutAttr::get(context, argument, vectors * problem.lanes,
                         problem.lanes, problem.dot);
}

/// b lies in panels, all of k in each. Blocks of columns are wide, since a is packed
/// again for each and b is not; those of rows equal, each reads all of b.
ContractionAttr BlockChooser::ofConstant(LayoutAttr layout) {
  std::optional<int64_t> m = problem.m;
  problem.m.reset();
  Tile tile = chooseTile();
  problem.m = m;
  tile.vectors = layout.getColumns() / problem.lanes;
  if (m && !isTile(problem.dot))
    tile.rows = std::min<int64_t>(
        tile.rows, llvm::bit_ceil(uint64_t(std::max<int64_t>(*m, 1))));
  bool packA = problem.group > 1 || !problem.aInPlace || packingAPays();
  int64_t depth = chooseDepth(tile, packA, /*constant=*/true);
  bool isOneTile = m && *m <= tile.rows;
  if (isOneTile && double(tile.rows * problem.bytes) * problem.sizeK() <=
                       double(machine.cache.l2Bytes) / 2)
    depth = 0;
  int64_t rowBlock = (packA ? constantRowTiles : manyRowTiles) * tile.rows;
  if (m)
    rowBlock = llvm::alignTo(
        llvm::divideCeil(std::max<int64_t>(*m, 1),
                         llvm::divideCeil(std::max<int64_t>(*m, 1), rowBlock)),
        tile.rows);
  Split split = chooseSplit(tile);
  return ContractionAttr::get(
      context, tile.rows, tile.vectors, problem.lanes, rowBlock,
      (packA ? constantColumnTiles : fewColumnTiles) * layout.getColumns(),
      packA ? Pack::A : Pack::None, problem.dot, depth, split,
      split == Split::None ? 0 : taskGrain,
      /*constant=*/true, isTile(problem.dot) ? 0 : prefetchBytes);
}

/// Which axis tasks share out; none when there is too little work for two.
Split BlockChooser::chooseSplit(Tile tile) {
  double work =
      problem.sizeM() * problem.sizeN() * problem.sizeK() * problem.repeats;
  if (problem.isClosed && work < 2 * double(taskGrain))
    return Split::None;
  bool isTall = problem.m && problem.n && *problem.m > tallFactor * *problem.n;
  bool isNarrow = problem.n && *problem.n < 2 * tile.vectors * problem.lanes;
  bool hasRows = !problem.m || *problem.m >= 2 * tile.rows;
  return (isTall || isNarrow) && hasRows ? Split::M : Split::N;
}

ContractionAttr BlockChooser::choose() {
  if (streamsB())
    return streamingB();
  Tile tile = chooseTile();
  int64_t lanes = problem.lanes;
  if (problem.n)
    tile.vectors = std::clamp<int64_t>(llvm::divideCeil(*problem.n, lanes), 1,
                                       tile.vectors);
  bool packA = !problem.aInPlace || packingAPays();
  bool packB = !problem.bInPlace || packingBPays();
  Split split = chooseSplit(tile);
  return ContractionAttr::get(
      context, tile.rows, tile.vectors, lanes,
      (packA ? rowTiles : manyRowTiles) * tile.rows,
      (packA ? columnTiles : fewColumnTiles) * tile.vectors * lanes,
      Pack(unsigned(packA) | unsigned(packB) << 1), problem.dot,
      chooseDepth(tile, packA, /*constant=*/false), split,
      split == Split::None ? 0 : taskGrain,
      /*constant=*/false, /*prefetch=*/0);
}

/// The same tile; both operands are packed, b for all of k, and tasks share out rows.
static ContractionAttr underFilter(const Contraction &contraction,
                                   ContractionAttr plan) {
  Dot dot = plan.getDot();
  if (shiftsA(contraction, dot))
    dot = contraction.dot;
  bool isSplit = plan.getSplit() != Split::None && !contraction.m.empty();
  // No more than there are.
  kernel::ReduceOp reduce = contraction.reduce;
  auto op = cast<kernel::StructuredOpInterface>(reduce.getOperation());
  auto most = [&](unsigned iterator, int64_t block, int64_t unit) -> int64_t {
    std::optional<int64_t> extent = kernel::knownExtent(op, iterator);
    int64_t size = extent ? std::clamp<int64_t>(*extent, 1, block) : block;
    return llvm::alignTo(size, unit);
  };
  int64_t rows = contraction.m.empty()
                     ? plan.getRows()
                     : most(contraction.m.back(), filteredRows, plan.getRows());
  return ContractionAttr::get(
      plan.getContext(), plan.getRows(), plan.getVectors(), plan.getLanes(),
      rows,
      most(contraction.n.back(), plan.getColumnBlock(), plan.getColumns()),
      Pack::AB, dot, most(contraction.k.front(), filteredDepth, filterUnit),
      isSplit ? Split::M : Split::None, isSplit ? taskGrain : 0,
      /*constant=*/false, /*prefetch=*/0);
}

ContractionAttr cpu::chooseBlocks(const Contraction &contraction,
                                  const Machine &machine, const Calls &calls,
                                  LayoutAttr layout) {
  BlockChooser chooser(contraction, machine, calls);
  if (layout)
    return chooser.ofConstant(layout);
  ContractionAttr plan = chooser.choose();
  return isFiltered(contraction) ? underFilter(contraction, plan) : plan;
}

LayoutAttr cpu::chooseLayout(const Contraction &contraction,
                             const Machine &machine) {
  BlockArgument array = constantOf(contraction);
  if (!array)
    return {};
  return BlockChooser(contraction, machine, {}).layoutOf(array.getArgNumber());
}

ArrayRef<int64_t> cpu::fewRowsOf(const Contraction &contraction,
                                 const Machine &machine) {
  static constexpr int64_t limits[] = {fewRows, variantRows};
  StringRef rows = openRows(contraction);
  if (isFiltered(contraction) || rows.empty() ||
      !BlockChooser(contraction, machine, {rows, fewRows})
           .readsFewRowsInPlace())
    return {};
  return limits;
}
