//===- Tiles.cpp - the micro-kernels of a block, and what follows the sums ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   for jr in steps of NR, for ir in steps of MR:
//     micro-kernel over the block of k, from the sums so far; behind the last one
//     the epilogue and the store
//
// Rows that are left over go to a micro-kernel of so many rows where their number is
// known, else to those of 4, 2, 1; columns, where their
// number is known, to one with fewer vectors, else to those of one vector. The last
// store is masked: exact sizes, no padded reads.
//
//===----------------------------------------------------------------------===//

#include "Tiles.h"
#include "Sums.h"
#include "facet/Dialect/Kernel/IR/Operations.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;

Tiles::Tiles(Walk &walk, const ContractionStage &stage,
             std::optional<Storage> partial)
    : walk(walk), frame(walk.frame), b(walk.b), c(walk.c),
      epilogue(stage.epilogue), plan(stage.plan), lanes(plan.getLanes()),
      partial(std::move(partial)) {}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// The sums of one row and vector: through the epilogue, to memory.
void Tiles::finish(Value sums, Num m, Num n, Value mask) {
  storeSums(frame, c.reduce, epilogue, place(m, n), {c.n.back(), lanes, mask},
            sums);
}

/// Iterators of the reduction at one row and the first column of a vector.
llvm::SmallVector<Value> Tiles::place(Num m, Num n) {
  llvm::SmallVector<Value> iterators = walk.at;
  if (!c.m.empty())
    iterators[c.m.back()] = m;
  iterators[c.n.back()] = n;
  return iterators;
}

Value Tiles::initialSum(Num m, Num n, Value mask) {
  llvm::SmallVector<Value> index = place(m, n);
  index.resize(walk.op.getNumParallel());
  return loadLanes(b, frame.tensors[c.reduce.getInits()[0]], index, c.n.back(),
                   lanes, mask);
}

llvm::SmallVector<Value> Tiles::placeOfPartial(Num m, Num n) {
  llvm::SmallVector<Value> index = place(m, n);
  if (!partial) {
    index.resize(walk.op.getNumParallel());
    return index;
  }
  llvm::SmallVector<Value> scratch;
  for (unsigned i : c.m)
    scratch.push_back(index[i]);
  scratch.push_back(n - columnBase);
  return scratch;
}

/// The map behind the sums calls functions, each dozens of instructions long.
bool Tiles::hasLongEpilogue() {
  if (!epilogue)
    return false;
  return llvm::any_of(epilogue->map.getBody().front(), [](Operation &inner) {
    std::optional<loops::Function> function = loops::functionOf(&inner);
    return function && *function != loops::Function::Sqrt;
  });
}

