//===- TimingTest.cpp - costs against measurements and closed forms -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomProgram.h"

#include "facet/Isa/Builder.h"
#include "facet/Isa/Timing.h"

#include "gtest/gtest.h"

using namespace facet;
using namespace facet::test;

namespace {

/// One instruction in a program of its own, and what it costs in ns.
struct Case {
  explicit Case(Machine machine, Engine engine, Opcode opcode)
      : engine(engine), b(std::move(machine)), i(ProgramBuilder::make(opcode)) {
  }

  Case &operand(unsigned slot, Space space, DType type, unsigned rows,
                std::vector<std::pair<uint32_t, int64_t>> dims) {
    Access a;
    a.space = space;
    a.dtype = type;
    a.partitions = rows;
    for (auto [count, step] : dims) {
      a.count[a.rank] = count;
      a.step[a.rank++] = step;
    }
    if (space == Space::Hbm)
      a.rowStep = int64_t(a.elements());
    i.operands[slot] = b.access(a);
    return *this;
  }
  Cost cost(bool slow = false) {
    Program &p = b.get();
    if (p.queues.empty())
      b.add(engine, i);
    return Timing(p.machine).cost(p, 0, i, slow);
  }
  double ns(Ticks ticks) { return TimeBase(b.get().machine).toNs(ticks); }
  double interval(bool slow = false) { return ns(cost(slow).portFree); }
  double duration(bool slow = false) { return ns(cost(slow).done); }
  TransferCost transfer() {
    (void)cost();
    return Timing(b.get().machine).transfer(b.get(), 0, i);
  }

  Engine engine;
  ProgramBuilder b;
  Instruction i;
};

} // namespace

static Case matmul(const char *machine, DType type, unsigned stationary,
                   unsigned moving, Pass pass = Pass::All) {
  Case c(shippedMachine(machine), Engine::Tensor, Opcode::Matmul);
  c.operand(0, Space::Psum, DType::F32, stationary, {{moving, 1}});
  c.operand(1, Space::Sbuf, type, 128, {{moving, 1}});
  c.i.sub[0] = uint8_t(pass);
  return c;
}

static Case weights(const char *machine, DType type, unsigned columns,
                    Pass pass, uint16_t flags = 0) {
  Case c(shippedMachine(machine), Engine::Tensor, Opcode::LoadWeights);
  c.operand(0, Space::Sbuf, type, 128, {{columns, 1}});
  c.i.sub[0] = uint8_t(pass);
  c.i.flags = flags;
  return c;
}

// The measured ranges of the per-instruction profiles of a real Trainium2.
TEST(Timing, tensor_engine_of_trn2_is_as_measured) {
  auto within = [](double value, double low, double high) {
    EXPECT_GE(value, low - 1);
    EXPECT_LE(value, high + 1);
  };
  within(matmul("trn2", DType::BF16, 128, 512).interval(), 215, 218);
  within(matmul("trn2", DType::BF16, 128, 512).duration(), 376, 379);
  within(matmul("trn2", DType::BF16, 128, 512).interval(true), 427, 427);
  within(matmul("trn2", DType::BF16, 128, 512).duration(true), 630, 630);
  within(matmul("trn2", DType::BF16, 128, 128).interval(), 56, 56);
  within(matmul("trn2", DType::BF16, 128, 128).duration(), 216, 219);
  within(matmul("trn2", DType::F32, 128, 512, Pass::Low).interval(), 429, 429);
  within(matmul("trn2", DType::F32, 128, 512, Pass::High).duration(), 589, 593);
  within(matmul("trn2", DType::F32, 128, 128, Pass::Low).interval(), 109, 112);
  within(weights("trn2", DType::BF16, 128, Pass::All).duration(), 95, 97);
  within(weights("trn2", DType::BF16, 128, Pass::All).duration(true), 146, 150);
  within(weights("trn2", DType::F32, 128, Pass::Low).duration(), 189, 191);
  within(weights("trn2", DType::F32, 128, Pass::Low).duration(true), 332, 336);
  within(weights("trn2", DType::F32, 128, Pass::All, flag::weightsForTranspose)
             .duration(),
         135, 142);
}

