//===- Timer.h - one core's time ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_TIME_TIMER_H
#define FACET_LIB_SIM_TIME_TIMER_H

#include "../Stream.h"
#include "Dma.h"
#include "Fetcher.h"
#include "TensorClock.h"

#include "llvm/ADT/SmallVector.h"

#include <queue>

namespace facet::sim {

/// What is the same at every visit of an instruction.
struct Timed {
  Cost cost[2]; // at full rate, slow
  bool known[2] = {false, false};
  TransferCost transfer;
  bool isTransfer = false;
  /// Takes the sequencer only: loops, rings, nop, set_semaphore, drain.
  bool isControl = false;
  /// No waits, no updates: nobody else takes notice of it.
  bool silent = false;
  bool fillsTable = false;
  /// Operands that it reads (writes) and that later (earlier) instructions of
  /// its queue may have written: bit per slot.
  uint8_t reads = 0, writes = 0;
  bool inPsum = false;
};

/// The bytes an operand spans, in every one of its partitions.
struct Span2d {
  Space space = Space::Sbuf;
  uint32_t firstPartition = 0, lastPartition = 0;
  int64_t low = 0, high = 0;
  bool meets(const Span2d &other) const {
    return space == other.space && firstPartition <= other.lastPartition &&
           other.firstPartition <= lastPartition && low < other.high &&
           other.low < high;
  }
};

/// One queue and where it is in time.
struct TimedQueue {
  TimedQueue(const Program &program, unsigned queue)
      : stream(program, queue), fetcher(program, queue),
        code(program.queues[queue].code.size()) {}

  Stream stream;
  Fetcher fetcher;
  std::vector<Timed> code;

  enum Phase : uint8_t {
    Pending, ///< something happens at `at`
    Waiting, ///< for a semaphore
    Ended
  } phase = Pending;
  Ticks at = 0;
  /// The waits of the present instruction hold.
  bool released = false;
  /// Since when it has asked for its ports.
  Ticks asked = 0;

  /// The earliest start of the next instruction: the one before it has been
  /// issued, its port is free.
  Ticks sequencer = 0, port = 0;
  /// All results of instructions that are not transfers.
  Ticks allDone = 0;
  Ticks lastTrigger = 0;
  Ticks spacing = 0;
  bool triggered = false;
  /// The transfer that comes next has been taken up (TransferCost::wake).
  bool awake = false;

  /// Up to here every tick is in a bucket.
  Ticks accounted = 0;
  // Of the present instruction.
  Ticks ready = 0;
  Stall reason = Stall::Idle;
  Cause cause;
  int32_t semaphore = -1;
  Cause before; // the one before it

  /// What the engine reads and writes until holdEnd.
  Ticks holdEnd = 0;
  bool holdFast = false;
  uint64_t holdBanks = 0;
  Cause holder;
  uint64_t banks = 0; // of the present instruction

  struct Write {
    Span2d where;
    Ticks done;
    Cause by;
  };
  llvm::SmallVector<Write, 8> writes;
  std::vector<uint32_t> visits; // recorded runs
  uint64_t lot = 0; // of the present instruction, in a run with jitter
};

class Timer {
public:
  Timer(const Program &program, const TimeOptions &options, TimeResult &result);
  void run();

private:
  struct Delivery {
    Ticks at = 0;
    uint64_t order = 0;
    uint32_t counter = 0; // 2 * semaphore + view
    int64_t amount = 0;
    bool sets = false;
    Cause by;
    bool operator<(const Delivery &other) const {
      return std::tie(at, order) > std::tie(other.at, other.order);
    }
  };

  // The next instruction of a queue.
  void prepare(unsigned queue);
  void prepareTensor(TimedQueue &queue, const Instruction &i, const Timed &t);
  void findWrites(TimedQueue &queue, const Instruction &i, const Timed &t);
  void findBanks(TimedQueue &queue, const Instruction &i, const Timed &t);
  void reach(unsigned queue, Ticks now);
  bool holds(unsigned queue, const Wait &wait) const;
  bool waitsHold(unsigned queue) const;
  void compete(unsigned queue, Ticks now);
  Ticks conflict(unsigned queue, Ticks now, Cause &holder) const;
  void start(unsigned queue, Ticks now);
  void startTensor(unsigned queue, const Instruction &i, Ticks now,
                   const Cost &cost, const Cost &full);
  void startTransfer(unsigned queue, const Instruction &i, const Timed &t,
                     Ticks now, Cause self);
  void delay(TimedQueue &queue, Ticks until, Stall reason, Cause cause);
  void account(unsigned queue, Ticks until, Stall reason);
  void busy(unsigned queue, Ticks until, Ticks slowed);

  // Semaphores.
  void update(unsigned queue, const Instruction &i, Ticks done, Cause by);
  void post(unsigned semaphore, int64_t amount, bool sets, Ticks done,
            bool fromTransfer, Cause by);
  void deliver(const Delivery &delivery);
  void shareDone(const ShareDone &share);
  void postShares();

  Span2d spanOf(const TimedQueue &queue, const Access &access) const;
  const Cost &costOf(unsigned queue, unsigned pc, bool slow);
  Ticks longer(unsigned queue, Ticks time) const;
  void decode(unsigned queue);
  void finish();
  void tooLong();
  void deadlock();
  Finding &find(const char *code, const llvm::Twine &message, int queue = -1);

  const Program &program;
  const Machine &machine;
  const TimeOptions &options;
  TimeResult &result;
  Timing timing;
  TensorClock clock;
  DmaEngines dma;
  std::vector<TimedQueue> queues;
  std::vector<int64_t> counters; // 2 * semaphore + view
  std::vector<bool> weightView;  // somebody's weights wait for it
  std::priority_queue<Delivery> deliveries;
  uint64_t order = 0, steps = 0;
  bool stopped = false;
  Ticks end = 0;

  // The tensor engine.
  Ticks weightPort = 0, loaded = 0, place = 0, drained = 0;
  Cause loader, placeHolder, streamer;
  bool loadUsed = true, firstLoad = true;
  // The scalar engine.
  int table = -1;

  /// What a transfer needs until it is done.
  struct Transfer {
    const Instruction *instruction;
    unsigned queue;
    unsigned semaphores[2];
    int64_t shares; // that are not done
  };
  std::vector<Transfer> transfers;
  std::vector<uint32_t> unused; // of them, in a run that is not recorded
  uint64_t underWay = 0;
  static constexpr uint64_t mostUnderWay = 1 << 16;
  /// Shares of one transfer that were done at one instant.
  struct {
    uint32_t transfer = 0;
    Ticks done = 0;
    int64_t number = 0;
  } shares;
  std::vector<Cause> lastOn; // DMA engine: the transfer it served last
};

} // namespace facet::sim

#endif // FACET_LIB_SIM_TIME_TIMER_H