/// The same for all sums of a tile, by way of the stack: one body instead of one per
/// sum, at the price of a store and a load.
void Tiles::finishInLoop(ValueRange sums, const Sliver &sliver, Num m0) {
  auto type = cast<VectorType>(sums[0].getType());
  int64_t bytes = vectorBytes();
  if (!onStack) // one for all tiles
    onStack = walk.allocate(type, plan.getRows() * plan.getVectors(), bytes);
  auto place = [&](Num i) {
    return LLVM::GEPOp::create(b, onStack.getType(), type, onStack,
                               llvm::ArrayRef<LLVM::GEPArg>{i.get()});
  };
  for (auto [i, sum] : llvm::enumerate(sums))
    LLVM::StoreOp::create(b, sum, place(frame.i64(i)), bytes);
  int64_t vectors = sliver.vectors;
  Num rows = frame.i64(sums.size() / vectors);
  loops::forNest(b, {rows, frame.i64(vectors)}, [&](llvm::ArrayRef<Value> at) {
    Num r = frame.num(at[0]), v = frame.num(at[1]);
    Value sum = LLVM::LoadOp::create(b, type, place(r * vectors + v), bytes);
    Value here = sliver.mask;
    if (here && vectors > 1) // of the last vector alone
      here = frame.num(here) | (v != vectors - 1);
    finish(sum, m0 + r, sliver.n0 + v * lanes, here);
  });
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void Tiles::tile(const Sliver &sliver, int64_t rows, Num m0, Value a,
                 Value aRow, Value aStep, ValueRange ahead) {
  int64_t vectors = sliver.vectors;
  auto type = VectorType::get({lanes}, walk.element);
  llvm::SmallVector<Type> types(rows * vectors, type);
  auto forSums =
      [&](llvm::function_ref<void(int64_t i, Num m, Num n, Value)> body) {
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t v = 0; v < vectors; ++v)
            body(r * vectors + v, m0 + r, sliver.n0 + v * lanes,
                 v == vectors - 1 ? sliver.mask : Value());
      };
  unsigned lane = partial ? c.m.size() : c.n.back();
  auto unshift = [&](llvm::SmallVector<Value> &sums) {
    for (int64_t v = 0; sliver.columnSums && v < vectors; ++v) {
      // a was packed 128 too large (or too small, if b is the unsigned one).
      Value place = walk.pointer(sliver.columnSums, frame.i64(v * lanes));
      Num excess = Num(b, LLVM::LoadOp::create(b, type, place, vectorBytes()))
                   << 7;
      for (int64_t r = 0; r < rows; ++r) {
        Num sum = frame.num(sums[r * vectors + v]);
        sums[r * vectors + v] =
            plan.getDot() == Dot::U8S8 ? sum - excess : sum + excess;
      }
    }
  };
  auto start = [&] {
    llvm::SmallVector<Value> sums;
    forSums([&](int64_t, Num m, Num n, Value mask) {
      sums.push_back(initialSum(m, n, mask));
    });
    if (operands.constant) // Σ b is of all of k
      unshift(sums);
    return sums;
  };
  llvm::SmallVector<Value> inits;
  if (!walk.isFirst) {
    inits = start();
  } else {
    auto ifOp = scf::IfOp::create(b, types, walk.isFirst, /*addThenBlock=*/true,
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
  if (!operands.constant)
    unshift(inits);
  Value readMask = operands.b ? sliver.mask : Value();
  auto kernel = MicroKernelOp::create(
      b, types, plan.getDot(), rows, vectors, lanes, a, aRow, aStep, sliver.b,
      sliver.bStep, walk.depth(), readMask, inits, ahead);
  auto end = [&] {
    if (rows * vectors > 1 && hasLongEpilogue())
      return finishInLoop(kernel.getResults(), sliver, m0);
    forSums([&](int64_t i, Num m, Num n, Value mask) {
      finish(kernel.getResult(i), m, n, mask);
    });
  };
  // Without a scratch, the sums so far and the last ones go to the same place.
  if (!walk.isLast || !partial)
    return end();
  auto ifOp = scf::IfOp::create(b, walk.isLast, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  end();
  b.setInsertionPointToStart(ifOp.elseBlock());
  forSums([&](int64_t i, Num m, Num n, Value mask) {
    storeLanes(b, *partial, placeOfPartial(m, n), lane, lanes, mask,
               kernel.getResult(i));
  });
}

/// What the tile of row r of so many asks for. One tile reads b as fast as memory brings
/// it, and asks for what it reads soon. Several read it from the caches, all but the first:
/// they ask for the next panel, each for its share of every step's lines, so that the first
/// tile there finds it.
llvm::SmallVector<Value> Tiles::linesAhead(Num r, Num rows) {
  if (!plan.getPrefetch())
    return {};
  constexpr int64_t lineBytes = 64; // of every x86 and most other caches
  int64_t full = plan.getRows();
  int64_t lines =
      llvm::divideCeil(plan.getVectors() * vectorBytes(), lineBytes);
  auto near = [&](int64_t i) {
    return frame.i64(plan.getPrefetch() + i * lineBytes);
  };
  Num next =
      operands.constantDepth * (plan.getColumns() * (vectorBytes() / lanes));
  std::optional<int64_t> total = known(rows);
  int64_t tiles = total ? llvm::divideCeil(*total, full) : lines;
  int64_t share = tiles > 1 ? llvm::divideCeil(lines, tiles) : lines;
  Num turn = loops::quotient(r, full) * share;
  turn = turn - loops::quotient(turn, lines) * lines;
  llvm::SmallVector<Value> ahead;
  for (int64_t i = 0; i < (total ? share : lines); ++i) {
    // Of an open number of tiles each asks for one line.
    Num far = next + (turn + (total ? i : 0)) * lineBytes;
    if (!total)
      far = loops::select(rows <= full, near(i), far);
    ahead.push_back(tiles > 1 ? far : near(i));
  }
  return ahead;
}

void Tiles::rowsOf(const Sliver &sliver, Num ic, Num rows) {
  if (isTile(plan.getDot()))
    return rowsInTiles(sliver, ic, rows);
  int64_t full = plan.getRows();
  auto emit = [&](int64_t count, Num r) {
    Value a, aRow, aStep;
    if (operands.a) {
      aRow = operands.a->outerStep;
      aStep = operands.a->kStep;
      a = walk.pointer(operands.a->base, (ic + r) * frame.num(aRow));
    } else {
      // Blocks are spaced by MR rows; within one, r counts from its start.
      Num block = loops::quotient(r, full);
      Num within = r - block * full;
      aRow = walk.one();
      aStep = frame.i64(full);
      a = walk.pointer(operands.aPanel, block * full * walk.depth() + within);
    }
    tile(sliver, count, ic + r, a, aRow, aStep, linesAhead(r, rows));
  };
  std::optional<int64_t> total = known(rows);
  Num done = frame.i64(0);
  // A known number of rows left over shares those of the last whole tile, where a is
  // not packed by whole tiles: 17 = 8 + 5 + 4.
  int64_t left = total ? *total % full : 0;
  if (left > 0 && *total > full && operands.a)
    left += full;
  if (!total || *total - left >= full) {
    done =
        total ? frame.i64(*total - left) : loops::quotient(rows, full) * full;
    if (total && *total - left < 2 * full) {
      emit(full, frame.i64(0));
    } else {
      auto loop = scf::ForOp::create(b, frame.i64(0), done, frame.i64(full));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      emit(full, frame.num(loop.getInductionVar()));
    }
  }
  if (total) {
    int64_t first = left > full ? llvm::divideCeil(left, 2) : left;
    if (first > 0)
      emit(first, done);
    if (left > first)
      emit(left - first, done + first);
    return;
  }
  int64_t power = 1;
  while (power * 2 < full)
    power *= 2;
  Num r = done;
  for (; power > 0; power /= 2) {
    Num wanted = ((rows - done) & power) != 0;
    loops::ifHolds(b, wanted, [&] { emit(power, r); });
    r = r + loops::select(wanted, frame.i64(power), frame.i64(0));
  }
}

Tiles::Sliver Tiles::sliverOf(int64_t vectors, Num panel, Num width, Num within,
                              Value mask) {
  Num jr = panel + within, n0 = columnBase + jr;
  Sliver result{vectors, n0, {}, {}, mask, {}};
  if (operands.constant) {
    result.b = walk.pointer(operands.constant,
                            (columnBase + panel) * operands.constantDepth +
                                walk.depthBefore() * width + within);
    result.bStep = width;
  } else if (operands.b) {
    result.b = walk.pointer(operands.b->base, n0);
    result.bStep = operands.b->kStep;
  } else {
    result.b =
        walk.pointer(operands.bPanel, panel * walk.panelDepth() + within);
    result.bStep = frame.i64(plan.getColumns());
  }
  if (operands.columnSums)
    result.columnSums =
        walk.pointer(operands.columnSums, operands.constant ? n0 : jr);
  return result;
}

void Tiles::compute(const Operands &given, Num jc, Num columns, Num ic,
                    Num rows) {
  operands = given;
  columnBase = jc;
  std::optional<int64_t> total = known(columns);
  int64_t full = plan.getColumns();
  Num none = frame.i64(0), done = none;
  if (!total || *total >= full) {
    done = total ? frame.i64(*total / full * full)
                 : loops::quotient(columns, full) * full;
    auto loop = scf::ForOp::create(b, frame.i64(0), done, frame.i64(full));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    rowsOf(sliverOf(plan.getVectors(), frame.num(loop.getInductionVar()),
                    frame.i64(full), none, Value()),
           ic, rows);
  }
  if (total && *total % full == 0)
    return;
  if (total) {
    int64_t left = *total % full, vectors = llvm::divideCeil(left, lanes);
    int64_t last = left - (vectors - 1) * lanes;
    Value mask = last == lanes ? Value() : maskBelow(b, frame.i64(last), lanes);
    rowsOf(sliverOf(vectors, done, frame.i64(vectors * lanes), none, mask), ic,
           rows);
    return;
  }
  // Vector by vector: micro-kernels for every number of them would be most of the
  // code.
  Num rest = columns - done;
  Num width = loops::quotient(rest + (lanes - 1), lanes) * lanes;
  auto loop = scf::ForOp::create(b, frame.i64(0), rest, frame.i64(lanes));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Num within = frame.num(loop.getInductionVar());
  rowsOf(sliverOf(1, done, width, within, maskBelow(b, rest - within, lanes)),
         ic, rows);
}
