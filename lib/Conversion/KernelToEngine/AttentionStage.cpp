//===- AttentionStage.cpp - attention in one stage ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Neither scores nor weights reach HBM. 128 queries lie on the partitions and meet
// the keys in blocks of 512, twice:
//
//   maxima    scores in PSUM (tensor), their row maxima (vector)
//   weights   the scores again (tensor), exp(scale·s - max) rounded, and its row
//             sums (scalar); transposed (tensor, vector), times the values (tensor)
//   results   sums / row sums, rounded (scalar)
//
// The maximum is known before the first exponential, so nothing is rescaled: the
// scores a second time cost the tensor engine 0.2 µs a block, a running maximum
// would cost the vector engine, which has most to do, more than that. Where all keys
// are one block the scores are made once. The second pass over one tile of queries
// runs beside the first pass over the next, each engine a few blocks behind the one
// before, so that none waits. Keys, queries and values of one head stay in SBUF.
//
// Blocks that a filter leaves without points are not in the text; blocks that it
// divides get a mask of numbers from gpsimd.
//
//===----------------------------------------------------------------------===//

#include "Interleave.h"
#include "Stages.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace facet;
using namespace facet::engine;
using kernel::StructuredOpInterface;

namespace {

/// A matrix of one head in SBUF: rows on partitions, in steps of as many as there are.
struct Panel {
  Home home;
  Type type; ///< as the array sees it
  int64_t rowStride = 0, columnStride = 0, rows = 1, columns = 1;
  /// Iterator of the home for each of the stage's.
  SmallVector<unsigned> iterators;
  RingOp ring;
  Value slot;
};

/// Values that are +inf, and those that are -inf; NaN is both.
constexpr int64_t numFaults = 2;
/// 2^100: its square is infinite in f32.
constexpr double faultWeight = 0x1p100;

/// What all blocks of one kind have in common.
struct BlockKind {
  int64_t width = 0;
  bool masked = false, first = false, last = false;
  /// Of the masked ones of its band.
  bool firstMasked = false, lastMasked = false;
};

struct Band {
  RowBand rows;
  SmallVector<StepRun> blocks; ///< starts are in chunks
  bool masked = false;         ///< some of them are
};

/// Queries of one tile.
struct Tile {
  const Band *band = nullptr;
  Linear start;
  int64_t size() const { return band->rows.size; }
};

class AttentionStage {
public:
  AttentionStage(Lowering &lowering, Attention &attention)
      : lowering(lowering), machine(lowering.machine), attention(attention) {}
  LogicalResult run();

private:
  // What there is.
  LogicalResult describe();
  void divide();
  void makeRings();
  int64_t chunk() const { return machine.tensor.rows; }
  int64_t rowTile() const {
    return std::min(queries.columns, machine.tensor.columns);
  }
  int64_t block() const {
    return std::min<int64_t>(machine.tensor.movingMax,
                             machine.psum.bankBytes / 4);
  }
  int64_t bytesPerHead() const;
  int64_t steps(const Panel &panel) const {
    return llvm::divideCeil(panel.rows, chunk());
  }
  int64_t depthOf(const Panel &panel, int64_t step) const {
    return std::min(chunk(), panel.rows - step * chunk());
  }

  // Loops and transfers.
  void emitOuter(unsigned next);
  void emitPlane();
  void load(Panel &panel, QueueKind queue, unsigned number);
  Linear baseOf(const Home &home, ArrayRef<unsigned> iterators);
  void store(Value tile, const Tile &rows);
  void storeColumn(RingOp ring, kernel::ReduceOp op, const Tile &rows);

  // Steps of a block.
  void product(Value sums, const Tile &rows, const BlockKind &kind,
               const Linear &start);
  Value mask(const Tile &rows, const BlockKind &kind, const Linear &start);
  Value choose(RingOp into, Value scores, const Tile &rows,
               const BlockKind &kind, const Linear &start);
  void maximum(Value top, Value scores, const Tile &rows, const BlockKind &kind,
               const Linear &start);
  void exponential(Value scores, Value shift, Value total, const Tile &rows,
                   const BlockKind &kind, const Linear &start);
  void turn(const Tile &rows, const BlockKind &kind);
  void multiply(Value sums, const Tile &rows, const BlockKind &kind,
                const Linear &start);
  Value soundValues(const BlockKind &kind, const Linear &start);
  void countFaults(Value sums, Value source, const Tile &rows,
                   const BlockKind &kind, const Linear &start);

  // Tiles of queries.
  void shiftOf(const Tile &rows);
  void finish(const Tile &rows);
  void addFaults(Value sums, const Tile &rows);
  void bothPasses(const std::optional<Tile> &next,
                  const std::optional<Tile> &current);
  void onePass(const Tile &rows);

  Lowering &lowering;
  const Machine &machine;
  Attention &attention;
  Panel queries, keys, values;
  Type weightType;
  SmallVector<unsigned> outer; ///< those of keys and values first
  unsigned shared = 0;         ///< how many those are
  SmallVector<HalfPlane> filter;
  SmallVector<Band> bands;
  SmallVector<BlockKind> kinds;
  SmallVector<Linear> at;
  /// Some block is masked.
  bool masked = false;

