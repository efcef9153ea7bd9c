//===- Attention.cpp - latencies of attention kernels ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// softmax(q^T k) v^T for sequences of 512 to 4096 on a Trainium2 core, as the host
// timed it: `fused` is one kernel, `baseline` passes scores and weights through
// HBM. Only the kernels' source is published for the longer ones, not the order in
// which the compiler put the work; the programs here follow the recorded runs of
// the shorter ones: some tiles of q at a time, scores first, then maxima,
// exponentials and sums, then transposes and the second product.
//
// Waits are not written by hand: every instruction says which tiles it reads and
// writes, and waits for what other engines did to them last. The transposed weights
// of one tile of q are several tiles: a product waits for those that it reads.
//
//===----------------------------------------------------------------------===//

#include "Rows.h"

#include "facet/Isa/Builder.h"
#include "facet/Isa/Timing.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace facet;
using namespace facet::bench;

namespace {

/// A stretch of memory that is written and read as a whole.
struct Tile {
  unsigned id = 0;
  Space space = Space::Sbuf;
  int64_t offset = 0;
};
using Tiles = std::vector<Tile>;

class Emitter {
public:
  explicit Emitter(const Machine &machine) : b(machine) {
    for (unsigned e = 0; e != numEngines; ++e)
      b.semaphore({engineName(Engine(e)), 0, -1});
  }
  Tile sbuf(int64_t bytes) {
    next += bytes;
    return {ids++, Space::Sbuf, next - bytes};
  }
  Tile bank(int64_t number) { return {ids++, Space::Psum, number * 2048}; }
  uint32_t hbm(int64_t bytes, BufferKind kind) {
    Buffer buffer;
    buffer.name = "h" + std::to_string(b.get().buffers.size());
    buffer.kind = kind;
    buffer.bytes = uint64_t(bytes);
    buffer.address = address;
    buffer.shape = {bytes / 4};
    buffer.strides = {1};
    address += uint64_t(bytes);
    return b.buffer(std::move(buffer));
  }
  static Access at(const Tile &tile, DType type, int64_t elements,
                   int64_t offset = 0) {
    Access a;
    a.space = tile.space;
    a.dtype = type;
    a.partitions = 128;
    a.offset = tile.offset + offset;
    if (elements > 1) {
      a.rank = 1;
      a.count[0] = uint32_t(elements);
      a.step[0] = 1;
    }
    return a;
  }
  Instruction make(Opcode op, std::initializer_list<Access> operands) {
    Instruction i = ProgramBuilder::make(op);
    unsigned slot = 0;
    for (const Access &a : operands)
      i.operands[slot++] = b.access(a);
    return i;
  }
  uint32_t access(const Access &a) { return b.access(a); }

  /// Appends an instruction, with waits for the tiles it uses.
  void emit(Engine engine, Instruction i, const Tiles &reads,
            const Tiles &writes);
  /// Weights and the instruction that uses them; f32 products in two passes.
  void multiply(Instruction weights, Instruction use, bool f32Product,
                const Tiles &reads, const Tile &dst, bool start, bool stop);
  Program finish() { return b.finish(); }

private:
  using Stamps = std::map<unsigned, int64_t>; // semaphore -> value
  struct State {
    Stamps written, read;
  };
  void wait(Engine engine, const Tiles &reads, const Tiles &writes);
  void done(unsigned semaphore, int64_t value, const Tiles &reads,
            const Tiles &writes);

  ProgramBuilder b;
  std::map<unsigned, State> states;
  Stamps seen[numEngines];
  int64_t counts[numEngines] = {};
  unsigned ids = 0;
  int64_t next = 0;
  uint64_t address = 0;
};

} // namespace

void Emitter::wait(Engine engine, const Tiles &reads, const Tiles &writes) {
  Stamps needed;
  auto need = [&](const Stamps &stamps) {
    for (auto [semaphore, value] : stamps)
      if (semaphore != unsigned(engine) &&
          seen[unsigned(engine)][semaphore] < value)
        needed[semaphore] = std::max(needed[semaphore], value);
  };
  for (const Tile &t : reads)
    need(states[t.id].written);
  for (const Tile &t : writes)
    need(states[t.id].written), need(states[t.id].read);
  for (auto [semaphore, value] : needed) {
    seen[unsigned(engine)][semaphore] = value;
    Instruction nop = ProgramBuilder::make(Opcode::Nop);
    nop.waits[0] = {SemaphoreRef::get(semaphore), 0, int32_t(value)};
    b.add(engine, nop);
  }
}

