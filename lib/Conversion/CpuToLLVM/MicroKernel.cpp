//===- MicroKernel.cpp - the micro-kernel in instructions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One loop over the steps that carries all accumulators; per step the vectors of b
// are loaded once, and each row's group of a is loaded as a scalar and broadcast:
//
//   scf.for %s iter_args(%acc...)
//     %b0 = load <16 x f32>; %b1 = ...
//     %a0 = load f32; broadcast; fma %a0 %b0; fma %a0 %b1
//     ...
//
// Vectors have native width from the start (longer ones are spilled by the
// thousand), and scalars are loaded one by one: a vector load of a column of a
// becomes shuffles. Live at once are rows·vectors sums, the vectors of b and one
// broadcast; the planner keeps that within the register file.
//
//===----------------------------------------------------------------------===//

#include "facet/Conversion/CpuToLLVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace facet;
using cpu::Dot;

/// Of llvm.prefetch: prefetcht1.
static constexpr int64_t secondLevel = 2;

namespace {

/// The types one dot product moves: a group of a as one scalar, b as one vector.
struct DotTypes {
  Type aScalar;       // as loaded
  VectorType bVector; // as loaded
  int64_t groupBytes;
};

class MicroKernelLowering {
public:
  MicroKernelLowering(cpu::MicroKernelOp op)
      : op(op), b(op.getLoc(), op), lanes(op.getLanes()) {}

  LogicalResult run(const CpuFeatures &features);

private:
  LogicalResult checkFeatures(const CpuFeatures &features);
  DotTypes types();
  Value address(Value base, Value groups, int64_t groupBytes);
  SmallVector<Value> step(Value s, ValueRange sums);
  Value multiplyAdd(Value a, Value bVector, Value sum);
  Value intrinsic(StringRef name, Type result, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, result, b.getStringAttr(name),
                                         operands)
        .getResult(0);
  }

  cpu::MicroKernelOp op;
  ImplicitLocOpBuilder b;
  int64_t lanes;
  bool fma = false;
};

} // namespace

LogicalResult MicroKernelLowering::checkFeatures(const CpuFeatures &features) {
  int64_t elementBytes = op.getDot() == Dot::F64 ? 8 : 4;
  if (lanes * elementBytes > features.vectorBytes)
    return op.emitError() << "vectors of " << lanes * elementBytes
                          << " bytes on a target that has "
                          << features.vectorBytes;
  if (op.getDot() == Dot::BF16 && !features.bf16Dot)
    return op.emitError("bf16 dot product on a target without AVX512_BF16");
  bool ofBytes = op.getDot() == Dot::U8S8 || op.getDot() == Dot::S8U8;
  if (ofBytes && !features.i8Dot)
    return op.emitError("u8·s8 dot product on a target without VNNI");
  return success();
}

DotTypes MicroKernelLowering::types() {
  Type i32 = b.getI32Type();
  switch (op.getDot()) {
  case Dot::F32:
    return {b.getF32Type(), VectorType::get({lanes}, b.getF32Type()), 4};
  case Dot::F64:
    return {b.getF64Type(), VectorType::get({lanes}, b.getF64Type()), 8};
  case Dot::I32:
    return {i32, VectorType::get({lanes}, i32), 4};
  case Dot::BF16:
    return {i32, VectorType::get({2 * lanes}, b.getBF16Type()), 4};
  case Dot::I16:
    return {i32, VectorType::get({2 * lanes}, b.getI16Type()), 4};
  case Dot::U8S8:
  case Dot::S8U8:
    return {i32, VectorType::get({4 * lanes}, b.getI8Type()), 4};
  default: // of tiles, which the verifier refuses
    break;
  }
  llvm_unreachable("all dots are listed");
}

