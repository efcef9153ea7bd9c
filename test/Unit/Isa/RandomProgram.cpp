//===- RandomProgram.cpp - valid programs from a seed ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes instructions that keep the rules by construction: shapes first, then
// patterns of that many elements, then an offset and coefficients that stay in
// the memory for the loops around.
//
//===----------------------------------------------------------------------===//

#include "RandomProgram.h"

#include "facet/Isa/Builder.h"

#include <algorithm>
#include <cstdlib>

using namespace facet;

Machine test::shippedMachine(llvm::StringRef name) {
  Diagnostics diags;
  std::optional<Machine> machine = loadMachine(name, diags);
  if (!machine) {
    std::fprintf(stderr, "%s", messages(diags).c_str());
    std::abort();
  }
  return *machine;
}

std::string test::messages(const Diagnostics &diags) {
  std::string text;
  for (const Diagnostic &d : diags.all())
    text += d.place.file + ":" + std::to_string(d.place.line) + ":" +
            std::to_string(d.place.column) + ": " + d.message + "\n";
  return text;
}

namespace {

class Generator {
public:
  Generator(const Machine &machine, uint64_t seed)
      : machine(machine), state(seed * 0x9e3779b97f4a7c15u + 1), b(machine) {}
  Program run(unsigned size);

private:
  // SplitMix64.
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int64_t range(int64_t low, int64_t high) {
    return low + int64_t(next() % uint64_t(high - low + 1));
  }
  bool chance(unsigned percent) { return next() % 100 < percent; }
  template <typename T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[next() % list.size()];
  }

  uint32_t bits() {
    return chance(50) ? uint32_t(next())
                      : pick<uint32_t>({0, 0x80000000, 0x7f800000, 0xff800000,
                                        0x7fc00000, 0x7f800001, 1, 0x3f800000,
                                        0x3dcccccd, 0xffffffff});
  }
  DType anyType(std::initializer_list<DType> types) {
    DType t = pick(types);
    return t == DType::F8E4M3FN && !machine.tensor.f8e4m3fn ? DType::F8E5M2 : t;
  }
  DType computeType() {
    return anyType({DType::F32, DType::TF32, DType::BF16, DType::F16,
                    DType::F8E4M3, DType::F8E5M2, DType::F8E4M3FN, DType::I32,
                    DType::I16, DType::I8, DType::U8});
  }

  void fillPattern(Access &a, uint64_t elements, bool write);
  void placeIn(Access &a, int64_t capacity);
  uint32_t chip(Space space, unsigned rows, uint64_t elements, DType type,
                bool write, bool anyStart = false, unsigned start = 0);
  uint32_t hbm(unsigned rows, uint64_t elements, DType type, bool write);
  uint32_t index(unsigned rows, uint64_t elements);
  AffineForm freeForm();
  void synchronise(Instruction &i);
  void addLoopable(Instruction i);
  void one();
  void tensorOps();
  void elementOps();
  void scalarOps(Instruction &i, unsigned rows, bool integers);
  Alu operation(bool integers, bool everyInteger, bool scalarEngine);
  void transfer();
  void control();

  const Machine &machine;
  uint64_t state;
  ProgramBuilder b;
  Engine engine = Engine::Tensor;
  std::vector<uint32_t> trips;   // of the open loops
  uint32_t depth[numRings] = {}; // of this queue's rings
  unsigned semaphores = 0;
};

} // namespace

/// Splits the elements into up to four dimensions and gives them steps that do
/// not overlap.
void Generator::fillPattern(Access &a, uint64_t elements, bool write) {
  uint64_t left = elements;
  a.rank = 0;
  while (a.rank < maxDims && (left > 1 || a.rank == 0)) {
    uint64_t count = left;
    if (a.rank + 1u < maxDims && left > 1 && chance(50))
      for (uint64_t factor : {2, 3, 4, 5, 7, 8, 16})
        if (left % factor == 0 && chance(30))
          count = factor;
    a.count[a.rank++] = uint32_t(count);
    left /= count;
  }
  if (elements == 1 && chance(50)) {
    a.rank = 0;
    a.count[0] = 0;
  }
  int64_t step = pick<int64_t>({1, 1, 1, 2, 3});
  for (unsigned d = a.rank; d-- > 0;) {
    if (a.count[d] == 1)
      continue;
    a.step[d] = chance(15) ? -step : step;
    if (!write && chance(10))
      a.step[d] = 0;
    step = step * a.count[d] + (chance(20) ? range(0, 3) : 0);
  }
}