  RingOp trial, scores, maxima, shifts, totals, tops, weights, turned, moved,
      sums, inverses, out, ones, masks, chosen, chosenTrial, movedMasked, sound,
      faults, present, plain, raised, poison;
  Value onesSlot;
};

} // namespace

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

LogicalResult AttentionStage::describe() {
  StructuredOpInterface scoresOp = attention.scores.op(),
                        valuesOp = attention.values.op();
  auto fill = [&](Panel &panel, StructuredOpInterface op, unsigned input,
                  Type type, unsigned rows, unsigned columns,
                  ArrayRef<unsigned> iterators) -> LogicalResult {
    FailureOr<Home> home = lowering.homeOf(op, input);
    if (failed(home))
      return failure();
    panel.home = *home;
    panel.type = type;
    panel.rowStride = home->strides[rows];
    panel.columnStride = home->strides[columns];
    panel.iterators.assign(iterators.begin(), iterators.end());
    return success();
  };
  unsigned rowIterator = attention.rows, keyIterator = attention.keys();
  if (failed(fill(queries, scoresOp, attention.queryInput,
                  attention.queryType(), attention.depth,
                  attention.inScores[rowIterator], attention.inScores)) ||
      failed(fill(keys, scoresOp, attention.keyInput, attention.keyType(),
                  attention.depth, attention.inScores[keyIterator],
                  attention.inScores)) ||
      failed(fill(values, valuesOp, attention.valueInput, attention.valueType(),
                  attention.inValues[keyIterator], attention.column,
                  attention.inValues)))
    return failure();
  queries.rows = keys.rows = attention.depthExtent;
  queries.columns = attention.extents[rowIterator];
  keys.columns = values.rows = attention.extents[keyIterator];
  values.columns = attention.columnExtent;
  weightType = attention.weightType();

  auto read = [&](const Panel &panel, unsigned iterator) {
    return panel.home.strides[panel.iterators[iterator]] != 0;
  };
  for (unsigned i : attention.outer)
    if (read(keys, i) || read(values, i))
      outer.push_back(i);
  shared = outer.size();
  for (unsigned i : attention.outer)
    if (!llvm::is_contained(outer, i))
      outer.push_back(i);
  at.assign(attention.extents.size(), Linear());
  filter = attention.plane();
  return success();
}

int64_t AttentionStage::bytesPerHead() const {
  auto bytes = [&](const Panel &panel) {
    return steps(panel) * panel.columns * dtypeBytes(*dtypeOf(panel.type));
  };
  return bytes(queries) + bytes(keys) + bytes(values);
}

/// Bands of queries, and for each the kinds and runs of its blocks.
void AttentionStage::divide() {
  // Enough that a triangle of 4096 x 4096 is cut at each tile of 128.
  constexpr int64_t maxBands = 32;
  for (RowBand &rows : divideRows(queries.columns, keys.columns, filter,
                                  rowTile(), chunk(), block(), maxBands)) {
    Band band;
    int64_t number = 0, count = 0;
    for (const ColumnRun &run : rows.columns)
      count += run.count;
    for (const ColumnRun &run : rows.columns)
      for (int64_t i = 0; i < run.count;) {
        bool first = number == 0, last = number + 1 == count;
        // The first and the last block are steps of their own.
        int64_t repeats =
            first || last ? 1 : std::min(run.count - i, count - 1 - number);
        band.blocks.push_back({unsigned(kinds.size()),
                               (run.start + i * run.width) / chunk(),
                               run.width / chunk(), repeats});
        kinds.push_back({run.width, run.masked, first, last});
        i += repeats;
        number += repeats;
      }
    for (const StepRun &run : band.blocks)
      if (kinds[run.kind].masked) {
        kinds[run.kind].firstMasked = !band.masked;
        band.masked = masked = true;
      }
    for (const StepRun &run : llvm::reverse(band.blocks))
      if (kinds[run.kind].masked) {
        kinds[run.kind].lastMasked = true;
        break;
      }
    band.rows = rows;
    bands.push_back(std::move(band));
  }
}

