//===- Profile.h - a recorded run of a real core, as a program ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads one of the per-instruction profiles of test/Sim/trn2 (README.md there) and
// writes the same instructions, with their waits and updates, as a program.
//
//   Profile profile = Profile::read(folder + "/fused_bf16_s512");
//   Program program = replay(machine, profile);
//   // program.queues[q].code[i] is profile.user[profile.placed[q][i]]
//
//===----------------------------------------------------------------------===//

#ifndef FACET_BENCH_SIM_PROFILE_H
#define FACET_BENCH_SIM_PROFILE_H

#include "facet/Isa/Program.h"

namespace facet::bench {

struct Profile {
  struct Instruction {
    int64_t start = 0, duration = 0; // ns
    Engine engine = Engine::Tensor;
    std::string opcode, operands;
    int64_t pc = 0;

    int64_t end() const { return start + duration; }
  };
  struct Window {
    int64_t start = 0, duration = 0; // ns
    bool full = false;
  };

  std::string name;
  /// The kernel's own instructions (not those of the runtime around it), by
  /// engine, then by place in the engine's queue.
  std::vector<Instruction> user;
  std::vector<Window> windows;

  static Profile read(const std::string &path);

  /// The first instruction's start.
  int64_t begin() const;
  /// The end of the last instruction that is not just a wait.
  int64_t end() const;
  /// Age of the clock window at begin(), for windows of this length.
  int64_t clockPhase(double windowNs) const;
  /// Share of the matmuls that started in a full-rate window.
  double fullRateShare() const;
};

struct Replay {
  Program program;
  /// [queue][index of instruction] -> index into Profile::user.
  std::vector<std::vector<size_t>> source;
};

Replay replay(const Machine &machine, const Profile &profile);

} // namespace facet::bench

#endif // FACET_BENCH_SIM_PROFILE_H
