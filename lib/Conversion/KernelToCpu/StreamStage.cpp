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
#include "FilterBounds.h"
#include "Panels.h"
#include "Ranges.h"
#include "Sums.h"
#include "Tasks.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cfloat>

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

namespace {

/// Rows r.. of a block, which is i0.., and keys j0...
struct Tile {
  Num first; ///< row of the softmax
  Num r;     ///< in the block
  Num count;
  Num j0, keys;
};

class StreamEmitter {
public:
  StreamEmitter(Frame &frame, const StreamStage &stage,
                StreamScratch<Value> scratch);
  /// Units `from` .. `to`, of unitsOfHead() for each head.
  void run(Num from, Num to, Block *stack);
  Num unitsOfHead();
  Num heads();

private:
  void head(Num number, Num from, Num to);
  void block(Num unit);
  void tile(const Tile &tile);
  Live liveOf(const Tile &tile);
  void multiplyKeys(const Tile &tile, const Live &live);
  void findMaximum(const Tile &tile, const Live &live, Num r);
  void rescale(const Tile &tile);
  void exponentiate(const Tile &tile, const Live &live, Num r);
  void multiplyValues(const Tile &tile, const Live &live);
  void multiplyWeights(const Tile &tile, const Live &live);
  void noteOdd();
  void begin(Num rows);
  void finish(Num r);

  /// Sets `at` for `iterators` from their linear number.
  void decode(llvm::ArrayRef<unsigned> iterators, Num number);
  Num product(llvm::ArrayRef<unsigned> iterators);
  /// The walks stand where `at` does.
  void placeWalks();
  void loop(Num from, Num to, int64_t step,
            llvm::function_ref<void(Num)> body) {
    forRange(b, from, to, step, body);
  }
  Vectors fold(Num from, Num to, int64_t step, ValueRange start,
               llvm::function_ref<Vectors(Num, ValueRange)> body) {
    return foldRange(b, from, to, step, start, body);
  }
  /// `inside` where all keys of the vector at `c` live, else `partly`: `count`
  /// vectors.
  Vectors byLiveness(const Live &live, Num c, unsigned count,
                     llvm::function_ref<Vectors()> inside,
                     llvm::function_ref<Vectors()> partly);
  /// Product of v's factors at key `j`, columns n...
  Num valuesAt(Num j, Num n, Value mask);
  Num larger(Num a, Num c) {
    return keepsNaN ? loops::max(a, c) : loops::select(a < c, c, a);
  }
  Value splat(Value init) { return frame.tensors[init].scalar; }

  Value pointer(Type type, Value base, Num elements) {
    return loops::address(b, type, base, elements);
  }
  Num load(Value base, Num element) {
    return {b, LLVM::LoadOp::create(b, vector, pointer(f32, base, element), 4)};
  }
  void store(Num value, Value base, Num element) {
    LLVM::StoreOp::create(b, value, pointer(f32, base, element), 4);
  }
  Num loadOne(Value base, Num element) {
    return {b, LLVM::LoadOp::create(b, f32, pointer(f32, base, element), 4)};
  }
  Num number(double value) { return {b, loops::constant(b, f32, value)}; }
  Num wide(double value) { return {b, loops::constant(b, vector, value)}; }
  Num wide(Num value) { return {b, widen(b, value, lanes)}; }

  /// Elements between rows of scores, and of sums.
  int64_t scoreStride() const { return plan.getKeyBlock() + lanes; }
  Num sumStride() {
    Num columns = frame.num(valuesWalk.extents[stream.values.n.back()]);
    int64_t panel = plan.getValueVectors() * lanes;
    return loops::quotient(columns + (panel - 1), panel) * panel;
  }

  Frame &frame;
  LocBuilder &b;
  const Stream &stream;
  std::optional<Epilogue> epilogue;
  StreamAttr plan;
  StreamScratch<Value> scratch;
  int64_t lanes, rows, panel; // of keys
  Type f32;
  VectorType vector;
  StructuredOpInterface op; // the softmax
  llvm::SmallVector<Value> extents, at;
  bool isFiltered, keepsNaN;
  Walk scoresWalk, valuesWalk;
  Panels scoresPanels, valuesPanels;
};

} // namespace

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