/// Chooses offset and affine form so that the access stays inside `capacity`.
void Generator::placeIn(Access &a, int64_t capacity) {
  int64_t bytes = dtypeBytes(a.dtype), low = 0, high = 0;
  auto extend = [&](int64_t span) { (span < 0 ? low : high) += span; };
  for (unsigned d = 0; d != a.rank; ++d)
    extend(a.step[d] * (int64_t(a.count[d]) - 1));
  extend(a.rowStep * (int64_t(a.partitions) - 1));
  int64_t room = (capacity - (high - low + 1) * bytes) / bytes; // in elements
  int64_t offset = chance(20) ? 0 : range(0, std::max<int64_t>(0, room / 2));
  a.offset = (offset - low) * bytes;
  room -= offset;
  AffineForm form;
  for (size_t d = 0; d != trips.size(); ++d) {
    int64_t last = int64_t(trips[d]) - 1;
    if (!chance(40) || (last > 0 && room / last < 1))
      continue;
    int64_t most = last > 0 ? room / last : 1000;
    int64_t coefficient = range(1, most);
    form.coefficients[d] = coefficient * bytes;
    room -= coefficient * std::max<int64_t>(last, 0);
  }
  unsigned ring = unsigned(range(0, numRings - 1));
  if (depth[ring] && chance(60)) {
    int64_t last = int64_t(depth[ring]) - 1;
    int64_t most = last ? room / last : 50;
    if (most > 0) {
      form.ring = int(ring);
      form.slotStride = range(1, most) * bytes;
    }
  }
  // A base in the form is folded into the offset by the writer.
  if (chance(20)) {
    form.base = 16 * bytes;
    a.offset -= form.base;
  }
  if (!(form == AffineForm()))
    a.affine = b.affine(form);
}

uint32_t Generator::chip(Space space, unsigned rows, uint64_t elements,
                         DType type, bool write, bool anyStart,
                         unsigned start) {
  Access a;
  a.space = space;
  a.dtype = type;
  a.partitions = rows;
  int64_t reach = machine.core.partitionGroup;
  while (reach < rows)
    reach *= 2;
  if (start || anyStart)
    a.partition =
        uint16_t(start ? start : range(0, machine.core.partitions - rows));
  else
    a.partition =
        uint16_t(range(0, (machine.core.partitions - rows) / reach) * reach);
  fillPattern(a, elements, write);
  placeIn(a, space == Space::Sbuf
                 ? machine.sbuf.partitionBytes
                 : machine.psum.banks * machine.psum.bankBytes);
  return b.access(a);
}

uint32_t Generator::hbm(unsigned rows, uint64_t elements, DType type,
                        bool write) {
  const std::vector<Buffer> &buffers = b.get().buffers;
  Access a;
  a.space = Space::Hbm;
  a.dtype = type;
  a.partitions = rows;
  do
    a.buffer = uint32_t(range(0, int64_t(buffers.size()) - 1));
  while (buffers[a.buffer].space != Space::Hbm ||
         buffers[a.buffer].bytes < (1u << 20) ||
         (write && buffers[a.buffer].kind != BufferKind::Out &&
          buffers[a.buffer].kind != BufferKind::InOut));
  fillPattern(a, elements, write);
  if (rows > 1) {
    int64_t span = 1;
    for (unsigned d = 0; d != a.rank; ++d)
      span += std::abs(a.step[d]) * (int64_t(a.count[d]) - 1);
    a.rowStep = std::max<int64_t>(span, int64_t(elements)) +
                (chance(30) ? range(0, 9) : 0);
    if (!write && chance(10))
      a.rowStep = 0;
  }
  placeIn(a, int64_t(buffers[a.buffer].bytes));
  return b.access(a);
}

