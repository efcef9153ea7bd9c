//===- Core.h - one core at work ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_CORE_H
#define FACET_LIB_SIM_CORE_H

#include "Memory.h"
#include "Multiply.h"
#include "Stream.h"
#include "Workers.h"

#include "facet/Sim/Simulator.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <tuple>

namespace facet::sim {

/// The state of a core and what instructions do to it. Run.cpp: order and
/// semaphores; Tensor.cpp, Elementwise.cpp, Transfers.cpp: the instructions;
/// Operands.cpp: how they reach memory.
class Core {
public:
  Core(const Program &program, const RunOptions &options, RunResult &result);

  /// Fills hbm; false when something cannot be.
  bool load(const std::vector<std::vector<uint8_t>> &given);
  void run();
  void store(std::vector<std::vector<uint8_t>> &taken) const;

private:
  // Order (Run.cpp).
  bool ready(unsigned queue, const Wait &wait) const;
  bool ready(unsigned queue) const;
  void issue(unsigned queue);
  void runUsual();
  void runOtherwise();
  void finishTransfer(size_t index);
  void add(unsigned semaphore, int64_t amount);
  void reportDeadlock();
  void checkEnd();
  void checkOutput(unsigned buffer);

  // Instructions.
  void execute();
  void loadWeights();
  void matmul();
  void transpose();
  bool checkWeights(const Region &dst, const Region *moving);
  void checkBanks(const Region &dst);
  void multiply(const Moving &moving, const Sums &sums, bool start);
  void leaveGroup(uint32_t group, uint64_t words);
  void openGroup(const Region &dst);
  void continueGroup(const Region &dst);
  void closeGroup(const Region &dst);
  void elementwise();
  template <typename T>
  void elementwiseRow(uint64_t row);
  void blockTranspose();
  void transferCopy();
  void transferTranspose();
  void transferGather();
  void countBytes(const Region &region, uint64_t rows);

  // Operands (Operands.cpp).
  /// Works out all operands; false when one leaves its memory.
  bool resolve();
  bool resolve(unsigned slot, const char *name);
  bool has(unsigned slot) const { return regions[slot].access != nullptr; }
  /// A row as it lies in memory, element after element.
  void read(const Region &region, uint64_t row, std::vector<uint8_t> &packed,
            const uint8_t *wanted = nullptr);
  void write(const Region &region, uint64_t row, const uint8_t *packed);
  void checkClosed(const Region &region, uint64_t row, const char *verb);
  void reportUnwritten(const Region &region, uint64_t row, int64_t byte);

  // Findings (Operands.cpp).
  /// About the instruction being executed. What is `fatal` ends the run.
  Finding &find(const char *code, const llvm::Twine &message,
                bool fatal = false);
  Finding &findInProgram(const char *code, const llvm::Twine &message);
  std::string byteName(const Region &region, uint64_t row, int64_t byte) const;

  const Program &program;
  const Machine &machine;
  RunOptions options;
  RunResult &result;
  Memory memory;
  std::vector<Stream> streams;
  std::vector<int32_t> semaphores;
  bool stopped = false;
  std::map<std::tuple<std::string, int, int>, size_t> found;

  /// A transfer that was triggered and has not moved its data (runOtherwise).
  struct Transfer {
    unsigned queue = 0;
    int pc = 0;
    const Instruction *instruction = nullptr;
    Region regions[5];
    unsigned semaphores[2] = {};
    std::string when;
  };
  std::vector<Transfer> transfers;
  uint64_t steps = 0;

  // The instruction being executed.
  unsigned queue = 0;
  int pc = 0;
  std::string when; // of a transfer, else the queue's counters
  const Instruction *current = nullptr;
  Engine engine = Engine::Tensor;
  Region regions[5];
  bool integers = false; // it computes in i32
  std::vector<uint8_t> rows[5];

  /// The stationary operand: k-th row and m-th column at [k * columns + m].
  struct Weights {
    bool loaded = false, doubleRow = false;
    DType dtype = DType::F32;
    Pass pass = Pass::All;
    uint32_t partition = 0, partitions = 0;
    size_t rows = 0, columns = 0;
    std::vector<uint8_t> bits;
    PackedWeights packed;
    bool isPacked = false;
  } weights;
  Workers workers;

  /// The open accumulation group of each 4 bytes of psum, or 0.
  std::vector<uint32_t> groups;
  struct OpenGroup {
    uint64_t words = 0;
    /// What it was started with.
    Access access;
    int64_t start = 0;
  };
  std::map<uint32_t, OpenGroup> openGroups;
  uint32_t lastGroup = 0;
  uint32_t *groupsOf(const Region &region, uint64_t row);
};

} // namespace facet::sim

#endif // FACET_LIB_SIM_CORE_H
