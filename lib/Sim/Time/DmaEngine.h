//===- DmaEngine.h - one DMA engine and its rings -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_TIME_DMAENGINE_H
#define FACET_LIB_SIM_TIME_DMAENGINE_H

#include "facet/Machine/Machine.h"

#include "llvm/ADT/SmallVector.h"

#include <deque>

namespace facet::sim {

/// What one engine does for a transfer: the first access to HBM, packets of two
/// sizes, then the packet that updates the semaphore.
struct Share {
  uint32_t transfer = 0;
  enum Segment { Open, Full, Tail, Update, numSegments };
  /// How many are left, and how long each takes.
  uint64_t left[numSegments] = {};
  Ticks cost[numSegments] = {};
  /// In all.
  uint64_t packets = 0, bytes = 0, hbmBytes = 0;
  Ticks time = 0;
  /// From the end of its last packet to its result.
  Ticks lag = 0;
  bool started = false;
  bool updates = false;

  unsigned segment() const {
    return left[Open] ? Open : left[Full] ? Full : left[Tail] ? Tail : Update;
  }
  bool finished() const { return !left[segment()]; }
};

/// Time at the engine's own rate in 2^-16 ticks, from some instant on.
using OwnTime = __int128;
constexpr unsigned ownBits = 16;

/// The packets of an engine in their order, in time at its own rate: rings take
/// turns, one packet each; inside a ring shares come one after the other.
class RingSchedule {
public:
  struct Head {
    unsigned ring;
    Share share;
  };
  /// The shares being served, by ring.
  llvm::ArrayRef<Head> active() const { return state.heads; }

  /// Appends a share to a ring; true when it can be served now.
  bool add(unsigned ring, const Share &share);
  /// From now until a share is finished.
  OwnTime untilFinished() const;
  /// Goes on by `time`, less than untilFinished(). taken(transfer, instant) hears
  /// of the first packet of each share.
  template <typename Taken>
  void advance(OwnTime time, Taken taken) {
    state.run(time, taken);
    state.at -= time;
  }
  /// Goes on to the end of a share and removes it; the next of its ring takes its
  /// place.
  template <typename Taken>
  Share finish(Taken taken) {
    state.run(forever, taken);
    state.at = 0;
    return removeDone();
  }

private:
  static constexpr OwnTime forever = OwnTime(1) << 120;
  struct State {
    llvm::SmallVector<Head, 4> heads;
    OwnTime at = 0;    // the next packet is taken
    unsigned next = 0; // of heads, whose turn it is
    int last = -1;     // ring served last
    int done = -1; // of heads: all its packets are taken, the last ends `at`

    template <typename Taken>
    void run(OwnTime limit, Taken taken);
    void setNext();
  };
  Share removeDone();

  State state;
  std::vector<std::deque<Share>> waiting; // by ring
};

/// Takes packets until the instant of the next one is `limit` or later, or a
/// share has none left.
template <typename Taken>
void RingSchedule::State::run(OwnTime limit, Taken taken) {
  while (!heads.empty() && at < limit && done < 0) {
    // Whole rounds before a share comes to its last packet of a size.
    uint64_t rounds = UINT64_MAX;
    Ticks round = 0;
    bool started = true;
    for (const Head &head : heads) {
      unsigned s = head.share.segment();
      rounds = std::min(rounds, head.share.left[s] - 1);
      round += head.share.cost[s];
      started &= head.share.started;
    }
    if (started && rounds && round) {
      OwnTime fit = (limit - at) / (OwnTime(round) << ownBits);
      rounds = fit < OwnTime(rounds) ? uint64_t(fit) : rounds;
      for (Head &head : heads)
        head.share.left[head.share.segment()] -= rounds;
      at += OwnTime(rounds) * round << ownBits;
      if (at >= limit)
        return;
    }
    Head &head = heads[next];
    if (!head.share.started) {
      head.share.started = true;
      taken(head.share.transfer, at);
    }
    unsigned s = head.share.segment();
    --head.share.left[s];
    at += OwnTime(head.share.cost[s]) << ownBits;
    last = int(head.ring);
    if (head.share.finished())
      done = int(next);
    next = (next + 1) % unsigned(heads.size());
  }
}

} // namespace facet::sim

#endif // FACET_LIB_SIM_TIME_DMAENGINE_H