void Emitter::done(unsigned semaphore, int64_t value, const Tiles &reads,
                   const Tiles &writes) {
  for (const Tile &t : reads)
    states[t.id].read[semaphore] = value;
  for (const Tile &t : writes)
    states[t.id] = {{{semaphore, value}}, {}};
}

void Emitter::emit(Engine engine, Instruction i, const Tiles &reads,
                   const Tiles &writes) {
  wait(engine, reads, writes);
  unsigned semaphore = unsigned(engine);
  int64_t value = 0;
  if (i.isTransfer()) {
    semaphore = b.semaphore({});
    value = 16;
  } else {
    value = ++counts[semaphore];
  }
  // The last wait goes into the instruction itself.
  Queue &queue = b.get().queue(engine);
  if (!queue.code.empty() && queue.code.back().op() == Opcode::Nop) {
    i.waits[0] = queue.code.back().waits[0];
    queue.code.pop_back();
    queue.locations.pop_back();
  }
  i.updates[0] = {SemaphoreRef::get(semaphore), 1};
  b.add(engine, i);
  done(semaphore, value, reads, writes);
}

void Emitter::multiply(Instruction weights, Instruction use, bool f32Product,
                       const Tiles &reads, const Tile &dst, bool start,
                       bool stop) {
  wait(Engine::Tensor, reads, {dst});
  for (Pass pass : {Pass::Low, Pass::High}) {
    if (!f32Product && pass == Pass::Low)
      continue;
    if (f32Product)
      weights.sub[0] = use.sub[0] = uint8_t(pass);
    b.add(Engine::Tensor, weights);
    if (f32Product && pass == Pass::Low) {
      b.add(Engine::Tensor, use);
      continue;
    }
    if (use.op() == Opcode::Matmul)
      use.flags = uint16_t((start ? flag::matmulStart : 0) |
                           (stop ? flag::matmulStop : 0));
    use.updates[0] = {SemaphoreRef::get(unsigned(Engine::Tensor)), 1};
    b.add(Engine::Tensor, use);
  }
  done(unsigned(Engine::Tensor), ++counts[unsigned(Engine::Tensor)], reads,
       {dst});
}

//===----------------------------------------------------------------------===//
// The kernels
//===----------------------------------------------------------------------===//

namespace {
class Kernel {
public:
  Kernel(const Machine &machine, int64_t length, DType type)
      : e(machine), length(length), type(type), spans(length / 512),
        pieces(length / 128) {
    for (int64_t i = 0; i != 8; ++i)
      banks.push_back(e.bank(i));
  }
  Program fused();
  Program baseline();

private:
  static constexpr auto f32 = DType::F32;
  Tile nextBank() {
    return banks[size_t((firstBank + bank++ % usedBanks) % 8)];
  }
  /// Scalar and vector copy in turn.
  Engine copier() { return copies++ % 2 ? Engine::Vector : Engine::Scalar; }
  void copy(Engine engine, const Tile &dst, int64_t at, const Tile &src,
            DType from, int64_t n) {
    e.emit(engine,
           e.make(Opcode::Copy,
                  {Emitter::at(dst, f32, n, at), Emitter::at(src, from, n)}),
           {src}, {dst});
  }
  void load(Engine engine, const Tile &dst, DType as, int64_t elements,
            uint32_t buffer, int64_t offset, unsigned ring, const Tiles &hbm);
  void store(Engine engine, const Tile &src, DType as, int64_t elements,
             uint32_t buffer, int64_t offset, unsigned ring, const Tiles &hbm);
  void inputs();
  void scores(int64_t q, int64_t span, const Tile &dst);
  void reduce(Alu op, const Tile &dst, int64_t at, const Tile &src,
              int64_t srcAt, int64_t n);
  void exponential(const Tile &dst, int64_t at, const Tile &src, int64_t srcAt,
                   const Tile &bias);
  void scaled(const Tile &dst, int64_t at, const Tile &src, int64_t srcAt,
              int64_t n, const Tile &by);
  /// Four squares of `src`, from column `first` on, turned into `dst`.
  void turned(const Tile &dst, int64_t at, const Tile &src, int64_t first,
              DType from);
  void turnedAll(const Tile &dst, const Tile &src, DType from) {
    for (int64_t s = 0; s != spans; ++s)
      turned(dst, s * 2048, src, s * 512, from);
  }
  Tile outputs(const Tiles &weights);

  Emitter e;
  int64_t length;
  DType type;
  int64_t spans, pieces;
  Tiles banks;
  int64_t bank = 0, firstBank = 0, usedBanks = 8, copies = 0;
  Tile q, k, v, vT;
};
} // namespace

