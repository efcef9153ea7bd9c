//===- TileKernel.cpp - tile registers in instructions --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which register holds what is fixed: 0 to 3 the sums, 4 and 5 of a, 6 and 7 of b.
//
//   tileloadd 0..3 ← sums
//   scf.for %s:
//     tileloadd 4 ← a, 6 ← b;  tdp 0 += 4·6
//     tileloadd 7 ← b;         tdp 1 += 4·7
//     tileloadd 5 ← a;         tdp 2 += 5·6;  tdp 3 += 5·7
//   tilestored 0..3 → sums
//
// LLVM has a form of these intrinsics whose registers it allocates, and one with
// registers by number. The second is used: what a loop carries in tiles cannot be
// spilled, since nobody allocates it.
//
//===----------------------------------------------------------------------===//

#include "facet/Conversion/CpuToLLVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace facet;
using cpu::Dot, cpu::tileRows, cpu::tileWords, cpu::tilesAcross;

/// A row of a tile in bytes, and the first registers of a and of b.
static constexpr int64_t rowBytes = 4 * tileWords;
static constexpr int64_t firstOfA = 4, firstOfB = 6, allTiles = 8;

namespace {

class TileLowering {
public:
  explicit TileLowering(Operation *op) : op(op), b(op->getLoc(), op) {}

  void shape(cpu::TileShapeOp shape);
  void kernel(cpu::TileKernelOp kernel);
  void release() { call("tilerelease", {}); }

private:
  Value i8(int64_t value) {
    return arith::ConstantOp::create(b, b.getI8IntegerAttr(int8_t(value)));
  }
  Value i64(int64_t value) {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
  }
  void call(StringRef name, ValueRange operands) {
    LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.x86." + name),
                                  operands);
  }
  Value at(Value base, Value bytes) {
    return LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                               ValueRange{bytes});
  }
  void load(int64_t tile, Value from, Value stride) {
    call("tileloadd64", {i8(tile), from, stride});
  }

  Operation *op;
  ImplicitLocOpBuilder b;
};

} // namespace

/// Bytes of the configuration: palette, rows of 64 bytes in every register (from byte
/// 16, two each), and how many (from byte 48).
void TileLowering::shape(cpu::TileShapeOp shape) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto vector = VectorType::get({rowBytes}, b.getI8Type());
  Value memory;
  {
    OpBuilder::InsertionGuard guard(b);
    auto function = op->getParentOfType<func::FuncOp>();
    b.setInsertionPointToStart(&function.getBody().front());
    memory = LLVM::AllocaOp::create(b, pointer, vector, i64(1), rowBytes);
  }
  SmallVector<int8_t> bytes(rowBytes);
  bytes[0] = 1;
  for (int64_t tile = 0; tile < allTiles; ++tile) {
    bytes[16 + 2 * tile] = rowBytes;
    bytes[48 + tile] = tileRows;
  }
  Value fixed = arith::ConstantOp::create(
      b, DenseElementsAttr::get(vector, ArrayRef(bytes)));
  LLVM::StoreOp::create(b, fixed, memory, rowBytes);
  auto setRows = [&](ArrayRef<int64_t> tiles, Value rows) {
    Value byte = arith::TruncIOp::create(b, b.getI8Type(), rows);
    for (int64_t tile : tiles)
      LLVM::StoreOp::create(b, byte, at(memory, i64(48 + tile)), 1);
  };
  Value first = arith::MinSIOp::create(b, shape.getRows(), i64(tileRows));
  Value rest = arith::SubIOp::create(b, shape.getRows(), first);
  setRows({0, 1, firstOfA}, first);
  // A register without rows is none; where there is no second tile nobody uses it.
  setRows({2, 3, firstOfA + 1}, arith::MaxSIOp::create(b, rest, i64(1)));
  call("ldtilecfg", {memory});
}

/// The instruction that multiplies a by b.
static StringRef instructionOf(Dot dot) {
  switch (dot) {
  case Dot::TileBF16:
    return "tdpbf16ps";
  case Dot::TileU8S8:
    return "tdpbusd";
  case Dot::TileS8U8:
    return "tdpbsud";
  case Dot::TileS8S8:
    return "tdpbssd";
  case Dot::TileU8U8:
    return "tdpbuud";
  default:
    llvm_unreachable("the verifier knows the dots of tiles");
  }
}

void TileLowering::kernel(cpu::TileKernelOp kernel) {
  int64_t tiles = kernel.getTiles(), vectors = kernel.getVectors();
  Value sumsStride = i64(vectors * rowBytes);
  auto forSums = [&](StringRef name) {
    for (int64_t i = 0; i < tiles; ++i)
      for (int64_t j = 0; j < vectors; ++j) {
        int64_t place = (i * tileRows * vectors + j) * rowBytes;
        call(name, {i8(tilesAcross * i + j), at(kernel.getSums(), i64(place)),
                    sumsStride});
      }
  };
  forSums("tileloadd64");
  Value rowStride = i64(rowBytes);
  Value bStride = arith::MulIOp::create(b, kernel.getBStep(), i64(4));
  Value aBytes = i64(tilesAcross * tileRows * rowBytes);
  Value bBytes = arith::MulIOp::create(b, bStride, i64(tileWords));
  auto loop = scf::ForOp::create(b, i64(0), kernel.getSteps(), i64(1));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value s = loop.getInductionVar();
    Value a = at(kernel.getA(), arith::MulIOp::create(b, s, aBytes));
    Value bAt = at(kernel.getB(), arith::MulIOp::create(b, s, bBytes));
    for (int64_t i = 0; i < tiles; ++i) {
      load(firstOfA + i, at(a, i64(i * tileRows * rowBytes)), rowStride);
      for (int64_t j = 0; j < vectors; ++j) {
        if (i == 0)
          load(firstOfB + j, at(bAt, i64(j * rowBytes)), bStride);
        call(instructionOf(kernel.getDot()),
             {i8(tilesAcross * i + j), i8(firstOfA + i), i8(firstOfB + j)});
      }
    }
  }
  forSums("tilestored64");
}

LogicalResult facet::lowerTileKernels(Operation *root,
                                      const CpuFeatures &features) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isa<cpu::TileShapeOp, cpu::TileKernelOp, cpu::TileReleaseOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (!features.tileMatrix)
      return op->emitError("tile registers on a target without AMX");
    TileLowering lowering(op);
    if (auto shape = dyn_cast<cpu::TileShapeOp>(op))
      lowering.shape(shape);
    else if (auto kernel = dyn_cast<cpu::TileKernelOp>(op))
      lowering.kernel(kernel);
    else
      lowering.release();
    op->erase();
  }
  return success();
}
