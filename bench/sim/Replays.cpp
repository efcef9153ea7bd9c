//===- Replays.cpp - recorded runs of a real core, run again --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same instructions with the same waits, on the trn2 machine file: from the
// first to the last of the kernel's own instructions, and the share of matmuls
// that found the array at its full clock. Only the age of the clock window at the
// start is taken from the recording. The parameters were fitted on S = 512; the
// profiles of S = 1024 are predictions.
//
//===----------------------------------------------------------------------===//

#include "Profile.h"
#include "Rows.h"

#include "llvm/Support/raw_ostream.h"

using namespace facet;
using namespace facet::bench;

namespace {
struct Run {
  Replay again;
  sim::TimeResult result;
  Ticks first = INT64_MAX, last = 0;

  Run(const Machine &machine, const Profile &profile);
  double us() const {
    return double(last - first) / double(result.ticksPerNs) / 1000;
  }
  double fullShare() const {
    return double(result.matmulsAtFullRate) / double(result.matmuls);
  }
};
} // namespace

/// From the start of the first instruction to the end of the last one that is not
/// just a wait.
Run::Run(const Machine &machine, const Profile &profile)
    : again(replay(machine, profile)) {
  sim::TimeOptions options;
  options.record = true;
  double window = double(machine.tensor.windowCycles) * 1000 /
                  double(machine.tensor.windowClockMHz);
  options.clockPhasePs = profile.clockPhase(window) * 1000;
  result = timed(again.program, options);
  for (const sim::Span &span : result.spans) {
    first = std::min(first, span.start);
    if (again.program.queues[span.queue].code[span.pc].op() != Opcode::Nop)
      last = std::max(last, span.done);
  }
}

void bench::printReplay(const RowOptions &options, llvm::StringRef name,
                        llvm::raw_ostream &os) {
  Machine machine = machineNamed("trn2", options);
  Profile profile = Profile::read(options.profiles + "/" + name.str());
  Run run(machine, profile);
  os << "engine,pc,opcode,start,end,simulated_start,simulated_end,operands\n";
  for (const sim::Span &span : run.result.spans) {
    const Profile::Instruction &i =
        profile.user[run.again.source[span.queue][span.pc]];
    auto ns = [&](Ticks t) {
      return (t - run.first + run.result.ticksPerNs / 2) /
             run.result.ticksPerNs;
    };
    os << engineName(i.engine) << ',' << i.pc << ',' << i.opcode << ','
       << i.start - profile.begin() << ',' << i.end() - profile.begin() << ','
       << ns(span.start) << ',' << ns(span.done) << ",\"" << i.operands
       << "\"\n";
  }
}

void bench::replays(const RowOptions &options, Rows &rows) {
  Machine machine = machineNamed("trn2", options);
  struct Case {
    const char *name, *table;
  };
  for (Case c : {Case{"baseline_bf16_s512", "trn2-instr"},
                 {"baseline_fp32_s512", "trn2-instr"},
                 {"fused_bf16_s512", "trn2-instr"},
                 {"fused_fp32_s512", "trn2-instr"},
                 {"baseline_bf16_s1024", "trn2-heldout"},
                 {"fused_fp32_s1024", "trn2-heldout"}}) {
    Profile profile = Profile::read(options.profiles + "/" + c.name);
    Run run(machine, profile);
    double measured = double(profile.end() - profile.begin()) / 1000;
    std::string name = c.name;
    rows.push_back({c.table, name + " first to last instruction", measured,
                    run.us(), "us", within(measured, 5)});
    double share = 100 * profile.fullRateShare();
    rows.push_back({c.table, name + " matmuls at full rate", share,
                    100 * run.fullShare(), "%",
                    Row::Bar{share - 10, share + 10}});
  }
}
