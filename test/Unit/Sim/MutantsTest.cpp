//===- MutantsTest.cpp - programs with one mistake in them ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes the hand-written programs of test/Sim/Inputs/programs and makes one small
// mistake in them: a wait removed, a value off by one, an update dropped, a ring
// advanced once more, an address shifted, a flag flipped. The checks must see it,
// or there must be nothing to see:
//
//   synchronisation   the program computes the same in other orders, of them those in
//                     which a timed run with jitter comes to its instructions, and
//                     the proof says that it does in all; a wait that is gone was
//                     implied
//   address, flag     the results differ, as they should
//
// That equal results under jittered time mean something is looked at too: of the
// mistakes that the proof reports, such orders show most.
//
// FACET_MUTANTS=N makes N of them instead and prints the table of
// docs/Simulator.md (./dev soak mutants).
//
//===----------------------------------------------------------------------===//

#include "RandomProgram.h"

#include "facet/Isa/Assembler.h"
#include "facet/Isa/Check.h"
#include "facet/Sim/Race.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <functional>
#include <random>

using namespace facet;
using namespace facet::test;

namespace {

using Memory = std::vector<std::vector<uint8_t>>;

/// Of these, 1 and 2 go to extremes, 4, 6, ... are by jittered time, the rest by lot.
constexpr uint64_t lastOrder = 12;

struct Subject {
  std::string name;
  Program program;
  Memory given, wanted;
  std::vector<sim::Finding> redundant; // waits
};

/// A place where a kind of mistake can be made.
struct Site {
  unsigned queue, pc, which;
};

struct Kind {
  const char *name;
  bool synchronises;
  std::function<void(const Program &, std::vector<Site> &)> find;
  /// `up`: which of two ways.
  std::function<void(Program &, Site, bool up)> make;
};

struct Count {
  unsigned made = 0, refused = 0, race = 0, deadlock = 0, other = 0,
           differs = 0, same = 0;
  /// Of the races, those that jittered time shows.
  unsigned shown = 0;
};

void forEachInstruction(
    const Program &program,
    llvm::function_ref<void(unsigned, unsigned, const Instruction &)> visit) {
  for (unsigned q = 0; q != program.queues.size(); ++q)
    for (unsigned pc = 0; pc != program.queues[q].code.size(); ++pc)
      visit(q, pc, program.queues[q].code[pc]);
}

Instruction &at(Program &program, Site site) {
  return program.queues[site.queue].code[site.pc];
}

void findWaits(const Program &program, std::vector<Site> &sites) {
  forEachInstruction(program, [&](unsigned q, unsigned pc, const auto &i) {
    for (unsigned w = 0; w != 2; ++w)
      if (i.waits[w].ref.present())
        sites.push_back({q, pc, w});
  });
}

void findUpdates(const Program &program, std::vector<Site> &sites) {
  forEachInstruction(program, [&](unsigned q, unsigned pc, const auto &i) {
    for (unsigned u = 0; u != 2; ++u)
      if (i.updates[u].ref.present())
        sites.push_back({q, pc, u});
  });
}

/// Flags that change what these programs compute: `sat` and a reversed sum or
/// product, for example, do not.
void findFlags(const Program &program, std::vector<Site> &sites) {
  forEachInstruction(program, [&](unsigned q, unsigned pc, const auto &i) {
    if (i.op() == Opcode::Matmul) {
      sites.push_back({q, pc, flag::matmulStart});
      sites.push_back({q, pc, flag::matmulStop});
    } else if (i.op() == Opcode::Reduce) {
      sites.push_back({q, pc, flag::reduceCarry});
    } else if (i.op() == Opcode::Activate && i.operands[4]) {
      sites.push_back({q, pc, flag::accCarry});
    } else if (i.op() == Opcode::TensorTensor && Alu(i.sub[0]) == Alu::Sub) {
      sites.push_back({q, pc, 0}); // exchanges the operands: no flag, as wrong
    }
  });
}

void findOperands(const Program &program, std::vector<Site> &sites) {
  forEachInstruction(program, [&](unsigned q, unsigned pc, const auto &i) {
    for (unsigned slot = 0; slot != 5; ++slot)
      if (i.operands[slot])
        sites.push_back({q, pc, slot});
  });
}

/// By one element, one row of it (in HBM), or as many bytes as the access is long.
void shift(Program &program, Site site, bool up) {
  Access access = *program.access(at(program, site), site.which);
  int64_t size = dtypeBytes(access.dtype);
  int64_t by = access.space == Space::Hbm ? access.rowStep * size
               : site.pc % 2              ? size
                                          : int64_t(access.elements()) * size;
  access.offset += up ? by : -by;
  at(program, site).operands[site.which] = program.addAccess(access);
}

const Kind kinds[] = {
    {"wait removed", true, findWaits,
     [](Program &p, Site s, bool) {
       Instruction &i = at(p, s);
       if (s.which == 0)
         i.waits[0] = i.waits[1];
       i.waits[1] = {};
     }},
    {"value off by one", true, findWaits,
     [](Program &p, Site s, bool up) {
       at(p, s).waits[s.which].value += up ? 1 : -1;
     }},
    {"update dropped", true, findUpdates,
     [](Program &p, Site s, bool) {
       Instruction &i = at(p, s);
       if (s.which == 0)
         i.updates[0] = i.updates[1];
       i.updates[1] = {};
     }},
    {"ring advanced once more", true,
     [](const Program &program, std::vector<Site> &sites) {
       forEachInstruction(program, [&](unsigned q, unsigned pc, const auto &i) {
         if (i.op() == Opcode::Advance)
           sites.push_back({q, pc, 0});
       });
     },
     [](Program &p, Site s, bool) { ++at(p, s).imm[0]; }},
    {"address shifted", false, findOperands, shift},
    {"flag flipped", false, findFlags,
     [](Program &p, Site s, bool) {
       Instruction &i = at(p, s);
       if (s.which)
         i.flags ^= uint16_t(s.which);
       else
         std::swap(i.operands[1], i.operands[2]);
     }},
};

std::optional<Subject> load(const char *name) {
  Subject subject;
  subject.name = name;
  std::string path = std::string(FACET_SIM_PROGRAMS) + "/" + name + ".s";
  auto text = llvm::MemoryBuffer::getFile(path);
  Diagnostics diags;
  std::optional<Program> program;
  if (text)
    program = assemble((*text)->getBuffer(), path, diags);
  if (!program)
    return std::nullopt;
  subject.program = std::move(*program);
  std::mt19937_64 random(1);
  for (const Buffer &buffer : subject.program.buffers) {
    subject.given.emplace_back(buffer.bytes);
    std::vector<uint8_t> &bytes = subject.given.back();
    unsigned size = dtypeBytes(buffer.dtype);
    // Floats from -2 to 2: a sign, an exponent near that of 1, and lower bits.
    for (size_t i = 0; i < bytes.size(); i += size) {
      uint64_t bits = random();
      bytes[i + size - 1] = uint8_t((bits & 0x80) | 0x3f);
      bytes[i + size - 2] = uint8_t(bits >> 8);
      if (size == 4)
        bytes[i + 1] = uint8_t(bits >> 16);
    }
  }
  subject.wanted = subject.given;
  if (!sim::runProgram(subject.program, subject.wanted).ok())
    return std::nullopt;
  subject.redundant = sim::redundantWaits(subject.program);
  return subject;
}

bool starts(const std::vector<sim::Finding> &findings, llvm::StringRef code) {
  return llvm::any_of(findings, [&](const sim::Finding &finding) {
    return llvm::StringRef(finding.code).starts_with(code);
  });
}

bool sameOutputs(const Program &program, const Memory &a, const Memory &b) {
  for (size_t n = 0; n != a.size(); ++n)
    if (program.buffers[n].kind == BufferKind::Out && a[n] != b[n])
      return false;
  return true;
}

/// Whether something goes wrong in the orders of timed runs with jitter.
bool jitterShows(const Subject &subject, const Program &mutant) {
  for (uint64_t order = 4; order <= lastOrder; order += 2) {
    Memory memory = subject.given;
    sim::RunOptions options;
    options.races = false;
    options.maxSteps = 1'000'000;
    options.order = order;
    if (!sim::runProgram(mutant, memory, options).ok() ||
        !sameOutputs(mutant, memory, subject.wanted))
      return true;
  }
  return false;
}

/// False when the mistake was missed.
bool judge(const Subject &subject, const Program &mutant, bool synchronises,
           Count &count) {
  ++count.made;
  Diagnostics diags;
  if (!checkProgram(mutant, diags)) {
    ++count.refused;
    return true;
  }
  std::vector<sim::Finding> races = sim::proveRaceFree(mutant, 1'000'000);
  if (!races.empty()) {
    ++count.race;
    count.shown += jitterShows(subject, mutant);
    return true;
  }
  Memory memory = subject.given;
  sim::RunOptions options;
  options.races = false;
  options.maxSteps = 1'000'000;
  sim::RunResult result = sim::runProgram(mutant, memory, options);
  if (!result.ok()) {
    ++(starts(result.findings, "SIM-DEADLOCK") ? count.deadlock : count.other);
    return true;
  }
  if (!sameOutputs(mutant, memory, subject.wanted)) {
    ++count.differs;
    return !synchronises; // without a finding, a wrong result is a miss
  }
  ++count.same;
  return synchronises &&
         sim::tryOrders(mutant, subject.given, subject.wanted, lastOrder).ok();
}

} // namespace

