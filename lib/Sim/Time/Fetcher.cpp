//===- Fetcher.cpp - instructions on their way to a queue -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A queue holds some packets of instructions, the running one included; the others
// are brought one after the other, each in core.fetch_ns:
//
//   holds 4, straight code     runs 0: holds 0 1 2 3;  runs 1: brings 4, ...
//   a loop of packets 5 to 7   brought once, kept with 8 until the loop is left
//   a loop of packets 5 to 9   its back-edge waits until 5 is brought again
//
// What a queue holds first is there when the program starts.
//
//===----------------------------------------------------------------------===//

#include "Fetcher.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace facet;
using namespace facet::sim;

Fetcher::Fetcher(const Program &program, unsigned queue) {
  const Machine &machine = program.machine;
  const std::vector<Instruction> &code = program.queues[queue].code;
  there.assign(1, 0);
  if (!machine.core.fetch)
    return;
  unsigned size =
      unsigned(machine.core.fetchBytes / machine.core.instructionBytes);
  unsigned packets = unsigned((code.size() + size - 1) / size);
  ahead = unsigned(machine.core.fetchAhead);
  if (packets <= ahead)
    return; // all of it is there
  perPacket = size;
  time = TimeBase(machine).fromPs(machine.core.fetchPs);
  there.assign(packets, absent);
  for (unsigned p = 0; p != ahead; ++p) {
    there[p] = 0;
    held.push_back(p);
  }
  for (unsigned pc = 0; pc != code.size(); ++pc) {
    if (code[pc].op() != Opcode::Loop)
      continue;
    unsigned end = code[pc].imm[1];
    if (end / size - pc / size >= ahead)
      continue;
    kept.push_back({pc, end});
    pc = end;
  }
}

Ticks Fetcher::enter(unsigned pc, Ticks now) {
  current = pc / perPacket;
  // What the queue should hold from now on.
  unsigned first = current, last = current + ahead - 1;
  auto loop =
      std::lower_bound(kept.begin(), kept.end(), pc,
                       [](const Kept &k, unsigned at) { return k.end < at; });
  if (loop != kept.end() && loop->begin <= pc) {
    first = loop->begin / perPacket;
    last = first + ahead - 1;
  }
  last = std::min(last, unsigned(there.size()) - 1);
  auto bring = [&](unsigned packet) {
    if (there[packet] != absent)
      return;
    fetched = std::max(fetched, now) + time;
    there[packet] = fetched;
    held.push_back(packet);
  };
  llvm::erase_if(held, [&](unsigned packet) {
    if (packet >= first && packet <= last)
      return false;
    there[packet] = absent;
    return true;
  });
  for (unsigned p = current; p <= last; ++p)
    bring(p);
  for (unsigned p = first; p < current; ++p)
    bring(p);
  return there[current];
}
