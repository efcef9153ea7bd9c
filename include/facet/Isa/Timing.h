//===- Timing.h - what each instruction costs on a machine ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one home of (instruction, machine) -> times, read by the planner's cost
// model and by the simulator. Costs are a pure function of the instruction's
// shapes and of the machine; what depends on other instructions (waits, ports
// held by others, semaphores, shared memory) is the caller's, with the rules
// below. All times are integers in ticks of TimeBase.
//
//   Timing timing(program.machine);
//   Cost cost = timing.cost(program, Engine::Vector, instruction);
//   done = start + cost.done;  next may start at start + cost.portFree
//
// Order of an engine's instructions. An instruction starts at the latest of
//   * the earlier instruction's start + portFree (in order, one at a time),
//   * each of its waits: the time the value was reached + hop(...),
//   * the `done` of an earlier instruction of its own queue that wrote what it
//     reads, + machine.semaphore.sameEnginePs (matmuls accumulate without this),
// and then spends `issue` before its work: the four instants below count from
// the start and include it.
//
// The tensor engine has two ports: load_weights runs on the weight port, matmul
// and transpose on the stream port. A load starts when its place is free: with
// shadow weights at the start of the first matmul that uses the previous load +
// weightDelay(), without at the end (portFree) of the last one. A matmul starts
// when the previous one's portFree and its own load's `ready` allow: the pipeline
// behind the last weight is that of the array and runs beside it. With
// serialise_on_drain a load starts after the `done` of every earlier matmul. The
// two ports take their instructions in the order of the queue: a load may run
// ahead of nothing but the streaming of matmuls before it.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_ISA_TIMING_H
#define FACET_ISA_TIMING_H

#include "facet/Isa/Program.h"

namespace facet {

/// The instants of an instruction, in ticks after its start.
struct Cost {
  /// Spent before the work: dispatch, address updates.
  Ticks issue = 0;
  /// Inputs have been read: others may overwrite them. (A load_weights of several
  /// f32 passes still reads when `ready` and `done`, those of its first pass, are
  /// past.)
  Ticks sourceFree = 0;
  /// The port is free: the next instruction may start.
  Ticks portFree = 0;
  /// The result is visible; updates happen.
  Ticks done = 0;
  /// load_weights: a matmul of these weights may start.
  Ticks ready = 0;
  /// Streaming time at full rate, for the tensor clock's windows; 0 for others.
  Ticks work = 0;
  /// Vector in a fast mode (see sbuf.fast_mode_exclusive).
  bool fastMode = false;
};

/// One row of a transfer, cut into packets; all rows are cut the same way.
struct RowPackets {
  uint64_t full = 0;      ///< packets of fullBytes
  uint64_t fullBytes = 0; ///<
  uint64_t tails = 0;     ///< packets of tailBytes
  uint64_t tailBytes = 0; ///<
  uint64_t bytes() const { return full * fullBytes + tails * tailBytes; }
};

struct TransferCost {
  /// The triggering engine is occupied (its portFree).
  Ticks issue = 0;
  /// Least time between the starts of two triggers of this engine.
  Ticks spacing = 0;
  /// From the instant the trigger could start to its start, unless another one of
  /// this engine came just before (within its spacing).
  Ticks wake = 0;
  /// From the start of the trigger until the first packet may be taken.
  Ticks firstData = 0;
  /// From then until HBM answers, when it is read.
  Ticks lag = 0;
  /// Each engine is held this long before its first packet.
  Ticks open = 0;
  uint64_t rows = 0;
  RowPackets row;
  /// Percent of an engine's rate this transfer reaches.
  int64_t ratePercent = 100;
  bool readsHbm = false, writesHbm = false;
};

class Timing {
public:
  explicit Timing(const Machine &machine) : machine(machine), base(machine) {}

  const TimeBase &time() const { return base; }

  /// Everything but transfers (see transfer()). `slow`: the tensor clock is in a
  /// slow window. A function table that must be loaded first is not included.
  /// For `loop` the cost of entering it; for `end` that of a back-edge; an `end`
  /// that falls through costs nothing.
  Cost cost(const Program &program, unsigned queue,
            const Instruction &instruction, bool slow = false) const;

  /// An instruction whose predicate is false takes this long.
  Ticks skip() const { return base.fromPs(machine.core.skipPs); }

  /// The first load of a program may take longer (tensor.first_weight_cycles).
  Cost firstLoadCost(const Program &program, unsigned queue,
                     const Instruction &instruction, bool slow = false) const;
  Ticks weightDelay() const {
    return base.fromPs(machine.tensor.weightDelayPs);
  }

  /// Added to the start of an activate whose function has another table than the
  /// one loaded last (none at the start).
  Ticks tableLoad() const { return base.fromPs(machine.scalar.tableLoadPs); }
  static bool needsTable(Function function) {
    return function != Function::Identity;
  }

  /// From the instant a semaphore got its value to the start of the instruction
  /// that waits for it.
  Ticks hop(bool fromTransfer, const Instruction &waiting) const;

  TransferCost transfer(const Program &program, unsigned queue,
                        const Instruction &instruction) const;
  /// Which DMA engine serves a row of a transfer.
  unsigned engineOfRow(uint64_t row) const {
    return unsigned(row / uint64_t(machine.dma.partitionsPerEngine) %
                    uint64_t(machine.dma.engines));
  }
  /// A DMA engine takes its next packet this long after taking one of `bytes`.
  Ticks packetNext(uint64_t bytes, int64_t ratePercent = 100) const;
  /// A packet has arrived this long after it was taken.
  Ticks packetDone(uint64_t bytes, int64_t ratePercent = 100) const;
  /// The packet with which each engine updates the semaphore, after its data.
  Ticks semaphoreWrite() const {
    return base.fromPs(machine.dma.semaphoreWritePs);
  }

  /// Length of a clock window of the tensor engine.
  Ticks window() const {
    return base.fromCycles(machine.tensor.windowCycles,
                           machine.tensor.windowClockMHz);
  }

private:
  Ticks issueTime(const Program &program, const Instruction &instruction) const;
  Cost addIssue(const Program &program, const Instruction &instruction,
                Cost cost) const;
  Cost controlCost(const Instruction &instruction) const;
  Cost tensorCost(const Program &program, const Instruction &instruction,
                  bool slow, bool first) const;
  Cost elementCost(const Program &program, Engine engine,
                   const Instruction &instruction) const;

  const Machine &machine;
  TimeBase base;
};

/// The banks of PSUM an access may touch, as a bit mask; 0 when it is not in
/// PSUM. `affineBytes` is the value of its affine form.
uint64_t psumBanks(const Machine &machine, const Access &access,
                   int64_t affineBytes = 0);

} // namespace facet

#endif // FACET_ISA_TIMING_H
