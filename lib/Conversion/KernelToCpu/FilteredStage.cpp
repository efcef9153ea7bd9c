//===- FilteredStage.cpp - a contraction under a filter -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   c[m, n] = sum[k | k <= m](l[m, k] * b[k, n])
//
//   for batch, outer n, a block of columns:
//     pack b                          all of k
//     for outer m, a block of rows:   the sums rest in a scratch
//       for a block of k:             left out where the filter drops all of it
//         pack a                      0 where the filter drops
//         for a tile of rows:         micro-kernels from the first living k to the last
//       the epilogue of the sums
//
// Which k live for a tile follows from bounds of the filter. What it drops between them is
// 0 times b: nothing, unless b is no finite number there. Such k are noted when b is
// packed, and where one of them may be dropped, the tile goes product by product.
//
//===----------------------------------------------------------------------===//

#include "FilteredStage.h"
#include "FilterBounds.h"
#include "Panels.h"
#include "Ranges.h"
#include "Sums.h"
#include "Tasks.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;
using kernel::StructuredOpInterface;

static constexpr int64_t unit = filterUnit;

namespace {

/// Rows `first`.. of all, r.. of their block; k from `k0` on.
struct Tile {
  Num first, r, count;
  Num k0, depth;
};

class FilteredEmitter {
public:
  FilteredEmitter(Frame &frame, const FilteredStage &stage,
                  FilteredScratch<Value> scratch);
  void run(Num from, Num count, Block *stack);
  Num allRows();

private:
  void block(Num ic, Num count, Num jc, Num columns);
  void packA(Num ic, Num count, Num k0, Num depth);
  void tile(const Tile &tile, Num jc, Num columns);
  void multiply(const Tile &tile, const Live &live, Num columns);
  void multiplyOneByOne(const Tile &tile, const Live &live, Num jc,
                        Num columns);
  void noteOdd(Num jc, Num columns);
  void begin(Num ic, Num count, Num jc, Num columns);
  void finish(Num m, Num r, Num jc, Num columns);

  /// The iterators at row m, an element of k and column n.
  llvm::SmallVector<Value> place(Num m, Num k, Num n);
  llvm::SmallVector<Interval> boundsOf(Num m, Num count, Num k, Num depth);
  Num product(llvm::ArrayRef<Value> factors, LanePoint &point);

  Num load(Value base, Num element) {
    Value at = walk.pointer(base, element);
    return {b, LLVM::LoadOp::create(b, vector, at, bytes)};
  }
  void store(Num value, Value base, Num element) {
    LLVM::StoreOp::create(b, value, walk.pointer(base, element), bytes);
  }
  bool isFloat() const { return isa<FloatType>(walk.element); }
  /// Steps of a between rows.
  int64_t rowStride() const {
    return plan.getDepthBlock() / walk.group + lanes;
  }

  Frame &frame;
  LocBuilder &b;
  Walk walk;
  Panels panels;
  std::optional<Epilogue> epilogue;
  ContractionAttr plan;
  FilteredScratch<Value> scratch;
  StructuredOpInterface op;
  int64_t lanes, rows;
  unsigned bytes; // of a sum
  VectorType vector;
  std::optional<unsigned> mIterator;
  unsigned k, n;
};

} // namespace

FilteredEmitter::FilteredEmitter(Frame &frame, const FilteredStage &stage,
                                 FilteredScratch<Value> scratch)
    : frame(frame), b(frame.b),
      walk(frame, stage.contraction, stage.plan.getDot()),
      panels(walk, stage.plan, Value()), epilogue(stage.epilogue),
      plan(stage.plan), scratch(scratch), op(walk.op), lanes(plan.getLanes()),
      rows(plan.getRows()), bytes(walk.element.getIntOrFloatBitWidth() / 8),
      vector(VectorType::get({lanes}, walk.element)), k(walk.c.k.front()),
      n(walk.c.n.back()) {
  if (!walk.c.m.empty())
    mIterator = walk.c.m.back();
}

Num FilteredEmitter::allRows() {
  return mIterator ? frame.num(walk.extents[*mIterator]) : frame.i64(1);
}

llvm::SmallVector<Value> FilteredEmitter::place(Num m, Num kValue, Num column) {
  llvm::SmallVector<Value> iterators = walk.at;
  if (mIterator)
    iterators[*mIterator] = m;
  iterators[k] = kValue;
  iterators[n] = column;
  return iterators;
}

llvm::SmallVector<Interval> FilteredEmitter::boundsOf(Num m, Num count, Num k0,
                                                      Num depth) {
  llvm::SmallVector<Interval> bounds;
  for (Value value : walk.at)
    bounds.push_back({value, value});
  if (mIterator)
    bounds[*mIterator] = {m, m + count - 1};
  bounds[k] = {k0, k0 + depth - 1};
  return bounds;
}

