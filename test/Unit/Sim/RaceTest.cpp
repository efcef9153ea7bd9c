//===- RaceTest.cpp - the proof against all executions --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small random programs whose executions can all be walked through: two marked
// instructions write the same bytes, the others only wait and update. The proof
// must find a race exactly when some execution starts the later of the two before
// the earlier is done. With semaphores that are set or decreased, or waits for one
// very value, it may refuse more than that, and must never miss one.
//
//===----------------------------------------------------------------------===//

#include "Race/Trace.h"
#include "RandomProgram.h"

#include "facet/Isa/Assembler.h"
#include "facet/Isa/Builder.h"
#include "facet/Isa/Check.h"
#include "facet/Sim/Race.h"

#include "gtest/gtest.h"

#include <random>
#include <set>

using namespace facet;
using namespace facet::test;

namespace {

/// All executions of a program without loops, by depth-first search.
class Executions {
public:
  explicit Executions(const Program &program) : program(program) {
    for (const Queue &q : program.queues) {
      std::vector<int> numbers;
      for (const Instruction &i : q.code)
        numbers.push_back(i.isTransfer() ? int(transfers++) : -1);
      transferOf.push_back(std::move(numbers));
    }
  }

  struct Marked {
    unsigned queue, pc;
  };
  /// One of the two starts while the other has started and is not done, or while
  /// it is not done in this execution and done before in another.
  bool race(Marked a, Marked b) {
    State first{std::vector<uint8_t>(program.queues.size()),
                std::vector<uint8_t>(transfers),
                {}};
    for (const SemaphoreInfo &s : program.semaphores)
      first.values.push_back(s.initial);
    bool aFirst = false, bFirst = false;
    std::vector<State> stack{first};
    std::set<State> seen{first};
    auto push = [&](State state) {
      if (seen.insert(state).second)
        stack.push_back(std::move(state));
    };
    while (!stack.empty()) {
      State now = std::move(stack.back());
      stack.pop_back();
      for (unsigned q = 0; q != program.queues.size(); ++q)
        if (now.at[q] != program.queues[q].code.size() && ready(now, q)) {
          bool isA = q == a.queue && now.at[q] == a.pc;
          bool isB = q == b.queue && now.at[q] == b.pc;
          aFirst |= isA && !done(now, b);
          bFirst |= isB && !done(now, a);
          push(issue(now, q));
        }
      for (unsigned q = 0; q != program.queues.size(); ++q)
        for (unsigned pc = 0; pc != now.at[q]; ++pc)
          if (int t = transferOf[q][pc]; t >= 0 && now.moved[t] < engines())
            push(move(now, q, pc));
    }
    return aFirst && bFirst;
  }

private:
  struct State {
    std::vector<uint8_t> at, moved;
    std::vector<int64_t> values;
    bool operator<(const State &o) const {
      return std::tie(at, moved, values) < std::tie(o.at, o.moved, o.values);
    }
  };
  unsigned engines() const { return unsigned(program.machine.dma.engines); }
  bool done(const State &s, Marked m) const {
    int t = transferOf[m.queue][m.pc];
    return s.at[m.queue] > m.pc && (t < 0 || s.moved[t] == engines());
  }
  bool ready(const State &s, unsigned q) const {
    for (const Wait &w : program.queues[q].code[s.at[q]].waits)
      if (w.ref.present()) {
        int64_t have = s.values[w.ref.base()];
        if (w.ref.equal() ? have != w.value : have < w.value)
          return false;
      }
    return true;
  }
  State issue(State s, unsigned q) const {
    const Instruction &i = program.queues[q].code[s.at[q]++];
    if (i.op() == Opcode::SetSemaphore)
      s.values[i.imm[0]] = i.imm[1];
    if (!i.isTransfer())
      update(s, i);
    return s;
  }
  State move(State s, unsigned q, unsigned pc) const {
    ++s.moved[transferOf[q][pc]];
    update(s, program.queues[q].code[pc]);
    return s;
  }
  void update(State &s, const Instruction &i) const {
    for (const Update &u : i.updates)
      if (u.ref.present())
        s.values[u.ref.base()] += u.amount;
  }