TEST(Mutants, are_reported_or_harmless) {
  const char *wanted = std::getenv("FACET_MUTANTS");
  unsigned total = wanted ? unsigned(std::atoi(wanted)) : 160;
  std::vector<Subject> subjects;
  for (const char *name : {"pipeline", "nest", "panels", "attention"}) {
    std::optional<Subject> subject = load(name);
    ASSERT_TRUE(subject) << name;
    subjects.push_back(std::move(*subject));
  }
  std::mt19937_64 random(2026);
  std::vector<Count> counts(std::size(kinds));
  for (unsigned n = 0; n != total; ++n) {
    // Four of five are mistakes in synchronisation.
    size_t k = random() % 5 ? random() % 4 : 4 + random() % 2;
    const Subject &subject = subjects[random() % subjects.size()];
    std::vector<Site> sites;
    kinds[k].find(subject.program, sites);
    if (sites.empty()) { // no flags in this one
      --n;
      continue;
    }
    Site site = sites[random() % sites.size()];
    bool up = random() % 2;
    Program mutant = subject.program;
    kinds[k].make(mutant, site, up);
    unsigned same = counts[k].same;
    EXPECT_TRUE(judge(subject, mutant, kinds[k].synchronises, counts[k]))
        << subject.name << ": " << kinds[k].name << (up ? " (up): " : ": ")
        << engineName(mutant.queues[site.queue].engine) << ' ' << site.pc
        << ": " << printInstruction(subject.program, site.queue, site.pc);
    if (counts[k].same == same || k != 0)
      continue;
    // A wait that can go is one that others imply.
    EXPECT_TRUE(llvm::any_of(subject.redundant,
                             [&](const auto &finding) {
                               return finding.queue == int(site.queue) &&
                                      finding.pc == int(site.pc);
                             }))
        << subject.name << ' ' << site.queue << ' ' << site.pc;
  }

  Count all;
  if (wanted)
    llvm::outs()
        << "mistake                     made  refused  race  deadlock  "
           "other  differs  same\n";
  for (size_t k = 0; k != counts.size(); ++k) {
    const Count &c = counts[k];
    if (kinds[k].synchronises) {
      all.made += c.made;
      all.same += c.same;
    }
    all.race += c.race;
    all.shown += c.shown;
    if (wanted)
      llvm::outs() << llvm::format("%-26s %5u %8u %5u %9u %6u %8u %5u\n",
                                   kinds[k].name, c.made, c.refused, c.race,
                                   c.deadlock, c.other, c.differs, c.same);
  }
  if (wanted)
    llvm::outs() << "jittered time shows " << all.shown << " of " << all.race
                 << " races\n";
  EXPECT_LE(all.same, all.made / 20) << "of " << all.made;
  EXPECT_GE(all.shown, all.race / 2) << "of " << all.race;
}