Num FilteredEmitter::product(llvm::ArrayRef<Value> factors, LanePoint &point) {
  Num result;
  for (Value factor : factors) {
    Num value = frame.num(point.valueOf(factor));
    result = result ? result * value : value;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void FilteredEmitter::run(Num from, Num count, Block *stack) {
  walk.stack = stack;
  Contraction &c = walk.c;
  walk.forEach(c.batch, [&] {
    walk.forEach(llvm::ArrayRef(c.n).drop_back(), [&] {
      walk.forBlocks(
          walk.extents[n], plan.getColumnBlock(), [&](Num jc, Num columns) {
            panels.packB(scratch.b, jc, columns);
            if (isFloat())
              noteOdd(jc, columns);
            walk.forEach(
                llvm::ArrayRef(c.m).drop_back(c.m.empty() ? 0 : 1), [&] {
                  walk.forBlocks(count, plan.getRowBlock(),
                                 [&](Num row, Num rows) {
                                   block(from + row, rows, jc, columns);
                                 });
                });
          });
    });
  });
}

void FilteredEmitter::block(Num ic, Num count, Num jc, Num columns) {
  begin(ic, count, jc, columns);
  Num depth = frame.num(walk.extents[k]);
  forRange(b, frame.i64(0), depth, plan.getDepthBlock(), [&](Num k0) {
    Num size = loops::min(depth - k0, frame.i64(plan.getDepthBlock()));
    Verdict verdict =
        filterOver(frame, op, op.getFilter(), boundsOf(ic, count, k0, size));
    loops::ifHolds(b, verdict.may, [&] {
      packA(ic, count, k0, size);
      forRange(b, frame.i64(0), count, rows, [&](Num r) {
        tile({ic + r, r, loops::min(count - r, frame.i64(rows)), k0, size}, jc,
             columns);
      });
    });
  });
  forRange(b, frame.i64(0), count, 1,
           [&](Num r) { finish(ic + r, r, jc, columns); });
}

/// Row by row, as the dot product takes its groups; 0 where the filter drops.
void FilteredEmitter::packA(Num ic, Num count, Num k0, Num depth) {
  Type narrow =
      walk.group > 1 ? Type(b.getIntegerType(32 / walk.group)) : walk.element;
  int64_t alignment = std::max<int64_t>(bytes / walk.group, 1);
  forRange(b, frame.i64(0), count, 1, [&](Num r) {
    forRange(b, frame.i64(0), depth, lanes, [&](Num i) {
      Value exist = maskBelow(b, depth - i, lanes);
      LanePoint point(frame, op, place(ic + r, k0 + i, frame.i64(0)),
                      {k, lanes, exist});
      Num keep = frame.num(widen(
          b, andMasks(b, point.holds(op.getFilter()), exist, lanes), lanes));
      Num value = frame.num(widen(b, product(walk.c.a, point), lanes));
      value = loops::select(keep, value, value.like(0));
      if (plan.getDot() == Dot::BF16)
        value = loops::bitcast(value, b.getI32Type()) >> 16;
      if (walk.group > 1)
        value = loops::truncate(value, narrow);
      Num element = r * (rowStride() * walk.group) + i;
      LLVM::StoreOp::create(
          b, value, loops::address(b, narrow, scratch.a, element), alignment);
    });
  });
}

void FilteredEmitter::tile(const Tile &tile, Num jc, Num columns) {
  Live live = liveUnits(frame, op, op.getFilter(),
                        boundsOf(tile.first, tile.count, tile.k0, tile.depth),
                        k, tile.k0, tile.depth, unit);
  loops::ifHolds(b, live.begin < live.end, [&] {
    if (!isFloat())
      return multiply(tile, live, columns);
    Type i32 = b.getI32Type();
    Num partly = (live.begin < live.allBegin) | (live.allEnd < live.end);
    Num base = loops::quotient(tile.k0, unit);
    Value none = loops::constant(b, i32, int64_t(0));
    Vectors odd =
        foldRange(b, live.begin, live.end, 1, none,
                  [&](Num i, ValueRange state) -> Vectors {
                    Value at = loops::address(b, i32, scratch.odd, base + i);
                    return {frame.num(state[0]) |
                            frame.num(LLVM::LoadOp::create(b, i32, at))};
                  });
    auto ifOp = scf::IfOp::create(b, partly & (frame.num(odd[0]) != 0),
                                  /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    multiplyOneByOne(tile, live, jc, columns);
    b.setInsertionPointToStart(ifOp.elseBlock());
    multiply(tile, live, columns);
  });
}

void FilteredEmitter::multiply(const Tile &tile, const Live &live,
                               Num columns) {
  int64_t vectors = plan.getVectors(), group = walk.group;
  Num depth = walk.depth();
  Num from = loops::quotient(live.begin * unit, group);
  Num end = loops::min(live.end * unit, tile.depth);
  Num steps = loops::quotient(end + (group - 1), group) - from;
  Num start = loops::quotient(tile.k0, group) + from;
  Value a = walk.pointer(scratch.a, tile.r * rowStride() + from);
  llvm::SmallVector<Type> types(rows * vectors, vector);
  forRange(b, frame.i64(0), columns, plan.getColumns(), [&](Num jr) {
    auto place = [&](int64_t r, int64_t v) {
      return (tile.r + r) * plan.getColumnBlock() + jr + v * lanes;
    };
    Vectors inits;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t v = 0; v < vectors; ++v)
        inits.push_back(load(scratch.sums, place(r, v)));
    Value values =
        walk.pointer(scratch.b, jr * depth + start * plan.getColumns());
    auto kernel = MicroKernelOp::create(
        b, types, plan.getDot(), rows, vectors, lanes, a,
        frame.i64(rowStride()), frame.i64(1), values,
        frame.i64(plan.getColumns()), steps, Value(), inits, ValueRange());
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t v = 0; v < vectors; ++v)
        store(frame.num(kernel.getResult(r * vectors + v)), scratch.sums,
              place(r, v));
  });
}

void FilteredEmitter::multiplyOneByOne(const Tile &tile, const Live &live,
                                       Num jc, Num columns) {
  forRange(b, frame.i64(0), tile.count, 1, [&](Num r) {
    forRange(b, frame.i64(0), columns, lanes, [&](Num j) {
      Value mask = maskBelow(b, columns - j, lanes);
      Num at = (tile.r + r) * plan.getColumnBlock() + j;
      Vectors sum = foldRange(
          b, live.begin * unit, loops::min(live.end * unit, tile.depth), 1,
          load(scratch.sums, at).get(),
          [&](Num i, ValueRange state) -> Vectors {
            LanePoint point(frame, op,
                            place(tile.first + r, tile.k0 + i, jc + j),
                            {n, lanes, mask});
            return loops::ifElse(
                b, point.holds(op.getFilter()), state, [&]() -> Vectors {
                  Num value = frame.num(widen(
                      b, product(walk.c.a, point) * product(walk.c.b, point),
                      lanes));
                  return {frame.num(state[0]) + value};
                });
          });
      store(frame.num(sum[0]), scratch.sums, at);
    });
  });
}

/// Which units of k hold a b that is no finite number.
void FilteredEmitter::noteOdd(Num jc, Num columns) {
  Num depth = frame.num(walk.extents[k]);
  Type i32 = b.getI32Type();
  Type bits = b.getIntegerType(bytes * 8);
  bool isWide = bytes == 8;
  int64_t infinity = isWide ? 0x7ff0000000000000 : 0x7f800000;
  int64_t magnitude = isWide ? INT64_MAX : INT32_MAX;
  forRange(
      b, frame.i64(0), loops::quotient(depth + (unit - 1), unit), 1,
      [&](Num u) {
        Value none =
            loops::constant(b, VectorType::get({lanes}, bits), int64_t(0));
        Vectors largest = foldRange(
            b, u * unit, loops::min((u + 1) * unit, depth), 1, none,
            [&](Num i, ValueRange state) {
              return foldRange(
                  b, frame.i64(0), columns, lanes, state,
                  [&](Num j, ValueRange state) -> Vectors {
                    Value mask = maskBelow(b, columns - j, lanes);
                    LanePoint point(frame, op, place(frame.i64(0), i, jc + j),
                                    {n, lanes, mask});
                    Num value =
                        frame.num(widen(b, product(walk.c.b, point), lanes));
                    Num size = loops::bitcast(value, bits) & magnitude;
                    return {loops::max(frame.num(state[0]), size)};
                  });
            });
        Num top = acrossLanes(frame.num(largest[0]),
                              [](Num a, Num c) { return loops::max(a, c); });
        LLVM::StoreOp::create(b, loops::zeroExtend(top >= infinity, i32),
                              loops::address(b, i32, scratch.odd, u));
      });
}

/// The sums start from the reduction's.
void FilteredEmitter::begin(Num ic, Num count, Num jc, Num columns) {
  kernel::ReduceOp reduce = walk.c.reduce;
  const Storage &inits = frame.tensors[reduce.getInits()[0]];
  forRange(b, frame.i64(0), count, 1, [&](Num r) {
    forRange(b, frame.i64(0), columns, lanes, [&](Num j) {
      llvm::SmallVector<Value> index = place(ic + r, frame.i64(0), jc + j);
      index.resize(op.getNumParallel());
      Value mask = maskBelow(b, columns - j, lanes);
      store(frame.num(loadLanes(b, inits, index, n, lanes, mask)), scratch.sums,
            r * plan.getColumnBlock() + j);
    });
  });
}

void FilteredEmitter::finish(Num m, Num r, Num jc, Num columns) {
  kernel::ReduceOp reduce = walk.c.reduce;
  forRange(b, frame.i64(0), columns, lanes, [&](Num j) {
    Value mask = maskBelow(b, columns - j, lanes);
    Num sum = load(scratch.sums, r * plan.getColumnBlock() + j);
    storeSums(frame, reduce, epilogue, place(m, frame.i64(0), jc + j),
              {n, lanes, mask}, sum);
  });
}

//===----------------------------------------------------------------------===//
// Scratch and tasks
//===----------------------------------------------------------------------===//

void cpu::addFilteredScratch(FilteredStage &stage,
                             loops::Workspace &workspace) {
  using Extent = loops::Workspace::Extent;
  const Contraction &c = stage.contraction;
  ContractionAttr plan = stage.plan;
  kernel::ReduceOp reduce = c.reduce;
  auto op = cast<StructuredOpInterface>(reduce.getOperation());
  Type element = loops::elementType(reduce.getResult(0));
  int64_t group = MicroKernelOp::groupSize(plan.getDot());
  auto fixed = [](int64_t count) -> Extent {
    return [count](Frame &f) { return f.i64(count); };
  };
  OpFoldResult depth = op.getMixedExtents()[c.k.front()];
  auto inUnits = [&](int64_t size) -> Extent {
    return [=](Frame &f) {
      return loops::quotient(f.num(f.extent(depth)) + (size - 1), size);
    };
  };
  // Of a block, as many as there are, in whole tiles.
  auto blockOf = [&](std::optional<unsigned> i, int64_t most,
                     int64_t tile) -> Extent {
    if (!i)
      return fixed(tile);
    OpFoldResult extent = op.getMixedExtents()[*i];
    return [=](Frame &f) {
      Num tiles = loops::quotient(f.num(f.extent(extent)) + (tile - 1), tile);
      return loops::min(tiles * tile, f.i64(most));
    };
  };
  std::optional<unsigned> m;
  if (!c.m.empty())
    m = c.m.back();
  Extent rows = blockOf(m, plan.getRowBlock(), plan.getRows());
  auto add = [&](Type type, std::vector<Extent> dims) {
    if (plan.getSplit() != Split::None)
      dims.insert(dims.begin(), [](Frame &f) { return f.num(f.threads); });
    return workspace.add(type, std::move(dims));
  };
  int64_t stride = plan.getDepthBlock() / group + plan.getLanes();
  stage.slots.a = add(element, {rows, fixed(stride)});
  stage.slots.b = add(
      element, {blockOf(c.n.back(), plan.getColumnBlock(), plan.getColumns()),
                inUnits(group)});
  stage.slots.sums = add(element, {rows, fixed(plan.getColumnBlock())});
  stage.slots.odd =
      add(IntegerType::get(reduce.getContext(), 32), {inUnits(unit)});
}

void cpu::emitFiltered(Frame &frame, const FilteredStage &stage,
                       llvm::ArrayRef<Storage> placed) {
  auto scratchOf = [&](Value task) {
    auto array = [&](unsigned slot) {
      return arrayOf(frame, placed[slot], task).pointer;
    };
    const FilteredScratch<unsigned> &slots = stage.slots;
    return FilteredScratch<Value>{array(slots.a), array(slots.b),
                                  array(slots.sums), array(slots.odd)};
  };
  if (stage.plan.getSplit() == Split::None) {
    FilteredEmitter emitter(frame, stage, scratchOf(Value()));
    return emitter.run(frame.i64(0), emitter.allRows(), nullptr);
  }
  kernel::ReduceOp reduce = stage.contraction.reduce;
  Num all = FilteredEmitter(frame, stage, {}).allRows();
  int64_t rows = stage.plan.getRows();
  forParts(frame, loops::quotient(all + (rows - 1), rows),
           frame.extents(cast<StructuredOpInterface>(reduce.getOperation())),
           stage.plan.getGrain(),
           [&](Value task, Num from, Num to, Block &stack) {
             Num first = loops::min(from * rows, all);
             FilteredEmitter emitter(frame, stage, scratchOf(task));
             emitter.run(first, loops::min(to * rows, all) - first, &stack);
           });
}
