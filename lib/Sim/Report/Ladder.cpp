//===- Ladder.cpp - from the ideal time to the one it took ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the time of the engine that matters went, each tick in one step:
//
//   ideal                  1747.6 us   multiply-adds on a full array
//   + empty places            0.0      rows and columns of the array not used
//   + instruction limits     21.3      gaps between instructions, shortest ones
//   + weights                 4.4      the array waits for weights
//   + DMA                    11.0      waits for a transfer
//   ...                              = the total
//
// For a program that does not multiply, the engine that works longest, from its
// busy time on.
//
//===----------------------------------------------------------------------===//

#include "Parts.h"

#include <algorithm>

using namespace facet;
using namespace facet::sim;

/// Instruction time without gaps and floors is known for the array only.
static void findArraySteps(const Timing &timing, const Totals &totals,
                           const Machine &machine, const EngineTime &time,
                           std::vector<LadderStep> &ladder) {
  double perCycle =
      double(timing.time().fromCycles(1000, machine.tensor.clockMHz)) / 1000;
  Ticks transposes = std::min(totals.transposes, time.work);
  Ticks streaming = time.work - transposes;
  Ticks ideal = std::min(Ticks(totals.idealCycles * perCycle), streaming);
  ladder.push_back({"ideal", "all multiply-adds on a full array", ideal});
  ladder.push_back({"empty places", "rows and columns of the array not in use",
                    streaming - ideal});
  ladder.push_back({"transposes", "the array transposes", transposes});
  ladder.push_back({"instruction limits",
                    "gaps between instructions, shortest durations",
                    std::max<Ticks>(time.busy - time.work, 0)});
}

void sim::findLadder(const Program &program, const Timing &timing,
                     const Totals &totals, Report &report) {
  for (const EngineLine &engine : report.engines) {
    bool tensor = program.queues[engine.queue].engine == Engine::Tensor;
    if (tensor && report.multiplyAdds) {
      report.ladderOf = int(engine.queue);
      break;
    }
    if (report.ladderOf < 0 ||
        engine.time.busy > report.engines[size_t(report.ladderOf)].time.busy)
      report.ladderOf = int(engine.queue);
  }
  if (report.ladderOf < 0)
    return;
  const EngineTime &time = report.engines[size_t(report.ladderOf)].time;
  std::vector<LadderStep> &ladder = report.ladder;
  bool array = program.queues[size_t(report.ladderOf)].engine == Engine::Tensor;
  if (array)
    findArraySteps(timing, totals, program.machine, time, ladder);
  else
    ladder.push_back({"busy", "the engine works", time.busy});
  auto step = [&](const char *name, const char *meaning,
                  std::initializer_list<Stall> stalls) {
    Ticks ticks = 0;
    for (Stall stall : stalls)
      ticks += time.stall(stall);
    ladder.push_back({name, meaning, ticks});
  };
  if (array) {
    step("slow clock", "the array runs at a part of its rate", {Stall::Clock});
    step("weights", "waits for weights or for their place", {Stall::Weights});
  }
  step("DMA", "waits for a transfer", {Stall::Transfer});
  step("other engines", "waits for another engine, or for a port it holds",
       {Stall::Semaphore, Stall::Port});
  step("own results", "waits for an earlier result of its own",
       {Stall::Dependency});
  step("instructions", "fetch, dispatch, loops, tables, gaps between triggers",
       {Stall::Fetch, Stall::Issue, Stall::Control, Stall::Table,
        Stall::Spacing});
  if (!array)
    step("slow clock", "", {Stall::Clock, Stall::Weights});
  step("end", "at its end, others are not", {Stall::Idle});
}
