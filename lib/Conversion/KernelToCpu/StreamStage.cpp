//===- StreamStage.cpp - a softmax between two contractions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   for head:                         what k and v share with q
//     pack k, v
//     for a block of rows i:          q packed; m = −inf, l = 0, o = 0
//       for a block of keys j:        left out where the filter drops all of it
//         for a tile of rows:
//           s = q·kᵀ                  micro-kernels, over the panels that may live
//           m' = max(m, max_j s)
//           c = exp(m − m'); p = exp(s − m'); l = c·l + Σ_j p
//           o = c·o + p·v             a micro-kernel that starts from c·o
//       store the epilogue of o/l
//
// Of s and p only what one tile needs exists: it stays in the first cache. A panel of
// keys is unfiltered, partly filtered (under masks) or not there at all; which of them
// is known from bounds of the filter, for the tile's rows, before anything is computed.
//
// A dropped weight is −0, which no exp gives: times a finite v it changes no sum. Panels
// where v is not finite are noted when v is packed, and where such a panel is partly
// filtered, the second product goes weight by weight.
//
// m begins at −inf and is at least the lowest finite number once a key lives: a row of
// −inf alone ends as 0/0, a row without keys as 0, as the language wants both.
//
//===----------------------------------------------------------------------===//

#include "StreamStage.h"
#include "ChainPoint.h"
#include "StreamEmitter.h"
#include "Sums.h"
#include "Tasks.h"

#include <cfloat>

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

static ContractionAttr choicesOf(StreamAttr plan, bool ofKeys) {
  int64_t vectors = ofKeys ? plan.getKeyVectors() : plan.getValueVectors();
  return ContractionAttr::get(
      plan.getContext(), plan.getRows(), vectors, plan.getLanes(),
      plan.getRowBlock(), vectors * plan.getLanes(), Pack::AB,
      ofKeys ? plan.getKeyDot() : plan.getValueDot(), 0, Split::None, 0,
      /*constant=*/false, /*prefetch=*/0);
}

StreamEmitter::StreamEmitter(Frame &frame, const StreamStage &stage,
                             StreamScratch<Value> scratch)
    : frame(frame), b(frame.b), stream(stage.stream), epilogue(stage.epilogue),
      plan(stage.plan), scratch(scratch), lanes(plan.getLanes()),
      rows(plan.getRows()), panel(plan.getKeys()), f32(b.getF32Type()),
      vector(VectorType::get({lanes}, f32)),
      op(cast<StructuredOpInterface>(
          kernel::SoftmaxOp(stream.softmax).getOperation())),
      extents(frame.extents(op)), at(extents.size(), frame.i64(0)),
      isFiltered(stream.isFiltered()), keepsNaN(bool(stream.max)),
      scoresWalk(frame, stream.scores, plan.getKeyDot()),
      valuesWalk(frame, stream.values, plan.getValueDot()),
      scoresPanels(scoresWalk, choicesOf(plan, true), Value()),
      valuesPanels(valuesWalk, choicesOf(plan, false), Value()) {}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Num StreamEmitter::product(llvm::ArrayRef<unsigned> iterators) {
  Num result = frame.i64(1);
  for (unsigned i : iterators)
    result = result * frame.num(extents[i]);
  return result;
}

void StreamEmitter::decode(llvm::ArrayRef<unsigned> iterators, Num number) {
  for (unsigned i : llvm::reverse(iterators)) {
    if (i == iterators.front()) {
      at[i] = number;
      return;
    }
    Num extent = frame.num(extents[i]);
    Num quotient = divide(number, extent);
    at[i] = number - quotient * extent;
    number = quotient;
  }
}

void StreamEmitter::placeWalks() {
  for (Walk *walk : {&scoresWalk, &valuesWalk})
    walk->at = iteratorsOf(frame, stream, walk->op, at);
}

Num StreamEmitter::heads() { return product(stream.batch); }

Num StreamEmitter::unitsOfHead() {
  int64_t size = plan.getRowBlock();
  Num blocks =
      loops::quotient(frame.num(extents[stream.row]) + (size - 1), size);
  return product(stream.outerRows) * blocks;
}

void StreamEmitter::run(Num from, Num to, Block *stack) {
  scoresWalk.stack = valuesWalk.stack = stack;
  Num each = loops::max(unitsOfHead(), frame.i64(1));
  loop(divide(from, each), divide(to + (each - 1), each), 1, [&](Num number) {
    Num start = number * each;
    head(number, loops::max(from - start, frame.i64(0)),
         loops::min(to - start, each));
  });
}

void StreamEmitter::head(Num number, Num from, Num to) {
  decode(stream.batch, number);
  at[stream.row] = at[stream.key] = frame.i64(0);
  for (unsigned i : stream.outerRows)
    at[i] = frame.i64(0);
  placeWalks();
  Num zero = frame.i64(0);
  scoresPanels.packB(scratch.keys, zero, frame.num(extents[stream.key]));
  valuesPanels.packB(scratch.values, zero,
                     frame.num(valuesWalk.extents[stream.values.n.back()]));
  if (isFiltered)
    noteOdd();
  loop(from, to, 1, [&](Num unit) { block(unit); });
}