void AttentionStage::makeRings() {
  Type f32 = lowering.builder.getF32Type(),
       bf16 = lowering.builder.getBF16Type();
  auto ring = [&](StringRef name, int64_t depth, ArrayRef<int64_t> shape,
                  Type type, Memory memory = Memory::Sbuf) {
    return lowering.ring(name, depth, lowering.tileType(shape, type, memory));
  };
  int64_t planes = 1;
  for (unsigned i : outer)
    planes *= attention.extents[i];
  bool twice =
      planes > 1 && 2 * bytesPerHead() <= machine.sbuf.partitionBytes * 3 / 4;
  auto panel = [&](StringRef name, Panel &panel) {
    panel.ring =
        ring(name, twice ? 2 : 1,
             {std::min(panel.rows, chunk()), steps(panel), panel.columns},
             panel.type);
  };
  panel("queries", queries);
  panel("keys", keys);
  panel("values", values);

  int64_t rows = rowTile(), width = std::min(block(), keys.columns);
  int64_t chunks = llvm::divideCeil(width, chunk());
  int64_t chunkRows = std::min(width, chunk());
  // Four rings share the banks.
  int64_t depth = std::min<int64_t>(2, machine.psum.banks / 4);
  trial = ring("trial", depth, {rows, width}, f32, Memory::Psum);
  scores = ring("scores", depth, {rows, width}, f32, Memory::Psum);
  turned = ring("turned", depth, {chunkRows, chunks, rows}, weightType,
                Memory::Psum);
  int64_t parts = masked ? 1 + numFaults : 1;
  sums = ring("sums", depth, {rows, parts * values.columns}, f32, Memory::Psum);
  maxima = ring("maxima", 2, {rows, 1}, f32);
  shifts = ring("shifts", 3, {rows, 1}, f32);
  tops = ring("tops", 3, {rows, 1}, f32);
  totals = ring("totals", 4, {rows, 1}, f32);
  inverses = ring("inverses", 2, {rows, 1}, f32);
  weights = ring("weights", 3, {rows, width}, weightType);
  moved = ring("moved", 3, {chunkRows, chunks, rows}, weightType);
  Type element = lowering.storedType(
      cast<RankedTensorType>(attention.result()->getResult(0).getType())
          .getElementType());
  out = ring("out", 3, {rows, values.columns}, element);
  if (!masked)
    return;
  ones = ring("ones", 1, {rows, std::max(width, rows)}, bf16);
  masks = ring("mask", 3, {rows, width}, bf16);
  chosen = ring("chosen", 2, {rows, width}, f32);
  chosenTrial = ring("chosen_trial", 2, {rows, width}, f32);
  movedMasked = ring("moved_masked", 2, {chunkRows, chunks, rows}, weightType);
  sound = ring("sound", 2, {chunkRows, chunks, values.columns}, values.type);
  faults = ring("faults", 2, {chunkRows, chunks, numFaults + 2, values.columns},
                bf16);
  present = ring("present", 2, {chunkRows, chunks, 2, rows}, bf16);
  raised = ring("raised", 1, {rows, values.columns}, f32);
  plain = ring("plain", 2, {rows, values.columns}, f32);
  poison = ring("poison", 2, {rows, numFaults * values.columns}, f32);
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

Linear AttentionStage::baseOf(const Home &home, ArrayRef<unsigned> iterators) {
  Linear base = home.constant;
  for (unsigned i : outer)
    base += at[i] * home.strides[iterators[i]];
  return base;
}

/// Rows that lie densely in memory become columns on chip: those are transposed.
void AttentionStage::load(Panel &panel, QueueKind queue, unsigned number) {
  Value slot = lowering.acquire(panel.ring);
  Linear base = baseOf(panel.home, panel.iterators);
  NamedAttribute ring = lowering.builder.getNamedAttr(
      "ring", lowering.builder.getI32IntegerAttr(number));
  int64_t bits = panel.type.getIntOrFloatBitWidth();
  bool transposes = panel.rowStride == 1 && panel.columnStride != 1 &&
                    panel.columns > 1 && panel.home.elementType == panel.type &&
                    (bits == 16 || bits == 32);
  auto copy = [&](int64_t step, int64_t depth, int64_t times) {
    Linear from = base;
    from += Linear(step * chunk() * panel.rowStride);
    Value to = lowering.view(slot, step * panel.columns,
                             {depth, times, panel.columns});
    lowering.issue(
        queue, "dma_copy",
        {{"dst", to},
         {"src",
          lowering.hbmView(panel.home.buffer, from,
                           {depth, times, panel.columns}, panel.rowStride,
                           {chunk() * panel.rowStride,
                            panel.columns == 1 ? 1 : panel.columnStride})}},
        {ring});
  };
  int64_t count = steps(panel), rest = depthOf(panel, count - 1);
  if (transposes) {
    for (int64_t step = 0; step < count; ++step) {
      int64_t depth = depthOf(panel, step);
      Linear from = base;
      from += Linear(step * chunk());
      lowering.issue(queue, "dma_transpose",
                     {{"dst", lowering.view(slot, step * panel.columns,
                                            {depth, panel.columns})},
                      {"src", lowering.hbmView(panel.home.buffer, from,
                                               {panel.columns, depth},
                                               panel.columnStride, {1})}},
                     {ring});
    }
  } else {
    int64_t whole = rest == chunk() ? count : count - 1;
    if (whole)
      copy(0, chunk(), whole);
    if (whole != count)
      copy(whole, rest, 1);
  }
  lowering.commit(panel.ring);
}

void AttentionStage::store(Value tile, const Tile &rows) {
  StructuredOpInterface result = attention.result();
  Home home = lowering.homeOfResult(result);
  Contraction &sum = attention.values;
  SmallVector<unsigned> iterators;
  for (unsigned i : attention.inValues)
    iterators.push_back(i < attention.extents.size() ? sum.inResult(i) : 0);
  Linear base = baseOf(home, iterators);
  int64_t rowStride = home.strides[iterators[attention.rows]];
  int64_t columnStride = home.strides[sum.inResult(attention.column)];
  base += rows.start * rowStride;
  NamedAttribute ring = lowering.builder.getNamedAttr(
      "ring", lowering.builder.getI32IntegerAttr(2));
  // By the engine that wrote the tile.
  QueueKind queue = masked ? QueueKind::Gpsimd : QueueKind::Scalar;
  int64_t width = values.columns;
  int64_t bits = home.elementType.getIntOrFloatBitWidth();
  if (rowStride == 1 && columnStride != 1 && (bits == 16 || bits == 32)) {
    lowering.issue(
        queue, "dma_transpose",
        {{"dst", lowering.hbmView(home.buffer, base, {width, rows.size()},
                                  columnStride, {1})},
         {"src", tile}},
        {ring});
    return;
  }
  lowering.issue(
      queue, "dma_copy",
      {{"dst", lowering.hbmView(home.buffer, base, {rows.size(), width},
                                rowStride, {width == 1 ? 1 : columnStride})},
       {"src", tile}},
      {ring});
}

/// One number per row, for another stage.
void AttentionStage::storeColumn(RingOp ring, kernel::ReduceOp op,
                                 const Tile &rows) {
  auto reduce = cast<StructuredOpInterface>(op.getOperation());
  Home home = lowering.homeOfResult(reduce);
  SmallVector<unsigned> iterators =
      llvm::to_vector(llvm::seq<unsigned>(attention.extents.size()));
  Linear base = baseOf(home, iterators);
  int64_t rowStride = home.strides[attention.rows];
  base += rows.start * rowStride;
  Value tile = lowering.view(lowering.wait(ring), 0, {rows.size(), 1});
  lowering.issue(QueueKind::Gpsimd, "dma_copy",
                 {{"dst", lowering.hbmView(home.buffer, base, {rows.size(), 1},
                                           rowStride, {1})},
                  {"src", tile}});
  lowering.release(ring);
}

//===----------------------------------------------------------------------===//
// Steps of a block
//===----------------------------------------------------------------------===//

void AttentionStage::product(Value sumsTile, const Tile &rows,
                             const BlockKind &kind, const Linear &start) {
  int64_t count = steps(queries);
  for (int64_t step = 0; step < count; ++step) {
    int64_t depth = depthOf(queries, step);
    Linear row = rows.start, key = start * chunk();
    row += Linear(step * queries.columns);
    key += Linear(step * keys.columns);
    lowering.issue(
        QueueKind::Tensor, "load_weights",
        {{"weights", lowering.view(queries.slot, row, {depth, rows.size()})}});
    SmallVector<NamedAttribute> fields;
    if (step == 0)
      fields.push_back(lowering.flag("start"));
    if (step + 1 == count)
      fields.push_back(lowering.flag("stop"));
    lowering.issue(
        QueueKind::Tensor, "matmul",
        {{"dst", sumsTile},
         {"moving", lowering.view(keys.slot, key, {depth, kind.width})}},
        fields);
  }
}

/// 1 where a point exists, else 0; the slot is the caller's to release.
Value AttentionStage::mask(const Tile &rows, const BlockKind &kind,
                           const Linear &start) {
  SmallVector<int64_t> shape = {rows.size(), kind.width};
  Value tile = lowering.view(lowering.acquire(masks), 0, shape);
  Value source = lowering.view(onesSlot, 0, shape);
  for (const HalfPlane &half : filter) {
    Linear value = half.constant;
    value += rows.start * half.row;
    value += start * (chunk() * half.column);
    lowering.issue(
        QueueKind::Gpsimd, "affine_select",
        {{"dst", tile},
         {"src", source},
         {"index", lowering.index(value, shape, half.row, half.column)}},
        {lowering.word("cmp", "ge")});
    source = tile;
  }
  lowering.commit(masks);
  return lowering.view(lowering.wait(masks), 0, shape);
}

/// The scores where points exist, -inf elsewhere: a tile of `into` to be read.
Value AttentionStage::choose(RingOp into, Value scoresTile, const Tile &rows,
                             const BlockKind &kind, const Linear &start) {
  SmallVector<int64_t> shape = {rows.size(), kind.width};
  Value exists = mask(rows, kind, start);
  Value tile = lowering.view(lowering.acquire(into), 0, shape);
  lowering.issue(
      QueueKind::Vector, "select",
      {{"dst", tile}, {"mask", exists}, {"a", scoresTile}},
      {lowering.number("imm0", -std::numeric_limits<double>::infinity())});
  lowering.release(masks);
  lowering.commit(into);
  return lowering.view(lowering.wait(into), 0, shape);
}

void AttentionStage::maximum(Value top, Value scoresTile, const Tile &rows,
                             const BlockKind &kind, const Linear &start) {
  Value source = kind.masked
                     ? choose(chosenTrial, scoresTile, rows, kind, start)
                     : scoresTile;
  SmallVector<NamedAttribute> fields = {
      lowering.word("op", "max"),
      lowering.builder.getNamedAttr("axes",
                                    lowering.builder.getI32IntegerAttr(1))};
  if (!kind.first)
    fields.push_back(lowering.flag("carry"));
  lowering.issue(QueueKind::Vector, "reduce", {{"dst", top}, {"src", source}},
                 fields);
  if (kind.masked)
    lowering.release(chosenTrial);
}

void AttentionStage::exponential(Value scoresTile, Value shift, Value total,
                                 const Tile &rows, const BlockKind &kind,
                                 const Linear &start) {
  Value source =
      kind.masked ? choose(chosen, scoresTile, rows, kind, start) : scoresTile;
  Value tile =
      lowering.view(lowering.acquire(weights), 0, {rows.size(), kind.width});
  SmallVector<NamedAttribute> fields = {
      lowering.word("func", "exp"), lowering.word("acc_op", "add"),
      lowering.number("imm_scale", attention.scale)};
  if (!kind.first)
    fields.push_back(lowering.flag("carry"));
  lowering.issue(
      QueueKind::Scalar, "activate",
      {{"dst", tile}, {"src", source}, {"bias", shift}, {"acc", total}},
      fields);
  lowering.commit(weights);
  if (kind.masked)
    lowering.release(chosen);
}

/// Keys come to the partitions: they are summed over next.
void AttentionStage::turn(const Tile &rows, const BlockKind &kind) {
  Value source = lowering.wait(weights);
  Value sumsTile = lowering.acquire(turned);
  SmallVector<NamedAttribute> fields;
  if (weightType.isF32())
    fields.push_back(lowering.flag("for_transpose"));
  int64_t full = rowTile();
  int64_t count = llvm::divideCeil(kind.width, chunk());
  auto widthOf = [&](int64_t i) {
    return std::min(chunk(), kind.width - i * chunk());
  };
  for (int64_t i = 0; i < count; ++i) {
    lowering.issue(QueueKind::Tensor, "load_weights",
                   {{"weights", lowering.view(source, i * chunk(),
                                              {rows.size(), widthOf(i)})}},
                   fields);
    lowering.issue(QueueKind::Tensor, "transpose",
                   {{"dst", lowering.view(sumsTile, i * full,
                                          {widthOf(i), rows.size()})}});
  }
  lowering.commit(turned);
  lowering.release(weights);
  RingOp into = kind.masked ? movedMasked : moved;
  Value from = lowering.wait(turned), to = lowering.acquire(into);
  auto copy = [&](int64_t first, int64_t depth, int64_t times) {
    SmallVector<int64_t> shape = {depth, times, rows.size()};
    lowering.issue(
        QueueKind::Vector, "copy",
        {{"dst", lowering.view(to, first * full, shape, {full, 1})},
         {"src", lowering.view(from, first * full, shape, {full, 1})}});
  };
  int64_t whole = widthOf(count - 1) == chunk() ? count : count - 1;
  if (whole)
    copy(0, chunk(), whole);
  if (whole != count)
    copy(whole, widthOf(count - 1), 1);
  lowering.commit(into);
  lowering.release(turned);
}

void AttentionStage::multiply(Value sumsTile, const Tile &rows,
                              const BlockKind &kind, const Linear &start) {
  RingOp ring = kind.masked ? movedMasked : moved;
  Value source = lowering.wait(ring);
  Value factors = kind.masked ? soundValues(kind, start) : values.slot;
  int64_t count = llvm::divideCeil(kind.width, chunk());
  for (int64_t i = 0; i < count; ++i) {
    int64_t depth = std::min(chunk(), kind.width - i * chunk());
    Linear value = kind.masked ? Linear() : start * values.columns;
    value += Linear(i * values.columns);
    lowering.issue(QueueKind::Tensor, "load_weights",
                   {{"weights", lowering.view(source, i * rowTile(),
                                              {depth, rows.size()})}});
    SmallVector<NamedAttribute> fields;
    if (kind.first && i == 0)
      fields.push_back(lowering.flag("start"));
    if (kind.last && i + 1 == count)
      fields.push_back(lowering.flag("stop"));
    lowering.issue(
        QueueKind::Tensor, "matmul",
        {{"dst", lowering.view(sumsTile, 0, {rows.size(), values.columns})},
         {"moving", lowering.view(factors, value, {depth, values.columns})}},
        fields);
  }
  if (kind.masked) {
    lowering.release(sound);
    countFaults(sumsTile, source, rows, kind, start);
  }
  lowering.release(ring);
}

/// Values of a masked block, 0 where they are no number: a weight of 0 that stands for
/// a point that does not exist must not meet them. Leaves what they were in a slot of
/// `faults`: is it +inf or NaN, -inf or NaN, either, none.
Value AttentionStage::soundValues(const BlockKind &kind, const Linear &start) {
  Value to = lowering.acquire(sound), faultsTile = lowering.acquire(faults);
  int64_t width = values.columns, planes = numFaults + 2;
  constexpr double largest = std::numeric_limits<float>::max();
  for (int64_t first = 0; first < kind.width; first += chunk()) {
    int64_t i = first / chunk(), depth = std::min(chunk(), kind.width - first);
    Linear value = start * width;
    value += Linear(i * width);
    Value from = lowering.view(values.slot, value, {depth, width});
    auto plane = [&](int64_t number) {
      return lowering.view(faultsTile, (i * planes + number) * width,
                           {depth, width});
    };
    auto test = [&](int64_t number, StringRef op0, double imm0, StringRef op1) {
      lowering.issue(QueueKind::Gpsimd, "tensor_scalar",
                     {{"dst", plane(number)}, {"src", from}},
                     {lowering.word("op0", op0), lowering.number("imm0", imm0),
                      lowering.word("op1", op1), lowering.number("imm1", 0)});
    };
    test(3, "mul", 0, "eq");
    lowering.issue(QueueKind::Gpsimd, "select",
                   {{"dst", lowering.view(to, i * width, {depth, width})},
                    {"mask", plane(3)},
                    {"a", from}},
                   {lowering.number("imm0", 0)});
    test(0, "le", largest, "eq");
    test(1, "ge", -largest, "eq");
    test(2, "mul", 0, "ne");
  }
  lowering.commit(sound);
  lowering.commit(faults);
  return lowering.wait(sound);
}

/// Counts, beside the sums, the values that make a result +inf and those that make it
/// -inf. A weight of 0 at a point that exists makes NaN of either: it counts as both.
void AttentionStage::countFaults(Value sumsTile, Value source, const Tile &rows,
                                 const BlockKind &kind, const Linear &start) {
  Value to = lowering.acquire(present);
  int64_t full = rowTile(), width = values.columns, planes = numFaults + 2;
  int64_t count = llvm::divideCeil(kind.width, chunk());
  auto depthOf = [&](int64_t i) {
    return std::min(chunk(), kind.width - i * chunk());
  };
  auto weightsAt = [&](Value slot, int64_t i, int64_t plane) {
    return lowering.view(slot, (2 * i + plane) * full,
                         {depthOf(i), rows.size()});
  };
  for (int64_t i = 0; i < count; ++i) {
    Value from = lowering.view(source, i * full, {depthOf(i), rows.size()});
    for (auto [plane, op] : {std::pair(0, "gt"), std::pair(1, "eq")})
      lowering.issue(QueueKind::Gpsimd, "tensor_scalar",
                     {{"dst", weightsAt(to, i, plane)}, {"src", from}},
                     {lowering.word("op0", op), lowering.number("imm0", 0),
                      lowering.word("op1", "mul"),
                      lowering.number("imm1", faultWeight)});
    for (const HalfPlane &half : filter) {
      Linear value = half.constant + i * chunk() * half.column;
      value += rows.start * half.row;
      value += start * (chunk() * half.column);
      Value zeros = weightsAt(to, i, 1);
      lowering.issue(QueueKind::Gpsimd, "affine_select",
                     {{"dst", zeros},
                      {"src", zeros},
                      {"index", lowering.index(value, {depthOf(i), rows.size()},
                                               half.column, half.row)}},
                     {lowering.word("cmp", "ge")});
    }
  }
  lowering.commit(present);
  Value flags = lowering.wait(present), faultsTile = lowering.wait(faults);
  Value counts =
      lowering.view(sumsTile, width, {rows.size(), numFaults * width});
  for (int64_t i = 0; i < count; ++i)
    for (int64_t plane = 0; plane < 2; ++plane) {
      SmallVector<NamedAttribute> fields;
      if (kind.firstMasked && i == 0 && plane == 0)
        fields.push_back(lowering.flag("start"));
      if (kind.lastMasked && i + 1 == count && plane == 1)
        fields.push_back(lowering.flag("stop"));
      Value moving = lowering.view(
          faultsTile, (i * planes + plane * numFaults) * width,
          {depthOf(i), numFaults, width}, {plane == 0 ? width : 0, 1});
      lowering.issue(QueueKind::Tensor, "load_weights",
                     {{"weights", weightsAt(flags, i, plane)}});
      lowering.issue(QueueKind::Tensor, "matmul",
                     {{"dst", counts}, {"moving", moving}}, fields);
    }
  lowering.release(present);
  lowering.release(faults);
}

//===----------------------------------------------------------------------===//
// Tiles of queries
//===----------------------------------------------------------------------===//

/// exp(scale·s - scale·max): the second term, from the maximum that was committed.
void AttentionStage::shiftOf(const Tile &rows) {
  Value top = lowering.view(lowering.wait(maxima), 0, {rows.size(), 1});
  auto scaled = [&](RingOp into, double factor) {
    Value tile = lowering.view(lowering.acquire(into), 0, {rows.size(), 1});
    lowering.issue(
        QueueKind::Vector, "tensor_scalar", {{"dst", tile}, {"src", top}},
        {lowering.word("op0", "mul"), lowering.number("imm0", factor)});
    lowering.commit(into);
  };
  scaled(shifts, -attention.scale);
  for (kernel::ReduceOp op : attention.maxima)
    if (attention.leaves(op)) {
      scaled(tops, attention.scale);
      storeColumn(tops, op, rows);
    }
  lowering.release(maxima);
}

void AttentionStage::finish(const Tile &rows) {
  Value total = lowering.view(lowering.wait(totals), 0, {rows.size(), 1});
  Value inverse =
      lowering.view(lowering.acquire(inverses), 0, {rows.size(), 1});
  lowering.issue(QueueKind::Vector, "tensor_scalar",
                 {{"dst", inverse}, {"src", total}},
                 {lowering.word("op0", "reciprocal")});
  lowering.commit(inverses);
  for (kernel::ReduceOp op : attention.sums)
    if (attention.leaves(op)) {
      Home home =
          lowering.homeOfResult(cast<StructuredOpInterface>(op.getOperation()));
      SmallVector<unsigned> iterators =
          llvm::to_vector(llvm::seq<unsigned>(attention.extents.size()));
      Linear base = baseOf(home, iterators);
      base += rows.start * home.strides[attention.rows];
      lowering.issue(
          QueueKind::Gpsimd, "dma_copy",
          {{"dst", lowering.hbmView(home.buffer, base, {rows.size(), 1},
                                    home.strides[attention.rows], {1})},
           {"src", total}});
    }
  lowering.release(totals);
  SmallVector<int64_t> shape = {rows.size(), values.columns};
  Value slot = lowering.wait(sums);
  Value factor = lowering.view(lowering.wait(inverses), 0, {rows.size(), 1});
  RingOp into = masked ? plain : out;
  Value tile = lowering.view(lowering.acquire(into), 0, shape);
  lowering.issue(QueueKind::Scalar, "activate",
                 {{"dst", tile},
                  {"src", lowering.view(slot, 0, shape)},
                  {"scale", factor}});
  lowering.commit(into);
  lowering.release(inverses);
  if (masked)
    addFaults(slot, rows);
  lowering.release(sums);
  store(lowering.view(lowering.wait(out), 0, shape), rows);
  lowering.release(out);
}

/// out = plain + inf where +inf was counted - inf where -inf was, rounded.
void AttentionStage::addFaults(Value sumsTile, const Tile &rows) {
  SmallVector<int64_t> shape = {rows.size(), values.columns};
  int64_t width = values.columns;
  if (!rows.band->masked) {
    Value from = lowering.view(lowering.wait(plain), 0, shape);
    Value to = lowering.view(lowering.acquire(out), 0, shape);
    lowering.issue(QueueKind::Gpsimd, "copy", {{"dst", to}, {"src", from}});
    lowering.commit(out);
    return lowering.release(plain);
  }
  // 0, or beyond what f32 holds.
  SmallVector<int64_t> counts = {rows.size(), numFaults * width};
  lowering.issue(QueueKind::Scalar, "activate",
                 {{"dst", lowering.view(lowering.acquire(poison), 0, counts)},
                  {"src", lowering.view(sumsTile, width, counts)}},
                 {lowering.number("imm_scale", faultWeight)});
  lowering.commit(poison);
  Value sum = lowering.view(lowering.wait(plain), 0, shape);
  Value infinite = lowering.wait(poison);
  auto combine = [&](RingOp into, StringRef op, Value a, int64_t part) {
    Value dst = lowering.view(lowering.acquire(into), 0, shape);
    lowering.issue(QueueKind::Gpsimd, "tensor_tensor",
                   {{"dst", dst},
                    {"a", a},
                    {"b", lowering.view(infinite, part * width, shape)}},
                   {lowering.word("op", op)});
    lowering.commit(into);
  };
  combine(raised, "add", sum, 0);
  lowering.release(plain);
  combine(out, "sub", lowering.view(lowering.wait(raised), 0, shape), 1);
  lowering.release(raised);
  lowering.release(poison);
}

void AttentionStage::bothPasses(const std::optional<Tile> &next,
                                const std::optional<Tile> &current) {
  Value shift, total, sumsTile, top;
  ArrayRef<StepRun> currentBlocks, nextBlocks;
  if (current) {
    SmallVector<int64_t> column = {current->size(), 1};
    shift = lowering.view(lowering.wait(shifts), 0, column);
    total = lowering.view(lowering.acquire(totals), 0, column);
    sumsTile = lowering.acquire(sums);
    currentBlocks = current->band->blocks;
  }
  if (next) {
    top = lowering.view(lowering.acquire(maxima), 0, {next->size(), 1});
    nextBlocks = next->band->blocks;
  }
  auto scoresIn = [&](RingOp ring, const Tile &rows, const Step &step) {
    const BlockKind &kind = kinds[step.kind];
    SmallVector<int64_t> shape = {rows.size(), kind.width};
    product(lowering.view(lowering.acquire(ring), 0, shape), rows, kind,
            step.start);
    lowering.commit(ring);
    return lowering.view(lowering.wait(ring), 0, shape);
  };
  interleave(lowering,
             {currentBlocks, nextBlocks, currentBlocks, currentBlocks},
             {0, 0, 1, 2}, [&](ArrayRef<std::optional<Step>> steps) {
               if (const std::optional<Step> &step = steps[0]) {
                 Value tile = scoresIn(scores, *current, *step);
                 exponential(tile, shift, total, *current, kinds[step->kind],
                             step->start);
                 lowering.release(scores);
               }
               if (const std::optional<Step> &step = steps[1]) {
                 Value tile = scoresIn(trial, *next, *step);
                 maximum(top, tile, *next, kinds[step->kind], step->start);
                 lowering.release(trial);
               }
               if (const std::optional<Step> &step = steps[2])
                 turn(*current, kinds[step->kind]);
               if (const std::optional<Step> &step = steps[3])
                 multiply(sumsTile, *current, kinds[step->kind], step->start);
             });
  if (next) {
    lowering.commit(maxima);
    shiftOf(*next);
  }
  if (current) {
    lowering.release(shifts);
    lowering.commit(totals);
    lowering.commit(sums);
    finish(*current);
  }
}

/// Scores and weights of a tile that has one block of keys.
void AttentionStage::onePass(const Tile &rows) {
  const StepRun &run = rows.band->blocks.front();
  const BlockKind &kind = kinds[run.kind];
  Linear start = run.start;
  SmallVector<int64_t> column = {rows.size(), 1};
  product(lowering.view(lowering.acquire(scores), 0, {rows.size(), kind.width}),
          rows, kind, start);
  lowering.commit(scores);
  Value tile =
      lowering.view(lowering.wait(scores), 0, {rows.size(), kind.width});
  maximum(lowering.view(lowering.acquire(maxima), 0, column), tile, rows, kind,
          start);
  lowering.commit(maxima);
  shiftOf(rows);
  Value shift = lowering.view(lowering.wait(shifts), 0, column);
  Value total = lowering.view(lowering.acquire(totals), 0, column);
  exponential(tile, shift, total, rows, kind, start);
  lowering.commit(totals);
  lowering.release(shifts);
  lowering.release(scores);
}

void AttentionStage::emitPlane() {
  SmallVector<StepRun> tiles;
  bool oneBlock = true;
  for (auto [i, band] : llvm::enumerate(bands)) {
    tiles.push_back(
        {unsigned(i), band.rows.start, band.rows.size, band.rows.tiles});
    oneBlock &= band.blocks.size() == 1 && band.blocks.front().count == 1;
  }
  auto tileOf = [&](const std::optional<Step> &step) {
    return step ? std::optional(Tile{&bands[step->kind], step->start})
                : std::nullopt;
  };
  if (!oneBlock)
    return interleave(lowering, {tiles, tiles}, {0, 1},
                      [&](ArrayRef<std::optional<Step>> steps) {
                        bothPasses(tileOf(steps[0]), tileOf(steps[1]));
                      });
  interleave(lowering, {tiles, tiles, tiles}, {0, 1, 2},
             [&](ArrayRef<std::optional<Step>> steps) {
               if (std::optional<Tile> tile = tileOf(steps[0]))
                 onePass(*tile);
               if (std::optional<Tile> tile = tileOf(steps[1]))
                 turn(*tile, kinds[tile->band->blocks.front().kind]);
               if (std::optional<Tile> tile = tileOf(steps[2])) {
                 const StepRun &run = tile->band->blocks.front();
                 Value sumsTile = lowering.acquire(sums);
                 multiply(sumsTile, *tile, kinds[run.kind], run.start);
                 lowering.commit(sums);
                 finish(*tile);
               }
             });
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

void AttentionStage::emitOuter(unsigned next) {
  if (next == shared) {
    load(keys, QueueKind::Sync, 0);
    load(values, QueueKind::Gpsimd, 1);
    keys.slot = lowering.wait(keys.ring);
    values.slot = lowering.wait(values.ring);
  }
  if (next == outer.size()) {
    load(queries, QueueKind::Sync, 0);
    queries.slot = lowering.wait(queries.ring);
    emitPlane();
    lowering.release(queries.ring);
  } else {
    lowering.forTiles(attention.extents[outer[next]], 1, [&](Span one) {
      at[outer[next]] = one.start;
      emitOuter(next + 1);
    });
  }
  if (next == shared) {
    lowering.release(keys.ring);
    lowering.release(values.ring);
  }
}

LogicalResult AttentionStage::run() {
  if (failed(describe()))
    return failure();
  divide();
  makeRings();
  if (masked) {
    Value slot = lowering.acquire(ones);
    lowering.issue(QueueKind::Gpsimd, "fill", {{"dst", slot}},
                   {lowering.number("value", 1)});
    lowering.commit(ones);
    onesSlot = lowering.wait(ones);
  }
  emitOuter(0);
  if (masked)
    lowering.release(ones);
  return success();
}

LogicalResult engine::emitAttention(Lowering &lowering, Attention &attention) {
  return AttentionStage(lowering, attention).run();
}