  const Program &program;
  std::vector<std::vector<int>> transferOf;
  unsigned transfers = 0;
};

struct Case {
  Program program;
  Executions::Marked a, b;
};

Case randomCase(uint64_t seed, bool lowering) {
  std::mt19937_64 random(seed);
  auto below = [&](unsigned n) { return unsigned(random() % n); };
  Machine machine = shippedMachine("trn2");
  machine.dma.engines = 2;
  ProgramBuilder b(machine);
  Access place;
  place.dtype = DType::F32;
  Buffer source;
  source.name = "x";
  source.kind = BufferKind::In;
  source.bytes = 4;
  source.shape = {1};
  source.strides = {1};
  Access from = place;
  from.space = Space::Hbm;
  from.buffer = b.buffer(source);
  unsigned semaphores = 1 + below(3);
  for (unsigned s = 0; s != semaphores; ++s)
    b.semaphore({});
  const Engine engines[] = {Engine::Vector, Engine::Scalar, Engine::Gpsimd};
  unsigned queues = 2 + below(2);
  std::vector<std::vector<Instruction>> code(queues);
  for (unsigned q = 0; q != queues; ++q)
    for (unsigned n = 2 + below(3); n != 0; --n) {
      Instruction i = b.make(Opcode::Nop);
      if (q != 0 && below(3) == 0) { // vector triggers no transfers
        i = b.make(Opcode::DmaCopy);
        Access own = place;
        own.offset = int64_t(64 * (q + 8 * n));
        i.operands[0] = b.access(own);
        i.operands[1] = b.access(from);
      } else if (lowering && below(8) == 0) {
        i = b.make(Opcode::SetSemaphore);
        i.imm[0] = below(semaphores);
        i.imm[1] = below(3);
      }
      for (unsigned w = 0, end = lowering ? below(4) / 2 : below(3); w != end;
           ++w) {
        bool equal = lowering && below(6) == 0;
        i.waits[w] = {SemaphoreRef::get(below(semaphores), -1, equal), 0,
                      int32_t(1 + below(lowering ? 2 : 4))};
      }
      for (unsigned u = 0, end = below(3); u != end; ++u)
        i.updates[u] = {SemaphoreRef::get(below(semaphores)),
                        int16_t(lowering && !i.isTransfer() && below(6) == 0
                                    ? -1
                                    : 1 + int(below(2)))};
      code[q].push_back(i);
    }
  Case result;
  for (Executions::Marked *m : {&result.a, &result.b}) {
    do {
      m->queue = below(queues);
      m->pc = below(unsigned(code[m->queue].size()));
    } while (m == &result.b && m->queue == result.a.queue &&
             m->pc == result.a.pc);
    Instruction &i = code[m->queue][m->pc];
    if (!i.isTransfer()) {
      Instruction plain =
          b.make(m->queue == 1 ? Opcode::Activate : Opcode::Fill);
      std::copy(std::begin(i.waits), std::end(i.waits), plain.waits);
      std::copy(std::begin(i.updates), std::end(i.updates), plain.updates);
      i = plain;
      if (m->queue == 1) {
        Access own = place;
        own.offset = 4096;
        i.operands[1] = b.access(own);
      }
    }
    i.operands[0] = b.access(place);
  }
  // The builder wants queues filled in any order, one instruction at a time.
  for (unsigned q = 0; q != queues; ++q)
    for (const Instruction &i : code[q])
      b.add(engines[q], i);
  result.program = b.finish();
  return result;
}

} // namespace

static std::string textOf(const Program &program) {
  std::string text;
  for (unsigned q = 0; q != program.queues.size(); ++q)
    for (unsigned pc = 0; pc != program.queues[q].code.size(); ++pc)
      text += std::string(engineName(program.queues[q].engine)) + ": " +
              printInstruction(program, q, pc) + '\n';
  return text;
}

TEST(Race, is_found_exactly_when_an_execution_shows_it) {
  unsigned races = 0, free = 0;
  for (uint64_t seed = 0; seed != 1000; ++seed) {
    Case c = randomCase(seed, /*lowering=*/false);
    Diagnostics diags;
    ASSERT_TRUE(checkProgram(c.program, diags)) << messages(diags);
    std::vector<sim::Finding> findings = sim::proveRaceFree(c.program);
    bool expected = Executions(c.program).race(c.a, c.b);
    // A program in which one of the two never starts has no race, and the usual
    // order does not come by it.
    ++(expected ? races : free);
    EXPECT_EQ(!findings.empty(), expected) << seed << '\n' << textOf(c.program);
    if (findings.empty() == expected)
      return;
  }
  EXPECT_GE(races, 100u);
  EXPECT_GE(free, 100u);
}

TEST(Race, is_never_missed_where_semaphores_go_down) {
  unsigned passed = 0, refused = 0;
  for (uint64_t seed = 0; seed != 2000; ++seed) {
    Case c = randomCase(seed, /*lowering=*/true);
    Diagnostics diags;
    ASSERT_TRUE(checkProgram(c.program, diags)) << messages(diags);
    sim::Walk walk(c.program);
    (void)walk.run(100, [](unsigned) {});
    bool stuck = false;
    for (unsigned q = 0; q != c.program.queues.size(); ++q)
      stuck |= !walk.stream(q).done();
    if (stuck) // a finding already (SIM-DEADLOCK)
      continue;
    bool found = !sim::proveRaceFree(c.program).empty();
    if (!found)
      EXPECT_FALSE(Executions(c.program).race(c.a, c.b)) << seed << '\n'
                                                         << textOf(c.program);
    if (HasFailure())
      return;
    ++(found ? refused : passed);
  }
  EXPECT_GE(passed, 50u);
  EXPECT_GE(refused, 100u);
}
