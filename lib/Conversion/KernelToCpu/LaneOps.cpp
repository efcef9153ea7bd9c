//===- LaneOps.cpp - one op, its innermost loop in vectors ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that is not a contraction: elementwise maps, reductions, norms,
// softmax. Lanes run along an iterator whose neighbours lie side by side in memory:
//
//   map      the last dimension of the result
//   reduce   a parallel iterator with neighbours (one sum per lane), else the last
//            reduction iterator (partial sums, folded in halves at the end)
//   softmax  the last iterator it normalises over
//
// A tail is one more vector under a mask; nothing is read outside of a tensor.
//
//===----------------------------------------------------------------------===//

#include "CpuForm.h"
#include "Ranges.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::ReduceKind;
using kernel::StructuredOpInterface;

//===----------------------------------------------------------------------===//
// Loops over lanes
//===----------------------------------------------------------------------===//

llvm::SmallVector<Value> CpuForm::foldLanes(Value n, ValueRange start,
                                            LaneFold body, int64_t chains) {
  llvm::APInt constant;
  std::optional<int64_t> known;
  if (matchPattern(n, m_ConstantInt(&constant)))
    known = constant.getSExtValue();
  auto multiple = [&](int64_t step) {
    return known ? frame.i64(*known / step * step)
                 : loops::quotient(frame.num(n), step) * step;
  };

  llvm::SmallVector<Value> state(start);
  size_t size = state.size() / chains;
  // From `from` up to `to`, with the first `count` chains.
  auto loopOver = [&](Num from, Num to, int64_t count) {
    if (known && isConstant(from, *known / (count * lanes) * count * lanes))
      return; // none
    auto loop =
        scf::ForOp::create(b, from, to, frame.i64(count * lanes), state);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    llvm::SmallVector<Value> next(loop.getRegionIterArgs());
    for (int64_t i = 0; i < count; ++i) {
      Num base = frame.num(loop.getInductionVar());
      if (i > 0)
        base = base + i * lanes;
      llvm::SmallVector<Value> one =
          body(base, Value(), ValueRange(next).slice(i * size, size));
      llvm::copy(one, next.begin() + i * size);
    }
    if (!state.empty())
      scf::YieldOp::create(b, next);
    state.assign(loop.result_begin(), loop.result_end());
  };
  Num together = chains > 1 ? multiple(chains * lanes) : frame.i64(0);
  if (chains > 1)
    loopOver(frame.i64(0), together, chains);
  Num end = multiple(lanes);
  loopOver(together, end, 1);

  if (known && *known % lanes == 0)
    return state;
  Num rest = frame.num(n) - end;
  llvm::SmallVector<Value> first =
      loops::ifElse(b, known ? Value() : Value(rest > 0),
                    ValueRange(state).take_front(size), [&] {
                      return body(end, maskBelow(b, rest, lanes),
                                  ValueRange(state).take_front(size));
                    });
  llvm::copy(first, state.begin());
  return state;
}

void CpuForm::forLanes(Value n, LaneBody body) {
  foldLanes(n, {}, [&](Value base, Value mask, ValueRange) {
    body(base, mask);
    return llvm::SmallVector<Value>();
  });
}

//===----------------------------------------------------------------------===//
// Which iterator
//===----------------------------------------------------------------------===//

unsigned CpuForm::neighbours(StructuredOpInterface op, unsigned iterator) {
  unsigned count = 0;
  for (unsigned k = 0; k < op.getInputs().size(); ++k) {
    auto subscripts = op.getAccess(k).getSubscripts();
    if (!subscripts.empty() &&
        subscripts.back() ==
            kernel::Subscript{kernel::Subscript::Iterator, iterator})
      ++count;
  }
  return count;
}