/// `base` plus a number of groups.
Value MicroKernelLowering::address(Value base, Value groups,
                                   int64_t groupBytes) {
  Type unit = b.getIntegerType(8 * groupBytes);
  return LLVM::GEPOp::create(b, base.getType(), unit, base, ValueRange{groups},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value MicroKernelLowering::multiplyAdd(Value a, Value bVector, Value sum) {
  Type type = sum.getType();
  Value wide =
      vector::BroadcastOp::create(b, VectorType::get({lanes}, a.getType()), a);
  std::string bits = std::to_string(lanes * 32);
  switch (op.getDot()) {
  case Dot::F32:
  case Dot::F64:
    if (fma)
      return LLVM::FMAOp::create(b, wide, bVector, sum);
    return arith::AddFOp::create(b, sum,
                                 arith::MulFOp::create(b, wide, bVector));
  case Dot::I32:
    return arith::AddIOp::create(b, sum,
                                 arith::MulIOp::create(b, wide, bVector));
  case Dot::BF16: {
    Value pairs = LLVM::BitcastOp::create(b, bVector.getType(), wide);
    return intrinsic("llvm.x86.avx512bf16.dpbf16ps." + bits, type,
                     {sum, pairs, bVector});
  }
  case Dot::U8S8:
  case Dot::S8U8: { // the unsigned ones come first
    Value quads = LLVM::BitcastOp::create(b, bVector.getType(), wide);
    Value isSigned = bVector;
    if (op.getDot() == Dot::S8U8)
      std::swap(quads, isSigned);
    return intrinsic("llvm.x86.avx512.vpdpbusd." + bits, type,
                     {sum, quads, isSigned});
  }
  case Dot::I16: {
    // A multiply of pairs and an add: LLVM makes one instruction where it exists.
    Value pairs = LLVM::BitcastOp::create(b, bVector.getType(), wide);
    StringRef name = lanes == 16  ? "llvm.x86.avx512.pmaddw.d.512"
                     : lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                                  : "llvm.x86.sse2.pmadd.wd";
    return arith::AddIOp::create(b, sum,
                                 intrinsic(name, type, {pairs, bVector}));
  }
  default:
    break;
  }
  llvm_unreachable("all dots are listed");
}

SmallVector<Value> MicroKernelLowering::step(Value s, ValueRange sums) {
  auto [aScalar, bVector, groupBytes] = types();
  int64_t rows = op.getRows(), vectors = op.getVectors();
  unsigned align = groupBytes;

  Value bStep = address(op.getB(), arith::MulIOp::create(b, s, op.getBStep()),
                        groupBytes);
  for (Value bytes : op.getAhead())
    LLVM::Prefetch::create(b, address(bStep, bytes, 1), /*rw=*/0,
                           /*hint=*/secondLevel, /*cache=*/1);
  SmallVector<Value> bs;
  for (int64_t v = 0; v < vectors; ++v) {
    Value offset = arith::ConstantOp::create(b, b.getI64IntegerAttr(v * lanes));
    Value at = address(bStep, offset, groupBytes);
    if (op.getMask() && v == vectors - 1) {
      Value zero = arith::ConstantOp::create(b, b.getZeroAttr(bVector));
      bs.push_back(LLVM::MaskedLoadOp::create(
          b, bVector, at, op.getMask(), zero, b.getI32IntegerAttr(align)));
    } else {
      bs.push_back(LLVM::LoadOp::create(b, bVector, at, align));
    }
  }

  Value aStep = address(op.getA(), arith::MulIOp::create(b, s, op.getAStep()),
                        groupBytes);
  SmallVector<Value> next;
  for (int64_t r = 0; r < rows; ++r) {
    Value row = arith::ConstantOp::create(b, b.getI64IntegerAttr(r));
    Value at =
        address(aStep, arith::MulIOp::create(b, row, op.getARow()), groupBytes);
    Value a = LLVM::LoadOp::create(b, aScalar, at, align);
    for (int64_t v = 0; v < vectors; ++v)
      next.push_back(multiplyAdd(a, bs[v], sums[r * vectors + v]));
  }
  return next;
}

LogicalResult MicroKernelLowering::run(const CpuFeatures &features) {
  if (failed(checkFeatures(features)))
    return failure();
  fma = features.fma;
  Value zero = arith::ConstantOp::create(b, b.getI64IntegerAttr(0));
  Value one = arith::ConstantOp::create(b, b.getI64IntegerAttr(1));
  auto loop = scf::ForOp::create(b, zero, op.getSteps(), one, op.getInits());
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      step(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(b, next);
  op.replaceAllUsesWith(loop.getResults());
  op.erase();
  return success();
}

LogicalResult facet::lowerMicroKernels(Operation *root,
                                       const CpuFeatures &features) {
  SmallVector<cpu::MicroKernelOp> ops;
  root->walk([&](cpu::MicroKernelOp op) { ops.push_back(op); });
  for (cpu::MicroKernelOp op : ops)
    if (failed(MicroKernelLowering(op).run(features)))
      return failure();
  return success();
}
