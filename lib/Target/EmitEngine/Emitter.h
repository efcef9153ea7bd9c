//===- Emitter.h - what the parts of EmitEngine share ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_TARGET_EMITENGINE_EMITTER_H
#define FACET_LIB_TARGET_EMITENGINE_EMITTER_H

#include "Rings.h"
#include "facet/Isa/Builder.h"
#include "mlir/IR/BuiltinAttributes.h"

#include "llvm/ADT/SmallSet.h"

namespace facet::engine {

/// A slot of a ring between acquire and commit, or wait and release.
struct Slot {
  Ring *ring = nullptr;
  bool writes = false;
  /// Its place among the slots opened since none was.
  unsigned position = 0;
  mlir::Block *block = nullptr;
  /// By agent: it has waited for the slot.
  llvm::SmallVector<Agent, 4> waited;
  /// By queue: the engine's last use, when that is an instruction of the slot's own
  /// block, done always; -1 when it is not.
  llvm::SmallMapVector<unsigned, int64_t, 4> last;
  /// By queue: transfers emitted.
  llvm::SmallMapVector<unsigned, int64_t, 4> transfers;
};

class Emitter {
public:
  Emitter(ProgramOp program, const Machine &machine)
      : program(program), machine(machine), builder(machine) {}
  llvm::FailureOr<Program> run();

private:
  // Declarations.
  llvm::LogicalResult declareBuffers();
  void declareSemaphores(unsigned count);
  void declareCursors();

  // Walk.
  llvm::LogicalResult emitBlock(mlir::Block &block);
  llvm::LogicalResult emitLoop(ForOp loop);
  llvm::LogicalResult emitIssue(IssueOp op);
  void open(mlir::Operation &op, bool writes);
  void close(mlir::Operation &op, bool writes);
  void emitBarrier(mlir::Operation &op);
  void prepareCounters();

  // Pieces of an instruction.
  void setOperand(IssueOp op, unsigned tile, Instruction &instruction);
  llvm::LogicalResult setField(IssueOp op, const OpcodeInfo &info,
                               mlir::NamedAttribute field,
                               Instruction &instruction);
  AffineForm formOf(mlir::AffineExpr expr, mlir::ValueRange counters,
                    Engine queue, int64_t scale);
  uint16_t predicateOf(IssueOp op);
  SemaphoreRef semaphore(const Row &row, const Ring &ring, const Slot &slot,
                         Engine queue);
  llvm::SmallVector<Wait> waitsOf(Slot &slot, Agent agent);
  void addUpdate(Engine queue, int64_t pc, Update update,
                 mlir::Location location);
  void advance(Engine queue, unsigned number, int64_t steps, uint32_t location);
  uint32_t locationOf(mlir::Location location, llvm::StringRef mnemonic);
  void collectQueues(mlir::Block &block, llvm::SmallSet<unsigned, 8> &queues);

  ProgramOp program;
  const Machine &machine;
  ProgramBuilder builder;
  Rings rings;
  llvm::DenseMap<mlir::Value, uint32_t> buffers;
  llvm::DenseMap<mlir::Value, Slot> slots; // open ones, by root
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>>
      openSlots[2];                                // by ring; 0: read
  llvm::DenseMap<mlir::Value, unsigned> opened[2]; // since none was open
  llvm::DenseMap<mlir::Value, int64_t> filled;     // committed so far
  llvm::SmallVector<mlir::Operation *> loops[numEngines];
  int64_t times = 1;
  unsigned barrier = 0;
  int64_t barrierValue = 0;
  int stage = 0;
};

} // namespace facet::engine

#endif // FACET_LIB_TARGET_EMITENGINE_EMITTER_H
