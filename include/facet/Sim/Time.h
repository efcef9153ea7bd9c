//===- Time.h - when each instruction of a program runs -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time model of the simulator (docs/Simulator.md, "Time"). It needs no data:
//
//   sim::TimeResult t = sim::timeProgram(program);
//   t.ns();                                   // 1748.6
//   t.engines[q].busy, t.engines[q].stall(Stall::Transfer)
//
// Everything is in ticks of TimeBase (t.ticksPerNs of them in a ns), counted from
// the instant the queues start. The same program gives the same result on every
// host. The program must have passed checkProgram.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_SIM_TIME_H
#define FACET_SIM_TIME_H

#include "facet/Sim/Simulator.h"

#include <optional>

namespace facet::sim {

struct TimeOptions {
  /// Fill TimeResult::spans, transfers, shares and windows.
  bool record = false;
  /// The run ends with SIM-STEPS after this many instructions.
  uint64_t maxSteps = 1'000'000'000;
  /// Not 0: each instruction, and the latency of each transfer, is lengthened by up
  /// to so many quarters (at most 16), by lot from this seed.
  uint64_t jitterSeed = 0;
  unsigned jitterQuarters = 1;
  /// Age of the tensor clock's first window when the program starts, instead of
  /// tensor.window_phase_ns.
  std::optional<int64_t> clockPhasePs;
  /// Rates of the first windows, true: slow. After them the rule of
  /// tensor.window_share goes on. For replays of a recorded clock.
  std::vector<bool> slowWindows;
};

/// What an engine's time went into, besides its work.
enum class Stall : uint8_t {
  Semaphore,  ///< waits for an update of another engine
  Transfer,   ///< waits for an update of a transfer
  Dependency, ///< waits for an earlier result of its own queue
  Weights,    ///< the array waits for its weights or for their place
  Port,       ///< another engine holds the port or the bank
  Table,      ///< loads a function table
  Clock,      ///< the array runs at a part of its rate
  Fetch,      ///< waits for instructions
  Issue,      ///< dispatch, address updates
  Control,    ///< loops, rings, skipped instructions, waits on their own
  Spacing,    ///< least time between two triggers of transfers
  Idle,       ///< the queue is at its end
};
constexpr unsigned numStalls = 12;
const char *stallName(Stall stall); // "semaphore"

/// What an earlier event is called by: an instruction or a transfer.
struct Cause {
  enum Kind : uint8_t { None, Instruction, Transfer } kind = None;
  /// Into TimeResult::spans or TimeResult::transfers.
  uint32_t index = 0;
};

/// One instruction that was executed (not one whose predicate was false).
struct Span {
  uint32_t queue = 0, pc = 0;
  /// How often the queue had come to this instruction before, skipped ones
  /// included; loopCounters() makes counters of it.
  uint32_t visit = 0;
  /// The last thing it waited for before it started; Idle: nothing, it started
  /// as soon as its engine was free of the instruction before it.
  Stall reason = Stall::Idle;
  /// Whose end let it start: with Semaphore and Transfer the one whose update
  /// released it; else the instruction of its own queue or of the engine that
  /// held the port.
  Cause cause;
  /// The semaphore it was released by (Semaphore, Transfer), else -1.
  int32_t semaphore = -1;
  /// The engine had come to this instruction: it was free for it.
  Ticks ready = 0;
  Ticks start = 0;
  /// Its inputs were read; the next instruction could start; its result was
  /// visible (for a transfer: the trigger was done).
  Ticks sourceFree = 0, portFree = 0, done = 0;
};

/// One transfer.
struct TransferSpan {
  /// Its trigger, into TimeResult::spans.
  uint32_t span = 0;
  uint32_t ring = 0;
  uint64_t bytes = 0;
  /// The first packet might be taken, was taken; the last byte arrived; the last
  /// DMA engine updated the semaphore (the same when there is no update).
  Ticks ready = 0, start = 0, dataDone = 0, done = 0;
  /// Whose end let its last share start: its trigger, or the transfer before it.
  Cause cause;
};

/// What one DMA engine does for a transfer, from its first packet to its last.
/// Between them it may serve other rings.
struct ShareSpan {
  uint32_t transfer = 0; // into TimeResult::transfers
  uint32_t engine = 0;
  Ticks start = 0, done = 0;
  uint64_t bytes = 0, packets = 0;
};

/// One window of the tensor clock. Windows without streaming after such a one are
/// left out, and those in the middle of an instruction that fills very many.
struct ClockWindow {
  Ticks start = 0; // may be negative: the first one had begun
  bool slow = false;
  /// Streaming at full rate that was done in it.
  Ticks work = 0;
};

/// Parallel to Program::queues. busy and the stalls sum to TimeResult::total.
struct EngineTime {
  /// The engine worked (at full rate, what is beyond is Stall::Clock); for the
  /// tensor engine the stream port.
  Ticks busy = 0;
  Ticks stalls[numStalls] = {};
  /// Tensor: streaming at full rate; the weight port was loading.
  Ticks work = 0, loading = 0;
  uint64_t executed = 0, skipped = 0;

