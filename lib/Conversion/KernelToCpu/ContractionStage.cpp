//===- ContractionStage.cpp - panels, blocks and the micro-kernel ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   for batch, outer n:
//     for jc in steps of NC:            columns whose panel of b is packed at once
//       for kc in steps of KC:          all of k, if the plan does not cut it
//         pack b: [jr][k][NR], zeros behind the last column
//         for outer m, for ic in steps of MC:
//           pack a: [ir][k][MR]         unless it is read in place
//           for jr in steps of NR, for ir in steps of MR:
//             micro-kernel over the block of k, from the sums so far; behind the
//             last one the epilogue and the store
//
// Packing evaluates the factors of its side, so that conversions and
// dequantisation happen once per element of a panel. Rows that are left over go to
// micro-kernels of 8, 4, 2, 1 rows, columns to one with fewer vectors whose last
// store is masked: exact sizes, no padded reads.
//
//===----------------------------------------------------------------------===//

#include "CpuForm.h"
#include "Tasks.h"
#include "facet/Dialect/Kernel/IR/Operations.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

namespace {

/// The map behind a contraction, with the sums given instead of read.
class EpiloguePoint : public LanePoint {
public:
  EpiloguePoint(Frame &frame, kernel::MapOp map, unsigned sumsInput,
                llvm::ArrayRef<Value> iterators, LaneRange range, Value sums)
      : LanePoint(frame, cast<StructuredOpInterface>(map.getOperation()),
                  iterators, range),
        sumsInput(sumsInput), sums(sums) {}

protected:
  Value read(unsigned input, llvm::ArrayRef<Value> index,
             Value guard) override {
    return input == sumsInput ? sums : LanePoint::read(input, index, guard);
  }

private:
  unsigned sumsInput;
  Value sums;
};

/// An operand in place: where it starts for one m (n) and k, and its steps.
struct InPlace {
  Value base, outerStep, kStep; // in elements
};

class StageEmitter {
public:
  StageEmitter(Frame &frame, const ContractionStage &stage, Value aPanel,
               Value bPanel, Value columnSums, std::optional<Storage> partial)
      : frame(frame), b(frame.b), c(stage.contraction),
        epilogue(stage.epilogue), plan(stage.plan), tileRows(plan.getRows()),
        tileVectors(plan.getVectors()), lanes(plan.getLanes()),
        dot(plan.getDot()), group(MicroKernelOp::groupSize(dot)),
        op(cast<StructuredOpInterface>(c.reduce.getOperation())),
        aPanel(aPanel), bPanel(bPanel), columnSums(columnSums),
        partial(partial), extents(frame.extents(op)),
        at(extents.size(), frame.i64(0)) {
    element = c.reduce.getResult(0).getType();
    element = cast<RankedTensorType>(element).getElementType();
  }

  /// Computes all of it.
  void run();
  /// Computes `size` rows or columns from `from` on, as the plan splits; whatever it
  /// keeps on the stack goes to `block`.
  void run(Num from, Num size, Block &block);

private:
  void emit(Num rowFrom, Num rows, Num columnFrom, Num columns);
  using Body = llvm::function_ref<void()>;
  /// Sets `at` for each of `iterators`, outermost first.
  void forEach(llvm::ArrayRef<unsigned> iterators, Body body);
  /// The blocks of k: `kBase` is set, `extents` and `at` count from there.
  void forDepth(Body body);
  /// The iterators that `at` stands for.
  llvm::SmallVector<Value> iterators();
  /// i from 0 below `n`, in steps of `step`; the body gets i and min(step, n − i).
  void forBlocks(Value n, int64_t step,
                 llvm::function_ref<void(Num, Num)> body);
  /// Linear position in the nest of k, which `at` holds, in groups.
  Num linearK();
  Num depth(); // steps of the micro-kernel: groups of k
  Num groupsOf(unsigned k);
  /// Sets `at` for the first k of every group; the body gets how many elements of
  /// the group exist, null where all do.
  void forGroups(llvm::function_ref<void(Value)> body);

  Value product(llvm::ArrayRef<Value> factors, LanePoint &point);
  Value narrow(Num value);
  Value groupOfB(Num column, Value mask, Value exist);
  void sumColumns(Value panel, Num jr);
  void packB(Num jc, Num columns);
  void packPanelB(Num jc, Num jr, Num columns, Value panel);
  Value groupsOfA(Num value, Value mask);
  void packA(Num ic, Num rows);
  InPlace inPlace(unsigned input, std::optional<unsigned> outer);