/// What is said to be missing is what was taken away.
TEST(Mutants, a_wait_that_is_gone_is_named) {
  unsigned removed = 0;
  for (const char *name : {"pipeline", "nest", "panels", "attention"}) {
    std::optional<Subject> subject = load(name);
    ASSERT_TRUE(subject) << name;
    std::vector<Site> sites;
    findWaits(subject->program, sites);
    for (Site site : sites) {
      Program mutant = subject->program;
      SemaphoreRef ref = at(mutant, site).waits[site.which].ref;
      kinds[0].make(mutant, site, false);
      std::vector<sim::Finding> races = sim::proveRaceFree(mutant);
      if (races.empty())
        continue;
      ++removed;
      unsigned depth = ref.ring() < 0
                           ? 1
                           : mutant.ringDepth(site.queue, unsigned(ref.ring()));
      bool found = false;
      std::string said;
      for (const sim::Finding &finding : races)
        for (const sim::Finding::Note &note : finding.notes) {
          for (unsigned s = 0; s != depth; ++s)
            found |= llvm::StringRef(note.message)
                         .starts_with("wait(" +
                                      mutant.semaphores[ref.base() + s].name +
                                      " >= ");
          if (llvm::StringRef(note.message).contains("would order"))
            said += std::string(finding.code) + ": " + note.message + "\n";
        }
      EXPECT_TRUE(found) << name << ": "
                         << printInstruction(subject->program, site.queue,
                                             site.pc)
                         << '\n'
                         << said;
    }
  }
  EXPECT_GE(removed, 20u);
}