void StreamEmitter::block(Num unit) {
  int64_t size = plan.getRowBlock();
  Num all = frame.num(extents[stream.row]);
  Num blocks = loops::quotient(all + (size - 1), size);
  Num outer = divide(unit, blocks);
  decode(stream.outerRows, outer);
  // A filter that leaves more keys to later rows would leave more work to later tasks:
  // blocks are taken from both ends in turn.
  Num number = unit - outer * blocks;
  if (isFiltered) {
    Num pair = loops::quotient(number, 2);
    number = loops::select((number & 1) == 0, pair, blocks - 1 - pair);
  }
  Num i0 = number * size;
  Num count = loops::min(all - i0, frame.i64(size));
  at[stream.row] = frame.i64(0);
  placeWalks();
  scoresPanels.packA(scratch.queries, i0, count);
  begin(count);
  Num keys = frame.num(extents[stream.key]);
  loop(frame.i64(0), keys, plan.getKeyBlock(), [&](Num j0) {
    Num inBlock = loops::min(keys - j0, frame.i64(plan.getKeyBlock()));
    llvm::SmallVector<Interval> bounds;
    for (Value value : at)
      bounds.push_back({value, value});
    bounds[stream.row] = {i0, i0 + count - 1};
    bounds[stream.key] = {j0, j0 + inBlock - 1};
    Verdict verdict = filterOver(frame, op, op.getFilter(), bounds);
    loops::ifHolds(b, isFiltered ? verdict.may.get() : Value(), [&] {
      loop(frame.i64(0), count, rows, [&](Num r) {
        tile({i0 + r, r, loops::min(count - r, frame.i64(rows)), j0, inBlock});
      });
    });
  });
  loop(frame.i64(0), count, 1, [&](Num r) {
    at[stream.row] = i0 + r;
    finish(r);
  });
}

//===----------------------------------------------------------------------===//
// Begin and end of a block of rows
//===----------------------------------------------------------------------===//

void StreamEmitter::begin(Num count) {
  Num whole = loops::quotient(count + (rows - 1), rows) * rows;
  auto fill = [&](Num size, Value base, double value) {
    loop(frame.i64(0), size, lanes,
         [&](Num i) { store(wide(value), base, i); });
  };
  fill(whole, scratch.most, -INFINITY);
  fill(whole * lanes, scratch.total, 0.0);
  fill(whole * sumStride(), scratch.sums, 0.0);
}

void StreamEmitter::finish(Num r) {
  kernel::ReduceOp reduce = stream.values.reduce;
  auto values = cast<StructuredOpInterface>(reduce.getOperation());
  unsigned column = stream.values.n.back();
  Num most = loadOne(scratch.most, r);
  Num total = acrossLanes(load(scratch.total, r * lanes),
                          [](Num a, Num c) { return a + c; });
  Num isNone = most == number(-INFINITY);
  Num init = frame.num(splat(reduce.getInits()[0]));
  Num columns = frame.num(valuesWalk.extents[column]);
  loop(frame.i64(0), columns, lanes, [&](Num n) {
    Value mask = maskBelow(b, columns - n, lanes);
    Num sum = load(scratch.sums, r * sumStride() + n) / wide(total);
    sum = loops::select(wide(isNone), wide(0.0), sum);
    sum = wide(init) + sum;
    llvm::SmallVector<Value> iterators = iteratorsOf(frame, stream, values, at);
    iterators[column] = n;
    storeSums(frame, reduce, epilogue, iterators, {column, lanes, mask}, sum);
  });
  // Behind a row of −inf alone, the definition gives −inf and NaN.
  Num isLow = (most == number(-double(FLT_MAX))) & (total == 0.0);
  auto give = [&](kernel::ReduceOp product, Num value, bool isSum) {
    if (!product)
      return;
    auto structured = cast<StructuredOpInterface>(product.getOperation());
    llvm::SmallVector<Value> index = iteratorsOf(frame, stream, structured, at);
    index.resize(structured.getNumParallel());
    Num start = frame.num(splat(product.getInits()[0]));
    loops::store(b, frame.tensors[product.getResult(0)], index,
                 isSum ? start + value : loops::max(start, value));
  };
  give(stream.max, loops::select(isLow, number(-INFINITY), most), false);
  give(stream.sum, loops::select(isLow, number(std::nan("")), total), true);
}

//===----------------------------------------------------------------------===//
// Scratch and tasks
//===----------------------------------------------------------------------===//

