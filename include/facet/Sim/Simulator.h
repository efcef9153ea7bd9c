//===- Simulator.h - runs a program of the matrix engine ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes a program as docs/InstructionSet.md defines it, bit for bit, and
// reports what a program must not do (docs/Simulator.md lists the codes):
//
//   std::vector<std::vector<uint8_t>> memory(program.buffers.size());
//   memory[0] = ...;                          // in, inout and const buffers
//   sim::RunResult result = sim::runProgram(program, memory);
//   if (result.ok())
//     use(memory[2]);                         // out and inout buffers
//
// The program must have passed checkProgram. There is no time here: the order of
// the queues is one legal order, the same on every run and host; tryOrders looks
// whether others give the same.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_SIM_SIMULATOR_H
#define FACET_SIM_SIMULATOR_H

#include "facet/Isa/Program.h"

namespace facet::sim {

struct RunOptions {
  /// Looks for reads of bytes that nothing wrote, for misuse of accumulation
  /// groups and banks, for outputs with holes and for semaphores that end
  /// elsewhere than declared. What makes a run meaningless (bounds, weights,
  /// deadlock, ...) is found in any case.
  bool checks = true;
  /// With `checks`: proves the absence of races before the run (Race.h).
  bool races = true;
  /// The run ends with SIM-STEPS after this many instructions.
  uint64_t maxSteps = 1'000'000'000;
  /// Threads that share the work of large instructions; 0: as many as the host
  /// runs at once, at most 16. Results do not depend on it.
  unsigned threads = 0;
  /// Another legal order of the queues: 0 is the usual one, 1 and 2 put transfers
  /// off as long as any queue can go on; of the others, even ones follow a timed
  /// run with jitter, odd ones are drawn by lot, from this seed.
  uint64_t order = 0;
};

/// One thing a program did that it must not do.
struct Finding {
  /// Stable: "SIM-UNINIT".
  const char *code = "";
  std::string message;
  /// Index into Program::queues and into its code, or -1: the whole program.
  int queue = -1, pc = -1;
  /// Loop counters and rings at the first time, "i0 = 2, r0 = slot 1 of round 0".
  std::string when;
  /// How often this instruction did it.
  uint64_t times = 1;
  /// More about it: other instructions that are part of it.
  struct Note {
    int queue = -1, pc = -1;
    std::string message;
  };
  std::vector<Note> notes;
};

struct QueueCounts {
  uint64_t executed = 0;
  /// Predicate false.
  uint64_t skipped = 0;
};

struct RunResult {
  std::vector<Finding> findings;
  /// Every queue came to its end.
  bool completed = false;
  std::vector<QueueCounts> queues; // parallel to Program::queues
  std::vector<int32_t> semaphores; // values at the end
  uint64_t multiplyAdds = 0;       // of matmul
  uint64_t hbmBytesRead = 0, hbmBytesWritten = 0;

  bool ok() const { return completed && findings.empty(); }
  /// The outputs are what the program computes: it came to its end, and all that was found,
  /// if anything, is that it is too long for the proof that it has no races
  /// (SIM-RACE-SIZE).
  bool isUsable() const;
};

/// `memory` is parallel to Program::buffers: the bytes of in, inout and const
/// buffers in HBM (each exactly Buffer::bytes long); the others may be empty.
/// Out and inout buffers are filled in, also when something was found.
RunResult runProgram(const Program &program,
                     std::vector<std::vector<uint8_t>> &memory,
                     const RunOptions &options = {});

/// Runs a program that was found good in orders 1 to `orders`. Returns the first
/// run that found something or left other outputs than `expected` (SIM-ORDER:
/// the program has a race); a run without findings when there was none. `given`
/// as for runProgram, `expected` as runProgram left it.
RunResult tryOrders(const Program &program,
                    const std::vector<std::vector<uint8_t>> &given,
                    const std::vector<std::vector<uint8_t>> &expected,
                    uint64_t orders, RunOptions options = {});

/// Adds an error per finding, with the instruction as text and the place in the
/// user's source. `file` is the program's name.
void reportFindings(const Program &program, const RunResult &result,
                    llvm::StringRef file, Diagnostics &diags);

/// Counts and findings: {"schema": "facet-sim-run-2", ...}. What Report.h adds is
/// an object of its own.
llvm::json::Object runToJson(const Program &program, const RunResult &result);

} // namespace facet::sim

#endif // FACET_SIM_SIMULATOR_H
