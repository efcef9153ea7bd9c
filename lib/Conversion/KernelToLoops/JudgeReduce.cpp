//===- JudgeReduce.cpp - reductions and softmax with error bounds ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a road may make of many values. A point whose filter is within its bound
// may exist or not: it widens the result instead of deciding it. The rules, with
// their derivation, are in docs/Numerics.md; the names here are theirs.
//
//===----------------------------------------------------------------------===//

#include "JudgeForm.h"

#include "Combine.h"
#include "Interface.h"

#include <cmath>

using namespace facet;
using namespace facet::loops;
using namespace mlir;
using kernel::ReduceKind;
using kernel::StructuredOpInterface;

using Values = llvm::SmallVector<Value>;

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

Values JudgeForm::fold(StructuredOpInterface op, llvm::ArrayRef<Value> index,
                       ValueRange start, Step step) {
  llvm::SmallVector<Value> extents = frame.extents(op);
  auto reduced = llvm::ArrayRef(extents).drop_front(op.getNumParallel());
  return foldNest(b, reduced, start,
                  [&](llvm::ArrayRef<Value> inner, ValueRange state) -> Values {
                    Values iterators(index);
                    llvm::append_range(iterators, inner);
                    JudgePoint point(frame, readable, op, iterators);
                    return ifElse(b, point.holds(op.getFilter()), state, [&] {
                      Value sure = point.surelyHolds(op.getFilter());
                      return step(state, point, sure, iterators);
                    });
                  });
}

Judged JudgeForm::initOf(kernel::ReduceOp op, unsigned i,
                         llvm::ArrayRef<Value> index) {
  Value init = op.getInits()[i];
  if (auto it = readable.find(init); it != readable.end())
    return loadJudged(b, it->second, index);
  const Storage &storage = frame.tensors[init];
  if (storage.kind == Storage::Nothing) {
    frame.refuse(op, "starts from a tensor without values");
    return exact(
        {b, constant(b, judgedType(loops::elementType(init)), int64_t(0))});
  }
  return loadStored(b, storage, index);
}

/// |a − b|, 0 for equal infinities; NaN where one is.
static Num distance(Num a, Num b) {
  return select(a == b, a.like(0.0), abs(a - b));
}

static Num wide(Num x) {
  return x.isFloat() ? x : toFloat(x, x.builder().getF64Type());
}