  Ticks stall(Stall s) const { return stalls[unsigned(s)]; }
  Ticks sum() const;
};

/// One DMA engine. busy + held + idle is TimeResult::total.
struct DmaEngineTime {
  /// Time its packets take at its own rate.
  Ticks busy = 0;
  /// It was slowed down by the shared rates (dma.sustained, hbm).
  Ticks held = 0;
  Ticks idle = 0;
  uint64_t bytes = 0, packets = 0;
};

struct Traffic {
  uint64_t read = 0, written = 0;
};

struct TimeResult {
  /// Every queue came to its end. Times of an incomplete run end where it did.
  bool completed = false;
  std::vector<Finding> findings;

  /// From the start to the last write. The host's envelope is not in it.
  Ticks total = 0;
  Ticks ticksPerNs = 1;
  /// In cycles of the tensor clock, rounded up.
  int64_t cycles = 0;
  double ns() const { return double(total) / double(ticksPerNs); }

  std::vector<EngineTime> engines; // parallel to Program::queues
  std::vector<DmaEngineTime> dma;
  /// How often each instruction was executed: [queue][pc].
  std::vector<std::vector<uint64_t>> executed;
  /// Bytes by Space (sbuf, psum, hbm): of the engines' instructions, and of
  /// transfers.
  Traffic engineBytes[3], transferBytes[3];
  uint64_t multiplyAdds = 0;
  /// Matmuls and transposes, and those that started in a full-rate window.
  uint64_t matmuls = 0, matmulsAtFullRate = 0;

  // With TimeOptions::record. Spans and transfers of a queue are in its order,
  // shares in the order of their ends, windows in time.
  std::vector<Span> spans;
  std::vector<TransferSpan> transfers;
  std::vector<ShareSpan> shares;
  std::vector<ClockWindow> windows;

  bool ok() const { return completed && findings.empty(); }
};

TimeResult timeProgram(const Program &program, const TimeOptions &options = {});

/// Fills in bytes and multiply-adds from the executions of each instruction.
void countWork(const Program &program, TimeResult &result);

/// What a run would count, from a timed program: for reports without data.
RunResult countsOf(const Program &program, const TimeResult &time);

/// The counters of the loops around an instruction at its visit number `visit`,
/// outermost first.
std::vector<int64_t> loopCounters(const Program &program, unsigned queue,
                                  unsigned pc, uint64_t visit);

/// One stretch of the critical path.
struct CriticalStep {
  Ticks begin = 0, end = 0;
  /// What ran, or what was waited for.
  Cause what;
  /// It was under way, or the stretch lies between two of them for this reason.
  bool ran = true;
  Stall reason = Stall::Idle;
};

/// What the total consists of, from 0 to total without holes, earliest first.
/// Wants a recorded result.
std::vector<CriticalStep> criticalPath(const TimeResult &result);

} // namespace facet::sim

#endif // FACET_SIM_TIME_H
