//===- RandomTimed.cpp - programs that run, from a seed -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the value that every semaphore has reached for certain, and lets waits ask
// for no more; pairs of loops that pass tiles through a ring are made as one.
//
//===----------------------------------------------------------------------===//

#include "RandomTimed.h"

#include "facet/Isa/Builder.h"

#include <random>

using namespace facet;
using namespace facet::test;

namespace {
class Maker {
public:
  Maker(const Machine &machine, uint64_t seed) : random(seed), b(machine) {}
  Program make(unsigned size);

private:
  unsigned below(unsigned n) { return unsigned(random() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }
  Engine anyEngine() { return Engine(below(numEngines)); }

  uint32_t chipAccess(Space space, DType type, unsigned elements, Engine engine,
                      unsigned partitions, unsigned partition);
  Instruction compute(Engine engine);
  Instruction tensor();
  Instruction elementwise(Engine engine);
  Instruction transfer(Engine engine);
  void addWaits(Instruction &i);
  void addUpdates(Instruction &i, unsigned times);
  void addOne(Engine engine, unsigned times);
  void addLoop(Engine engine);
  void addRing();

  std::mt19937_64 random;
  ProgramBuilder b;
  DType type = DType::BF16;
  Engine trigger = Engine::Sync;
  uint32_t input = 0;
  std::vector<int> reached; // semaphores of addWaits and addUpdates
  unsigned rings[numEngines] = {};
  unsigned made = 0;
};
} // namespace

Machine test::unsharedMachine(const Machine &base, uint64_t seed) {
  std::mt19937_64 random(seed);
  Machine m = base;
  auto ps = [&](int64_t &value, int64_t most) {
    value = 2 * int64_t(random() % uint64_t(most / 2 + 1));
  };
  auto flip = [&](int64_t &value) { value = int64_t(random() % 2); };
  ps(m.core.dispatchPs, 20000);
  ps(m.core.loopBackPs, 100000);
  ps(m.core.loopEnterPs, 30000);
  ps(m.core.addressUpdatePs, 10000);
  ps(m.core.advancePs, 10000);
  ps(m.core.skipPs, 20000);
  m.core.fetch = 0;
  ps(m.semaphore.hopPs, 60000);
  ps(m.semaphore.hopToWeightsPs, 90000);
  ps(m.semaphore.hopFromDmaPs, 400000);
  ps(m.semaphore.standalonePs, 60000);
  ps(m.semaphore.sameEnginePs, 50000);
  ps(m.tensor.gapPs, 20000);
  ps(m.tensor.latencyPs, 300000);
  ps(m.tensor.weightLatencyPs, 200000);
  ps(m.tensor.weightDelayPs, 20000);
  flip(m.tensor.shadowWeights);
  m.tensor.serialiseOnDrain = random() % 4 == 0;
  m.tensor.firstWeightCycles = random() % 2 ? 255 : 0;
  m.tensor.clockWindow = 0;
  ps(m.vector.latencyPs, 300000);
  ps(m.vector.gapPs, 100000);
  ps(m.scalar.latencyPs, 300000);
  ps(m.scalar.gapPs, 100000);
  ps(m.scalar.tableLoadPs, 1500000);
  ps(m.gpsimd.latencyPs, 300000);
  ps(m.gpsimd.gapPs, 100000);
  m.sbuf.vectorGpsimdExclusive = m.sbuf.fastModeExclusive = 0;
  m.psum.vectorScalarExclusive = m.psum.bankConflicts = 0;
  m.dma.sustainedMBs = 0;
  m.hbm.contention = 0;
  ps(m.dma.packetGapPs, 10000);
  m.dma.packetLatencyPs = m.dma.packetGapPs + 2 * int64_t(random() % 5000);
  ps(m.dma.semaphoreWritePs, 20000);
  ps(m.dma.directIssuePs, 600000);
  ps(m.dma.directFirstPs, 1500000);
  ps(m.dma.softwareIssuePs, 100000);
  ps(m.dma.softwareSpacingPs, 600000);
  ps(m.dma.softwareFirstPs, 900000);
  ps(m.dma.softwareWakePs, 1500000);
  ps(m.hbm.readLatencyPs, 300000);
  ps(m.hbm.readOpenPs, 300000);
  return m;
}

uint32_t Maker::chipAccess(Space space, DType type, unsigned elements,
                           Engine engine, unsigned partitions,
                           unsigned partition) {
  Access a;
  a.space = space;
  a.dtype = type;
  a.partition = uint16_t(partition);
  a.partitions = partitions;
  a.rank = 1;
  a.step[0] = elements > 1;
  a.count[0] = elements;
  unsigned room = space == Space::Psum ? 2048 : 8192;
  unsigned bytes = elements * dtypeBytes(type);
  a.offset = space == Space::Psum ? 2048 * below(4)
                                  : 256 * below((room - bytes) / 256 + 1);
  if (unsigned depth = b.depth(engine); depth && chance(50)) {
    AffineForm form;
    form.coefficients[below(depth)] = space == Space::Psum ? 1024 : 512;
    a.affine = b.affine(form);
  }
  return b.access(a);
}

Instruction Maker::tensor() {
  if (chance(40)) {
    Instruction i = ProgramBuilder::make(Opcode::LoadWeights);
    i.operands[0] = chipAccess(Space::Sbuf, type, 128, Engine::Tensor, 128, 0);
    return i;
  }
  unsigned columns = 1u << below(10);
  Instruction i = ProgramBuilder::make(Opcode::Matmul);
  i.flags = flag::matmulStart | flag::matmulStop;
  i.operands[0] =
      chipAccess(Space::Psum, DType::F32, columns, Engine::Tensor, 128, 0);
  i.operands[1] =
      chipAccess(Space::Sbuf, type, columns, Engine::Tensor, 128, 0);
  return i;
}

Instruction Maker::elementwise(Engine engine) {
  unsigned partitions = 32 << below(2);
  unsigned partition = partitions * below(2);
  unsigned elements = 1 + below(512);
  auto operand = [&](bool psum) {
    DType t = chance(50) ? DType::F32 : DType::BF16;
    return chipAccess(psum && engine != Engine::Gpsimd && chance(30)
                          ? Space::Psum
                          : Space::Sbuf,
                      t, elements, engine, partitions, partition);
  };
  Opcode op = engine == Engine::Scalar
                  ? (chance(50) ? Opcode::Activate : Opcode::Copy)
                  : (chance(50) ? Opcode::TensorTensor : Opcode::TensorScalar);
  Instruction i = ProgramBuilder::make(op);
  i.operands[0] = operand(true);
  i.operands[1] = operand(true);
  if (op == Opcode::TensorTensor) {
    i.operands[2] = operand(false);
    i.sub[0] = uint8_t(Alu::Add);
  }
  if (op == Opcode::TensorScalar)
    i.sub[0] = uint8_t(Alu::Mul);
  if (op == Opcode::Activate)
    i.sub[0] = uint8_t(below(4)); // identity, exp, log, sqrt
  return i;
}

Instruction Maker::transfer(Engine engine) {
  unsigned elements = 1 + below(600);
  unsigned rows = chance(50) ? 128 : 1 + below(128);
  Instruction i = ProgramBuilder::make(Opcode::DmaCopy);
  i.operands[0] =
      chipAccess(Space::Sbuf, DType::BF16, elements, engine, rows, 0);
  Access from;
  from.space = Space::Hbm;
  from.dtype = DType::BF16;
  from.buffer = input;
  from.partitions = rows;
  from.rowStep = 1024;
  from.rank = 1;
  from.step[0] = elements == 1 ? 0 : chance(80) ? 1 : 2;
  from.count[0] = elements;
  i.operands[1] = b.access(from);
  return i;
}

Instruction Maker::compute(Engine engine) {
  if (engine == trigger && chance(60))
    return transfer(engine);
  switch (engine) {
  case Engine::Tensor:
    return tensor();
  case Engine::Sync:
    return ProgramBuilder::make(Opcode::Nop);
  default:
    return chance(8)
               ? ProgramBuilder::make(chance(50) ? Opcode::Nop : Opcode::Drain)
               : elementwise(engine);
  }
}

void Maker::addWaits(Instruction &i) {
  for (Wait &wait : i.waits) {
    if (!chance(40))
      return;
    unsigned s = below(unsigned(reached.size()));
    wait.ref = SemaphoreRef::get(s);
    wait.value = int32_t(below(unsigned(reached[s]) + 1));
  }
}

void Maker::addUpdates(Instruction &i, unsigned times) {
  if (i.isTransfer())
    times *= unsigned(b.get().machine.dma.engines);
  for (Update &update : i.updates) {
    if (!chance(50))
      return;
    unsigned s = below(unsigned(reached.size()));
    update.ref = SemaphoreRef::get(s);
    update.amount = int16_t(1 + below(3));
    reached[s] += int(times) * update.amount;
  }
}

void Maker::addOne(Engine engine, unsigned times) {
  Instruction i = compute(engine);
  if (b.depth(engine) && chance(20)) {
    // Nobody waits for what may be skipped.
    AffineForm form;
    form.coefficients[0] = 1;
    form.base = -int64_t(below(3));
    Predicate p;
    p.conditions = 1;
    p.forms[0] = b.affine(form) - 1;
    p.compares[0] = Predicate::Compare(below(6));
    i.predicate = b.predicate(p);
    addWaits(i);
  } else {
    addWaits(i);
    addUpdates(i, times);
  }
  b.add(engine, i);
  made += times;
}

void Maker::addLoop(Engine engine) {
  // What it waits for was there before it: updates count when it is complete.
  std::vector<int> after = reached;
  unsigned trips = 1 + below(4);
  b.loop(engine, trips);
  for (unsigned n = 1 + below(3); n-- > 0;) {
    std::vector<int> now = reached;
    if (chance(15)) {
      unsigned inner = below(3);
      b.loop(engine, inner);
      addOne(engine, trips * inner);
      b.end(engine);
    } else {
      addOne(engine, trips);
    }
    for (size_t s = 0; s != now.size(); ++s)
      after[s] += reached[s] - now[s];
    reached = now;
  }
  b.end(engine);
  reached = after;
}

/// Two queues pass tiles through a ring.
void Maker::addRing() {
  Engine from = anyEngine(), to = anyEngine();
  if (from == to || rings[unsigned(from)] == 4 || rings[unsigned(to)] == 4)
    return;
  unsigned depth = 1 + below(3), trips = 1 + below(6);
  uint32_t full = 0, used = 0;
  for (unsigned s = 0; s != depth; ++s) {
    uint32_t number = b.semaphore({});
    full = s ? full : number;
  }
  for (unsigned s = 0; s != depth; ++s) {
    uint32_t number = b.semaphore({});
    used = s ? used : number;
  }
  for (bool producer : {true, false}) {
    Engine engine = producer ? from : to;
    unsigned ring = rings[unsigned(engine)]++;
    b.ring(engine, ring, depth);
    b.loop(engine, trips);
    Instruction i = compute(engine);
    i.waits[0].ref = SemaphoreRef::get(producer ? used : full, int(ring));
    i.updates[0].ref = SemaphoreRef::get(producer ? full : used, int(ring));
    // Per round a transfer adds one for every DMA engine, all others as many.
    int amount = int(b.get().machine.dma.engines);
    i.updates[0].amount = int16_t(i.isTransfer() ? 1 : amount);
    i.waits[0].perRound = int16_t(amount);
    i.waits[0].value = producer ? 0 : amount;
    b.add(engine, i);
    Instruction advance = ProgramBuilder::make(Opcode::Advance);
    advance.sub[0] = uint8_t(ring);
    b.add(engine, advance);
    b.end(engine);
    made += 2 * trips;
  }
}

Program Maker::make(unsigned size) {
  type = chance(70) ? DType::BF16 : DType::F32;
  trigger = chance(50)   ? Engine::Sync
            : chance(50) ? Engine::Gpsimd
                         : Engine::Scalar;
  Buffer in;
  in.name = "x";
  in.kind = BufferKind::In;
  in.dtype = DType::BF16;
  in.bytes = 1 << 19;
  input = b.buffer(in);
  for (unsigned e = 0; e != numEngines; ++e)
    b.get().queue(Engine(e));
  unsigned count = 2 + below(4);
  for (unsigned s = 0; s != count; ++s) {
    b.semaphore({"", int32_t(below(3)), -1});
    reached.push_back(b.get().semaphores[s].initial);
  }
  Instruction first = tensor();
  while (first.op() != Opcode::LoadWeights)
    first = tensor();
  b.add(Engine::Tensor, first);
  while (made < size) {
    if (chance(15))
      addLoop(anyEngine());
    else if (chance(8))
      addRing();
    else
      addOne(anyEngine(), 1);
  }
  return b.finish();
}

Program test::randomTimed(const Machine &machine, uint64_t seed,
                          unsigned size) {
  return Maker(machine, seed).make(size);
}
