//===- Trace.cpp - what queues do to semaphores, unrolled -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs through the program without its data and keeps what orders queues:
//
//   loop trips=2                        ->  step 1: wait(full0 >= 16)
//     matmul ..., wait(full0[r0] >= 16)     step 3: wait(full1 >= 16)
//     advance ring=r0                   (steps 0, 2, 4 order nothing)
//   end
//
// Each queue's own sequence does not depend on the others; which number a
// semaphore has after it was set does, and is that of the usual order.
//
//===----------------------------------------------------------------------===//

#include "Trace.h"

#include <map>
#include <tuple>

using namespace facet;
using namespace facet::sim;

//===----------------------------------------------------------------------===//
// Walk
//===----------------------------------------------------------------------===//

Walk::Walk(const Program &program)
    : steps(program.queues.size()), engines(program.machine.dma.engines) {
  for (unsigned q = 0; q != program.queues.size(); ++q)
    streams.emplace_back(program, q);
  for (const SemaphoreInfo &s : program.semaphores)
    values.push_back(s.initial);
}

bool Walk::ready(unsigned q) const {
  for (const Wait &wait : streams[q].now().waits) {
    if (!wait.ref.present())
      continue;
    int64_t have = values[semaphore(q, wait.ref)], want = need(q, wait);
    if (wait.ref.equal() ? have != want && want >= 0 : have < want)
      return false;
  }
  return true;
}

void Walk::update(unsigned q) {
  const Instruction &i = streams[q].now();
  if (i.op() == Opcode::SetSemaphore)
    values[i.imm[0]] = i.imm[1];
  for (const Update &u : i.updates)
    if (u.ref.present())
      values[semaphore(q, u.ref)] += amount(q, u);
}

std::vector<bool> sim::loweredSemaphores(const Program &program) {
  std::vector<bool> lowered(program.semaphores.size());
  for (unsigned q = 0; q != program.queues.size(); ++q)
    for (const Instruction &i : program.queues[q].code) {
      if (i.op() == Opcode::SetSemaphore)
        lowered[i.imm[0]] = true;
      for (const Update &u : i.updates) {
        if (!u.ref.present() || u.amount >= 0)
          continue;
        int ring = u.ref.ring();
        unsigned n = ring < 0 ? 1 : program.ringDepth(q, unsigned(ring));
        for (unsigned s = 0; s != n; ++s)
          lowered[u.ref.base() + s] = true;
      }
    }
  return lowered;
}

//===----------------------------------------------------------------------===//
// Trace
//===----------------------------------------------------------------------===//

Trace::Trace(const Program &program, uint64_t maxSteps)
    : queues(program.queues.size()), engines(program.machine.dma.engines),
      lowered(loweredSemaphores(program)) {
  std::vector<uint32_t> now; // number of each semaphore of the program
  for (const SemaphoreInfo &s : program.semaphores) {
    now.push_back(uint32_t(initial.size()));
    origin.push_back(now.back());
    initial.push_back(s.initial);
  }
  auto renumber = [&](unsigned semaphore, int64_t value) {
    now[semaphore] = uint32_t(initial.size());
    origin.push_back(semaphore);
    initial.push_back(value);
  };
  std::map<std::tuple<uint32_t, int64_t, uint32_t, int64_t>, uint32_t> known;

  Walk walk(program);
  tooLong = !walk.run(maxSteps, [&](unsigned q) {
    const Instruction &i = walk.stream(q).now();
    Event event;
    bool orders = i.op() == Opcode::SetSemaphore;
    for (unsigned w = 0; w != 2; ++w) {
      const Wait &wait = i.waits[w];
      if (!wait.ref.present())
        continue;
      int64_t need = walk.need(q, wait);
      if (wait.ref.equal() ? need < 0 : need <= 0)
        continue;
      orders = true;
      event.waits[w] = now[walk.semaphore(q, wait.ref)];
      event.needs[w] = need;
      event.equal[w] = wait.ref.equal();
    }
    if (i.op() == Opcode::SetSemaphore)
      renumber(i.imm[0], i.imm[1]);
    for (unsigned u = 0; u != 2; ++u) {
      if (!i.updates[u].ref.present())
        continue;
      orders = true;
      unsigned semaphore = walk.semaphore(q, i.updates[u].ref);
      int64_t amount = walk.amount(q, i.updates[u]);
      if (amount < 0) {
        renumber(semaphore, walk.value(semaphore) + amount);
        continue;
      }
      event.updates[u] = now[semaphore];
      event.amounts[u] = amount;
    }
    if (!orders)
      return;
    event.step = walk.step(q);
    event.pc = walk.stream(q).at();
    if (i.isTransfer() && event.isUpdate())
      event.chain = known
                        .try_emplace({event.updates[0], event.amounts[0],
                                      event.updates[1], event.amounts[1]},
                                     uint32_t(known.size()))
                        .first->second;
    queues[q].push_back(event);
  });
  chains = unsigned(known.size());
}