TEST(Timing, vector_and_scalar_of_trn2_are_as_measured) {
  Machine trn2 = shippedMachine("trn2");
  auto near = [](double value, double measured, double tolerance) {
    EXPECT_NEAR(value, measured, measured * tolerance);
  };
  auto two = [&](Engine engine, Opcode opcode, Space from, DType type,
                 unsigned n) {
    Case c(trn2, engine, opcode);
    c.operand(0, Space::Sbuf, DType::F32, 128, {{n, 1}});
    c.operand(1, from, type, 128, {{n, 1}});
    return c;
  };
  Case copy = two(Engine::Vector, Opcode::Copy, Space::Psum, DType::F32, 512);
  near(copy.duration(), 690, 0.01);
  near(copy.interval(), 608, 0.01);
  near(two(Engine::Vector, Opcode::Copy, Space::Psum, DType::F32, 128)
           .duration(),
       291, 0.01);
  Case scale =
      two(Engine::Vector, Opcode::TensorScalar, Space::Sbuf, DType::F32, 512);
  scale.operand(2, Space::Sbuf, DType::F32, 128, {});
  near(scale.duration(), 481, 0.01);
  near(scale.interval(), 396, 0.01);
  EXPECT_TRUE(scale.cost().fastMode);
  Case row =
      two(Engine::Vector, Opcode::TensorScalar, Space::Psum, DType::F32, 128);
  row.operand(2, Space::Sbuf, DType::F32, 128, {});
  near(row.duration(), 350, 0.01);
  EXPECT_FALSE(row.cost().fastMode);
  Case reduce =
      two(Engine::Vector, Opcode::Reduce, Space::Sbuf, DType::F32, 512);
  reduce.operand(0, Space::Sbuf, DType::F32, 128, {});
  near(reduce.duration(), 685, 0.02);
  near(reduce.interval(), 603, 0.02);
  Case reciprocal =
      two(Engine::Vector, Opcode::TensorScalar, Space::Sbuf, DType::F32, 8);
  reciprocal.i.sub[0] = uint8_t(Alu::Reciprocal);
  near(reciprocal.duration(), 202, 0.12);
  Case move = two(Engine::Scalar, Opcode::Copy, Space::Psum, DType::F32, 512);
  near(move.duration(), 585, 0.01);
  near(move.interval(), 477, 0.01);
  Case exp =
      two(Engine::Scalar, Opcode::Activate, Space::Psum, DType::F32, 512);
  exp.i.sub[0] = uint8_t(Function::Exp);
  exp.operand(3, Space::Sbuf, DType::F32, 128, {});
  near(exp.duration(), 685, 0.01);
  near(exp.interval(), 612, 0.01);
}

// simulators.md rows N1 to N6: max(min(64, stationary), moving), four times for f32.
TEST(Timing, documented_average_cost_of_a_matmul) {
  struct Row {
    unsigned stationary, moving;
    int64_t bf16, f32;
  };
  for (Row row : {Row{128, 512, 512, 2048}, Row{128, 128, 128, 512},
                  Row{128, 64, 64, 256}, Row{128, 1, 64, 256},
                  Row{1, 128, 128, 512}, Row{32, 16, 32, 128}}) {
    EXPECT_EQ(
        matmul("nki", DType::BF16, row.stationary, row.moving).cost().portFree,
        row.bf16 * 1000);
    EXPECT_EQ(
        matmul("nki", DType::F32, row.stationary, row.moving).cost().portFree,
        row.f32 * 1000);
  }
}

TEST(Timing, a_systolic_fold_is_load_stream_and_skew) {
  // R + M + R + C - 2 cycles of 1000 ticks.
  Cost load = weights("ws-serial", DType::BF16, 5, Pass::All).cost();
  Cost stream = matmul("ws-serial", DType::BF16, 128, 300).cost();
  EXPECT_EQ(load.done + stream.done, (128 + 300 + 128 + 128 - 2) * 1000);
  Cost pipelined = matmul("ws-pipelined", DType::BF16, 128, 2).cost();
  EXPECT_EQ(pipelined.portFree, 4 * 1000);
  EXPECT_EQ(pipelined.done, (4 + 254) * 1000);
  Case first = weights("ws-pipelined", DType::BF16, 128, Pass::All);
  EXPECT_EQ(first.cost().done, 128 * 1000);
  EXPECT_EQ(Timing(first.b.get().machine)
                .firstLoadCost(first.b.get(), 0, first.i)
                .done,
            255 * 1000);
  EXPECT_EQ(weights("os-serial", DType::BF16, 128, Pass::All).cost().done, 0);
}

TEST(Timing, a_sum_of_cycles_is_exact) {
  // 4096^3 in matmuls of 512 columns: 4194304 cycles of 2.4 GHz, to the tick.
  Machine machine = shippedMachine("trn2");
  machine.tensor.gapPs = 0;
  Case c(machine, Engine::Tensor, Opcode::Matmul);
  c.operand(0, Space::Psum, DType::F32, 128, {{512, 1}});
  c.operand(1, Space::Sbuf, DType::BF16, 128, {{512, 1}});
  EXPECT_EQ(c.cost().portFree * 8192,
            TimeBase(machine).fromCycles(4194304, 2400));
}

TEST(Timing, each_effect_is_a_parameter) {
  Machine machine = shippedMachine("trn2");
  machine.core.dispatchPs = 5000;
  machine.core.addressUpdatePs = 3000;
  Case c(machine, Engine::Vector, Opcode::Copy);
  c.operand(0, Space::Sbuf, DType::F32, 128, {{64, 1}});
  c.operand(1, Space::Psum, DType::F32, 128, {{64, 1}});
  EXPECT_EQ(c.ns(c.cost().issue), 5);
  Access moved = c.b.get().accesses[0];
  AffineForm form;
  form.coefficients[0] = 64;
  moved.affine = c.b.affine(form);
  c.i.operands[0] = c.b.access(moved);
  EXPECT_EQ(c.ns(c.cost().issue), 8);
  // A stride of 16 bytes halves the rate.
  Machine plain = shippedMachine("trn2");
  auto strided = [&](int64_t step) {
    Case s(plain, Engine::Vector, Opcode::Copy);
    s.operand(0, Space::Sbuf, DType::F32, 128, {{512, 1}});
    s.operand(1, Space::Psum, DType::F32, 128, {{512, step}});
    return s.cost().sourceFree;
  };
  EXPECT_EQ(strided(4), 2 * strided(1));
  EXPECT_EQ(strided(3), strided(1));
  plain.sbuf.strideCost = 0;
  EXPECT_EQ(strided(4), strided(1));
}

