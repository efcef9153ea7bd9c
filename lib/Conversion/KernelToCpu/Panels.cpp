//===- Panels.cpp - operands copied to where tiles read them ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   b[k][n]  ─▶  [jr][k][NR]        a[m][k]  ─▶  [ir][k][MR]
//
// Packing evaluates the factors of its side, so that conversions and
// dequantisation happen once per element of a panel. Where a dot product takes
// pairs or quads, one word of a panel is a group of neighbours in k, with zeros
// behind the last.
//
//===----------------------------------------------------------------------===//

#include "Panels.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;

Panels::Panels(Walk &walk, ContractionAttr plan, Value columnSums, bool shiftsA)
    : walk(walk), frame(walk.frame), b(walk.b), c(walk.c), plan(plan),
      dot(plan.getDot()), lanes(plan.getLanes()), group(walk.group),
      shiftsA(shiftsA), columnSums(columnSums) {}

Value Panels::product(llvm::ArrayRef<Value> factors, LanePoint &point) {
  Num result;
  for (Value factor : factors) {
    Num value = frame.num(point.valueOf(factor));
    result = result ? result * value : value;
  }
  return result;
}

/// Operands as the dot product takes them, in words of 32 bits: the low ones hold the
/// operand.
Value Panels::narrow(Num value) {
  if (dot == Dot::BF16 || dot == Dot::TileBF16) // holds it exactly
    return bitcast(value, b.getI32Type()) >> 16;
  return value & ((int64_t(1) << (32 / group)) - 1);
}

