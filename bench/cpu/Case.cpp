//===- Case.cpp - the list of cases, their data, and what is right --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   prefill   f32:32x11008x4096   →   a 32×4096, b 4096×11008, c 32×11008, all dense rows
//
// A result is checked against a sum in f64 with the bound of its own rounding, not
// against another library: |c − Σ| ≤ (k + 4)·ε·Σ|a·b|. On a sample, because a full
// check of 4096³ would take longer than the measurement.
//
//===----------------------------------------------------------------------===//

#include "Case.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace bench;

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

static const char *nameOf(Type type) {
  switch (type) {
  case Type::F32:
    return "f32";
  case Type::F64:
    return "f64";
  case Type::BF16:
    return "bf16";
  case Type::U8S8:
    return "u8s8";
  }
  std::abort();
}

static const char *nameOf(Epilogue epilogue) {
  switch (epilogue) {
  case Epilogue::None:
    return "";
  case Epilogue::BiasRelu:
    return ":bias_relu";
  case Epilogue::BiasGelu:
    return ":bias_gelu";
  case Epilogue::SwiGlu:
    return ":swiglu";
  case Epilogue::Causal:
    return ":causal";
  }
  std::abort();
}

std::string Case::name() const {
  return std::string(nameOf(type)) + ":" + std::to_string(m) + "x" +
         std::to_string(n) + "x" + std::to_string(k) + nameOf(epilogue);
}

double Case::operations() const {
  double all = 2.0 * double(m) * double(n) * double(k) * double(batch);
  if (epilogue == Epilogue::SwiGlu)
    return 2 * all;
  if (epilogue == Epilogue::Causal) // two products, half of the square
    return 4.0 * double(batch) * double(k) * double(m) * double(m + 1) / 2;
  return all;
}