  void columnsOf(Num jc, Num columns, Num ic, Num rows);
  void rowsOf(int64_t vectors, Num n0, Value bAt, Value bStep, Value mask,
              Num ic, Num rows);
  void tile(int64_t rows, int64_t vectors, Num m0, Num n0, Value a, Value aRow,
            Value aStep, Value bAt, Value bStep, Value mask);
  llvm::SmallVector<Value> place(Num m, Num n);
  Value initialSum(Num m, Num n, Value mask);
  /// Where the sums of one row and vector rest between blocks of k.
  llvm::SmallVector<Value> placeOfPartial(Num m, Num n);
  const Storage &partialSums() {
    return partial ? *partial : frame.tensors[c.reduce.getResult(0)];
  }
  void finish(Value sums, Num m, Num n, Value mask);
  bool hasLongEpilogue();
  void finishInLoop(ValueRange sums, int64_t vectors, Num m0, Num n0,
                    Value mask);

  Value pointer(Value base, Value elements) {
    return LLVM::GEPOp::create(b, base.getType(), element, base,
                               llvm::ArrayRef<LLVM::GEPArg>{elements});
  }
  std::optional<int64_t> known(Value value) {
    llvm::APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.getSExtValue();
    return std::nullopt;
  }
  /// Of the function: what lives on the stack is made there, once.
  Block &entryBlock() {
    if (stackBlock)
      return *stackBlock;
    Operation *op = b.getInsertionBlock()->getParentOp();
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      function = op->getParentOfType<func::FuncOp>();
    return function.getBody().front();
  }
  int64_t columnsPerPanel() const { return plan.getColumns(); }
  Num one() { return frame.i64(1); }

  Frame &frame;
  LocBuilder &b;
  Contraction c;
  std::optional<Epilogue> epilogue;
  ContractionAttr plan;
  int64_t tileRows, tileVectors, lanes;
  Dot dot;
  int64_t group; // elements of k in one step
  StructuredOpInterface op;
  Value aPanel, bPanel, columnSums;
  std::optional<Storage> partial; // sums between blocks of k, if not the result
  llvm::SmallVector<Value> extents, at;
  Type element; // of the sums; as many bytes as a group of operands
  std::optional<InPlace> aInPlace, bInPlace;
  Num kBase, columnBase;       // of the block; kBase is null when k is not cut
  Value isFirst, isLast;       // block of k; null: it is the only one
  Block *stackBlock = nullptr; // null: that of the function
  Value onStack;        // the sums of one tile, for an epilogue in a loop
  Value ones;           // a group of them
  Value tileColumnSums; // of the columns that a tile begins with
};

} // namespace

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void StageEmitter::forEach(llvm::ArrayRef<unsigned> iterators, Body body) {
  llvm::SmallVector<Value> bounds;
  for (unsigned i : iterators)
    bounds.push_back(extents[i]);
  llvm::SmallVector<Value> before = at;
  loops::forNest(b, bounds, [&](llvm::ArrayRef<Value> index) {
    for (auto [i, value] : llvm::zip_equal(iterators, index))
      at[i] = value;
    body();
  });
  at = before;
}

