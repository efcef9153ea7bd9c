//===- Dots.cpp - which dot product a contraction may use -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dot product of narrow operands is exact when every value of its side fits the
// operand, whatever expression it comes from. For integers that is a question of
// ranges:
//
//   x[m, k]: u8  ·  w[k, n]: i8                            u8s8
//   x[m, k]: i8  ·  (w[q, r, n] - z[q, n]), both u4        −15 … 15: u8s8, a shifted by 128
//   x[m, k]: u8  ·  w[k, n]: i8, without VNNI              i16: widened, no sum saturates
//
// Tile registers multiply bytes of any two kinds. VNNI multiplies unsigned by signed bytes. Two signed ones: a + 128 is unsigned, and
// 128·Σ b is taken off the sums; two unsigned ones: a − 128 is signed, and it is added.
//
// For floats it is one of form: numbers read from bf16 or f8, or rounded to bf16,
// are bf16 exactly.
//
//===----------------------------------------------------------------------===//

#include "facet/Planner/Cpu/Contraction.h"

using namespace facet;
using namespace facet::cpu;
using namespace mlir;

namespace {
/// Values from low to high.
struct Bounds {
  int64_t low, high;
  bool within(int64_t least, int64_t most) const {
    return least <= low && high <= most;
  }
  bool isSignedByte() const { return within(-128, 127); }
  bool isUnsignedByte() const { return within(0, 255); }
};
} // namespace

static std::optional<Bounds> boundsOf(Value value);

/// Of the two operands of `op`, by what happens to the ends.
static std::optional<Bounds>
combine(Operation *op, llvm::function_ref<int64_t(int64_t, int64_t)> apply) {
  std::optional<Bounds> a = boundsOf(op->getOperand(0)),
                        b = boundsOf(op->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  int64_t ends[] = {apply(a->low, b->low), apply(a->low, b->high),
                    apply(a->high, b->low), apply(a->high, b->high)};
  return Bounds{*llvm::min_element(ends), *llvm::max_element(ends)};
}

/// The bounds of an i32 of a body that follows from the types it is made of; none when
/// it may wrap.
static std::optional<Bounds> boundsOf(Value value) {
  Operation *def = value.getDefiningOp();
  std::optional<Bounds> bounds;
  if (!def)
    return std::nullopt;
  if (auto cast = dyn_cast<kernel::CastOp>(def)) {
    auto type = dyn_cast<IntegerType>(cast.getValue().getType());
    if (cast.getMode() != kernel::CastMode::Exact || !type ||
        type.getWidth() > 16)
      return std::nullopt;
    bool isSigned = !type.isUnsigned() && type.getWidth() > 1;
    int64_t count = int64_t(1) << type.getWidth();
    return isSigned ? Bounds{-count / 2, count / 2 - 1} : Bounds{0, count - 1};
  }
  if (auto constant = dyn_cast<arith::ConstantIntOp>(def))
    bounds = Bounds{constant.value(), constant.value()};
  else if (isa<arith::AddIOp>(def))
    bounds = combine(def, [](int64_t a, int64_t b) { return a + b; });
  else if (isa<arith::SubIOp>(def))
    bounds = combine(def, [](int64_t a, int64_t b) { return a - b; });
  else if (isa<arith::MulIOp>(def))
    bounds = combine(def, [](int64_t a, int64_t b) { return a * b; });
  if (!bounds || !bounds->within(INT32_MIN, INT32_MAX))
    return std::nullopt;
  return bounds;
}

/// Of a product.
static std::optional<Bounds> boundsOf(llvm::ArrayRef<Value> factors) {
  Bounds product{1, 1};
  for (Value factor : factors) {
    std::optional<Bounds> bounds = boundsOf(factor);
    if (!bounds)
      return std::nullopt;
    int64_t ends[] = {product.low * bounds->low, product.low * bounds->high,
                      product.high * bounds->low, product.high * bounds->high};
    product = {*llvm::min_element(ends), *llvm::max_element(ends)};
    if (!product.within(INT32_MIN, INT32_MAX))
      return std::nullopt;
  }
  return product;
}

/// `value` is a number that bf16 holds.
static bool isBF16(Value value) {
  auto cast = value.getDefiningOp<kernel::CastOp>();
  return cast && cast.getMode() == kernel::CastMode::Exact &&
         isa<BFloat16Type, Float8E4M3Type, Float8E4M3FNType, Float8E5M2Type>(
             cast.getValue().getType());
}

/// Both operands are numbers that bf16 holds, one factor each.
static bool isPairOfBF16(const Contraction &c) {
  return c.dot == Dot::F32 && c.a.size() == 1 && c.b.size() == 1 &&
         isBF16(c.a[0]) && isBF16(c.b[0]);
}

Dot cpu::chooseDot(const Contraction &c, const Machine &machine) {
  if (c.dot == Dot::F32)
    return isPairOfBF16(c) && machine.cpu.bf16Dot ? Dot::BF16 : c.dot;
  if (c.dot != Dot::I32)
    return c.dot;
  std::optional<Bounds> a = boundsOf(c.a), b = boundsOf(c.b);
  if (!a || !b || !a->within(INT16_MIN, INT16_MAX) ||
      !b->within(INT16_MIN, INT16_MAX))
    return c.dot;
  bool bytes = (a->isSignedByte() || a->isUnsignedByte()) &&
               (b->isSignedByte() || b->isUnsignedByte());
  // Pairs are x86's, of every level.
  if (machine.cpu.arch != "x86_64")
    return c.dot;
  if (!bytes || !machine.cpu.i8Dot)
    return Dot::I16;
  // Without a shift where there is a choice.
  if (b->isSignedByte() && b->isUnsignedByte())
    return a->isUnsignedByte() ? Dot::U8S8 : Dot::S8U8;
  return b->isSignedByte() ? Dot::U8S8 : Dot::S8U8;
}

std::optional<Dot> cpu::chooseTileDot(const Contraction &c,
                                      const Machine &machine) {
  // A row of a tile is a vector. Without bf16_dot subnormals are kept, which tiles
  // take for 0.
  if (!machine.cpu.tileMatrix || machine.cpu.vectorBytes != 4 * tileWords ||
      isFiltered(c))
    return std::nullopt;
  if (isPairOfBF16(c) && machine.cpu.bf16Dot)
    return Dot::TileBF16;
  if (c.dot != Dot::I32)
    return std::nullopt;
  std::optional<Bounds> a = boundsOf(c.a), b = boundsOf(c.b);
  if (!a || !b)
    return std::nullopt;
  if (a->isUnsignedByte() && b->isUnsignedByte())
    return Dot::TileU8U8;
  if (a->isUnsignedByte() && b->isSignedByte())
    return Dot::TileU8S8;
  if (a->isSignedByte() && b->isUnsignedByte())
    return Dot::TileS8U8;
  if (a->isSignedByte() && b->isSignedByte())
    return Dot::TileS8S8;
  return std::nullopt;
}

bool cpu::shiftsA(const Contraction &c, Dot dot) {
  if (dot != Dot::U8S8 && dot != Dot::S8U8)
    return false;
  std::optional<Bounds> a = boundsOf(c.a);
  return a && !(dot == Dot::U8S8 ? a->isUnsignedByte() : a->isSignedByte());
}
