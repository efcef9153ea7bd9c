//===- Names.cpp - what events of a recorded run are called ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   semaphore 3              "full0", or "s3" when it has no name
//   an instruction           "tensor 3 matmul"
//   a transfer               its trigger: "sync 2 dma_copy"
//   an execution in loops    "i0 = 1, i1 = 2"
//
//===----------------------------------------------------------------------===//

#include "Names.h"

#include "facet/Sim/Report.h"

using namespace facet;
using namespace facet::sim;

std::string sim::semaphoreName(const Program &program, int semaphore) {
  const std::string &name = program.semaphores[size_t(semaphore)].name;
  return name.empty() ? "s" + std::to_string(semaphore) : name;
}

const Span &sim::spanOf(const TimeResult &time, Cause cause) {
  return cause.kind == Cause::Transfer
             ? time.spans[time.transfers[cause.index].span]
             : time.spans[cause.index];
}

std::string sim::nameOf(const Program &program, const TimeResult &time,
                        Cause cause) {
  if (cause.kind == Cause::None)
    return "";
  const Span &span = spanOf(time, cause);
  return labelOf(program, int(span.queue), int(span.pc)).name;
}

std::string sim::countersOf(const Program &program, const Span &span) {
  std::string text;
  std::vector<int64_t> counters =
      loopCounters(program, span.queue, span.pc, span.visit);
  for (size_t d = 0; d != counters.size(); ++d)
    text += (d ? ", i" : "i") + std::to_string(d) + " = " +
            std::to_string(counters[d]);
  return text;
}