void Kernel::load(Engine engine, const Tile &dst, DType as, int64_t elements,
                  uint32_t buffer, int64_t offset, unsigned ring,
                  const Tiles &hbm) {
  Access from = Emitter::at(dst, as, elements);
  from.space = Space::Hbm;
  from.buffer = buffer;
  from.offset = offset;
  from.rowStep = elements;
  Instruction i =
      e.make(Opcode::DmaCopy, {Emitter::at(dst, as, elements), from});
  i.sub[0] = uint8_t(ring);
  e.emit(engine, i, hbm, {dst});
}

void Kernel::store(Engine engine, const Tile &src, DType as, int64_t elements,
                   uint32_t buffer, int64_t offset, unsigned ring,
                   const Tiles &hbm) {
  Access to = Emitter::at(src, as, elements);
  to.space = Space::Hbm;
  to.buffer = buffer;
  to.offset = offset;
  to.rowStep = elements;
  Instruction i =
      e.make(Opcode::DmaCopy, {to, Emitter::at(src, f32, elements)});
  i.sub[0] = uint8_t(ring);
  e.emit(engine, i, {src}, hbm);
}

/// Loads, the function table, and v with its rows on the partitions.
void Kernel::inputs() {
  int64_t bytes = length * dtypeBytes(type);
  Tile one = e.sbuf(64);
  Instruction table = e.make(
      Opcode::Activate, {Emitter::at(one, f32, 1), Emitter::at(one, f32, 1)});
  table.sub[0] = uint8_t(Function::Exp);
  e.emit(Engine::Scalar, table, {}, {one});
  for (Tile *tile : {&q, &k, &v}) {
    *tile = e.sbuf(bytes);
    load(Engine::Gpsimd, *tile, type, length,
         e.hbm(bytes * 128, BufferKind::In), 0, 2, {});
  }
  vT = e.sbuf(pieces * 512);
}

void Kernel::scores(int64_t tile, int64_t span, const Tile &dst) {
  int64_t bytes = dtypeBytes(type);
  e.multiply(
      e.make(Opcode::LoadWeights,
             {Emitter::at(q, type, 128, tile * 128 * bytes)}),
      e.make(Opcode::Matmul, {Emitter::at(dst, f32, 512),
                              Emitter::at(k, type, 512, span * 512 * bytes)}),
      type == f32, {q, k}, dst, true, true);
}

void Kernel::reduce(Alu op, const Tile &dst, int64_t at, const Tile &src,
                    int64_t srcAt, int64_t n) {
  Access from = Emitter::at(src, f32, n, srcAt);
  if (n == 1) {
    from.rank = 1;
    from.count[0] = 1;
  }
  Instruction i = e.make(Opcode::Reduce, {Emitter::at(dst, f32, 1, at), from});
  i.sub[0] = uint8_t(op);
  i.sub[1] = 1;
  e.emit(Engine::Vector, i, {src}, {dst});
}

void Kernel::exponential(const Tile &dst, int64_t at, const Tile &src,
                         int64_t srcAt, const Tile &bias) {
  Instruction i = e.make(Opcode::Activate, {Emitter::at(dst, f32, 512, at),
                                            Emitter::at(src, f32, 512, srcAt)});
  i.operands[3] = e.access(Emitter::at(bias, f32, 1));
  i.sub[0] = uint8_t(Function::Exp);
  e.emit(Engine::Scalar, i, {src, bias}, {dst});
}

void Kernel::scaled(const Tile &dst, int64_t at, const Tile &src, int64_t srcAt,
                    int64_t n, const Tile &by) {
  Instruction i = e.make(Opcode::TensorScalar, {Emitter::at(dst, f32, n, at),
                                                Emitter::at(src, f32, n, srcAt),
                                                Emitter::at(by, f32, 1)});
  i.sub[0] = uint8_t(Alu::Mul);
  e.emit(Engine::Vector, i, {src, by}, {dst});
}

void Kernel::turned(const Tile &dst, int64_t at, const Tile &src, int64_t first,
                    DType from) {
  int64_t bytes = dtypeBytes(from);
  Tile to = nextBank();
  for (int64_t i = 0; i != 4; ++i) {
    Instruction weights =
        e.make(Opcode::LoadWeights,
               {Emitter::at(src, from, 128, (first + i * 128) * bytes)});
    weights.flags = flag::weightsForTranspose;
    e.multiply(weights,
               e.make(Opcode::Transpose,
                      {Emitter::at(to, from, 128, i * 128 * bytes)}),
               false, {src}, to, true, true);
  }
  copy(copier(), dst, at, to, from, 512);
}