void cpu::addStreamScratch(StreamStage &stage, loops::Workspace &workspace) {
  using Extent = loops::Workspace::Extent;
  const Stream &stream = stage.stream;
  StreamAttr plan = stage.plan;
  kernel::ReduceOp scores = stream.scores.reduce, values = stream.values.reduce;
  MLIRContext *context = scores.getContext();
  Type f32 = Float32Type::get(context);
  auto fixed = [](int64_t n) -> Extent {
    return [n](Frame &f) { return f.i64(n); };
  };
  auto extentOf = [](kernel::ReduceOp reduce, unsigned i, int64_t unit,
                     bool inUnits) -> Extent {
    auto op = cast<StructuredOpInterface>(reduce.getOperation());
    OpFoldResult mixed = op.getMixedExtents()[i];
    return [=](Frame &f) {
      Num count = loops::quotient(f.num(f.extent(mixed)) + (unit - 1), unit);
      return inUnits ? count : count * unit;
    };
  };
  // Of a block of rows, as many as there are, in whole tiles.
  kernel::SoftmaxOp softmax = stream.softmax;
  OpFoldResult allRows = kernel::mixedExtents(softmax)[stream.row];
  auto blockAnd = [=](int64_t more) -> Extent {
    int64_t tile = plan.getRows(), most = plan.getRowBlock();
    return [=](Frame &f) {
      Num tiles = loops::quotient(f.num(f.extent(allRows)) + (tile - 1), tile);
      return loops::min(tiles * tile, f.i64(most)) + more;
    };
  };
  auto add = [&](Type type, std::vector<Extent> dims) {
    if (plan.getGrain())
      dims.insert(dims.begin(), [](Frame &f) { return f.num(f.threads); });
    return workspace.add(type, std::move(dims));
  };
  int64_t lanes = plan.getLanes(), rows = plan.getRows(), keys = plan.getKeys();
  int64_t columns = plan.getValueVectors() * lanes;
  int64_t keyGroup = MicroKernelOp::groupSize(plan.getKeyDot()),
          valueGroup = MicroKernelOp::groupSize(plan.getValueDot());
  unsigned n = stream.values.n.back(), key = stream.values.k[0];
  std::vector<Extent> depth;
  for (unsigned i : stream.scores.k)
    depth.push_back(
        extentOf(scores, i, i == stream.scores.k.back() ? keyGroup : 1, true));
  auto withDepth = [&](Extent first) {
    std::vector<Extent> dims{std::move(first)};
    dims.insert(dims.end(), depth.begin(), depth.end());
    return dims;
  };
  StreamScratch<unsigned> &slots = stage.slots;
  slots.keys = add(f32, withDepth(extentOf(values, key, keys, false)));
  slots.values = add(f32, {extentOf(values, n, columns, false),
                           extentOf(values, key, valueGroup, true)});
  slots.queries = add(f32, withDepth(blockAnd(0)));
  int64_t stride = plan.getKeyBlock() + lanes;
  slots.scores = add(f32, {fixed(rows), fixed(stride)});
  slots.weights = add(IntegerType::get(context, 16),
                      {fixed(valueGroup > 1 ? rows : 0), fixed(stride)});
  slots.live = add(IntegerType::get(context, 16),
                   {fixed(rows), fixed(plan.getKeyBlock() / lanes)});
  slots.sums = add(f32, {blockAnd(0), extentOf(values, n, columns, false)});
  slots.total = add(f32, {blockAnd(0), fixed(lanes)});
  slots.most = add(f32, {blockAnd(lanes)});
  slots.next = add(f32, {fixed(lanes)});
  slots.scale = add(f32, {fixed(lanes)});
  slots.odd =
      add(IntegerType::get(context, 32), {extentOf(values, key, keys, true)});
}

void cpu::emitStream(Frame &frame, const StreamStage &stage,
                     llvm::ArrayRef<Storage> placed) {
  auto scratchOf = [&](Value task) {
    auto array = [&](unsigned slot) {
      return arrayOf(frame, placed[slot], task).pointer;
    };
    const StreamScratch<unsigned> &slots = stage.slots;
    return StreamScratch<Value>{
        array(slots.keys),   array(slots.values),  array(slots.queries),
        array(slots.scores), array(slots.weights), array(slots.live),
        array(slots.sums),   array(slots.total),   array(slots.most),
        array(slots.next),   array(slots.scale),   array(slots.odd)};
  };
  int64_t grain = stage.plan.getGrain();
  if (!grain) {
    StreamEmitter emitter(frame, stage, scratchOf(Value()));
    Num units = emitter.heads() * emitter.unitsOfHead();
    return emitter.run(frame.i64(0), units, nullptr);
  }
  StreamEmitter counter(frame, stage, {});
  kernel::ReduceOp scores = stage.stream.scores.reduce;
  forParts(frame, counter.heads() * counter.unitsOfHead(),
           frame.extents(cast<StructuredOpInterface>(scores.getOperation())),
           grain, [&](Value task, Num from, Num to, Block &stack) {
             StreamEmitter emitter(frame, stage, scratchOf(task));
             emitter.run(from, to, &stack);
           });
}
