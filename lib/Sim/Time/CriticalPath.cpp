//===- CriticalPath.cpp - what the total consists of ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks back from what ended last over what let each start:
//
//   copy 690 ns <- update 36 ns <- matmul 379 ns <- update 340 ns <- transfer ...
//
// Every recorded span names that one, so the walk is as long as its answer.
//
//===----------------------------------------------------------------------===//

#include "facet/Sim/Time.h"

#include <algorithm>

using namespace facet;
using namespace facet::sim;

std::vector<int64_t> sim::loopCounters(const Program &program, unsigned queue,
                                       unsigned pc, uint64_t visit) {
  const std::vector<Instruction> &code = program.queues[queue].code;
  std::vector<uint32_t> trips;
  for (unsigned at = 0; at != pc; ++at)
    if (code[at].op() == Opcode::Loop)
      trips.push_back(code[at].imm[0]);
    else if (code[at].op() == Opcode::End)
      trips.pop_back();
  std::vector<int64_t> counters(trips.size());
  for (size_t d = trips.size(); d-- > 0;) {
    counters[d] = int64_t(visit % trips[d]);
    visit /= trips[d];
  }
  return counters;
}

std::vector<CriticalStep> sim::criticalPath(const TimeResult &result) {
  std::vector<CriticalStep> path;
  // What ended last; of several the first.
  Cause at;
  Ticks last = -1;
  for (uint32_t i = 0; i != result.spans.size(); ++i)
    if (Ticks done = std::max(result.spans[i].done, result.spans[i].portFree);
        done > last) {
      last = done;
      at = {Cause::Instruction, i};
    }
  for (uint32_t i = 0; i != result.transfers.size(); ++i)
    if (result.transfers[i].done > last) {
      last = result.transfers[i].done;
      at = {Cause::Transfer, i};
    }
  Ticks now = result.total;
  Stall reason = Stall::Idle;
  while (now > 0) {
    Ticks begin = 0, done = 0;
    Cause before;
    Stall why = Stall::Idle;
    if (at.kind == Cause::Instruction) {
      const Span &span = result.spans[at.index];
      begin = span.start;
      done = std::max(span.done, span.portFree);
      before = span.cause;
      why = span.reason;
    } else if (at.kind == Cause::Transfer) {
      const TransferSpan &span = result.transfers[at.index];
      begin = span.start;
      done = span.done;
      before = span.cause;
      // What had ended before it might start did not hold it up, and of two that
      // shared the engines only the one that began first did.
      if (before.kind == Cause::Transfer &&
          (result.transfers[before.index].done <= span.ready ||
           result.transfers[before.index].start >= span.start))
        before = {Cause::Instruction, span.span};
      why = Stall::Transfer;
    }
    done = std::min(done, now);
    if (done < now)
      path.push_back({done, now, at, false, reason});
    if (at.kind == Cause::None)
      break;
    if (begin < done)
      path.push_back({begin, done, at, true, Stall::Idle});
    now = std::min(begin, done);
    at = before;
    reason = why;
  }
  std::reverse(path.begin(), path.end());
  return path;
}