void StreamEmitter::tile(const Tile &tile) {
  Live live = liveOf(tile);
  loops::ifHolds(b, isFiltered ? (live.begin < live.end).get() : Value(), [&] {
    multiplyKeys(tile, live);
    loop(frame.i64(0), tile.count, 1,
         [&](Num r) { findMaximum(tile, live, r); });
    rescale(tile);
    loop(frame.i64(0), tile.count, 1,
         [&](Num r) { exponentiate(tile, live, r); });
    if (!isFiltered)
      return multiplyValues(tile, live);
    // A partly filtered panel where v is not finite?
    Num partly = (live.begin < live.allBegin) | (live.allEnd < live.end);
    Num base = loops::quotient(tile.j0, panel);
    Type i32 = b.getI32Type();
    Value none = loops::constant(b, i32, int64_t(0));
    Num odd{b, fold(live.begin, live.end, 1, none,
                    [&](Num p, ValueRange state) -> Vectors {
                      Value flag = LLVM::LoadOp::create(
                          b, i32, pointer(i32, scratch.odd, base + p));
                      return {frame.num(state[0]) | frame.num(flag)};
                    })[0]};
    auto ifOp = scf::IfOp::create(b, partly & (odd != 0),
                                  /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    multiplyWeights(tile, live);
    b.setInsertionPointToStart(ifOp.elseBlock());
    multiplyValues(tile, live);
  });
}

//===----------------------------------------------------------------------===//
// Which keys live
//===----------------------------------------------------------------------===//

Live StreamEmitter::liveOf(const Tile &tile) {
  llvm::SmallVector<Interval> bounds;
  for (Value value : at)
    bounds.push_back({value, value});
  bounds[stream.row] = {tile.first, tile.first + tile.count - 1};
  return liveUnits(frame, op, op.getFilter(), bounds, stream.key, tile.j0,
                   tile.keys, panel);
}

Vectors StreamEmitter::byLiveness(const Live &live, Num c, unsigned count,
                                  llvm::function_ref<Vectors()> inside,
                                  llvm::function_ref<Vectors()> partly) {
  std::optional<int64_t> keys = known(extents[stream.key]);
  if (!isFiltered && keys && *keys % panel == 0)
    return inside();
  Num isInside = (c >= live.allBegin * panel) & (c < live.allEnd * panel);
  auto ifOp = scf::IfOp::create(b, llvm::SmallVector<Type>(count, vector),
                                isInside, /*addThenBlock=*/true,
                                /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  scf::YieldOp::create(b, inside());
  b.setInsertionPointToStart(ifOp.elseBlock());
  scf::YieldOp::create(b, partly());
  return llvm::to_vector_of<Value>(ifOp.getResults());
}

//===----------------------------------------------------------------------===//
// A tile
//===----------------------------------------------------------------------===//

void StreamEmitter::multiplyKeys(const Tile &tile, const Live &live) {
  int64_t vectors = plan.getKeyVectors();
  Num depth = scoresWalk.depth();
  kernel::ReduceOp reduce = stream.scores.reduce;
  Value init = widen(b, splat(reduce.getInits()[0]), lanes);
  Vectors inits(rows * vectors, init);
  llvm::SmallVector<Type> types(inits.size(), vector);
  loop(live.begin, live.end, 1, [&](Num p) {
    Value queries = pointer(f32, scratch.queries, tile.r * depth);
    Value keys = pointer(f32, scratch.keys, (tile.j0 + p * panel) * depth);
    auto kernel = MicroKernelOp::create(b, types, plan.getKeyDot(), rows,
                                        vectors, lanes, queries, frame.i64(1),
                                        frame.i64(rows), keys, frame.i64(panel),
                                        depth, Value(), inits, IntegerAttr());
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t v = 0; v < vectors; ++v)
        store(frame.num(kernel.getResult(r * vectors + v)), scratch.scores,
              p * panel + (r * scoreStride() + v * lanes));
  });
}

/// From scores to exponents, which take their place, and their maximum.
void StreamEmitter::findMaximum(const Tile &tile, const Live &live, Num r) {
  Value row = pointer(f32, scratch.scores, r * scoreStride());
  kernel::ReduceOp reduce = stream.scores.reduce;
  Type bits = b.getIntegerType(lanes);
  at[stream.row] = tile.first + r;
  Num lowest = wide(-double(FLT_MAX));
  Vectors found = fold(
      live.begin * panel, live.end * panel, lanes, {wide(-INFINITY)},
      [&](Num c, ValueRange state) -> Vectors {
        Num most = frame.num(state[0]);
        llvm::DenseMap<Value, Value> given{{reduce.getResult(0), load(row, c)}};
        at[stream.key] = tile.j0 + c;
        auto inside = [&]() -> Vectors {
          ChainPoint point(frame, stream, op, at, lanes, Value(), given);
          Num value = wide(frame.num(point.body()[0]));
          return {value, larger(most, value)};
        };
        auto partly = [&]() -> Vectors {
          Value exist = maskBelow(b, tile.keys - c, lanes);
          ChainPoint point(frame, stream, op, at, lanes, exist, given);
          Value keep = andMasks(b, point.holds(op.getFilter()), exist, lanes);
          Num value = wide(frame.num(point.body()[0]));
          Value packed = LLVM::BitcastOp::create(b, bits, keep);
          Num slot = loops::quotient(r * plan.getKeyBlock() + c, lanes);
          LLVM::StoreOp::create(b, packed, pointer(bits, scratch.live, slot));
          Num own = loops::select(frame.num(keep), larger(lowest, value),
                                  wide(-INFINITY));
          return {value, larger(most, own)};
        };
        Vectors next = byLiveness(live, c, 2, inside, partly);
        store(frame.num(next[0]), row, c);
        return {next[1]};
      });
  Num most = acrossLanes(frame.num(found[0]),
                         [&](Num a, Num c) { return larger(a, c); });
  most = loops::select(live.allBegin < live.allEnd,
                       larger(number(-double(FLT_MAX)), most), most);
  Num next = larger(loadOne(scratch.most, tile.r + r), most);
  LLVM::StoreOp::create(b, next, pointer(f32, scratch.next, r));
}

/// What the new maxima make of the sums so far.
void StreamEmitter::rescale(const Tile &tile) {
  Num before = load(scratch.most, tile.r),
      now = load(scratch.next, frame.i64(0));
  Num scale = frame.functions.call(loops::Function::Exp, before - now);
  store(loops::select(before == now, wide(1.0), scale), scratch.scale,
        frame.i64(0));
  LLVM::MaskedStoreOp::create(b, now, pointer(f32, scratch.most, tile.r),
                              maskBelow(b, tile.count, lanes),
                              b.getI32IntegerAttr(4));
}

/// From exponents to weights, rounded as the values want them, and their sum.
void StreamEmitter::exponentiate(const Tile &tile, const Live &live, Num r) {
  bool isPairs = plan.getValueDot() == Dot::BF16;
  Type bits = b.getIntegerType(lanes), half = b.getI16Type();
  Value row = pointer(f32, scratch.scores, r * scoreStride());
  Num most = wide(loadOne(scratch.most, tile.r + r));
  Num scale = wide(loadOne(scratch.scale, r));
  Num total = load(scratch.total, (tile.r + r) * lanes) * scale;
  at[stream.row] = tile.first + r;
  kernel::SoftmaxOp softmax = stream.softmax;
  Vectors sum = fold(
      live.begin * panel, live.end * panel, lanes, {total},
      [&](Num c, ValueRange state) -> Vectors {
        Num power =
            frame.functions.call(loops::Function::Exp, load(row, c) - most);
        power = frame.num(byLiveness(
            live, c, 1, [&]() -> Vectors { return {power}; },
            [&]() -> Vectors {
              Num slot = loops::quotient(r * plan.getKeyBlock() + c, lanes);
              Value packed = LLVM::LoadOp::create(
                  b, bits, pointer(bits, scratch.live, slot));
              Num keep{b,
                       LLVM::BitcastOp::create(
                           b, VectorType::get({lanes}, b.getI1Type()), packed)};
              return {loops::select(keep, power, wide(-0.0))};
            })[0]);
        at[stream.key] = tile.j0 + c;
        llvm::DenseMap<Value, Value> given{{softmax.getResult(0), power}};
        ChainPoint point(frame, stream, stream.values.reduce, at, lanes,
                         Value(), given);
        Num weight = frame.num(point.valueOf(stream.values.a[0]));
        if (isPairs) {
          Num narrow = loops::truncate(
              loops::bitcast(weight, b.getI32Type()) >> 16, half);
          LLVM::StoreOp::create(
              b, narrow, pointer(half, scratch.weights, r * scoreStride() + c),
              2);
        } else {
          store(weight, row, c);
        }
        return {frame.num(state[0]) + power};
      });
  store(frame.num(sum[0]), scratch.total, (tile.r + r) * lanes);
}

void StreamEmitter::multiplyValues(const Tile &tile, const Live &live) {
  int64_t vectors = plan.getValueVectors(), columns = vectors * lanes;
  int64_t group = valuesWalk.group;
  Num depth = valuesWalk.depth(), stride = sumStride();
  Num from = loops::quotient(live.begin * panel, group);
  Num end = loops::min(live.end * panel, tile.keys);
  Num steps = loops::quotient(end + (group - 1), group) - from;
  Num start = loops::quotient(tile.j0, group) + from;
  Value weights =
      pointer(f32, group > 1 ? scratch.weights : scratch.scores, from);
  llvm::SmallVector<Type> types(rows * vectors, vector);
  loop(frame.i64(0), loops::quotient(stride, columns), 1, [&](Num p) {
    auto place = [&](int64_t r, int64_t v) {
      return (tile.r + r) * stride + p * columns + v * lanes;
    };
    Vectors inits;
    for (int64_t r = 0; r < rows; ++r) {
      Num scale = wide(loadOne(scratch.scale, frame.i64(r)));
      for (int64_t v = 0; v < vectors; ++v)
        inits.push_back(load(scratch.sums, place(r, v)) * scale);
    }
    Value values = pointer(f32, scratch.values, (p * depth + start) * columns);
    auto kernel = MicroKernelOp::create(
        b, types, plan.getValueDot(), rows, vectors, lanes, weights,
        frame.i64(scoreStride() / group), frame.i64(1), values,
        frame.i64(columns), steps, Value(), inits, IntegerAttr());
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t v = 0; v < vectors; ++v)
        store(frame.num(kernel.getResult(r * vectors + v)), scratch.sums,
              place(r, v));
  });
}