/// The second product of one tile of q, in a bank. Its weights are in as many
/// tiles, of equal size, as are written apart: each square waits for its own.
Tile Kernel::outputs(const Tiles &weights) {
  Tile sum = nextBank();
  int64_t each = pieces / int64_t(weights.size());
  for (int64_t i = 0; i != pieces; ++i) {
    const Tile &tile = weights[size_t(i / each)];
    e.multiply(e.make(Opcode::LoadWeights,
                      {Emitter::at(tile, f32, 128, i % each * 512)}),
               e.make(Opcode::Matmul, {Emitter::at(sum, f32, 128),
                                       Emitter::at(vT, f32, 128, i * 512)}),
               true, {tile, vT}, sum, i == 0, i == pieces - 1);
  }
  return sum;
}

Program Kernel::fused() {
  inputs();
  turnedAll(vT, v, type);
  Tile out = e.sbuf(pieces * 512);
  // As recorded for short sequences: four tiles of q, the last four tiles of
  // scores left in their banks. For longer ones as many tiles of q as leave all
  // scores in the eight banks.
  const bool recorded = spans <= 2;
  const int64_t batch = recorded ? 4 : std::max<int64_t>(8 / spans, 1);
  const int64_t inBanks = recorded ? 4 : batch * spans;
  Tiles score, weight, most, part, sum;
  std::vector<Tiles> turnedWeight(static_cast<size_t>(batch));
  for (int64_t i = 0; i != batch; ++i) {
    score.push_back(e.sbuf(length * 4));
    for (int64_t s = 0; s != spans; ++s) {
      turnedWeight[size_t(i)].push_back(e.sbuf(2048));
      weight.push_back(e.sbuf(2048));
    }
    most.push_back(e.sbuf(64));
    part.push_back(e.sbuf(spans * 4 + 64));
    sum.push_back(e.sbuf(spans * 4 + 64));
  }
  for (int64_t first = 0; first != pieces; first += batch) {
    std::vector<std::pair<Tile, int64_t>> places;
    for (int64_t i = 0; i != batch; ++i)
      for (int64_t s = 0; s != spans; ++s) {
        Tile to = nextBank();
        scores(first + i, s, to);
        if (i * spans + s < batch * spans - inBanks) {
          copy(copier(), score[size_t(i)], s * 2048, to, f32, 512);
          places.emplace_back(score[size_t(i)], s * 2048);
        } else {
          places.emplace_back(to, 0);
        }
        auto [tile, at] = places.back();
        reduce(Alu::Max, part[size_t(i)], s * 4, tile, at, 512);
      }
    for (int64_t i = 0; i != batch; ++i)
      reduce(Alu::Max, most[size_t(i)], 0, part[size_t(i)], 0, spans);
    // Weights are turned a little behind, in banks that hold no scores any more.
    firstBank = bank % 8, usedBanks = 4;
    constexpr int64_t behind = 2;
    const int64_t all = batch * spans;
    for (int64_t n = 0; n != all + behind; ++n) {
      if (n < all) {
        auto [tile, at] = places[size_t(n)];
        exponential(weight[size_t(n)], 0, tile, at, most[size_t(n / spans)]);
        reduce(Alu::Add, sum[size_t(n / spans)], n % spans * 4,
               weight[size_t(n)], 0, 512);
      }
      if (int64_t m = n - behind; m >= 0)
        turned(turnedWeight[size_t(m / spans)][size_t(m % spans)], 0,
               weight[size_t(m)], 0, f32);
    }
    firstBank = 0, usedBanks = 8;
    for (int64_t i = 0; i != batch; ++i) {
      reduce(Alu::Add, most[size_t(i)], 0, sum[size_t(i)], 0, spans);
      scaled(out, (first + i) * 512, outputs(turnedWeight[size_t(i)]), 0, 128,
             most[size_t(i)]);
    }
  }
  store(Engine::Gpsimd, out, type, pieces * 128,
        e.hbm(length * 512, BufferKind::Out), 0, 2, {});
  return e.finish();
}

