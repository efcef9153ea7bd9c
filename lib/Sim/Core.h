//===- Core.h - one core at work ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_CORE_H
#define FACET_LIB_SIM_CORE_H

#include "Memory.h"
#include "Multiply.h"
#include "Stream.h"
#include "Workers.h"

#include "facet/Sim/Simulator.h"

#include "llvm/ADT/DenseSet.h"
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
  void store(std::vector<std::vector<uint8_t>> &taken);

private:
  /// Something that a row should not have met; told later, so that threads can
  /// share the rows of an instruction.
  struct Fault {
    const Region *region;
    uint64_t row;
    int64_t byte;
    const char
        *verb; // what it did to an open group; null: it read unwritten bytes
  };
  using Faults = std::vector<Fault>;

  // Order (Run.cpp).
  bool ready(unsigned queue, const Wait &wait) const;
  bool ready(unsigned queue) const;
  void issue(unsigned queue);
  void runUsual();
  void add(unsigned semaphore, int64_t amount);
  void reportDeadlock();
  void checkEnd();
  void checkOutput(unsigned buffer);

  // Other orders (Orders.cpp).
  void runOtherwise();
  void finishTransfer(size_t index);

  // Instructions.
  void execute();
  void loadWeights();
  void keepWeights();
  void copyWeights();
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
  void elementwiseRow(uint64_t row, Faults &faults);
  void blockTranspose();
  void moveRow(const Region &dst, uint64_t dstRow, const Region &src,
               uint64_t srcRow, bool direct, Faults &faults);
  void transferCopy();
  void transferTranspose();
  void transferGather();
  void countBytes(const Region &region, uint64_t rows);

  // Operands (Operands.cpp).
  /// Works out all operands; false when one leaves its memory.
  bool resolve();
  bool resolve(unsigned slot, const char *name);
  void noteWritten();
  bool has(unsigned slot) const { return regions[slot].access != nullptr; }
  /// A row as it lies in memory, element after element.
  void read(const Region &region, uint64_t row, std::vector<uint8_t> &packed,
            Faults &faults, const uint8_t *wanted = nullptr) const;
  void write(const Region &region, uint64_t row, const uint8_t *packed,
             Faults &faults);
  void checkClosed(const Region &region, uint64_t row, const char *verb,
                   Faults &faults) const;
  bool isWhollyWritten(const Region &region) const;
  void report(const Faults &faults);
  /// Calls work(row, faults) for rows that do not depend on each other, on several
  /// threads when all of it takes about `ns`, and reports what was met in the
  /// order of the rows.
  void shareRows(uint64_t rows, uint64_t ns,
                 llvm::function_ref<void(uint64_t, Faults &)> work);

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

  /// A transfer that was triggered and has not moved its data (Orders.cpp).
  struct Transfer {
    unsigned queue = 0;
    int pc = 0;
    const Instruction *instruction = nullptr;
    Region regions[5];
    unsigned semaphores[2] = {};
    std::string when;
    Ticks at = 0; // in an order by time
  };
  std::vector<Transfer> transfers;
  uint64_t steps = 0;

  /// Accesses, and where they started, all of whose bytes are written.
  llvm::DenseSet<std::pair<const Access *, int64_t>> written;
  bool sawUnwritten = false;

  // The instruction being executed.
  unsigned queue = 0;
  int pc = 0;
  std::string when; // of a transfer, else the queue's counters
  const Instruction *current = nullptr;
  Engine engine = Engine::Tensor;
  Region regions[5];

  /// The stationary operand, k rows of m elements.
  struct Weights {
    bool loaded = false, doubleRow = false;
    DType dtype = DType::F32;
    Pass pass = Pass::All;
    uint32_t partition = 0, partitions = 0;
    size_t rows = 0, columns = 0;
    /// Its bits, `stride` bytes from row to row: still in sbuf, or in `copy`.
    const uint8_t *data = nullptr;
    ptrdiff_t stride = 0;
    bool inPlace = false;
    Region place;
    std::vector<uint8_t> copy;
    /// Loads so far.
    uint64_t number = 0;
  } weights;
  Workers workers;
  /// As each thread has packed them for itself: what another one has written is
  /// slow to come by.
  struct alignas(64) Packed {
    PackedWeights weights;
    uint64_t number = 0;
  };
  std::vector<Packed> packed;

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
  const uint32_t *groupsOf(const Region &region, uint64_t row) const;
  uint32_t *groupsOf(const Region &region, uint64_t row);
};

} // namespace facet::sim

#endif // FACET_LIB_SIM_CORE_H