Num StreamEmitter::valuesAt(Num j, Num n, Value mask) {
  unsigned column = stream.values.n.back();
  kernel::ReduceOp reduce = stream.values.reduce;
  auto values = cast<StructuredOpInterface>(reduce.getOperation());
  at[stream.key] = j;
  llvm::SmallVector<Value> iterators = iteratorsOf(frame, stream, values, at);
  iterators[column] = n;
  LanePoint point(frame, values, iterators, {column, lanes, mask});
  Num result;
  for (Value factor : stream.values.b) {
    Num value = frame.num(point.valueOf(factor));
    result = result ? result * value : value;
  }
  return wide(result);
}

/// The same, leaving out every weight that is −0: what the filter drops has no value.
void StreamEmitter::multiplyWeights(const Tile &tile, const Live &live) {
  bool isPairs = plan.getValueDot() == Dot::BF16;
  Type i32 = b.getI32Type(), half = b.getI16Type();
  Num columns = frame.num(valuesWalk.extents[stream.values.n.back()]);
  loop(frame.i64(0), tile.count, 1, [&](Num r) {
    at[stream.row] = tile.first + r;
    Num scale = wide(loadOne(scratch.scale, r));
    loop(frame.i64(0), columns, lanes, [&](Num n) {
      Value mask = maskBelow(b, columns - n, lanes);
      Num place = (tile.r + r) * sumStride() + n;
      Vectors sum = fold(
          live.begin * panel, loops::min(live.end * panel, tile.keys), 1,
          {load(scratch.sums, place) * scale},
          [&](Num c, ValueRange state) -> Vectors {
            Num element = r * scoreStride() + c, bits;
            if (isPairs) {
              Num low{b, LLVM::LoadOp::create(
                             b, half, pointer(half, scratch.weights, element))};
              bits = loops::zeroExtend(low, i32) << 16;
            } else {
              bits = {b, LLVM::LoadOp::create(
                             b, i32, pointer(i32, scratch.scores, element))};
            }
            return loops::ifElse(
                b, bits != int64_t(INT32_MIN), state, [&]() -> Vectors {
                  Num weight = wide(loops::bitcast(bits, f32));
                  Num value = valuesAt(tile.j0 + c, n, mask);
                  return {frame.num(state[0]) + weight * value};
                });
          });
      store(frame.num(sum[0]), scratch.sums, place);
    });
  });
}

