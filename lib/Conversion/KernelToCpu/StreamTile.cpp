//===- StreamTile.cpp - a tile of rows meets a block of keys --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   s = q·kᵀ                  micro-kernels, over the panels that may live
//   m' = max(m, max_j s)
//   c = exp(m − m'); p = exp(s − m'); l = c·l + Σ_j p
//   o = c·o + p·v             a micro-kernel that starts from c·o
//
// s and p share a few KiB that stay in the first cache. Panels whose keys all live have no
// masks; of others the mask is kept, a bit per key, from the maximum to the weights. How
// what is dropped stays out of the sums is said in StreamStage.cpp.
//
//===----------------------------------------------------------------------===//

#include "ChainPoint.h"
#include "StreamEmitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cfloat>

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

void StreamEmitter::tile(const StreamTile &tile) {
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

Live StreamEmitter::liveOf(const StreamTile &tile) {
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
// Its parts
//===----------------------------------------------------------------------===//

void StreamEmitter::multiplyKeys(const StreamTile &tile, const Live &live) {
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
                                        depth, Value(), inits, ValueRange());
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t v = 0; v < vectors; ++v)
        store(frame.num(kernel.getResult(r * vectors + v)), scratch.scores,
              p * panel + (r * scoreStride() + v * lanes));
  });
}

/// From scores to exponents, which take their place, and their maximum.
void StreamEmitter::findMaximum(const StreamTile &tile, const Live &live,
                                Num r) {
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
void StreamEmitter::rescale(const StreamTile &tile) {
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
void StreamEmitter::exponentiate(const StreamTile &tile, const Live &live,
                                 Num r) {
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

void StreamEmitter::multiplyValues(const StreamTile &tile, const Live &live) {
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
        frame.i64(columns), steps, Value(), inits, ValueRange());
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
void StreamEmitter::multiplyWeights(const StreamTile &tile, const Live &live) {
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
