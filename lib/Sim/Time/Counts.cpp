//===- Counts.cpp - what a timed program did in all -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes and multiply-adds of an instruction are the same at every visit, so the
// totals are the executions of each, times what it does once:
//
//   matmul dst=psum[128, 512], moving=sbuf.bf16[128, 512], executed 8192 times
//     -> 8192 x 128 x 128 x 512 multiply-adds, 8192 x 128 KiB read from sbuf
//
//===----------------------------------------------------------------------===//

#include "../Race/Footprint.h"

#include "facet/Sim/Time.h"

using namespace facet;
using namespace facet::sim;

/// Rows that an instruction moves or works on through one of its operands.
static uint64_t rowsOf(const Program &program, const Instruction &i,
                       unsigned slot, const Access &access) {
  if (i.op() == Opcode::DmaGather && slot == 1)
    return program.access(i, 0)->partitions; // of a longer table
  return access.partitions;
}

static uint64_t multiplyAdds(const Program &program, const Instruction &i) {
  if (i.op() != Opcode::Matmul || Pass(i.sub[0]) == Pass::Low)
    return 0;
  const Access &dst = *program.access(i, 0), &moving = *program.access(i, 1);
  return uint64_t(moving.partitions) * dst.partitions * moving.elements();
}

void sim::countWork(const Program &program, TimeResult &result) {
  for (size_t q = 0; q != program.queues.size(); ++q) {
    for (size_t pc = 0; pc != program.queues[q].code.size(); ++pc) {
      const Instruction &i = program.queues[q].code[pc];
      uint64_t times = result.executed[q][pc];
      if (!times)
        continue;
      result.multiplyAdds += times * multiplyAdds(program, i);
      for (const Touch &touch : touchesOf(program, i)) {
        Traffic &traffic =
            (i.isTransfer()
                 ? result.transferBytes
                 : result.engineBytes)[unsigned(touch.access->space)];
        uint64_t bytes =
            times * rowsOf(program, i, touch.operand->slot, *touch.access) *
            touch.access->elements() * dtypeBytes(touch.access->dtype);
        traffic.read += touch.reads ? bytes : 0;
        traffic.written += touch.writes ? bytes : 0;
      }
    }
  }
}

RunResult sim::countsOf(const Program &program, const TimeResult &time) {
  RunResult result;
  result.findings = time.findings;
  result.completed = time.completed;
  result.queues.resize(program.queues.size());
  for (size_t q = 0; q != program.queues.size(); ++q)
    result.queues[q] = {time.engines[q].executed, time.engines[q].skipped};
  result.multiplyAdds = time.multiplyAdds;
  result.hbmBytesRead = time.transferBytes[unsigned(Space::Hbm)].read;
  result.hbmBytesWritten = time.transferBytes[unsigned(Space::Hbm)].written;
  return result;
}
