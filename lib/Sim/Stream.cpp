//===- Stream.cpp - the instructions of a queue as they come up -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unrolls a queue one instruction at a time:
//
//   loop trips=2        ->  loop
//     copy ...              copy (i0 = 0, r0 = slot 0)   advance   end
//     advance ring=r0       copy (i0 = 1, r0 = slot 1)   advance   end
//   end
//
// Nothing is stored per iteration, so the length of a run costs no memory.
//
//===----------------------------------------------------------------------===//

#include "Stream.h"

using namespace facet;
using namespace facet::sim;

Stream::Stream(const Program &program, unsigned queue)
    : program(program), code(program.queues[queue].code) {
  for (const RingInfo &r : program.rings)
    if (r.queue == queue)
      rings[r.ring].depth = r.depth;
}

__int128 Stream::value(uint32_t affine) const {
  if (!affine)
    return 0;
  const AffineForm &form = program.affines[affine - 1];
  __int128 sum = form.base;
  for (unsigned d = 0; d != open; ++d)
    sum += __int128(form.coefficients[d]) * counters[d];
  return sum + __int128(form.slotStride) * slot(form.ring);
}

static bool satisfies(Predicate::Compare compare, __int128 value) {
  switch (compare) {
  case Predicate::Eq:
    return value == 0;
  case Predicate::Ne:
    return value != 0;
  case Predicate::Lt:
    return value < 0;
  case Predicate::Le:
    return value <= 0;
  case Predicate::Gt:
    return value > 0;
  case Predicate::Ge:
    return value >= 0;
  }
  return false;
}

bool Stream::enabled() const {
  if (!now().predicate)
    return true;
  const Predicate &p = program.predicates[now().predicate - 1u];
  for (unsigned c = 0; c != p.conditions; ++c)
    if (!satisfies(p.compares[c], value(p.forms[c] + 1)))
      return false;
  return true;
}

void Stream::step(bool enabled) {
  const Instruction &i = now();
  switch (i.op()) {
  case Opcode::Loop:
    if (i.imm[0] == 0) {
      pc = i.imm[1] + 1;
      return;
    }
    counters[open++] = 0;
    break;
  case Opcode::End:
    if (++counters[open - 1] < int64_t(code[i.imm[1]].imm[0])) {
      pc = i.imm[1] + 1;
      return;
    }
    --open;
    break;
  case Opcode::Advance:
    if (enabled) {
      Ring &ring = rings[i.sub[0]];
      ring.slot += i.imm[0];
      ring.round += ring.slot / ring.depth;
      ring.slot %= ring.depth;
    }
    break;
  default:
    break;
  }
  ++pc;
}

std::string Stream::describe() const {
  std::string text;
  auto add = [&](const std::string &part) {
    text += (text.empty() ? "" : ", ") + part;
  };
  for (unsigned d = 0; d != open; ++d)
    add("i" + std::to_string(d) + " = " + std::to_string(counters[d]));
  for (unsigned r = 0; r != numRings; ++r)
    if (rings[r].depth)
      add("r" + std::to_string(r) + " = slot " + std::to_string(rings[r].slot) +
          " of round " + std::to_string(rings[r].round));
  return text;
}

std::string Stream::describe(const Wait &wait, int64_t have) const {
  std::string when = describe();
  return "waits for " + semaphoreName(program, semaphore(wait.ref)) +
         (wait.ref.equal() ? " to be " : " to reach ") +
         std::to_string(needed(wait)) + ", it is " + std::to_string(have) +
         (when.empty() ? "" : " (" + when + ")");
}

std::string sim::semaphoreName(const Program &program, unsigned semaphore) {
  const std::string &name = program.semaphores[semaphore].name;
  return name.empty() ? "s" + std::to_string(semaphore) : name;
}