/// Which panels of keys hold a v that is no finite number.
void StreamEmitter::noteOdd() {
  Num keys = frame.num(extents[stream.key]);
  Num columns = frame.num(valuesWalk.extents[stream.values.n.back()]);
  Type i32 = b.getI32Type();
  loop(frame.i64(0), loops::quotient(keys + (panel - 1), panel), 1, [&](Num p) {
    Num none{b, loops::constant(b, VectorType::get({lanes}, i32), int64_t(0))};
    Vectors largest =
        fold(p * panel, loops::min((p + 1) * panel, keys), 1, {none},
             [&](Num j, ValueRange state) {
               return fold(frame.i64(0), columns, lanes, state,
                           [&](Num n, ValueRange state) -> Vectors {
                             Value mask = maskBelow(b, columns - n, lanes);
                             Num value = valuesAt(j, n, mask);
                             Num size = loops::bitcast(value, i32) & 0x7fffffff;
                             return {loops::max(frame.num(state[0]), size)};
                           });
             });
    Num top = acrossLanes(frame.num(largest[0]),
                          [](Num a, Num c) { return loops::max(a, c); });
    Num flag = loops::zeroExtend(top >= 0x7f800000, i32);
    LLVM::StoreOp::create(b, flag, pointer(i32, scratch.odd, p));
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