AffineForm Generator::freeForm() {
  AffineForm form;
  form.base = range(-1000, 1000);
  for (size_t d = 0; d != trips.size(); ++d)
    if (chance(50))
      form.coefficients[d] = range(-5, 5);
  unsigned ring = unsigned(range(0, numRings - 1));
  if (depth[ring] && chance(30)) {
    form.ring = int(ring);
    form.slotStride = range(-3, 3);
  }
  return form;
}

uint32_t Generator::index(unsigned rows, uint64_t elements) {
  Access a;
  a.space = Space::Index;
  a.dtype = DType::I32;
  a.partitions = rows;
  fillPattern(a, elements, false);
  a.rowStep = rows > 1 ? range(-7, 7) : 0;
  a.offset = range(-100000, 100000);
  AffineForm form = freeForm();
  form.base = 0;
  if (chance(60) && !(form == AffineForm()))
    a.affine = b.affine(form);
  return b.access(a);
}

void Generator::synchronise(Instruction &i) {
  auto reference = [&](bool equal) {
    unsigned ring = unsigned(range(0, numRings - 1));
    if (depth[ring] && depth[ring] < 8 && chance(50))
      return SemaphoreRef::get(unsigned(range(0, semaphores - depth[ring])),
                               int(ring), equal);
    return SemaphoreRef::get(unsigned(range(0, semaphores - 1)), -1, equal);
  };
  for (Wait &w : i.waits) {
    if (!chance(30))
      break;
    w.ref = reference(chance(20));
    w.value = int32_t(
        pick<int64_t>({0, 1, 16, range(-100, 100), INT32_MAX, INT32_MIN}));
    if (w.ref.ring() >= 0)
      w.perRound = int16_t(pick<int64_t>({0, 1, 16, -1, 32767, -32768}));
  }
  for (Update &u : i.updates) {
    if (!chance(30))
      break;
    u.ref = reference(false);
    u.amount = int16_t(pick<int64_t>({1, 16, -1, 32767, -32768}));
  }
  if (i.op() != Opcode::Loop && chance(20)) {
    Predicate p;
    p.conditions = uint32_t(range(1, 4));
    for (unsigned c = 0; c != p.conditions; ++c) {
      p.forms[c] = b.affine(freeForm()) - 1;
      p.compares[c] = Predicate::Compare(range(0, 5));
    }
    i.predicate = b.predicate(p);
  }
}