void StageEmitter::forDepth(Body body) {
  unsigned k = c.k.front();
  int64_t step = plan.getDepthBlock();
  Num whole = frame.num(extents[k]);
  std::optional<int64_t> count = known(whole);
  if (step == 0 || (count && *count <= step))
    return body();
  // One block at least: sums over nothing are stored, too.
  auto loop = scf::ForOp::create(b, frame.i64(0), loops::max(whole, one()),
                                 frame.i64(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  kBase = frame.num(loop.getInductionVar());
  extents[k] = count && *count % step == 0
                   ? frame.i64(step)
                   : loops::min(whole - kBase, frame.i64(step));
  isFirst = kBase == 0;
  isLast = kBase + step >= whole;
  body();
  kBase = Num();
  isFirst = isLast = Value();
  extents[k] = whole;
}

llvm::SmallVector<Value> StageEmitter::iterators() {
  llvm::SmallVector<Value> result = at;
  if (kBase)
    result[c.k.front()] = frame.num(at[c.k.front()]) + kBase;
  return result;
}

void StageEmitter::forBlocks(Value n, int64_t step,
                             llvm::function_ref<void(Num, Num)> body) {
  std::optional<int64_t> count = known(n);
  if (count && *count <= step) {
    if (*count > 0)
      body(frame.i64(0), frame.num(n));
    return;
  }
  auto loop = scf::ForOp::create(b, frame.i64(0), n, frame.i64(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Num i = frame.num(loop.getInductionVar());
  bool whole = count && *count % step == 0;
  body(i,
       whole ? frame.i64(step) : loops::min(frame.num(n) - i, frame.i64(step)));
}

/// Steps along one iterator of k: only the innermost is cut into groups, so that no
/// group reaches from one row of it into the next.
Num StageEmitter::groupsOf(unsigned k) {
  Num extent = frame.num(extents[k]);
  if (k != c.k.back() || group == 1)
    return extent;
  return loops::quotient(extent + (group - 1), group);
}

Num StageEmitter::linearK() {
  Num linear = frame.i64(0);
  for (unsigned i : c.k) {
    Num position = frame.num(at[i]);
    if (i == c.k.back() && group > 1)
      position = loops::quotient(position, group);
    linear = linear * groupsOf(i) + position;
  }
  return linear;
}

Num StageEmitter::depth() {
  Num product = frame.i64(1);
  for (unsigned i : c.k)
    product = product * groupsOf(i);
  return product;
}

void StageEmitter::forGroups(llvm::function_ref<void(Value)> body) {
  unsigned k = c.k.back();
  auto outer = llvm::ArrayRef(c.k).drop_back();
  forEach(outer, [&] {
    Num extent = frame.num(extents[k]);
    Num whole = extent & -group;
    auto loop = scf::ForOp::create(b, frame.i64(0), whole, frame.i64(group));
    Value before = at[k];
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      at[k] = loop.getInductionVar();
      body(Value());
    }
    std::optional<int64_t> rest = known(extent - whole);
    if (group > 1 && (!rest || *rest > 0))
      loops::ifHolds(b, rest ? Value() : Value(whole < extent), [&] {
        at[k] = whole;
        body(extent - whole);
      });
    at[k] = before;
  });
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Value StageEmitter::product(llvm::ArrayRef<Value> factors, LanePoint &point) {
  Num result;
  for (Value factor : factors) {
    Num value = frame.num(point.valueOf(factor));
    result = result ? result * value : value;
  }
  return result;
}

/// Operands as the dot product takes them, in words of 32 bits: the low ones hold the
/// operand.
Value StageEmitter::narrow(Num value) {
  if (dot == Dot::BF16) // holds it exactly
    return bitcast(value, b.getI32Type()) >> 16;
  return value & ((int64_t(1) << (32 / group)) - 1);
}

/// For each of `lanes` columns the group of b at `at`, in one word; elements behind the
/// last k are 0.
Value StageEmitter::groupOfB(Num column, Value mask, Value exist) {
  unsigned n = c.n.back(), k = c.k.back();
  Num word;
  for (int64_t i = 0; i < group; ++i) {
    llvm::SmallVector<Value> here = iterators();
    here[n] = column;
    here[k] = frame.num(here[k]) + i;
    auto one = [&]() -> llvm::SmallVector<Value> {
      LanePoint point(frame, op, here, {n, lanes, mask});
      Value value = widen(b, product(c.b, point), lanes);
      return {group == 1 ? value : narrow(frame.num(value))};
    };
    if (group == 1)
      return one()[0];
    Value none = loops::constant(b, VectorType::get({lanes}, b.getI32Type()),
                                 int64_t(0));
    Num part = frame.num(
        exist && i > 0 ? loops::ifElse(b, frame.num(exist) > i, none, one)[0]
                       : one()[0]);
    word = word ? word | (part << (i * 32 / group)) : part;
  }
  return word;
}

/// One panel of b: for every k, the columns from jc + jr on.
void StageEmitter::packPanelB(Num jc, Num jr, Num columns, Value panel) {
  auto vectors = [&](bool partial) {
    forGroups([&](Value exist) {
      Num row = linearK() * columnsPerPanel();
      for (int64_t v = 0; v < tileVectors; ++v) {
        Num first = jr + v * lanes;
        Value mask = partial ? maskBelow(b, columns - first, lanes) : Value();
        Num value = frame.num(groupOfB(jc + first, mask, exist));
        if (mask)
          value = loops::select(frame.num(mask), value, value.like(0));
        LLVM::StoreOp::create(b, value.get(), pointer(panel, row + v * lanes),
                              lanes * element.getIntOrFloatBitWidth() / 8);
      }
    });
  };
  Num whole = jr + columnsPerPanel() <= columns;
  std::optional<int64_t> isWhole = known(whole);
  if (isWhole)
    return vectors(!*isWhole);
  auto ifOp = scf::IfOp::create(b, whole.get(), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  vectors(false);
  b.setInsertionPointToStart(ifOp.elseBlock());
  vectors(true);
}

/// Σ_k b of the columns of a packed panel: dot products with ones.
void StageEmitter::sumColumns(Value panel, Num jr) {
  if (!ones) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&entryBlock());
    ones = LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                  b.getI32Type(), frame.i64(1));
    LLVM::StoreOp::create(
        b, loops::constant(b, b.getI32Type(), int64_t(0x01010101)), ones);
  }
  Value zero =
      loops::constant(b, VectorType::get({lanes}, element), int64_t(0));
  llvm::SmallVector<Value> inits(tileVectors, zero);
  llvm::SmallVector<Type> types(tileVectors, zero.getType());
  Value none = frame.i64(0);
  auto sums = MicroKernelOp::create(
      b, types, dot, /*rows=*/1, tileVectors, lanes, ones, none, none, panel,
      frame.i64(columnsPerPanel()), depth(), Value(), inits);
  for (auto [v, sum] : llvm::enumerate(sums.getResults()))
    LLVM::StoreOp::create(b, sum, pointer(columnSums, jr + v * lanes), 64);
}

void StageEmitter::packB(Num jc, Num columns) {
  forBlocks(columns, columnsPerPanel(), [&](Num jr, Num) {
    Value panel = pointer(bPanel, jr * depth());
    packPanelB(jc, jr, columns, panel);
    if (columnSums)
      sumColumns(panel, jr);
  });
}

/// Neighbouring elements of a as the dot product takes them, in words; 0 where `mask`
/// (null: everywhere) says that there is none.
Value StageEmitter::groupsOfA(Num value, Value mask) {
  int64_t count = cast<VectorType>(value.type()).getNumElements();
  Num narrowed =
      loops::truncate(frame.num(narrow(value)), b.getIntegerType(32 / group));
  if (columnSums)
    narrowed = narrowed ^ 0x80;
  if (mask)
    narrowed = loops::select(frame.num(mask), narrowed, narrowed.like(0));
  return vector::BitCastOp::create(
      b, VectorType::get({count / group}, b.getI32Type()), narrowed);
}

/// Rows ic.. of a, as [ir][k][MR]; rows behind the last are never read.
void StageEmitter::packA(Num ic, Num rows) {
  unsigned k = c.k.back();
  auto outerK = llvm::ArrayRef(c.k).drop_back();
  std::optional<unsigned> m;
  if (!c.m.empty())
    m = c.m.back();
  forBlocks(rows, 1, [&](Num r, Num) {
    if (m)
      at[*m] = ic + r;
    // Row r lies in block r / MR, which holds MR rows (fewer at the end, but spaced
    // alike).
    Num blockRow = loops::quotient(r, tileRows);
    Num within = r - blockRow * tileRows;
    Num start = blockRow * tileRows * depth() + within;
    forEach(outerK, [&] {
      // `count` elements, of which the first `exist` (null: all) exist.
      auto elements = [&](Num base, int64_t count, Value exist) {
        at[k] = base;
        Value mask = exist ? maskBelow(b, exist, count) : Value();
        LanePoint point(frame, op, iterators(), {k, count, mask});
        Num value = frame.num(widen(b, product(c.a, point), count));
        if (group > 1)
          value = frame.num(groupsOfA(value, mask));
        Num first = start + linearK() * tileRows;
        for (int64_t i = 0; i < count / group; ++i) {
          Value one = vector::ExtractOp::create(b, value, i);
          LLVM::StoreOp::create(b, one, pointer(aPanel, first + i * tileRows));
        }
        at[k] = frame.i64(0);
      };
      auto loop = [&](Num from, Num to, int64_t count) {
        auto loop = scf::ForOp::create(b, from, to, frame.i64(count));
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        elements(frame.num(loop.getInductionVar()), count, Value());
      };
      Num extent = frame.num(extents[k]);
      Num inVectors = extent & -(lanes * group), inGroups = extent & -group;
      loop(frame.i64(0), inVectors, lanes * group);
      loop(inVectors, inGroups, group);
      std::optional<int64_t> rest = known(extent - inGroups);
      if (group > 1 && (!rest || *rest > 0))
        loops::ifHolds(b, rest ? Value() : Value(inGroups < extent),
                       [&] { elements(inGroups, group, extent - inGroups); });
    });
    if (m)
      at[*m] = frame.i64(0);
  });
}

/// The elements of `input`, read where they are. `outer` is its m or n.
InPlace StageEmitter::inPlace(unsigned input, std::optional<unsigned> outer) {
  const Storage &storage = frame.tensors[op.getInputs()[input]];
  InPlace result{frame.i64(0), frame.i64(0), frame.i64(0)};
  for (auto [subscript, stride] :
       llvm::zip_equal(op.getAccess(input).getSubscripts(), storage.strides)) {
    if (subscript.kind == kernel::Subscript::Constant) {
      result.base =
          frame.num(result.base) + frame.num(stride) * subscript.value;
      continue;
    }
    bool isOuter = outer && subscript.value == int64_t(*outer);
    bool isK = subscript.value == int64_t(c.k[0]);
    Value &step = isOuter ? result.outerStep : isK ? result.kStep : result.base;
    Num add = frame.num(stride);
    if (!isOuter && !isK)
      add = add * frame.num(at[subscript.value]);
    step = frame.num(step) + add;
  }
  if (kBase)
    result.base = frame.num(result.base) + kBase * frame.num(result.kStep);
  result.base = pointer(storage.pointer, result.base);
  return result;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The sums of one row and vector: through the epilogue, to memory.
void StageEmitter::finish(Value sums, Num m, Num n, Value mask) {
  llvm::SmallVector<Value> iterators = place(m, n);
  unsigned numParallel = op.getNumParallel();
  if (!epilogue) {
    llvm::SmallVector<Value> index = iterators;
    index.resize(numParallel);
    storeLanes(b, frame.tensors[c.reduce.getResult(0)], index, c.n.back(),
               lanes, mask, sums);
    return;
  }
  llvm::SmallVector<Value> index(numParallel);
  for (unsigned i = 0; i < numParallel; ++i)
    index[epilogue->iterators[i]] = iterators[i];
  unsigned lane = epilogue->iterators[c.n.back()];
  kernel::MapOp map = epilogue->map;
  EpiloguePoint point(frame, map, epilogue->sumsInput, index,
                      {lane, lanes, mask}, sums);
  for (auto [value, result] : llvm::zip_equal(point.body(), map.getResults()))
    storeLanes(b, frame.tensors[result], index, lane, lanes, mask, value);
}

/// Iterators of the reduction at one row and the first column of a vector.
llvm::SmallVector<Value> StageEmitter::place(Num m, Num n) {
  llvm::SmallVector<Value> iterators = at;
  if (!c.m.empty())
    iterators[c.m.back()] = m;
  iterators[c.n.back()] = n;
  return iterators;
}

Value StageEmitter::initialSum(Num m, Num n, Value mask) {
  llvm::SmallVector<Value> index = place(m, n);
  index.resize(op.getNumParallel());
  return loadLanes(b, frame.tensors[c.reduce.getInits()[0]], index, c.n.back(),
                   lanes, mask);
}

llvm::SmallVector<Value> StageEmitter::placeOfPartial(Num m, Num n) {
  llvm::SmallVector<Value> index = place(m, n);
  if (!partial) {
    index.resize(op.getNumParallel());
    return index;
  }
  llvm::SmallVector<Value> scratch;
  for (unsigned i : c.m)
    scratch.push_back(index[i]);
  scratch.push_back(n - columnBase);
  return scratch;
}

void StageEmitter::tile(int64_t rows, int64_t vectors, Num m0, Num n0, Value a,
                        Value aRow, Value aStep, Value bAt, Value bStep,
                        Value mask) {
  auto type = VectorType::get({lanes}, element);
  llvm::SmallVector<Type> types(rows * vectors, type);
  auto forSums =
      [&](llvm::function_ref<void(int64_t i, Num m, Num n, Value)> body) {
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t v = 0; v < vectors; ++v)
            body(r * vectors + v, m0 + r, n0 + v * lanes,
                 v == vectors - 1 ? mask : Value());
      };
  unsigned lane = partial ? c.m.size() : c.n.back();
  auto start = [&] {
    llvm::SmallVector<Value> sums;
    forSums([&](int64_t, Num m, Num n, Value mask) {
      sums.push_back(initialSum(m, n, mask));
    });
    return sums;
  };
  llvm::SmallVector<Value> inits;
  if (!isFirst) {
    inits = start();
  } else {
    auto ifOp = scf::IfOp::create(b, types, isFirst, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    scf::YieldOp::create(b, start());
    b.setInsertionPointToStart(ifOp.elseBlock());
    llvm::SmallVector<Value> sums;
    forSums([&](int64_t, Num m, Num n, Value mask) {
      sums.push_back(
          loadLanes(b, partialSums(), placeOfPartial(m, n), lane, lanes, mask));
    });
    scf::YieldOp::create(b, sums);
    inits.assign(ifOp.result_begin(), ifOp.result_end());
  }
  for (int64_t v = 0; columnSums && v < vectors; ++v) {
    // a was packed 128 too large (or too small, if b is the unsigned one).
    Num excess =
        Num(b, LLVM::LoadOp::create(
                   b, type, pointer(tileColumnSums, frame.i64(v * lanes)), 64))
        << 7;
    for (int64_t r = 0; r < rows; ++r) {
      Num init = frame.num(inits[r * vectors + v]);
      inits[r * vectors + v] = dot == Dot::U8S8 ? init - excess : init + excess;
    }
  }
  Value readMask = bInPlace ? mask : Value();
  auto kernel =
      MicroKernelOp::create(b, types, dot, rows, vectors, lanes, a, aRow, aStep,
                            bAt, bStep, depth(), readMask, inits);
  auto end = [&] {
    if (rows * vectors > 1 && hasLongEpilogue())
      return finishInLoop(kernel.getResults(), vectors, m0, n0, mask);
    forSums([&](int64_t i, Num m, Num n, Value mask) {
      finish(kernel.getResult(i), m, n, mask);
    });
  };
  // Without a scratch, the sums so far and the last ones go to the same place.
  if (!isLast || !partial)
    return end();
  auto ifOp = scf::IfOp::create(b, isLast, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  end();
  b.setInsertionPointToStart(ifOp.elseBlock());
  forSums([&](int64_t i, Num m, Num n, Value mask) {
    storeLanes(b, *partial, placeOfPartial(m, n), lane, lanes, mask,
               kernel.getResult(i));
  });
}

/// The map behind the sums calls functions, each dozens of instructions long.
bool StageEmitter::hasLongEpilogue() {
  if (!epilogue)
    return false;
  return llvm::any_of(epilogue->map.getBody().front(), [](Operation &inner) {
    std::optional<loops::Function> function = loops::functionOf(&inner);
    return function && *function != loops::Function::Sqrt;
  });
}

/// The same for all sums of a tile, by way of the stack: one body instead of one per
/// sum, at the price of a store and a load.
void StageEmitter::finishInLoop(ValueRange sums, int64_t vectors, Num m0,
                                Num n0, Value mask) {
  auto type = cast<VectorType>(sums[0].getType());
  int64_t bytes = lanes * element.getIntOrFloatBitWidth() / 8;
  if (!onStack) { // one for all tiles
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&entryBlock());
    onStack =
        LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                               type, frame.i64(tileRows * tileVectors), bytes);
  }
  auto place = [&](Num i) {
    return LLVM::GEPOp::create(b, onStack.getType(), type, onStack,
                               llvm::ArrayRef<LLVM::GEPArg>{i.get()});
  };
  for (auto [i, sum] : llvm::enumerate(sums))
    LLVM::StoreOp::create(b, sum, place(frame.i64(i)), bytes);
  Num rows = frame.i64(sums.size() / vectors);
  loops::forNest(b, {rows, frame.i64(vectors)}, [&](llvm::ArrayRef<Value> at) {
    Num r = frame.num(at[0]), v = frame.num(at[1]);
    Value sum = LLVM::LoadOp::create(b, type, place(r * vectors + v), bytes);
    Value here = mask;
    if (mask && vectors > 1) // of the last vector alone
      here = frame.num(mask) | (v != vectors - 1);
    finish(sum, m0 + r, n0 + v * lanes, here);
  });
}

void StageEmitter::rowsOf(int64_t vectors, Num n0, Value bAt, Value bStep,
                          Value mask, Num ic, Num rows) {
  auto emit = [&](int64_t count, Num r) {
    Value a, aRow, aStep;
    if (aInPlace) {
      aRow = aInPlace->outerStep;
      aStep = aInPlace->kStep;
      a = pointer(aInPlace->base, (ic + r) * frame.num(aRow));
    } else {
      // Blocks are spaced by MR rows; within one, r counts from its start.
      Num block = loops::quotient(r, tileRows);
      Num within = r - block * tileRows;
      aRow = one();
      aStep = frame.i64(tileRows);
      a = pointer(aPanel, block * tileRows * depth() + within);
    }
    tile(count, vectors, ic + r, n0, a, aRow, aStep, bAt, bStep, mask);
  };
  std::optional<int64_t> total = known(rows);
  int64_t full = tileRows;
  Num done = frame.i64(0);
  if (!total || *total >= full) {
    done = total ? frame.i64(*total / full * full)
                 : loops::quotient(rows, full) * full;
    if (total && *total < 2 * full) {
      emit(full, frame.i64(0));
    } else {
      auto loop = scf::ForOp::create(b, frame.i64(0), done, frame.i64(full));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      emit(full, frame.num(loop.getInductionVar()));
    }
  }
  int64_t power = 1;
  while (power * 2 < full)
    power *= 2;
  Num r = done;
  for (; power > 0; power /= 2) {
    if (total) {
      if ((*total % full) & power) {
        emit(power, r);
        r = r + power;
      }
      continue;
    }
    Num wanted = ((rows - done) & power) != 0;
    loops::ifHolds(b, wanted, [&] { emit(power, r); });
    r = r + loops::select(wanted, frame.i64(power), frame.i64(0));
  }
}

void StageEmitter::columnsOf(Num jc, Num columns, Num ic, Num rows) {
  auto sliver = [&](int64_t vectors, Num jr, Value mask) {
    Value at = bInPlace ? pointer(bInPlace->base, jc + jr)
                        : pointer(bPanel, jr * depth());
    Value step =
        bInPlace ? bInPlace->kStep : Value(frame.i64(columnsPerPanel()));
    if (columnSums)
      tileColumnSums = pointer(columnSums, jr);
    rowsOf(vectors, jc + jr, at, step, mask, ic, rows);
  };
  std::optional<int64_t> total = known(columns);
  int64_t full = columnsPerPanel();
  Num done = frame.i64(0);
  if (!total || *total >= full) {
    done = total ? frame.i64(*total / full * full)
                 : loops::quotient(columns, full) * full;
    auto loop = scf::ForOp::create(b, frame.i64(0), done, frame.i64(full));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    sliver(tileVectors, frame.num(loop.getInductionVar()), Value());
  }
  if (total && *total % full == 0)
    return;
  Num rest = columns - done;
  for (int64_t vectors = 1; vectors <= tileVectors; ++vectors) {
    int64_t low = (vectors - 1) * lanes, high = vectors * lanes;
    if (total) {
      int64_t left = *total % full;
      if (left <= low || left > high)
        continue;
      sliver(vectors, done,
             left == high ? Value()
                          : maskBelow(b, frame.i64(left - low), lanes));
      continue;
    }
    Num wanted = (rest > low) & (rest <= high);
    loops::ifHolds(b, wanted, [&] {
      sliver(vectors, done, maskBelow(b, rest - low, lanes));
    });
  }
}

void StageEmitter::emit(Num rowFrom, Num m, Num columnFrom, Num n) {
  auto outerM = llvm::ArrayRef(c.m).drop_back(c.m.empty() ? 0 : 1);
  auto outerN = llvm::ArrayRef(c.n).drop_back();
  std::optional<unsigned> mIterator;
  if (!c.m.empty())
    mIterator = c.m.back();
  forEach(c.batch, [&] {
    forEach(outerN, [&] {
      forBlocks(n, plan.getColumnBlock(), [&](Num block, Num columns) {
        Num jc = columnFrom + block;
        columnBase = jc;
        forDepth([&] {
          if (plan.packsB())
            packB(jc, columns);
          else
            bInPlace = inPlace(*vectorsOfB(c), c.n.back());
          forEach(outerM, [&] {
            forBlocks(m, plan.getRowBlock(), [&](Num block, Num rows) {
              Num ic = rowFrom + block;
              if (plan.packsA())
                packA(ic, rows);
              else
                aInPlace = inPlace(*elementsOf(c, c.a), mIterator);
              columnsOf(jc, columns, ic, rows);
            });
          });
        });
      });
    });
  });
}

void StageEmitter::run() {
  Num zero = frame.i64(0);
  emit(zero, c.m.empty() ? one() : frame.num(extents[c.m.back()]), zero,
       frame.num(extents[c.n.back()]));
}

void StageEmitter::run(Num from, Num size, Block &block) {
  stackBlock = &block;
  Num zero = frame.i64(0);
  if (plan.getSplit() == Split::M)
    emit(from, size, zero, frame.num(extents[c.n.back()]));
  else
    emit(zero, c.m.empty() ? one() : frame.num(extents[c.m.back()]), from,
         size);
}

//===----------------------------------------------------------------------===//
// Scratch
//===----------------------------------------------------------------------===//

static loops::Workspace::Extent extentOf(StructuredOpInterface op, unsigned i) {
  OpFoldResult mixed = op.getMixedExtents()[i];
  return [mixed](Frame &f) { return f.num(f.extent(mixed)); };
}

/// One array for each task that runs at a time.
static Num eachThread(Frame &f) { return f.num(f.threads); }

/// At most `block` of an extent, rounded up to `unit`.
static loops::Workspace::Extent blockOf(loops::Workspace::Extent extent,
                                        int64_t block, int64_t unit) {
  return [=](Frame &f) {
    Num count = loops::min(extent(f), f.i64(block));
    return loops::quotient(count + (unit - 1), unit) * unit;
  };
}

/// Scratch for a packed block: at most `block` of `outer`, rounded up to `unit`,
/// times a block of `k`, whose innermost iterator comes in groups.
unsigned CpuForm::addPanel(ContractionStage &stage,
                           std::optional<unsigned> outer, int64_t block,
                           int64_t unit, llvm::ArrayRef<unsigned> k) {
  kernel::ReduceOp reduce = stage.contraction.reduce;
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  int64_t group = MicroKernelOp::groupSize(stage.plan.getDot());
  int64_t depth = stage.plan.getDepthBlock();
  loops::Workspace::Extent single = [](Frame &f) { return f.i64(1); };
  std::vector<loops::Workspace::Extent> dims;
  if (stage.plan.getSplit() != Split::None)
    dims.push_back(eachThread);
  dims.push_back(blockOf(outer ? extentOf(op, *outer) : single, block, unit));
  for (unsigned i : k)
    dims.push_back([=, extent = extentOf(op, i), isFirst = i == k.front(),
                    isLast = i == k.back()](Frame &f) {
      Num count = extent(f);
      if (isFirst && depth)
        count = loops::min(count, f.i64(depth));
      return isLast ? loops::quotient(count + (group - 1), group) : count;
    });
  return workspace.add(loops::elementType(reduce.getResult(0)),
                       std::move(dims));
}

void CpuForm::addPanels(ContractionStage &stage) {
  const Contraction &c = stage.contraction;
  ContractionAttr plan = stage.plan;
  kernel::ReduceOp reduce = c.reduce;
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  if (plan.packsB())
    stage.bSlot = addPanel(stage, c.n.back(), plan.getColumnBlock(),
                           plan.getColumns(), c.k);
  if (shiftsA(c, plan.getDot()))
    stage.columnSumsSlot = addPanel(stage, c.n.back(), plan.getColumnBlock(),
                                    plan.getColumns(), /*k=*/{});
  if (plan.packsA()) {
    std::optional<unsigned> iterator;
    if (!c.m.empty())
      iterator = c.m.back();
    stage.aSlot =
        addPanel(stage, iterator, plan.getRowBlock(), plan.getRows(), c.k);
  }
  if (!plan.getDepthBlock() || !stage.epilogue)
    return;
  std::optional<int64_t> k = kernel::knownExtent(op, c.k.front());
  if (k && *k <= plan.getDepthBlock())
    return;
  std::vector<loops::Workspace::Extent> dims;
  if (plan.getSplit() == Split::N) // tasks that share rows out share the sums
    dims.push_back(eachThread);
  for (unsigned i : c.m)
    dims.push_back(extentOf(op, i));
  dims.push_back(blockOf(extentOf(op, c.n.back()), plan.getColumnBlock(),
                         plan.getColumns()));
  stage.partialSlot =
      workspace.add(loops::elementType(reduce.getResult(0)), std::move(dims));
}

/// The array of one task, of an array for each.
static Storage arrayOf(Frame &frame, const Storage &all, Value task) {
  Storage result = all;
  Num offset = frame.num(task) * frame.num(all.strides.front());
  result.pointer = LLVM::GEPOp::create(
      frame.b, all.pointer.getType(), all.element, all.pointer,
      llvm::ArrayRef<LLVM::GEPArg>{offset.get()});
  result.dims.erase(result.dims.begin());
  result.strides.erase(result.strides.begin());
  return result;
}

void CpuForm::emitTask(ContractionStage &stage, Value task, Num from, Num size,
                       Block *block) {
  auto panel = [&](unsigned slot) {
    return task ? arrayOf(frame, placed[slot], task).pointer
                : placed[slot].pointer;
  };
  Value a, b, columnSums;
  std::optional<Storage> partial;
  if (stage.plan.packsA())
    a = panel(stage.aSlot);
  if (stage.plan.packsB())
    b = panel(stage.bSlot);
  if (stage.columnSumsSlot)
    columnSums = panel(*stage.columnSumsSlot);
  if (stage.partialSlot) {
    partial = placed[*stage.partialSlot];
    if (stage.plan.getSplit() == Split::N)
      partial = arrayOf(frame, *partial, task);
  }
  StageEmitter emitter(frame, stage, a, b, columnSums, partial);
  if (task)
    emitter.run(from, size, *block);
  else
    emitter.run();
}

void CpuForm::emitContraction(ContractionStage &stage) {
  const Contraction &c = stage.contraction;
  ContractionAttr plan = stage.plan;
  if (plan.getSplit() == Split::None)
    return emitTask(stage, Value(), Num(), Num(), nullptr);
  // Whole tiles, shared out evenly; no more tasks than threads, none too small.
  kernel::ReduceOp reduce = c.reduce;
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  llvm::SmallVector<Value> extents = frame.extents(op);
  bool isM = plan.getSplit() == Split::M;
  Num whole = frame.num(extents[isM ? c.m.back() : c.n.back()]);
  int64_t tile = isM ? plan.getRows() : plan.getColumns();
  Num tiles = loops::quotient(whole + (tile - 1), tile);
  Num work = frame.f64(1. / double(plan.getGrain()));
  for (Value extent : extents)
    work = work * loops::toFloat(frame.num(extent), b.getF64Type());
  constexpr double mostTasks = 1 << 20;
  Num least = loops::min(work, work.like(mostTasks));
  Num tasks = loops::min(loops::toInt(least, b.getI64Type()),
                         loops::min(frame.num(frame.threads), tiles));
  tasks = loops::max(tasks, frame.i64(1));
  Num each =
      frame.num(arith::DivUIOp::create(b, tiles + tasks - 1, tasks)) * tile;
  forTasks(frame, tasks, [&](Value task, Block &block) {
    Num from = loops::min(frame.num(task) * each, whole);
    emitTask(stage, task, from, loops::min(whole - from, each), &block);
  });
}