TEST(Timing, transfers_fall_into_packets) {
  Machine trn2 = shippedMachine("trn2");
  auto load = [&](uint32_t elements, int64_t step,
                  Engine engine = Engine::Sync) {
    Case c(trn2, engine, Opcode::DmaCopy);
    c.operand(0, Space::Sbuf, DType::BF16, 128, {{elements, 1}});
    c.operand(1, Space::Hbm, DType::BF16, 128, {{elements, step}});
    return c.transfer();
  };
  TransferCost dense = load(2048, 1);
  EXPECT_EQ(dense.rows, 128u);
  EXPECT_EQ(dense.row.full, 1u);
  EXPECT_EQ(dense.row.fullBytes, 4096u);
  EXPECT_EQ(dense.row.bytes(), 4096u);
  TransferCost strided = load(512, 2);
  EXPECT_EQ(strided.row.full, 512u);
  EXPECT_EQ(strided.row.fullBytes, 2u);
  TransferCost longRow = load(40000, 1);
  EXPECT_EQ(longRow.row.full, 1u);
  EXPECT_EQ(longRow.row.fullBytes, 65536u);
  EXPECT_EQ(longRow.row.tailBytes, 80000u - 65536u);
  EXPECT_EQ(longRow.row.bytes(), 80000u);
  Timing timing(trn2);
  const TimeBase &time = timing.time();
  // Published medians: 4096 bytes take 158 ns, the next packet starts after 155.5.
  EXPECT_NEAR(time.toNs(timing.packetDone(4096)), 158, 1);
  EXPECT_NEAR(time.toNs(timing.packetNext(4096)), 155.5, 1);
  EXPECT_NEAR(time.toNs(timing.packetDone(512)), 27, 1.5);
  EXPECT_NEAR(time.toNs(timing.packetNext(512)), 23, 1);
  EXPECT_EQ(time.toNs(dense.firstData), 1250);
  EXPECT_EQ(time.toNs(load(64, 1, Engine::Gpsimd).spacing), 580);
  EXPECT_EQ(timing.engineOfRow(0), 0u);
  EXPECT_EQ(timing.engineOfRow(7), 0u);
  EXPECT_EQ(timing.engineOfRow(8), 1u);
  EXPECT_EQ(timing.engineOfRow(127), 15u);
  EXPECT_EQ(timing.engineOfRow(128), 0u);
}

TEST(Timing, banks_an_access_touches) {
  Machine trn2 = shippedMachine("trn2");
  Access a;
  a.space = Space::Psum;
  a.rank = 1;
  a.count[0] = 512;
  a.step[0] = 1;
  EXPECT_EQ(psumBanks(trn2, a), 1u);
  EXPECT_EQ(psumBanks(trn2, a, 2048), 2u);
  EXPECT_EQ(psumBanks(trn2, a, 2044), 3u);
  a.step[0] = -1;
  EXPECT_EQ(psumBanks(trn2, a, 2044), 1u);
  a.space = Space::Sbuf;
  EXPECT_EQ(psumBanks(trn2, a), 0u);
}

TEST(Timing, costs_of_random_programs_are_sane) {
  for (const char *name : {"trn1", "trn2", "trn3"}) {
    Machine machine = shippedMachine(name);
    for (uint64_t seed = 0; seed != 40; ++seed) {
      Program program = randomProgram(machine, seed, 20);
      Timing timing(program.machine);
      for (unsigned q = 0; q != program.queues.size(); ++q)
        for (const Instruction &i : program.queues[q].code) {
          Cost fast = timing.cost(program, q, i),
               slow = timing.cost(program, q, i, true);
          EXPECT_LE(0, fast.issue);
          EXPECT_LE(fast.issue, fast.sourceFree);
          // The later passes of an f32 load go on when the first is ready.
          if (i.op() != Opcode::LoadWeights) {
            EXPECT_LE(fast.sourceFree, fast.done);
          }
          EXPECT_LE(fast.sourceFree, fast.portFree);
          EXPECT_LE(fast.done, slow.done);
          EXPECT_EQ(fast.work, slow.work);
          if (i.isTransfer()) {
            TransferCost t = timing.transfer(program, q, i);
            const Access &dst = *program.access(i, 0),
                         &src = *program.access(i, 1);
            EXPECT_EQ(t.row.bytes(),
                      dst.elements() * std::max(dtypeBytes(dst.dtype),
                                                dtypeBytes(src.dtype)));
            EXPECT_LE(t.issue, t.firstData);
          }
        }
    }
  }
}
