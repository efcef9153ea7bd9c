//===- Timer.h - one core's time ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_TIME_TIMER_H
#define FACET_LIB_SIM_TIME_TIMER_H

#include "Dma.h"
#include "Fetcher.h"
#include "TensorClock.h"
#include "Timed.h"

#include "llvm/ADT/SmallVector.h"

#include <queue>

namespace facet::sim {

/// One queue and where it is in time.
struct TimedQueue {
  TimedQueue(const Program &program, unsigned queue)
      : stream(program, queue), fetcher(program, queue),
        code(timedCode(program, queue)) {}

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
    ByteRange where;
    Ticks done;
    Cause by;
  };
  llvm::SmallVector<Write, 8> writes;
  std::vector<uint32_t> visits; // recorded runs
  uint64_t lot = 0; // of the present instruction, in a run with jitter
};

/// Engines.cpp: the instructions of a queue; TimeProgram.cpp: the order of
/// events, semaphores; Triggers.cpp: transfers.
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
  void finishSilent(unsigned queue, bool enabled);
  void prepareTensor(unsigned queue);
  void prepareTransfer(unsigned queue);
  void prepareElements(unsigned queue);
  void reach(unsigned queue, Ticks now);
  bool holds(unsigned queue, const Wait &wait) const;
  bool waitsHold(unsigned queue) const;
  void compete(unsigned queue, Ticks now);
  Ticks conflict(unsigned queue, Ticks now, Cause &holder);
  void start(unsigned queue, Ticks now);
  void startTensor(unsigned queue, Ticks now, const Cost &cost,
                   const Cost &full, Cause self);
  void record(unsigned queue, unsigned pc, Ticks now, const Cost &cost);
  void delay(unsigned queue, Ticks until, Stall reason, Cause cause);
  void account(unsigned queue, Ticks until, Stall reason);
  void busy(unsigned queue, Ticks until, Ticks slowed);

  // Semaphores.
  void update(unsigned queue, const Instruction &i, Ticks done, Cause by);
  void post(unsigned semaphore, int64_t amount, bool sets, Ticks done,
            bool fromTransfer, Cause by);
  void deliver(const Delivery &delivery);
  void findWeightViews(unsigned queue);

  // Transfers (Triggers.cpp).
  void trigger(unsigned queue, Ticks now, Cause self);
  void shareDone(const ShareDone &share);
  void postShares();

  const Cost &costOf(unsigned queue, unsigned pc, bool slow);
  Ticks longer(unsigned queue, Ticks time) const;
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
  Cause loader, placeOwner, streamer;
  bool loadUsed = true, firstLoad = true;
  // The scalar engine.
  int table = -1;

  /// What a transfer needs until it is done.
  struct Transfer {
    const Instruction *instruction;
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
