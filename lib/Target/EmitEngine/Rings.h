//===- Rings.h - who writes and who reads a ring --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_TARGET_EMITENGINE_RINGS_H
#define FACET_LIB_TARGET_EMITENGINE_RINGS_H

#include "facet/Dialect/Engine/IR/Engine.h"
#include "facet/Machine/Machine.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <array>

namespace facet::engine {

/// Who touches memory: an engine, or the DMA engines for a queue that triggers
/// them. An engine's own work is in order, transfers are not.
struct Agent {
  Engine queue = Engine::Tensor;
  bool transfers = false;
  friend bool operator==(Agent a, Agent b) {
    return a.queue == b.queue && a.transfers == b.transfers;
  }
};
Agent agentOf(IssueOp op);

/// A ring register of a queue as a ring finds it: a ring of a stage before may have
/// used it.
struct Register {
  unsigned number = 0;
  /// Steps to take before the ring's first stage, and rounds it has made then.
  int64_t steps = 0, rounds = 0;
};

/// One side of a ring in one queue: the slots it has open, each with a ring
/// register of the queue, one after the other.
struct Cursor {
  Engine queue = Engine::Tensor;
  bool writes = false;
  llvm::SmallVector<Register> registers;
};

/// Semaphores side by side, one per slot.
struct Row {
  unsigned first = 0;
  /// What each holds before the ring's first use: rings of stages before may have
  /// counted with it.
  int64_t base = 0;
  /// By slot, what is added to come to `base`; empty when nothing is.
  llvm::SmallVector<int64_t> missing;
};

struct Reader {
  Agent agent;
  /// Increments of `free` per slot and round: 1, or transfers times DMA engines.
  int64_t perRound = 1;
  /// None when the writer need not wait.
  std::optional<Row> free;
};

struct Ring {
  RingOp op;
  std::optional<Agent> writer;
  std::vector<Reader> readers;
  /// Increments of `full` per slot and round.
  int64_t perRound = 1;
  std::optional<Row> full;
  /// Slots that are filled in all.
  int64_t rounds = 0;
  /// Most slots that are open at once, written and read.
  unsigned window[2] = {0, 0};
  /// Most slots that hold something at once when the text runs from top to bottom:
  /// with fewer its queues may block each other.
  int64_t least = 1;
  /// Slots that it gets: at most its depth, or a few more where only registers of
  /// more are left.
  int64_t most = 0;
  std::vector<Cursor> cursors;
  /// Stages (between barriers) of its first and last use.
  int firstStage = -1, lastStage = -1;

  // Where it lies: byte in a partition and bytes between slots.
  int64_t address = 0, stride = 0;

  RingType type() const { return llvm::cast<RingType>(RingOp(op).getType()); }
  int64_t depth() const { return type().getDepth(); }
  const Cursor *cursor(Engine queue, bool writes) const;
  /// True when the two are ordered by their queue alone.
  bool inOrder(Agent reader) const {
    return !reader.transfers && *writer == reader;
  }
  /// Something reads it that its writer's queue does not order.
  bool needsSemaphores() const {
    return llvm::any_of(
        readers, [&](const Reader &reader) { return !inOrder(reader.agent); });
  }
  /// Slots that are really used: one, when its queue orders all uses and no two are
  /// open at once; never more than are filled.
  int64_t slots() const {
    bool one = !needsSemaphores() && std::max(window[0], window[1]) <= 1;
    return one ? 1 : std::min(most, std::max<int64_t>(rounds, 1));
  }
  /// How often slot `slot` was filled after `filled` slots in all.
  int64_t fillsOf(int64_t slot, int64_t filled) const {
    return (filled - slot + slots() - 1) / slots();
  }
};

/// All rings of a program, in its order.
using Rings = llvm::MapVector<mlir::Value, Ring>;

/// The product of the trips of the loops around `op`, up to `outermost`.
int64_t tripsWithin(mlir::Operation *op, mlir::Block *outermost);

/// Finds writers, readers and counts, and verifies the discipline of rings.
llvm::FailureOr<Rings> analyseRings(ProgramOp program, const Machine &machine);

/// Gives rings their semaphores from number `numSemaphores` on, which becomes one
/// more than the last, and their ring registers. Both serve again in later stages. A
/// ring may get fewer slots than it has asked for.
llvm::LogicalResult giveCounters(Rings &rings, const Machine &machine,
                                 unsigned &numSemaphores);

/// How far rings fell short of the slots they asked for; one that holds less than twice
/// what its text holds at once counts `brokenPipeline` and more.
double lossOf(const Rings &rings);

/// Gives each ring its place. Rings of stages that do not meet may overlap.
llvm::LogicalResult placeRings(Rings &rings, const Machine &machine);

} // namespace facet::engine

#endif // FACET_LIB_TARGET_EMITENGINE_RINGS_H