void Generator::addLoopable(Instruction i) {
  synchronise(i);
  uint32_t location = 0;
  if (chance(30))
    location =
        b.location({pick<const char *>({"k.facet", "a \"b\"\\\n\x01\x7f.facet",
                                        "größe.facet", ""}),
                    uint32_t(pick<int64_t>({0, 1, 12, UINT32_MAX})),
                    uint32_t(pick<int64_t>({0, 1, 80, UINT32_MAX})),
                    pick<const char *>({"matmul s", "", "add \"x\""})});
  b.add(engine, i, location);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void Generator::tensorOps() {
  DType type = anyType({DType::F32, DType::TF32, DType::BF16, DType::F16,
                        DType::F8E4M3, DType::F8E5M2, DType::F8E4M3FN});
  bool narrow = dtypeBits(type) == 8;
  bool pair = narrow && machine.tensor.doubleRow && chance(40);
  unsigned rows = unsigned(pick<int64_t>({1, 32, 64, 127, 128, range(1, 128)}));
  unsigned columns = unsigned(pick<int64_t>({1, 64, 128, range(1, 128)}));
  uint8_t pass = type == DType::F32 ? uint8_t(range(0, 2)) : uint8_t(0);
  auto paired = [&](uint32_t number, uint64_t n) {
    if (!pair)
      return number;
    Access a = b.get().accesses[number - 1];
    a.rank = 2;
    for (unsigned d = 0; d != maxDims; ++d)
      a.count[d] = 0, a.step[d] = 0;
    a.count[0] = 2;
    a.count[1] = uint32_t(n);
    a.step[0] = int64_t(n);
    a.step[1] = n == 1 ? 0 : 1;
    a.offset = 0;
    a.affine = 0;
    return b.access(a);
  };
  Instruction load = ProgramBuilder::make(Opcode::LoadWeights);
  load.operands[0] =
      paired(chip(Space::Sbuf, rows, pair ? 2 * columns : columns, type, false),
             columns);
  unsigned start = b.get().accesses[load.operands[0] - 1].partition;
  load.sub[0] = pass;
  load.flags = uint16_t((pair ? flag::weightsDoubleRow : 0) |
                        (chance(20) ? flag::weightsForTranspose : 0));
  addLoopable(load);
  for (int n = int(range(1, 3)); n--;) {
    if (!pair && chance(25)) {
      Instruction t = ProgramBuilder::make(Opcode::Transpose);
      DType to = narrow ? pick({DType::BF16, DType::F16}) : type;
      Access dst;
      dst.space = Space::Psum;
      dst.dtype = to;
      dst.partitions = columns;
      dst.rank = 1;
      dst.count[0] = rows;
      dst.step[0] = rows == 1 ? 0 : 1;
      dst.offset = range(0, 7) * machine.psum.bankBytes;
      t.operands[0] = b.access(dst);
      addLoopable(t);
      continue;
    }
    Instruction m = ProgramBuilder::make(Opcode::Matmul);
    unsigned moving = unsigned(pick<int64_t>({1, 511, 512, range(1, 512)}));
    Access dst;
    dst.space = Space::Psum;
    dst.partitions = columns;
    dst.rank = 1;
    dst.count[0] = moving;
    dst.step[0] = moving == 1 ? 0 : 1;
    dst.offset = range(0, 7) * machine.psum.bankBytes;
    m.operands[0] = b.access(dst);
    DType other = type;
    if (dtypeBits(type) < 32 && type != DType::F8E4M3FN && chance(30))
      other = narrow ? pick({DType::F8E5M2, DType::F8E4M3})
                     : pick({DType::BF16, DType::F16, DType::F8E5M2});
    m.operands[1] = paired(chip(Space::Sbuf, rows, pair ? 2 * moving : moving,
                                other, false, true, start),
                           moving);
    if (start == 0) {
      Access a = b.get().accesses[m.operands[1] - 1];
      a.partition = 0;
      m.operands[1] = b.access(a);
    }
    m.sub[0] = pass;
    m.flags = uint16_t((chance(50) ? flag::matmulStart : 0) |
                       (chance(50) ? flag::matmulStop : 0) |
                       (pair ? flag::matmulDoubleRow : 0));
    addLoopable(m);
  }
}

/// An operation the engine takes; `everyInteger`: all operands hold integers.
Alu Generator::operation(bool integers, bool everyInteger, bool scalarEngine) {
  for (;;) {
    Alu op = Alu(range(0, numAlus - 1));
    bool chain =
        op == Alu::Add || op == Alu::Mul || op == Alu::Max || op == Alu::Min;
    if (scalarEngine && !chain && op != Alu::Sub && op != Alu::Bypass)
      continue;
    bool floats = op == Alu::Reciprocal || op == Alu::Sqrt ||
                  op == Alu::Rsqrt || op == Alu::Round || op == Alu::Floor ||
                  op == Alu::Ceil;
    bool divides = op == Alu::FloorDiv || op == Alu::FloorMod;
    if ((integers && floats) ||
        ((!integers || engine != Engine::Gpsimd) && divides) ||
        (!everyInteger && aluIsBitwise(op)))
      continue;
    return op;
  }
}

void Generator::scalarOps(Instruction &i, unsigned rows, bool integers) {
  // In f32 the immediates are floats and the running reduction is f32.
  auto perPartition = [&](unsigned slot, unsigned imm) {
    if (chance(40))
      i.operands[slot] =
          chip(Space::Sbuf, rows, 1, integers ? DType::I32 : DType::F32, false);
    else
      i.imm[imm] = bits();
  };
  perPartition(2, 0);
  if (i.op() == Opcode::TensorScalar || i.op() == Opcode::Activate)
    perPartition(3, 1);
  if (i.operands[2] && i.op() == Opcode::Activate)
    i.imm[0] = 0x3f800000;
  if (i.operands[3] && i.op() == Opcode::Activate)
    i.imm[1] = 0x80000000;
  if (i.op() == Opcode::ScalarTensorTensor || chance(50))
    i.flags |= chance(30) ? flag::saturate : 0;
  if (i.op() != Opcode::Activate)
    i.flags |= uint16_t((chance(30) ? flag::reverse0 : 0) |
                        (chance(30) ? flag::reverse1 : 0));
}

void Generator::elementOps() {
  bool gpsimd = engine == Engine::Gpsimd, scalar = engine == Engine::Scalar;
  unsigned rows = unsigned(pick<int64_t>({1, 32, 64, 128, range(1, 128)}));
  uint64_t elements = uint64_t(pick<int64_t>({1, 2, 64, 512, range(1, 900)}));
  auto tensor = [&](bool write, DType type) {
    Space space = !gpsimd && chance(30) ? Space::Psum : Space::Sbuf;
    return chip(space, rows, elements, type, write);
  };
  // Integers everywhere, so that bit operations and exact i32 appear.
  bool every = chance(40);
  auto type = [&] {
    return every ? pick({DType::I32, DType::I16, DType::I8, DType::U8})
                 : computeType();
  };
  static const Opcode forVector[] = {Opcode::Copy,
                                     Opcode::Fill,
                                     Opcode::TensorTensor,
                                     Opcode::TensorScalar,
                                     Opcode::ScalarTensorTensor,
                                     Opcode::Reduce,
                                     Opcode::Select,
                                     Opcode::BlockTranspose};
  static const Opcode forScalar[] = {Opcode::Copy, Opcode::TensorScalar,
                                     Opcode::Activate};
  static const Opcode forGpsimd[] = {Opcode::Copy,
                                     Opcode::Fill,
                                     Opcode::TensorTensor,
                                     Opcode::TensorScalar,
                                     Opcode::ScalarTensorTensor,
                                     Opcode::Reduce,
                                     Opcode::Select,
                                     Opcode::Iota,
                                     Opcode::AffineSelect};
  Opcode opcode = scalar   ? forScalar[next() % 3]
                  : gpsimd ? forGpsimd[next() % 9]
                           : forVector[next() % 8];
  if (opcode == Opcode::BlockTranspose) {
    rows = 32 * unsigned(pick<int64_t>({1, 2, 4}));
    elements = 32 * uint64_t(range(1, 8));
    DType t = pick({DType::F32, DType::TF32, DType::BF16, DType::F16,
                    DType::I32, DType::I16});
    Instruction i = ProgramBuilder::make(opcode);
    i.operands[0] = chip(Space::Sbuf, rows, elements, t, true);
    i.operands[1] = chip(Space::Sbuf, rows, elements, t, false);
    return addLoopable(i);
  }
  Instruction i = ProgramBuilder::make(opcode);
  DType to = type(), from = type();
  i.operands[0] = tensor(true, to);
  bool hasSat = opcode != Opcode::Fill && opcode != Opcode::Iota;
  if (hasSat && chance(30))
    i.flags |= flag::saturate;
  switch (opcode) {
  case Opcode::Copy:
    i.operands[1] = tensor(false, from);
    break;
  case Opcode::Fill:
    i.imm[0] = bits();
    break;
  case Opcode::Iota:
    i.operands[1] = index(rows, elements);
    break;
  case Opcode::AffineSelect:
    i.operands[1] = tensor(false, from);
    i.operands[2] = index(rows, elements);
    i.sub[0] = uint8_t(range(unsigned(Alu::Eq), unsigned(Alu::Ge)));
    i.imm[0] = bits();
    break;
  case Opcode::Select:
    i.operands[1] = tensor(false, type());
    i.operands[2] = tensor(false, from);
    if (chance(50))
      i.operands[3] = tensor(false, type());
    else
      i.imm[0] = bits();
    break;
  case Opcode::Reduce: {
    i.operands[1] = tensor(false, from);
    Access src = b.get().accesses[i.operands[1] - 1];
    if (src.rank == 0) {
      src.rank = 1;
      src.count[0] = 1;
      i.operands[1] = b.access(src);
    }
    unsigned axes = unsigned(range(1, src.rank));
    i.sub[1] = uint8_t(axes);
    elements = 1;
    for (unsigned d = 0; d + axes < src.rank; ++d)
      elements *= src.count[d];
    i.operands[0] = tensor(true, to);
    i.sub[0] = uint8_t(every ? pick({Alu::Add, Alu::Mul, Alu::Max, Alu::Min,
                                     Alu::And, Alu::Or, Alu::Xor})
                             : pick({Alu::Add, Alu::Mul, Alu::Max, Alu::Min,
                                     Alu::AbsMax, Alu::AbsMin}));
    i.flags |= chance(30) ? flag::reduceCarry : 0;
    break;
  }
  default: {
    i.operands[1] = tensor(false, from);
    if (opcode == Opcode::TensorTensor || opcode == Opcode::ScalarTensorTensor)
      i.operands[opcode == Opcode::TensorTensor ? 2 : 3] =
          tensor(false, type());
    bool integers = computesInIntegers(b.get(), engine, i);
    if (opcode != Opcode::TensorTensor)
      scalarOps(i, rows, integers);
    if (opcode == Opcode::Activate) {
      i.sub[0] = uint8_t(range(0, numFunctions - 1));
    } else {
      // A scalar operand of f32 forbids bit operations.
      bool allIntegers =
          every &&
          (integers || (!i.operands[2] &&
                        (opcode == Opcode::TensorTensor || !i.operands[3] ||
                         opcode == Opcode::ScalarTensorTensor)));
      // One bit operation makes the whole instruction compute in integers.
      bool both = opcode != Opcode::TensorTensor;
      Alu op0 = operation(integers, allIntegers, scalar), op1 = op0;
      do
        op1 = operation(integers || aluIsBitwise(op0), allIntegers, scalar);
      while (aluIsBitwise(op1) && !aluIsBitwise(op0) && !integers);
      i.sub[0] = uint8_t(op0);
      i.sub[1] = both ? uint8_t(op1) : uint8_t(0);
    }
    if (opcode != Opcode::TensorTensor && chance(30)) {
      bool inIntegers = computesInIntegers(b.get(), engine, i);
      i.operands[4] = chip(Space::Sbuf, rows, 1,
                           inIntegers ? DType::I32 : DType::F32, true);
      i.sub[2] = uint8_t(pick({Alu::Add, Alu::Mul, Alu::Max, Alu::Min}));
      i.flags |= chance(50) ? flag::accCarry : 0;
    }
    break;
  }
  }
  addLoopable(i);
}

void Generator::transfer() {
  unsigned rows = unsigned(pick<int64_t>({1, 8, 128, range(1, 128)}));
  uint64_t elements = uint64_t(pick<int64_t>({1, 64, 512, range(1, 700)}));
  Opcode opcode = pick({Opcode::DmaCopy, Opcode::DmaCopy, Opcode::DmaTranspose,
                        Opcode::DmaGather});
  Instruction i = ProgramBuilder::make(opcode);
  i.sub[0] = uint8_t(range(0, machine.dma.rings - 1));
  DType from = computeType(), to = computeType();
  if (chance(20))
    from = to = pick({DType::I64, DType::F64});
  auto place = [&](unsigned r, uint64_t n, DType t, bool write) {
    if (chance(50))
      return hbm(r, n, t, write);
    return chip(chance(20) && opcode == Opcode::DmaCopy ? Space::Psum
                                                        : Space::Sbuf,
                r, n, t, write, true);
  };
  switch (opcode) {
  case Opcode::DmaTranspose:
    elements = uint64_t(range(1, 128));
    from = to = pick({DType::F32, DType::TF32, DType::BF16, DType::F16,
                      DType::I32, DType::I16});
    i.operands[0] = place(unsigned(elements), rows, to, true);
    i.operands[1] = place(rows, elements, from, false);
    break;
  case Opcode::DmaGather:
    i.operands[0] = place(rows, elements, to, true);
    i.operands[1] = hbm(unsigned(range(1, 300)), elements, from, false);
    i.operands[2] = place(rows, 1, DType::I32, false);
    i.flags = chance(30) ? flag::saturate : 0;
    break;
  default:
    i.operands[0] = place(rows, elements, to, true);
    i.operands[1] = place(rows, elements, from, false);
    i.flags = chance(30) ? flag::saturate : 0;
    break;
  }
  addLoopable(i);
}

void Generator::control() {
  Instruction i = ProgramBuilder::make(pick(
      {Opcode::Nop, Opcode::Advance, Opcode::SetSemaphore, Opcode::Drain}));
  if (i.op() == Opcode::Advance) {
    unsigned ring = unsigned(range(0, numRings - 1));
    if (!depth[ring])
      return;
    i.sub[0] = uint8_t(ring);
    i.imm[0] = uint32_t(pick<int64_t>({1, 2, 65535}));
  }
  if (i.op() == Opcode::SetSemaphore) {
    i.imm[0] = uint32_t(range(0, semaphores - 1));
    i.imm[1] = uint32_t(pick<int64_t>({0, 1, machine.semaphore.maxValue}));
  }
  addLoopable(i);
}

void Generator::one() {
  if (chance(15))
    return control();
  switch (engine) {
  case Engine::Tensor:
    return tensorOps();
  case Engine::Vector:
    return elementOps();
  case Engine::Scalar:
  case Engine::Gpsimd:
    return chance(70) ? elementOps() : transfer();
  case Engine::Sync:
    return transfer();
  }
}

Program Generator::run(unsigned size) {
  // Buffers of every kind, out of alphabetical order on purpose.
  uint64_t address = 0;
  unsigned serial = 0;
  for (BufferKind kind :
       {BufferKind::InOut, BufferKind::In, BufferKind::Out, BufferKind::Const,
        BufferKind::Data, BufferKind::Scratch}) {
    Buffer buffer;
    buffer.name =
        std::string("b") + char('z' - serial++) + "." + bufferKindName(kind);
    buffer.kind = kind;
    buffer.dtype = computeType();
    buffer.shape = {range(0, 4096), range(1, 9), 3};
    buffer.strides = chance(50) ? std::vector<int64_t>{27, 3, 1}
                                : std::vector<int64_t>{4096, -3, 1};
    if (kind == BufferKind::Out) {
      buffer.shape.clear();
      buffer.strides.clear();
    }
    buffer.bytes = kind == BufferKind::Data ? 200 : 8u << 20;
    buffer.address = address;
    address += buffer.bytes + 64 - buffer.bytes % 64;
    if (kind == BufferKind::Data)
      for (uint64_t n = 0; n != buffer.bytes; ++n)
        buffer.data.push_back(n > 40 && n < 150 ? 0 : uint8_t(next()));
    b.buffer(buffer);
  }
  Buffer tile{
      "tile", Space::Sbuf, DType::BF16, BufferKind::Scratch, 32,       64, 1024,
      512,    3,           17,          {64, 256},           {256, 1}, {}};
  b.buffer(tile);
  semaphores = unsigned(range(16, 64));
  for (unsigned s = 0; s != semaphores; ++s)
    b.semaphore({chance(50) ? "sem_" + std::to_string(s) : "",
                 int32_t(chance(20) ? range(0, 100) : 0),
                 int32_t(chance(20) ? range(0, 100) : -1)});
  b.note("kernel", "random");
  b.note("odd", "a\"b\\c\nd");

  for (unsigned e = 0; e != numEngines; ++e) {
    if (chance(15))
      continue;
    engine = Engine(e);
    trips.clear();
    for (unsigned r = 0; r != numRings; ++r) {
      depth[r] = 0;
      if (chance(30)) {
        depth[r] = uint32_t(pick<int64_t>({1, 2, 3, 7, 65535}));
        b.ring(engine, r, depth[r],
               chance(50) ? "ring_" + std::to_string(r) : "");
      }
    }
    for (unsigned n = 0; n != size; ++n) {
      if (trips.size() < maxLoops && chance(20)) {
        trips.push_back(uint32_t(pick<int64_t>({0, 1, 2, 3, 8, 0x7fffffff})));
        b.loop(engine, trips.back());
      } else if (!trips.empty() && chance(20)) {
        trips.pop_back();
        b.end(engine);
      } else {
        one();
      }
    }
    for (; !trips.empty(); trips.pop_back())
      b.end(engine);
  }
  return b.finish();
}

Program test::randomProgram(const Machine &machine, uint64_t seed,
                            unsigned size) {
  return Generator(machine, seed).run(size);
}