Program Kernel::baseline() {
  inputs();
  uint32_t scoresBuffer = e.hbm(length * length * 4, BufferKind::Scratch);
  uint32_t result = e.hbm(length * 512, BufferKind::Out);
  Tiles rows, buffer;
  for (int64_t i = 0; i != pieces; ++i)
    rows.push_back(e.sbuf(0)); // stands for these rows in HBM
  for (int64_t i = 0; i != 6; ++i)
    buffer.push_back(e.sbuf(length * 4));
  Tiles most, part, sum, out;
  for (int64_t i = 0; i != 3; ++i) {
    most.push_back(e.sbuf(64));
    part.push_back(e.sbuf(spans * 4 + 64));
    sum.push_back(e.sbuf(spans * 4 + 64));
    out.push_back(e.sbuf(1024));
  }
  int64_t tileBytes = length * 512;
  auto rowOf = [&](int64_t i) { return buffer[size_t(i % 3)]; };
  auto weightOf = [&](int64_t i) { return buffer[size_t(3 + i % 3)]; };
  auto of = [](const Tiles &tiles, int64_t i) { return tiles[size_t(i % 3)]; };

  for (int64_t i = 0; i != pieces; ++i) {
    for (int64_t s = 0; s != spans; ++s) {
      Tile to = nextBank();
      scores(i, s, to);
      copy(copier(), rowOf(i), s * 2048, to, f32, 512);
    }
    store(Engine::Scalar, rowOf(i), f32, length, scoresBuffer, i * tileBytes, 1,
          {rows[size_t(i)]});
  }
  turnedAll(vT, v, type);

  // Maxima of a tile come before the sums of the one before it, so that vector
  // and scalar work at the same time.
  for (int64_t i = 0; i <= pieces; ++i) {
    if (i != pieces) {
      load(Engine::Sync, rowOf(i), f32, length, scoresBuffer, i * tileBytes, 0,
           {rows[size_t(i)]});
      for (int64_t s = 0; s != spans; ++s)
        reduce(Alu::Max, of(part, i), s * 4, rowOf(i), s * 2048, 512);
      reduce(Alu::Max, of(most, i), 0, of(part, i), 0, spans);
    }
    if (i != 0) {
      int64_t p = i - 1;
      for (int64_t s = 0; s != spans; ++s)
        reduce(Alu::Add, of(sum, p), s * 4, weightOf(p), s * 2048, 512);
      reduce(Alu::Add, of(most, p), 0, of(sum, p), 0, spans);
      for (int64_t s = 0; s != spans; ++s)
        scaled(weightOf(p), s * 2048, weightOf(p), s * 2048, 512, of(most, p));
      store(Engine::Scalar, weightOf(p), f32, length, scoresBuffer,
            p * tileBytes, 1, {rows[size_t(p)]});
    }
    if (i != pieces)
      for (int64_t s = 0; s != spans; ++s)
        exponential(weightOf(i), s * 2048, rowOf(i), s * 2048, of(most, i));
  }

  // Transposes of a tile come before the product of the one before it.
  for (int64_t i = 0; i <= pieces; ++i) {
    if (i != pieces) {
      load(Engine::Sync, rowOf(i), f32, length, scoresBuffer, i * tileBytes, 0,
           {rows[size_t(i)]});
      turnedAll(weightOf(i), rowOf(i), f32);
    }
    if (i != 0) {
      copy(copier(), of(out, i - 1), 0, outputs({weightOf(i - 1)}), f32, 128);
      store(Engine::Gpsimd, of(out, i - 1), type, 128, result,
            (i - 1) * 128 * 128 * 4, 2, {});
    }
  }
  return e.finish();
}

void bench::attention(const RowOptions &options, Rows &rows) {
  Csv csv = Csv::read(options.profiles + "/attention_latency.csv");
  Machine machine = machineNamed("trn2", options);
  Timing timing(machine);
  constexpr int64_t phases = 16;
  int64_t window = timing.time().toPs(timing.window());
  for (size_t i = 0; i != csv.size(); ++i) {
    Kernel kernel(machine, csv.whole(i, "seqlen"),
                  csv.text(i, "dtype") == "fp32" ? DType::F32 : DType::BF16);
    bool fused = csv.text(i, "kernel") == "fused";
    Program program = fused ? kernel.fused() : kernel.baseline();
    double us = benchmarkUs;
    for (int64_t phase = 0; phase != phases; ++phase) {
      sim::TimeOptions timeOptions;
      timeOptions.clockPhasePs = window * phase / phases;
      us += timed(program, timeOptions).ns() / 1000 / double(phases);
    }
    double measured = csv.number(i, "p50_us");
    rows.push_back({"trn2-heldout",
                    ("attention " + csv.text(i, "kernel") + " " +
                     csv.text(i, "dtype") + " S " + csv.text(i, "seqlen"))
                        .str(),
                    measured, us, "us", within(measured, 15)});
  }
}