/// For each of `lanes` columns the group of b at `at`, in one word; elements behind the
/// last k are 0.
Value Panels::groupOfB(Num column, Value mask, Value exist) {
  unsigned n = c.n.back(), k = c.k.back();
  Num word;
  for (int64_t i = 0; i < group; ++i) {
    llvm::SmallVector<Value> here = walk.iterators();
    here[n] = column;
    here[k] = frame.num(here[k]) + i;
    auto one = [&]() -> llvm::SmallVector<Value> {
      LanePoint point(frame, walk.op, here, {n, lanes, mask});
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

/// Columns jc + first.. of the group of k at hand, as vector `v` of a panel so many
/// columns wide.
void Panels::packVector(Value panel, Num width, Num first, Num jc, Value mask,
                        int64_t v, Value exist) {
  Num value = frame.num(groupOfB(jc + first, mask, exist));
  if (mask)
    value = loops::select(frame.num(mask), value, value.like(0));
  Num place = walk.linearK() * width + v * lanes;
  LLVM::StoreOp::create(b, value.get(), walk.pointer(panel, place),
                        lanes * walk.element.getIntOrFloatBitWidth() / 8);
}

/// Zeros behind the last k of `vectors` vectors of columns, to the end of the step.
void Panels::clearDepth(Value panel, Num width, int64_t vectors) {
  Num depth = walk.depth(), end = walk.panelDepth();
  if (std::optional<int64_t> words = known(depth);
      words && *words % walk.depthUnit == 0)
    return;
  auto type = VectorType::get({lanes}, b.getI32Type());
  Value zero = loops::constant(b, type, int64_t(0));
  loops::forLoop(b, end - depth, [&](Value k) {
    Num row = (depth + frame.num(k)) * width;
    for (int64_t v = 0; v < vectors; ++v)
      LLVM::StoreOp::create(b, zero, walk.pointer(panel, row + v * lanes),
                            lanes * 4);
  });
}

/// One panel of b: for every k, the columns from jc + jr on.
void Panels::packPanelB(Num jc, Num jr, Num columns, Value panel) {
  auto turned = [&](Num extent) { return packTurned(jc + jr, panel, extent); };
  auto vectors = [&](bool partial) {
    auto body = [&](Value exist) {
      for (int64_t v = 0; v < plan.getVectors(); ++v) {
        Num first = jr + v * lanes;
        Value mask = partial ? maskBelow(b, columns - first, lanes) : Value();
        packVector(panel, frame.i64(plan.getColumns()), first, jc, mask, v,
                   exist);
      }
    };
    if (!partial && isTurned())
      walk.forGroups(body, turned);
    else
      walk.forGroups(body);
  };
  Num whole = jr + plan.getColumns() <= columns;
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

/// Σ_k b of `vectors` vectors of columns in a panel: dot products with ones.
void Panels::sumColumns(Value panel, Num width, Num jr, int64_t vectors) {
  if (!ones) {
    ones = walk.allocate(b.getI32Type(), 1, 0);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(ones.getDefiningOp());
    LLVM::StoreOp::create(
        b, loops::constant(b, b.getI32Type(), int64_t(0x01010101)), ones);
  }
  Value zero =
      loops::constant(b, VectorType::get({lanes}, walk.element), int64_t(0));
  llvm::SmallVector<Value> inits(vectors, zero);
  llvm::SmallVector<Type> types(vectors, zero.getType());
  Value none = frame.i64(0);
  auto sums = MicroKernelOp::create(b, types, dot, /*rows=*/1, vectors, lanes,
                                    ones, none, none, panel, width,
                                    walk.depth(), Value(), inits, ValueRange());
  for (auto [v, sum] : llvm::enumerate(sums.getResults()))
    LLVM::StoreOp::create(b, sum, walk.pointer(columnSums, jr + v * lanes),
                          lanes * walk.element.getIntOrFloatBitWidth() / 8);
}

void Panels::packB(Value target, Num jc, Num columns) {
  Num width = frame.i64(plan.getColumns());
  walk.forBlocks(columns, plan.getColumns(), [&](Num jr, Num) {
    Value panel = walk.pointer(target, jr * walk.panelDepth());
    packPanelB(jc, jr, columns, panel);
    clearDepth(panel, width, plan.getVectors());
    if (columnSums)
      sumColumns(panel, width, jr, plan.getVectors());
  });
}

void Panels::packExactly(Value target) {
  Num columns = frame.num(walk.extents[c.n.back()]);
  Num none = frame.i64(0);
  walk.forBlocks(columns, plan.getColumns(), [&](Num jr, Num count) {
    Num width = loops::quotient(count + (lanes - 1), lanes) * lanes;
    Value panel = walk.pointer(target, jr * walk.panelDepth());
    auto vector = [&](Num v, bool partial) {
      Num within = v * lanes, first = jr + within;
      Value mask = partial ? maskBelow(b, columns - first, lanes) : Value();
      Value at = walk.pointer(panel, within);
      walk.forGroups([&](Value exist) {
        packVector(at, width, first, none, mask, 0, exist);
      });
      clearDepth(at, width, 1);
      if (columnSums)
        sumColumns(at, width, first, 1);
    };
    Num whole = loops::quotient(count, lanes);
    loops::forLoop(b, whole,
                   [&](Value v) { vector(frame.num(v), /*partial=*/false); });
    std::optional<int64_t> rest = known(count - whole * lanes);
    if (!rest || *rest > 0)
      loops::ifHolds(b, rest ? Value() : Value(whole * lanes < count),
                     [&] { vector(whole, /*partial=*/true); });
  });
}

/// Neighbouring elements of a as the dot product takes them, in words; 0 where `mask`
/// (null: everywhere) says that there is none.
Value Panels::groupsOfA(Num value, Value mask) {
  int64_t count = cast<VectorType>(value.type()).getNumElements();
  Num narrowed =
      loops::truncate(frame.num(narrow(value)), b.getIntegerType(32 / group));
  if (shiftsA)
    narrowed = narrowed ^ 0x80;
  if (mask)
    narrowed = loops::select(frame.num(mask), narrowed, narrowed.like(0));
  return vector::BitCastOp::create(
      b, VectorType::get({count / group}, b.getI32Type()), narrowed);
}

/// Row r is in panel r / MR, which holds MR rows (fewer at the end, but spaced alike).
Panels::RowOfA Panels::rowOfA(Num row) {
  Num panel = loops::quotient(row, plan.getRows());
  return {panel * plan.getRows() * walk.panelDepth(),
          row - panel * plan.getRows()};
}

/// Where a word along k of a row lies.
Num Panels::placeInA(RowOfA row, Num word) {
  int64_t unit = walk.depthUnit;
  if (unit == 1)
    return row.start + row.within + word * plan.getRows();
  Num step = loops::quotient(word, unit);
  return row.start + (step * plan.getRows() + row.within) * unit +
         (word - step * unit);
}

/// Zeros behind the last k of a row, to the end of the step.
void Panels::clearDepthOfA(Value target, RowOfA row) {
  Num depth = walk.depth();
  std::optional<int64_t> words = known(depth);
  if (walk.depthUnit == 1 || (words && *words % walk.depthUnit == 0))
    return;
  Value zero = loops::constant(b, b.getI32Type(), int64_t(0));
  loops::forLoop(b, walk.panelDepth() - depth, [&](Value k) {
    LLVM::StoreOp::create(
        b, zero, walk.pointer(target, placeInA(row, depth + frame.num(k))));
  });
}

void Panels::packA(Value target, Num ic, Num rows) {
  unsigned k = c.k.back();
  auto outerK = llvm::ArrayRef(c.k).drop_back();
  std::optional<unsigned> m;
  if (!c.m.empty())
    m = c.m.back();
  walk.forBlocks(rows, 1, [&](Num r, Num) {
    if (m)
      walk.at[*m] = ic + r;
    RowOfA row = rowOfA(r);
    walk.forEach(outerK, [&] {
      // `count` elements, of which the first `exist` (null: all) exist.
      auto elements = [&](Num base, int64_t count, Value exist) {
        walk.at[k] = base;
        Value mask = exist ? maskBelow(b, exist, count) : Value();
        LanePoint point(frame, walk.op, walk.iterators(), {k, count, mask});
        Num value = frame.num(widen(b, product(c.a, point), count));
        if (group > 1)
          value = frame.num(groupsOfA(value, mask));
        Num word = walk.linearK();
        // Of a single k, a vector of words is a row of a tile.
        if (count / group == walk.depthUnit && outerK.empty() &&
            walk.depthUnit > 1) {
          LLVM::StoreOp::create(b, value.get(),
                                walk.pointer(target, placeInA(row, word)), 4);
        } else {
          for (int64_t i = 0; i < count / group; ++i)
            LLVM::StoreOp::create(
                b, vector::ExtractOp::create(b, value, i),
                walk.pointer(target, placeInA(row, word + i)));
        }
        walk.at[k] = frame.i64(0);
      };
      auto loop = [&](Num from, Num to, int64_t count) {
        auto loop = scf::ForOp::create(b, from, to, frame.i64(count));
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        elements(frame.num(loop.getInductionVar()), count, Value());
      };
      Num extent = frame.num(walk.extents[k]);
      Num inVectors = extent & -(lanes * group), inGroups = extent & -group;
      loop(frame.i64(0), inVectors, lanes * group);
      loop(inVectors, inGroups, group);
      std::optional<int64_t> rest = known(extent - inGroups);
      if (group > 1 && (!rest || *rest > 0))
        loops::ifHolds(b, rest ? Value() : Value(inGroups < extent),
                       [&] { elements(inGroups, group, extent - inGroups); });
    });
    clearDepthOfA(target, row);
    if (m)
      walk.at[*m] = frame.i64(0);
  });
}

InPlace Panels::inPlace(unsigned input, std::optional<unsigned> outer) {
  const Storage &storage = frame.tensors[walk.op.getInputs()[input]];
  InPlace result{frame.i64(0), frame.i64(0), frame.i64(0)};
  for (auto [subscript, stride] : llvm::zip_equal(
           walk.op.getAccess(input).getSubscripts(), storage.strides)) {
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
      add = add * frame.num(walk.at[subscript.value]);
    step = frame.num(step) + add;
  }
  if (walk.kBase)
    result.base = frame.num(result.base) + walk.kBase * frame.num(result.kStep);
  result.base = walk.pointer(storage.pointer, result.base);
  return result;
}
