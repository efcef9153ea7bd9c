//===- Elementwise.cpp - what vector, scalar and gpsimd compute -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Row by row: all inputs of a row are read before its result is written, and
// rows of different partitions never meet (an instruction's operands have the
// same partitions or disjoint ones), so threads share them. Every instruction is
// written once, for f32 and for i32:
//
//   read a, b  ->  numbers  ->  op  ->  bits of dst's type  ->  write
//
//===----------------------------------------------------------------------===//

#include "Core.h"
#include "Values.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace facet;
using namespace facet::sim;

namespace {
/// The two arithmetics of the engines.
template <typename T>
struct Arithmetic;
template <>
struct Arithmetic<float> {
  static void load(const uint8_t *packed, DType type, size_t n, float *out) {
    toFloats(packed, type, n, out);
  }
  static float immediate(uint32_t bits) { return llvm::bit_cast<float>(bits); }
  static float apply(Alu op, float a, float b) { return applyFloat(op, a, b); }
  static uint64_t store(float v, DType type, bool saturate) {
    return fromFloat(v, type, saturate);
  }
  static void storeAll(const std::vector<float> &values, DType type,
                       bool saturate, uint8_t *out) {
    fromFloats(values.data(), values.size(), type, saturate, out);
  }
};
template <>
struct Arithmetic<int32_t> {
  static void load(const uint8_t *packed, DType type, size_t n, int32_t *out) {
    for (size_t i = 0; i != n; ++i)
      out[i] = toInt(loadBits(packed + i * dtypeBytes(type), type), type);
  }
  static int32_t immediate(uint32_t bits) { return int32_t(bits); }
  static int32_t apply(Alu op, int32_t a, int32_t b) {
    return applyInt(op, a, b);
  }
  static uint64_t store(int32_t v, DType type, bool saturate) {
    return fromInt(v, type, saturate);
  }
  static void storeAll(const std::vector<int32_t> &values, DType type,
                       bool saturate, uint8_t *out) {
    fromInts(values.data(), values.size(), type, saturate, out);
  }
};
} // namespace

/// An immediate that stands for an element of dst (fill, select).
static uint64_t immediateElement(const Instruction &i, DType dst) {
  bool saturate = i.has(flag::saturate) && i.op() != Opcode::Fill;
  if (dtypeIsInteger(dst))
    return fromInt(int32_t(i.imm[0]), dst, saturate);
  return fromFloat(i.immFloat(0), dst, saturate);
}

/// The values of an index operand in one row, exact modulo 2^64.
static std::vector<int64_t> indexRow(const Region &index, uint64_t row) {
  std::vector<int64_t> values;
  values.reserve(index.elements());
  uint64_t start =
      uint64_t(index.start) + row * uint64_t(index.access->rowStep);
  forEachRun(*index.access, [&](int64_t first, int64_t count, int64_t step) {
    for (int64_t i = 0; i != count; ++i)
      values.push_back(
          int64_t(start + uint64_t(first) + uint64_t(i) * uint64_t(step)));
  });
  return values;
}

static bool holds(Alu compare, int64_t value) {
  switch (compare) {
  case Alu::Eq:
    return value == 0;
  case Alu::Ne:
    return value != 0;
  case Alu::Lt:
    return value < 0;
  case Alu::Le:
    return value <= 0;
  case Alu::Gt:
    return value > 0;
  default:
    return value >= 0;
  }
}