static Num ifSure(Frame &frame, Value sure, Num then, Num otherwise) {
  return sure ? select(frame.num(sure), then, otherwise) : then;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Reads bf16, or a value just rounded to it.
static bool isBf16(Value value) {
  auto cast = value.getDefiningOp<kernel::CastOp>();
  return cast && cast.getMode() == kernel::CastMode::Exact &&
         isa<BFloat16Type>(cast.getValue().getType());
}

/// The product that the body yields, when both factors are bf16: hardware for it
/// may take subnormals for 0.
static arith::MulFOp bf16Product(kernel::ReduceOp op) {
  auto product = op.getBody()
                     .front()
                     .getTerminator()
                     ->getOperand(0)
                     .getDefiningOp<arith::MulFOp>();
  return product && isBf16(product.getLhs()) && isBf16(product.getRhs())
             ? product
             : nullptr;
}

/// An exponential is a factor of what is summed, so that a road may keep a
/// running maximum and rescale what it has.
static bool mayRescale(Operation *op,
                       llvm::SmallPtrSetImpl<Operation *> &seen) {
  if (!seen.insert(op).second)
    return false;
  if (isa<kernel::SoftmaxOp>(op))
    return true;
  auto structured = dyn_cast<StructuredOpInterface>(op);
  if (!structured)
    return false;
  for (Operation &inner : structured.getBody().front())
    if (isa<math::ExpOp>(inner))
      return true;
  return llvm::any_of(structured.getInputs(), [&](Value input) {
    Operation *def = input.getDefiningOp();
    return def && !kernel::isReturned(def) && mayRescale(def, seen);
  });
}

void JudgeForm::emitFloatSum(kernel::ReduceOp op) {
  Type type = loops::elementType(op.getResult(0));
  double limit = overflowOf(type);
  arith::MulFOp product = bf16Product(op);
  llvm::SmallPtrSet<Operation *, 8> seen;
  double roundingsPerTerm = mayRescale(op, seen) ? 2 : 1;

  forNeeded(op, [&](llvm::ArrayRef<Value> index) {
    // total, sum of magnitudes, sum of bounds, number of terms
    Judged init = initOf(op, 0, index);
    Num zero = frame.f64(0.0), one = frame.f64(1.0), inf = frame.f64(INFINITY);
    Values start{init.value, abs(init.value), boundOf(init),
                 select(init.value == 0.0, zero, one)};
    Values end =
        fold(op, index, start,
             [&](ValueRange state, JudgePoint &point, Value sure,
                 llvm::ArrayRef<Value>) -> Values {
               Judged term = point.body()[0];
               Num value = term.value, bound = boundOf(term), size = abs(value);
               if (sure) {
                 bound = bound + select(frame.num(sure), zero, size);
                 value = select(frame.num(point.holdsByValue(op.getFilter())),
                                value, zero);
               }
               if (term.unclamped && std::isfinite(limit)) {
                 Num raw = abs(term.unclamped);
                 bound = select((raw >= limit) & (raw < INFINITY), inf, bound);
               }
               if (product) {
                 auto flushed = [&](Value factor) {
                   return abs(point.element(factor).value) < 0x1p-126;
                 };
                 bound = bound + select(flushed(product.getLhs()) |
                                            flushed(product.getRhs()),
                                        size, zero);
               }
               return {frame.num(state[0]) + value, frame.num(state[1]) + size,
                       frame.num(state[2]) + bound, frame.num(state[3]) + 1.0};
             });
    Num total = frame.num(end[0]), size = frame.num(end[1]),
        terms = frame.num(end[3]);
    Num own = frame.num(end[2]);
    Num additions = max(terms - 1.0, zero);
    Num bound =
        own + additions * size * (unitRoundoff(type) * roundingsPerTerm);
    if (product)
      bound = bound + terms * 0x1p-126;
    Num ambiguous = own == inf;
    if (std::isfinite(limit)) {
      // A partial sum may overflow where the total does not.
      Num certain = (abs(total) - bound >= limit) & (abs(total) == size);
      ambiguous = ambiguous | ((abs(total) < INFINITY) &
                               (size + bound >= limit) & invert(certain));
    }
    storeJudged(b, this->own[op.getResult(0)], index,
                finish(total, bound, type, {}, ambiguous));
  });
}

void JudgeForm::emitIntegerSum(kernel::ReduceOp op) {
  forNeeded(op, [&](llvm::ArrayRef<Value> index) {
    Judged init = initOf(op, 0, index);
    bool isExact = init.isExact();
    Num zero = frame.f64(0.0);
    Values end = fold(
        op, index, {init.value, boundOf(init)},
        [&](ValueRange state, JudgePoint &point, Value sure,
            llvm::ArrayRef<Value>) -> Values {
          Judged term = point.body()[0];
          isExact &= term.isExact() && !sure;
          Num value = term.value, bound = boundOf(term);
          if (sure) {
            bound = bound + select(frame.num(sure), zero, abs(wide(value)));
            value = select(frame.num(point.holdsByValue(op.getFilter())), value,
                           value.like(0));
          }
          return {frame.num(state[0]) + value, frame.num(state[1]) + bound};
        });
    Judged result = exact(frame.num(end[0]));
    if (!isExact) { // beyond the range of its type it wraps
      Num bound = frame.num(end[1]);
      double limit =
          std::ldexp(1.0, int(result.type().getIntOrFloatBitWidth()) - 1);
      Num beyond = (bound > 0.0) & (abs(wide(result.value)) + bound >= limit);
      result.bound = select(beyond, bound.like(INFINITY), bound);
    }
    storeJudged(b, own[op.getResult(0)], index, result);
  });
}

//===----------------------------------------------------------------------===//
// Extremes
//===----------------------------------------------------------------------===//

namespace {

/// What is known of the maximum (or minimum) of uncertain values: `outer` is the
/// farthest it can be, over points that may exist; `inner` the least far, over
/// points that surely exist.
struct Extreme {
  bool isMax;
  Num pick(Num a, Num b) const { return isMax ? max(a, b) : min(a, b); }
  Num away(Num value, Num bound) const {
    return isMax ? value + bound : value - bound;
  }
  Num back(Num value, Num bound) const {
    return isMax ? value - bound : value + bound;
  }
};

} // namespace

/// The bound of an extreme with these ends.
static Num extremeBound(Num value, Num outer, Num inner, Num largestBound) {
  Num spread = max(distance(outer, value), distance(value, inner));
  spread = select(isNaN(value), spread.like(0.0), spread);
  return select((largestBound == largestBound.like(INFINITY)) | isNaN(spread),
                spread.like(INFINITY), spread);
}

void JudgeForm::emitExtreme(kernel::ReduceOp op) {
  Extreme extreme{op.getKind() == ReduceKind::Max};
  forNeeded(op, [&](llvm::ArrayRef<Value> index) {
    Judged init = initOf(op, 0, index);
    bool isExact = init.isExact();
    Num far = extreme.away(wide(init.value), boundOf(init));
    Num close = extreme.back(wide(init.value), boundOf(init));
    Values end = fold(
        op, index, {init.value, far, close, boundOf(init)},
        [&](ValueRange state, JudgePoint &point, Value sure,
            llvm::ArrayRef<Value>) -> Values {
          Judged element = point.body()[0];
          isExact &= element.isExact() && !sure;
          Num old = frame.num(state[0]), bound = boundOf(element),
              v = wide(element.value);
          Num picked = extreme.pick(old, element.value);
          if (sure)
            picked = select(frame.num(point.holdsByValue(op.getFilter())),
                            picked, old);
          Num outer = extreme.pick(frame.num(state[1]), extreme.away(v, bound));
          Num inner = frame.num(state[2]);
          inner = ifSure(frame, sure,
                         extreme.pick(inner, extreme.back(v, bound)), inner);
          return {picked, outer, inner, max(frame.num(state[3]), bound)};
        });
    Judged result = exact(frame.num(end[0]));
    if (!isExact)
      result.bound = extremeBound(wide(result.value), frame.num(end[1]),
                                  frame.num(end[2]), frame.num(end[3]));
    storeJudged(b, own[op.getResult(0)], index, result);
  });
}

void JudgeForm::emitBools(kernel::ReduceOp op) {
  bool isAny = op.getKind() == ReduceKind::Any;
  auto join = [&](Num a, Num b) { return isAny ? a | b : a & b; };
  forNeeded(op, [&](llvm::ArrayRef<Value> index) {
    Judged init = initOf(op, 0, index);
    bool isExact = true;
    // The value; whether a road may have true; whether it must.
    Values end =
        fold(op, index, {init.value, init.value, init.value},
             [&](ValueRange state, JudgePoint &point, Value sure,
                 llvm::ArrayRef<Value>) -> Values {
               Judged element = point.body()[0];
               isExact &= element.isExact() && !sure;
               Num value = element.value, may = value, must = value;
               if (Num uncertain = isUncertain(element)) {
                 may = value | uncertain;
                 must = value & invert(uncertain);
               }
               Num nothing = frame.i1(!isAny);
               if (sure) {
                 value = select(frame.num(point.holdsByValue(op.getFilter())),
                                value, nothing);
                 if (isAny)
                   must = must & frame.num(sure);
                 else
                   may = may | invert(frame.num(sure));
               }
               return {join(frame.num(state[0]), value),
                       join(frame.num(state[1]), may),
                       join(frame.num(state[2]), must)};
             });
    Judged result = exact(frame.num(end[0]));
    if (!isExact)
      result.bound = toFloat(frame.num(end[1]) & invert(frame.num(end[2])),
                             b.getF64Type());
    storeJudged(b, own[op.getResult(0)], index, result);
  });
}

//===----------------------------------------------------------------------===//
// argmax, argmin
//===----------------------------------------------------------------------===//

/// `map` only converts its one input, element by element, to another integer: an
/// index that became a float is no index to look up.
static bool onlyConverts(kernel::MapOp map) {
  auto op = cast<StructuredOpInterface>(map.getOperation());
  if (op.getInputs().size() != 1 ||
      !isa<IntegerType>(loops::elementType(map.getResult(0))))
    return false;
  for (auto [i, subscript] : llvm::enumerate(op.getAccess(0).getSubscripts()))
    if (!(subscript ==
          kernel::Subscript{kernel::Subscript::Iterator, int64_t(i)}))
      return false;
  return llvm::all_of(
      map.getBody().front().without_terminator(),
      [](Operation &inner) { return isa<kernel::CastOp>(inner); });
}

std::optional<unsigned> JudgeForm::storedIndices(kernel::ReduceOp op) {
  std::optional<unsigned> found;
  auto outputOf = [&](Value value) -> std::optional<unsigned> {
    auto it = llvm::find(returned(kernel), value);
    if (it == returned(kernel).end())
      return std::nullopt;
    return it - returned(kernel).begin();
  };
  for (OpOperand &use : op.getResult(1).getUses()) {
    std::optional<unsigned> output;
    if (isa<kernel::ReturnOp>(use.getOwner()))
      output = outputOf(op.getResult(1));
    else if (auto map = dyn_cast<kernel::MapOp>(use.getOwner());
             map && onlyConverts(map))
      output = outputOf(map.getResult(0));
    if (!output || found)
      return std::nullopt; // something computes with the index
    found = output;
  }
  return found;
}

void JudgeForm::emitArg(kernel::ReduceOp op) {
  Extreme extreme{op.getKind() == ReduceKind::Argmax};
  std::optional<unsigned> stored = storedIndices(op);
  forNeeded(op, [&](llvm::ArrayRef<Value> index) {
    Judged initValue = initOf(op, 0, index), initIndex = initOf(op, 1, index);
    bool isExact = true;
    Num v = wide(initValue.value), no = frame.i1(false);
    // Value, index, outer, inner, largest bound, whether a point surely exists.
    Values end = fold(
        op, index, {initValue.value, initIndex.value, v, v, frame.f64(0.0), no},
        [&](ValueRange state, JudgePoint &point, Value sure,
            llvm::ArrayRef<Value>) -> Values {
          llvm::SmallVector<Judged> elements = point.body();
          isExact &= elements[0].isExact() && elements[1].isExact() && !sure;
          Num bound = boundOf(elements[0]), value = wide(elements[0].value);
          Values next = combine(frame, op.getKind(), state.take_front(2),
                                {elements[0].value, elements[1].value});
          if (sure) {
            Num holds = frame.num(point.holdsByValue(op.getFilter()));
            next = {select(holds, frame.num(next[0]), frame.num(state[0])),
                    select(holds, frame.num(next[1]), frame.num(state[1]))};
          }
          Num inner = frame.num(state[3]);
          next.push_back(
              extreme.pick(frame.num(state[2]), extreme.away(value, bound)));
          next.push_back(ifSure(frame, sure,
                                extreme.pick(inner, extreme.back(value, bound)),
                                inner));
          next.push_back(max(frame.num(state[4]), bound));
          next.push_back(sure ? frame.num(state[5]) | frame.num(sure)
                              : frame.i1(true));
          return next;
        });
    Judged best = exact(frame.num(end[0])), at = exact(frame.num(end[1]));
    if (!isExact) {
      best.bound = extremeBound(wide(best.value), frame.num(end[2]),
                                frame.num(end[3]), frame.num(end[4]));
      Num chosen = at.value, inner = frame.num(end[3]);
      Num found = no, have = chosen;
      if (stored)
        have = extend(loadStored(b, outputs[*stored].stored, index).value,
                      b.getI64Type());
      // Nothing may exist: then −1 is right.
      found = (have == -1) & invert(frame.num(end[5]));
      Num low = select(frame.num(end[5]), chosen, min(chosen, chosen.like(-1)));
      Values range = fold(
          op, index, {found, low, chosen},
          [&](ValueRange state, JudgePoint &point, Value,
              llvm::ArrayRef<Value>) -> Values {
            llvm::SmallVector<Judged> elements = point.body();
            Num bound = boundOf(elements[0]), i = elements[1].value;
            Num reach = extreme.away(wide(elements[0].value), bound);
            Num further = extreme.isMax ? reach > inner : reach < inner;
            Num candidate = further | ((reach == inner) & (bound > 0.0)) |
                            (i == chosen) | (bound == bound.like(INFINITY));
            // A NaN that is certain wins alone.
            candidate =
                candidate & (invert(isNaN(wide(best.value))) | (i == chosen));
            Num lowest = frame.num(state[1]), highest = frame.num(state[2]);
            return {frame.num(state[0]) | (candidate & (i == have)),
                    select(candidate, min(lowest, i), lowest),
                    select(candidate, max(highest, i), highest)};
          });
      if (stored) { // judged against the road's own choice, if it is one
        at = exact(select(frame.num(range[0]), have, chosen));
      } else {
        Num down = wide(chosen - frame.num(range[1]));
        at.bound = max(down, wide(frame.num(range[2]) - chosen));
      }
    }
    storeJudged(b, own[op.getResult(0)], index, best);
    storeJudged(b, own[op.getResult(1)], index, at);
  });
}

void JudgeForm::emitReduce(kernel::ReduceOp op) {
  switch (op.getKind()) {
  case ReduceKind::Sum:
    return isa<FloatType>(loops::elementType(op.getResult(0)))
               ? emitFloatSum(op)
               : emitIntegerSum(op);
  case ReduceKind::Max:
  case ReduceKind::Min:
    return emitExtreme(op);
  case ReduceKind::Any:
  case ReduceKind::All:
    return emitBools(op);
  case ReduceKind::Argmax:
  case ReduceKind::Argmin:
    return emitArg(op);
  }
}

//===----------------------------------------------------------------------===//
// softmax
//===----------------------------------------------------------------------===//

void JudgeForm::emitSoftmax(kernel::SoftmaxOp op) {
  Type type = loops::elementType(op.getResult(0));
  JudgedTensor &result = own[op.getResult(0)];
  auto structured = cast<StructuredOpInterface>(op.getOperation());
  llvm::SmallVector<Value> extents = frame.extents(structured);
  auto reduced = llvm::ArrayRef(extents).drop_front(op.getNumParallel());
  Num zero = frame.f64(0.0);
  using Row = llvm::ArrayRef<Value>;

  forNeeded(op, [&](llvm::ArrayRef<Value> index) {
    forNest(b, reduced, [&](llvm::ArrayRef<Value> inner) {
      Values at(index);
      llvm::append_range(at, inner);
      storeJudged(b, result, at, {zero, zero, {}});
    });
    // The values; their maximum, from which no error comes: it cancels.
    Num largest = frame.num(fold(
        op, index, {frame.f64(-INFINITY)},
        [&](ValueRange state, JudgePoint &point, Value, Row at) -> Values {
          Judged element = point.body()[0];
          storeJudged(b, result, at, {element.value, boundOf(element), {}});
          return {max(frame.num(state[0]), element.value)};
        })[0]);
    // Sums of the powers, of what their arguments' bounds do to them, of those
    // that may not exist; the number of terms.
    Values sums = fold(
        op, index, {zero, zero, zero, zero},
        [&](ValueRange state, JudgePoint &point, Value sure, Row at) -> Values {
          Judged element = loadJudged(b, result, at);
          Num power = functions.call(Function::Exp, element.value - largest);
          Num moved =
              power * (functions.call(Function::Exp, element.bound) - 1.0);
          Num counted = power;
          if (sure)
            counted = select(frame.num(point.holdsByValue(op.getFilter())),
                             power, zero);
          Num perhaps = ifSure(frame, sure, zero, power);
          return {frame.num(state[0]) + counted, frame.num(state[1]) + moved,
                  frame.num(state[2]) + perhaps, frame.num(state[3]) + 1.0};
        });
    Num sum = frame.num(sums[0]), perhaps = frame.num(sums[2]);
    Num least = sum - perhaps; // at least this exists
    Num common = (frame.num(sums[1]) + perhaps) / least +
                 (frame.num(sums[3]) * 2.0 + 16.0) * unitRoundoff(type);
    fold(op, index, {},
         [&](ValueRange, JudgePoint &point, Value sure, Row at) -> Values {
           Judged element = loadJudged(b, result, at);
           Num depth = element.value - largest;
           Num power = functions.call(Function::Exp, depth);
           Num value = power / sum;
           Num relative = (functions.call(Function::Exp, element.bound) - 1.0) +
                          common + abs(depth) * (2.0 * unitRoundoff(type));
           // exp(−inf) is 0 for sure.
           Num bound =
               select(power == 0.0, zero, power / least * relative) + 0x1p-148;
           Num ambiguous =
               (least <= 0.0) | (element.bound == element.bound.like(INFINITY));
           if (sure) { // it, or 0
             Num there = frame.num(sure);
             bound = select(there, bound, bound + power / least);
             value = select(frame.num(point.holdsByValue(op.getFilter())),
                            value, zero);
           }
           storeJudged(b, result, at,
                       finish(value, bound, type, {}, ambiguous));
           return {};
         });
  });
}