std::optional<unsigned> CpuForm::parallelLane(StructuredOpInterface op) {
  // The last dimension, unless it is a number too small to fill half a vector.
  auto extents = op.getStaticExtents();
  for (unsigned i = op.getNumParallel(); i-- > 0;)
    if (ShapedType::isDynamic(extents[i]) || extents[i] >= lanes / 2)
      return i;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Map
//===----------------------------------------------------------------------===//

/// `extents` without the one of `lane`.
static llvm::SmallVector<Value> without(llvm::ArrayRef<Value> extents,
                                        unsigned lane) {
  llvm::SmallVector<Value> rest(extents);
  rest.erase(rest.begin() + lane);
  return rest;
}

/// The iterators of a point: `outer` with `base` put in at `lane`.
static llvm::SmallVector<Value> with(llvm::ArrayRef<Value> outer, unsigned lane,
                                     Value base) {
  llvm::SmallVector<Value> all(outer);
  all.insert(all.begin() + lane, base);
  return all;
}

void CpuForm::emitLaneMap(kernel::MapOp op) {
  auto structured = cast<StructuredOpInterface>(op.getOperation());
  std::optional<unsigned> lane = parallelLane(structured);
  if (!lane)
    return OwnForm::emitOp(structured);
  llvm::SmallVector<Value> extents = frame.extents(structured);
  loops::forNest(b, without(extents, *lane), [&](llvm::ArrayRef<Value> outer) {
    forLanes(extents[*lane], [&](Value base, Value mask) {
      llvm::SmallVector<Value> index = with(outer, *lane, base);
      LanePoint point(frame, structured, index, {*lane, lanes, mask});
      for (auto [value, result] :
           llvm::zip_equal(point.body(), op.getResults()))
        storeLanes(b, frame.tensors[result], index, *lane, lanes, mask, value);
    });
  });
}

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

/// All lanes of `value` into one, in halves.
Value CpuForm::horizontal(ReduceKind kind, Value value) {
  return acrossLanes(frame.num(value), [&](Num a, Num c) {
    return frame.num(loops::combine(frame, kind, ValueRange{a}, {c})[0]);
  });
}

void CpuForm::emitLaneReduce(kernel::ReduceOp op) {
  auto structured = cast<StructuredOpInterface>(op.getOperation());
  llvm::SmallVector<Value> extents = frame.extents(structured);
  unsigned numParallel = op.getNumParallel(), last = extents.size() - 1;
  bool isArg = op.getInits().size() == 2;
  std::optional<unsigned> lane = parallelLane(structured);
  // Partial sums when they run along memory and the parallel lanes would not.
  if (!lane ||
      (neighbours(structured, last) > 0 && neighbours(structured, *lane) == 0))
    lane = last;

  // What the lanes of `point` make of `state`; lanes that do not exist keep it.
  auto step = [&](LanePoint &point, Value mask, ValueRange state) {
    Value holds = point.holds(op.getFilter());
    bool branch = holds && !isVector(holds);
    Value keep = branch ? mask : andMasks(b, holds, mask, lanes);
    return loops::ifElse(b, branch ? holds : Value(), state, [&] {
      llvm::SmallVector<Value> values = point.body();
      for (Value &value : values)
        value = widen(b, value, lanes);
      llvm::SmallVector<Value> next =
          loops::combine(frame, op.getKind(), state, values);
      if (keep)
        for (auto [value, old] : llvm::zip_equal(next, state))
          value =
              loops::select(frame.num(keep), frame.num(value), frame.num(old));
      return next;
    });
  };
  auto initsAt = [&](llvm::ArrayRef<Value> index) {
    llvm::SmallVector<Value> inits;
    for (Value init : op.getInits())
      inits.push_back(loops::load(b, frame.tensors[init], index));
    return inits;
  };

  if (*lane < numParallel) {
    auto parallel = llvm::ArrayRef(extents).take_front(numParallel);
    auto reduced = llvm::ArrayRef(extents).drop_front(numParallel);
    loops::forNest(
        b, without(parallel, *lane), [&](llvm::ArrayRef<Value> outer) {
          forLanes(extents[*lane], [&](Value base, Value mask) {
            llvm::SmallVector<Value> index = with(outer, *lane, base);
            llvm::SmallVector<Value> start;
            for (Value init : op.getInits())
              start.push_back(
                  loadLanes(b, frame.tensors[init], index, *lane, lanes, mask));
            llvm::SmallVector<Value> total = loops::foldNest(
                b, reduced, start,
                [&](llvm::ArrayRef<Value> inner, ValueRange state) {
                  llvm::SmallVector<Value> iterators(index);
                  llvm::append_range(iterators, inner);
                  LanePoint point(frame, structured, iterators,
                                  {*lane, lanes, mask});
                  return step(point, /*mask=*/Value(), state);
                });
            for (auto [value, result] : llvm::zip_equal(total, op.getResults()))
              storeLanes(b, frame.tensors[result], index, *lane, lanes, mask,
                         value);
          });
        });
    return;
  }

  auto parallel = llvm::ArrayRef(extents).take_front(numParallel);
  auto outerReduced =
      llvm::ArrayRef(extents).slice(numParallel, last - numParallel);
  loops::forNest(b, parallel, [&](llvm::ArrayRef<Value> index) {
    llvm::SmallVector<Value> inits = initsAt(index);
    // Lanes start from what changes nothing; the init joins at the end.
    llvm::SmallVector<Value> start;
    for (Value init : inits)
      start.push_back(widen(
          b, identity(op.getKind(), init.getType(), start.size()), lanes));
    int64_t chains = isArg ? 1 : 4; // as many cycles as an addition takes
    for (int64_t i = 1; i < chains; ++i)
      start.push_back(start[0]);
    llvm::SmallVector<Value> total =
        loops::foldNest(b, outerReduced, start,
                        [&](llvm::ArrayRef<Value> inner, ValueRange state) {
                          return foldLanes(
                              extents[last], state,
                              [&](Value base, Value mask, ValueRange state) {
                                llvm::SmallVector<Value> iterators(index);
                                llvm::append_range(iterators, inner);
                                iterators.push_back(base);
                                LanePoint point(frame, structured, iterators,
                                                {last, lanes, mask});
                                return step(point, mask, state);
                              },
                              chains);
                        });
    for (int64_t i = 1; i < chains; ++i)
      total[0] = loops::combine(frame, op.getKind(), ValueRange(total[0]),
                                {total[i]})[0];
    if (isArg) {
      for (int64_t i = 0; i < lanes; ++i) {
        llvm::SmallVector<Value> one;
        for (Value value : total)
          one.push_back(vector::ExtractOp::create(b, value, i));
        inits = loops::combine(frame, op.getKind(), inits, one);
      }
    } else {
      inits = loops::combine(frame, op.getKind(), inits,
                             {horizontal(op.getKind(), total[0])});
    }
    for (auto [value, result] : llvm::zip_equal(inits, op.getResults()))
      loops::store(b, frame.tensors[result], index, value);
  });
}

/// The value that changes no other; for the second init of argmax, "nothing yet".
Value CpuForm::identity(ReduceKind kind, Type type, unsigned init) {
  if (init == 1)
    return loops::constant(b, type, int64_t(-1));
  bool least = kind == ReduceKind::Max || kind == ReduceKind::Argmax;
  bool largest = kind == ReduceKind::Min || kind == ReduceKind::Argmin;
  if (kind == ReduceKind::All)
    return loops::constant(b, type, int64_t(1));
  if (!least && !largest)
    return loops::constant(b, type, int64_t(0));
  if (isa<FloatType>(type))
    return loops::constant(b, type, least ? -INFINITY : INFINITY);
  auto [low, high] = loops::integerRange(type);
  return loops::constant(b, type, least ? low : high);
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

void CpuForm::emitLaneSoftmax(kernel::SoftmaxOp op) {
  auto structured = cast<StructuredOpInterface>(op.getOperation());
  llvm::SmallVector<Value> extents = frame.extents(structured);
  unsigned numParallel = op.getNumParallel(), last = extents.size() - 1;
  auto outerReduced =
      llvm::ArrayRef(extents).slice(numParallel, last - numParallel);
  const Storage &result = frame.tensors[op.getResult(0)];
  Type type = loops::elementType(op.getResult(0));
  loops::forNest(
      b, llvm::ArrayRef(extents).take_front(numParallel),
      [&](llvm::ArrayRef<Value> index) {
        using Walk =
            llvm::function_ref<Value(llvm::ArrayRef<Value>, Value, Value)>;
        auto walk = [&](Value start, Walk body) -> Value {
          llvm::SmallVector<Value> init;
          if (start)
            init.push_back(widen(b, start, lanes));
          llvm::SmallVector<Value> total = loops::foldNest(
              b, outerReduced, init,
              [&](llvm::ArrayRef<Value> inner, ValueRange state) {
                return foldLanes(extents[last], state,
                                 [&](Value base, Value mask, ValueRange state) {
                                   llvm::SmallVector<Value> at(index);
                                   llvm::append_range(at, inner);
                                   at.push_back(base);
                                   Value next =
                                       body(at, mask,
                                            state.empty() ? Value() : state[0]);
                                   return next ? llvm::SmallVector<Value>{next}
                                               : llvm::SmallVector<Value>();
                                 });
              });
          return total.empty() ? Value() : total[0];
        };
        Value low = loops::constant(b, type, -INFINITY),
              zero = loops::constant(b, type, 0.0);
        // Values with −inf where the filter does not hold: their power is 0, and
        // where the maximum is −inf too, the last walk knows them by the filter.
        Value largest = walk(low, [&](llvm::ArrayRef<Value> at, Value mask,
                                      Value state) {
          LanePoint point(frame, structured, at, {last, lanes, mask});
          Value holds = point.holds(op.getFilter());
          Value keep = andMasks(b, holds, mask, lanes);
          Num value;
          if (holds && !isVector(holds)) {
            Value none = widen(b, low, lanes);
            value = frame.num(loops::ifElse(b, holds, none, [&] {
              return llvm::SmallVector<Value>{widen(b, point.body()[0], lanes)};
            })[0]);
          } else {
            value = frame.num(widen(b, point.body()[0], lanes));
          }
          if (keep)
            value = loops::select(frame.num(keep), value,
                                  frame.num(widen(b, low, lanes)));
          storeLanes(b, result, at, last, lanes, mask, value);
          // A NaN need not be seen: its power makes the row's sum one.
          Num old = frame.num(state);
          return Value(loops::select(old < value, value, old));
        });
        Num top = frame.num(horizontal(ReduceKind::Max, largest));
        Value sums = walk(zero, [&](llvm::ArrayRef<Value> at, Value mask,
                                    Value state) {
          LanePoint point(frame, structured, at, {last, lanes, mask});
          Value keep = andMasks(b, point.holds(op.getFilter()), mask, lanes);
          Num value = frame.num(loadLanes(b, result, at, last, lanes, mask));
          Num power = functions.call(loops::Function::Exp, value - top);
          if (keep)
            power = loops::select(frame.num(keep), power, power.like(0.0));
          storeLanes(b, result, at, last, lanes, mask, power);
          return Value(frame.num(state) + power);
        });
        Num total = frame.num(horizontal(ReduceKind::Sum, sums));
        walk(Value(), [&](llvm::ArrayRef<Value> at, Value mask, Value) {
          LanePoint point(frame, structured, at, {last, lanes, mask});
          Value holds = point.holds(op.getFilter());
          Num value =
              frame.num(loadLanes(b, result, at, last, lanes, mask)) / total;
          if (holds)
            value = loops::select(frame.num(holds), value, value.like(0.0));
          storeLanes(b, result, at, last, lanes, mask, value);
          return Value();
        });
      });
}