template <typename T>
void Core::elementwiseRow(uint64_t row, Faults &faults) {
  using A = Arithmetic<T>;
  static thread_local std::vector<uint8_t> rows[5]; // as read, by slot
  const Instruction &i = *current;
  const Region &dst = regions[0];
  DType to = dst.access->dtype;
  size_t n = dst.elements(), size = dst.bytes();
  bool saturate = i.has(flag::saturate) && i.op() != Opcode::Fill;

  auto load = [&](unsigned slot) {
    const Region &region = regions[slot];
    read(region, row, rows[slot], faults);
    std::vector<T> numbers(region.elements());
    A::load(rows[slot].data(), region.access->dtype, numbers.size(),
            numbers.data());
    return numbers;
  };
  /// A [P, 1] operand or the immediate in its place.
  auto scalar = [&](unsigned slot, unsigned imm) {
    return has(slot) ? load(slot)[0] : A::immediate(i.imm[imm]);
  };
  std::vector<uint8_t> out(n * size);
  auto put = [&](size_t at, uint64_t bits) {
    storeBits(&out[at * size], to, bits);
  };
  auto putNumber = [&](size_t at, T value) {
    put(at, A::store(value, to, saturate));
  };
  /// An element of an operand as an element of dst: same types keep their bits.
  auto putElement = [&](size_t at, unsigned slot, T number) {
    DType from = regions[slot].access->dtype;
    if (from == to)
      put(at, loadBits(&rows[slot][at * size], from));
    else
      putNumber(at, number);
  };
  /// acc[p] over the elements of the result, in their order.
  bool accumulates = has(4), started = i.has(flag::accCarry);
  T running = accumulates && started ? load(4)[0] : T(0);
  auto putAll = [&](const std::vector<T> &values) {
    for (size_t e = 0; accumulates && e != n; ++e, started = true)
      running =
          started ? A::apply(Alu(i.sub[2]), running, values[e]) : values[e];
    A::storeAll(values, to, saturate, out.data());
  };

  switch (i.op()) {
  case Opcode::Copy: {
    DType from = regions[1].access->dtype;
    if (from == to) { // bits stay as they are
      read(regions[1], row, out, faults);
      break;
    }
    putAll(load(1));
    break;
  }
  case Opcode::Fill:
    for (size_t e = 0; e != n; ++e)
      put(e, immediateElement(i, to));
    break;
  case Opcode::TensorTensor: {
    std::vector<T> a = load(1), b = load(2), result(n);
    applyRow(Alu(i.sub[0]), Row<T>{a.data()}, Row<T>{b.data()}, n,
             result.data());
    putAll(result);
    break;
  }
  case Opcode::TensorScalar:
  case Opcode::ScalarTensorTensor: {
    bool two = i.op() == Opcode::ScalarTensorTensor;
    std::vector<T> src = load(1), b, first(n), second(n);
    T s0 = scalar(2, 0), s1 = two ? T(0) : scalar(3, 1);
    if (two)
      b = load(3);
    auto apply = [&](unsigned op, Row<T> x, Row<T> y, bool reverse,
                     std::vector<T> &result) {
      if (reverse)
        std::swap(x, y);
      applyRow(Alu(i.sub[op]), x, y, n, result.data());
    };
    apply(0, {src.data()}, {&s0, true}, i.has(flag::reverse0), first);
    apply(1, {first.data()}, two ? Row<T>{b.data()} : Row<T>{&s1, true},
          i.has(flag::reverse1), second);
    putAll(second);
    break;
  }
  case Opcode::Reduce: {
    std::vector<T> src = load(1), before;
    bool carry = i.has(flag::reduceCarry);
    if (carry)
      before = load(0);
    size_t width = src.size() / n;
    for (size_t e = 0; e != n; ++e) {
      T value = carry ? before[e] : src[e * width];
      for (size_t j = carry ? 0 : 1; j != width; ++j)
        value = A::apply(Alu(i.sub[0]), value, src[e * width + j]);
      putNumber(e, value);
    }
    break;
  }
  case Opcode::Select: {
    std::vector<T> mask = load(1), a = load(2), b;
    if (has(3))
      b = load(3);
    for (size_t e = 0; e != n; ++e)
      if (mask[e] != 0)
        putElement(e, 2, a[e]);
      else if (has(3))
        putElement(e, 3, b[e]);
      else
        put(e, immediateElement(i, to));
    break;
  }
  case Opcode::Iota: {
    std::vector<int64_t> values = indexRow(regions[1], row);
    for (size_t e = 0; e != n; ++e)
      put(e, dtypeIsInteger(to)
                 ? fromInt(int32_t(uint32_t(values[e])), to, false)
                 : fromFloat(float(values[e]), to, false));
    break;
  }
  case Opcode::AffineSelect: {
    std::vector<int64_t> values = indexRow(regions[2], row);
    std::vector<uint8_t> wanted(n);
    for (size_t e = 0; e != n; ++e)
      wanted[e] = holds(Alu(i.sub[0]), values[e]);
    read(regions[1], row, rows[1], faults, wanted.data());
    std::vector<T> src(n);
    A::load(rows[1].data(), regions[1].access->dtype, n, src.data());
    for (size_t e = 0; e != n; ++e)
      if (wanted[e])
        putElement(e, 1, src[e]);
      else
        put(e, immediateElement(i, to));
    break;
  }
  default: // Activate, in f32 always
    if constexpr (std::is_same_v<T, float>) {
      std::vector<float> src = load(1);
      float scale = scalar(2, 0), bias = scalar(3, 1);
      for (float &x : src)
        x = applyFunction(Function(i.sub[0]), std::fma(x, scale, bias));
      putAll(src);
    }
    break;
  }
  write(dst, row, out.data(), faults);
  if (accumulates) {
    uint8_t bits[4];
    DType type = regions[4].access->dtype;
    storeBits(bits, type, A::store(running, type, false));
    write(regions[4], row, bits, faults);
  }
}

void Core::elementwise() {
  bool integers = computesInIntegers(program, engine, *current);
  uint64_t rowCount = regions[0].access->partitions, elements = 0;
  for (const Region &region : regions)
    if (region.access)
      elements = std::max<uint64_t>(elements, region.elements());
  // About what an element takes.
  uint64_t ns = current->op() == Opcode::Activate ? 16 : 1;
  shareRows(rowCount, rowCount * elements * ns,
            [&](uint64_t row, Faults &faults) {
              if (integers)
                elementwiseRow<int32_t>(row, faults);
              else
                elementwiseRow<float>(row, faults);
            });
}

void Core::blockTranspose() {
  const Region &dst = regions[0], &src = regions[1];
  size_t size = src.bytes(), n = src.elements(), p = src.access->partitions;
  std::vector<uint8_t> all(p * n * size), row(n * size);
  Faults faults;
  for (size_t r = 0; r != p; ++r) {
    read(src, r, row, faults);
    std::memcpy(&all[r * n * size], row.data(), n * size);
  }
  constexpr size_t block = 32;
  for (size_t r = 0; r != p; ++r) {
    for (size_t e = 0; e != n; ++e) {
      size_t fromRow = r / block * block + e % block;
      size_t fromElement = e / block * block + r % block;
      std::memcpy(&row[e * size], &all[(fromRow * n + fromElement) * size],
                  size);
    }
    write(dst, r, row.data(), faults);
  }
  report(faults);
}
