//===- TileRegisters.cpp - the blocks of a panel in tile registers ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   shape 32 rows
//   for ir in steps of 32:          sums ─▶ memory ─▶ tiles ─▶ memory ─▶ epilogue
//   shape the rows left over        one tile of them or two, of exactly so many rows
//   release
//
// The sums go through 4 KiB of the workspace, since tile registers are no vectors:
// they start there, in the type of the result, and the map behind them reads them there.
// Columns behind the last are 0 in b's panel, and never stored.
//
//===----------------------------------------------------------------------===//

#include "Tiles.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;

/// `rows` rows, of which `tiles` tiles hold 16 or what is left, by the sliver's columns.
void Tiles::block(const Sliver &sliver, int64_t tiles, Num rows, Num m0,
                  Value a) {
  int64_t vectors = sliver.vectors;
  auto type = VectorType::get({lanes}, walk.element);
  unsigned lane = partial ? c.m.size() : c.n.back();
  // Each vector of the sums: its place in memory, its row and first column.
  auto forSums =
      [&](llvm::function_ref<void(Value at, Num m, Num n, Value mask)> body) {
        loops::forLoop(b, rows, [&](Value r) {
          for (int64_t v = 0; v < vectors; ++v) {
            Num place = frame.num(r) * (vectors * lanes) + v * lanes;
            body(walk.pointer(operands.sums, place), m0 + frame.num(r),
                 sliver.n0 + v * lanes,
                 v == vectors - 1 ? sliver.mask : Value());
          }
        });
      };
  auto store = [&](Value sums, Value at) {
    LLVM::StoreOp::create(b, sums, at, vectorBytes());
  };
  auto start = [&] {
    forSums([&](Value at, Num m, Num n, Value mask) {
      store(initialSum(m, n, mask), at);
    });
  };
  auto restart = [&] {
    forSums([&](Value at, Num m, Num n, Value mask) {
      store(
          loadLanes(b, partialSums(), placeOfPartial(m, n), lane, lanes, mask),
          at);
    });
  };
  auto either = [&](Value condition, llvm::function_ref<void()> then,
                    llvm::function_ref<void()> otherwise) {
    if (!condition)
      return then();
    auto ifOp = scf::IfOp::create(b, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    then();
    b.setInsertionPointToStart(ifOp.elseBlock());
    otherwise();
  };
  either(walk.isFirst, start, restart);
  Num steps = loops::quotient(walk.panelDepth(), walk.depthUnit);
  TileKernelOp::create(b, plan.getDot(), tiles, vectors, a, sliver.b,
                       sliver.bStep, steps, operands.sums);
  auto load = [&](Value at) {
    return LLVM::LoadOp::create(b, type, at, vectorBytes());
  };
  auto end = [&] {
    forSums([&](Value at, Num m, Num n, Value mask) {
      finish(load(at), m, n, mask);
    });
  };
  auto pause = [&] {
    forSums([&](Value at, Num m, Num n, Value mask) {
      storeLanes(b, *partial, placeOfPartial(m, n), lane, lanes, mask,
                 load(at));
    });
  };
  // Without a scratch, the sums so far and the last ones go to the same place.
  either(partial ? walk.isLast : Value(), end, pause);
}

void Tiles::rowsInTiles(const Sliver &sliver, Num ic, Num rows) {
  int64_t full = plan.getRows();
  auto emit = [&](int64_t tiles, Num count, Num r) {
    Num panel = loops::quotient(r, full) * full * walk.panelDepth();
    block(sliver, tiles, count, ic + r, walk.pointer(operands.aPanel, panel));
  };
  std::optional<int64_t> total = known(rows);
  Num whole = loops::quotient(rows, full) * full;
  if (!total || *total >= full) {
    TileShapeOp::create(b, frame.i64(full));
    auto loop = scf::ForOp::create(b, frame.i64(0), whole, frame.i64(full));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    emit(tilesAcross, frame.i64(full), frame.num(loop.getInductionVar()));
  }
  Num left = rows - whole;
  auto rest = [&](int64_t tiles) {
    TileShapeOp::create(b, left);
    emit(tiles, left, whole);
  };
  if (total) {
    if (*total % full > 0)
      rest(*total % full > tileRows ? 2 : 1);
  } else {
    loops::ifHolds(b, left > tileRows, [&] { rest(2); });
    loops::ifHolds(b, (left > 0) & (left <= tileRows), [&] { rest(1); });
  }
  TileReleaseOp::create(b);
}