std::vector<Case> bench::allCases() {
  struct Shape {
    int64_t m, n, k;
  };
  std::vector<Case> cases;
  auto add = [&](const char *group, Type type, std::vector<Shape> shapes,
                 Epilogue epilogue = Epilogue::None, int64_t batch = 1) {
    for (Shape shape : shapes)
      cases.push_back(
          {group, type, shape.m, shape.n, shape.k, epilogue, batch});
  };
  auto squares = [](std::vector<int64_t> sizes) {
    std::vector<Shape> shapes;
    for (int64_t size : sizes)
      shapes.push_back({size, size, size});
    return shapes;
  };
  const std::vector<Shape> rows = {
      {1, 4096, 4096}, {4, 4096, 4096}, {8, 4096, 4096}, {16, 4096, 4096}};
  const std::vector<Shape> prefill = {
      {32, 11008, 4096}, {128, 4096, 4096}, {512, 4096, 11008}};
  const std::vector<Shape> vit = {
      {197, 768, 768}, {197, 3072, 768}, {197, 768, 3072}};

  add("tiny", Type::F32, squares({16, 32, 48}));
  add("cache", Type::F32, squares({64, 96, 128, 192, 256, 384, 512, 768}));
  add("large", Type::F32, squares({1024, 1536, 2048, 4096}));
  add("odd", Type::F32, squares({17}));
  add("odd", Type::F32, {{33, 65, 129}});
  add("odd", Type::F32, squares({127, 255, 509, 1021}));
  add("rows", Type::F32, rows);
  add("prefill", Type::F32, prefill);
  add("narrow", Type::F32,
      {{4096, 64, 4096}, {64, 64, 4096}, {4096, 4096, 64}});
  add("vit", Type::F32, vit);
  add("f64", Type::F64, squares({64, 256, 512, 1024, 2048}));
  for (Type type : {Type::BF16, Type::U8S8}) {
    const char *group = nameOf(type);
    add(group, type, squares({256, 512, 1024, 2048}));
    add(group, type, vit);
    add(group, type, prefill);
    add(group, type, rows);
  }
  for (Type type : {Type::F32, Type::BF16})
    for (const std::vector<Shape> &shapes :
         {vit, prefill, std::vector<Shape>{rows.back()}})
      for (Shape shape : shapes)
        for (Epilogue epilogue : {Epilogue::None, Epilogue::BiasRelu,
                                  Epilogue::BiasGelu, Epilogue::SwiGlu})
          add("fused", type, {shape}, epilogue);
  add("batch1000", Type::F32, squares({16, 32, 64}), Epilogue::None, 1000);
  for (Type type : {Type::F32, Type::BF16})
    add("attention", type, {{2048, 2048, 64}, {2048, 2048, 128}},
        Epilogue::Causal, 16);
  return cases;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

size_t bench::operandBytes(Type type) {
  switch (type) {
  case Type::F32:
    return 4;
  case Type::F64:
    return 8;
  case Type::BF16:
    return 2;
  case Type::U8S8:
    return 1;
  }
  std::abort();
}
size_t bench::resultBytes(Type type) { return type == Type::F64 ? 8 : 4; }

Memory::Memory(size_t bytes) : bytes(bytes) {
  size_t rounded = (bytes + 64) / 64 * 64;
  memory.reset(static_cast<char *>(std::aligned_alloc(64, rounded)));
  if (!memory)
    std::abort();
}
void Memory::Free::operator()(char *memory) const { std::free(memory); }

static uint64_t next(uint64_t &state) { // splitmix64
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static uint16_t toBf16(float value) { // to nearest even; no NaN comes here
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
static float fromBf16(uint16_t value) {
  uint32_t bits = uint32_t(value) << 16;
  float result;
  std::memcpy(&result, &bits, 4);
  return result;
}

static void fillRandom(const Memory &memory, Type type, uint64_t seed) {
  uint64_t state = seed;
  auto unit = [&] {
    return double(int64_t(next(state) >> 40) - (1 << 23)) * 0x1p-23;
  };
  size_t count = memory.size() / operandBytes(type);
  for (size_t i = 0; i < count; ++i)
    switch (type) {
    case Type::F32:
      memory.as<float>()[i] = float(unit());
      break;
    case Type::F64:
      memory.as<double>()[i] = unit();
      break;
    case Type::BF16:
      memory.as<uint16_t>()[i] = toBf16(float(unit()));
      break;
    case Type::U8S8:
      memory.as<uint8_t>()[i] = uint8_t(next(state));
      break;
    }
}

Buffers::Buffers(const Case &given) : given(given) {
  const size_t element = operandBytes(given.type);
  const bool isAttention = given.epilogue == Epilogue::Causal;
  const bool hasPair = isAttention || given.epilogue == Epilogue::SwiGlu;
  const size_t batch = size_t(given.batch);
  const size_t columns = size_t(isAttention ? given.k : given.n);
  a = Memory(batch * size_t(given.m * given.k) * element);
  b = Memory(batch * size_t(given.k * given.n) * element);
  b2 = Memory(hasPair ? b.size() : 0);
  bias = Memory(size_t(given.n) * 4);
  c = Memory(batch * size_t(given.m) * columns * resultBytes(given.type));
  fillRandom(a, given.type, 1);
  fillRandom(b, given.type, 2);
  fillRandom(b2, given.type, 3);
  fillRandom(bias, Type::F32, 4);
}

void Buffers::poison() { std::memset(c.data(), 0xa5, c.size()); }

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

namespace {
/// An element of an operand as a number; b of u8·s8 is signed.
double element(const Memory &memory, Type type, size_t i, bool isSigned) {
  switch (type) {
  case Type::F32:
    return double(memory.as<float>()[i]);
  case Type::F64:
    return memory.as<double>()[i];
  case Type::BF16:
    return double(fromBf16(memory.as<uint16_t>()[i]));
  case Type::U8S8:
    return isSigned ? memory.as<int8_t>()[i] : memory.as<uint8_t>()[i];
  }
  std::abort();
}

struct Sum {
  double value = 0, magnitude = 0;
  void add(double product) {
    value += product;
    magnitude += std::fabs(product);
  }
};
} // namespace

static bool near(double found, double wanted, double bound) {
  return std::fabs(found - wanted) <= bound; // false for NaN
}

/// One element of causal attention: rows of the batch's own matrices, each m×k.
static bool isAttentionRight(const Buffers &data, int64_t batch, int64_t row,
                             int64_t column) {
  const Case &given = data.given;
  const size_t start = size_t(batch * given.m * given.k);
  std::vector<double> score(size_t(row) + 1);
  double largest = -INFINITY;
  for (int64_t j = 0; j <= row; ++j) {
    Sum sum;
    for (int64_t d = 0; d < given.k; ++d)
      sum.add(
          element(data.a, given.type, start + size_t(row * given.k + d),
                  false) *
          element(data.b, given.type, start + size_t(j * given.k + d), true));
    score[size_t(j)] = sum.value / std::sqrt(double(given.k));
    largest = std::fmax(largest, score[size_t(j)]);
  }
  Sum top;
  double total = 0;
  for (int64_t j = 0; j <= row; ++j) {
    double weight = std::exp(score[size_t(j)] - largest);
    total += weight;
    top.add(weight * element(data.b2, given.type,
                             start + size_t(j * given.k + column), true));
  }
  double found =
      double(data.c.as<float>()[start + size_t(row * given.k + column)]);
  // bf16 weights may be rounded once more: 2⁻⁸ of each.
  double relative = given.type == Type::BF16 ? 0x1p-7 : 1e-4;
  return near(found, top.value / total,
              relative * top.magnitude / total + 1e-6);
}

static bool isElementRight(const Buffers &data, int64_t batch, int64_t row,
                           int64_t column) {
  const Case &given = data.given;
  const size_t startA = size_t(batch * given.m * given.k);
  const size_t startB = size_t(batch * given.k * given.n);
  Sum sum, pair;
  for (int64_t k = 0; k < given.k; ++k) {
    double x =
        element(data.a, given.type, startA + size_t(row * given.k + k), false);
    size_t place = startB + size_t(k * given.n + column);
    sum.add(x * element(data.b, given.type, place, true));
    if (given.epilogue == Epilogue::SwiGlu)
      pair.add(x * element(data.b2, given.type, place, true));
  }
  const size_t at = size_t((batch * given.m + row) * given.n + column);
  if (given.type == Type::U8S8)
    return double(data.c.as<int32_t>()[at]) == sum.value;
  const double epsilon = given.type == Type::F64 ? 0x1p-53 : 0x1p-24;
  const double error = double(given.k + 4) * epsilon;
  double found = given.type == Type::F64 ? data.c.as<double>()[at]
                                         : double(data.c.as<float>()[at]);
  const double bias = double(data.bias.as<float>()[column]);
  double x = sum.value + bias,
         bound = error * (sum.magnitude + std::fabs(bias));
  switch (given.epilogue) {
  case Epilogue::None:
    return near(found, sum.value, error * sum.magnitude);
  case Epilogue::BiasRelu:
    return near(found, std::fmax(x, 0), bound);
  case Epilogue::BiasGelu: // its slope is below 1.13
    return near(found, 0.5 * x * (1 + std::erf(x * std::sqrt(0.5))),
                1.2 * bound + 1e-6 * (1 + std::fabs(x)));
  case Epilogue::SwiGlu: {
    double silu = sum.value / (1 + std::exp(-sum.value));
    return near(found, silu * pair.value,
                1.2 * error * sum.magnitude * std::fabs(pair.value) +
                    error * pair.magnitude * std::fabs(silu) +
                    1e-6 * (1 + std::fabs(silu * pair.value)));
  }
  case Epilogue::Causal:
    break;
  }
  std::abort();
}

bool Buffers::isRight() const {
  const bool isAttention = given.epilogue == Epilogue::Causal;
  const int64_t columns = isAttention ? given.k : given.n;
  auto check = [&](int64_t batch, int64_t row, int64_t column) {
    return isAttention ? isAttentionRight(*this, batch, row, column)
                       : isElementRight(*this, batch, row, column);
  };
  for (int64_t row : {int64_t(0), given.m - 1})
    for (int64_t column : {int64_t(0), columns - 1})
      for (int64_t batch : {int64_t(0), given.batch - 1})
        if (!check(batch, row, column))
          return false;
  uint64_t state = 5;
  for (int i = 0; i < 300; ++i)
    if (!check(int64_t(next(state) % uint64_t(given.batch)),
               int64_t(next(state) % uint64_t(given.m)),
               int64_t(next(state) % uint64_t(columns))))
      return false;
  return true;
}
