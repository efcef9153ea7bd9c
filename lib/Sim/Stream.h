//===- Stream.h - the instructions of a queue as they come up -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_STREAM_H
#define FACET_LIB_SIM_STREAM_H

#include "facet/Isa/Program.h"

namespace facet::sim {

/// Walks one queue: where it is, what its counters and rings hold.
class Stream {
public:
  Stream(const Program &program, unsigned queue);

  bool done() const { return pc >= code.size(); }
  unsigned at() const { return pc; }
  const Instruction &now() const { return code[pc]; }
  /// The current instruction's predicate holds.
  bool enabled() const;
  /// An affine form (index + 1; 0 is 0) here and now. Exact.
  __int128 value(uint32_t affine) const;
  int64_t slot(int ring) const { return ring < 0 ? 0 : rings[ring].slot; }
  int64_t round(int ring) const { return ring < 0 ? 0 : rings[ring].round; }
  /// Which semaphore a wait or an update means, here and now.
  unsigned semaphore(const SemaphoreRef &ref) const {
    return ref.base() + unsigned(slot(ref.ring()));
  }
  /// What a wait needs. Rounds stay below 2^47 (steps < 2^16, instructions <
  /// 2^31), so this fits.
  int64_t needed(const Wait &wait) const {
    return wait.value + wait.perRound * round(wait.ref.ring());
  }
  /// The wait holds when its semaphore is at `have`.
  bool holds(const Wait &wait, int64_t have) const {
    int64_t need = needed(wait);
    return wait.ref.equal() ? have == need || need < 0 : have >= need;
  }
  /// "waits for full0 to reach 32, it is 16 (i0 = 1)".
  std::string describe(const Wait &wait, int64_t have) const;
  /// Goes on to the next instruction; loops and rings move when `enabled`.
  void step(bool enabled);
  /// "i0 = 2, r0 = slot 1 of round 0", or nothing.
  std::string describe() const;

private:
  struct Ring {
    int64_t depth = 0, slot = 0, round = 0;
  };
  const Program &program;
  const std::vector<Instruction> &code;
  unsigned pc = 0;
  unsigned open = 0; // loops around pc
  int64_t counters[maxLoops] = {};
  Ring rings[numRings];
};

/// Its name, or "s7".
std::string semaphoreName(const Program &program, unsigned semaphore);

} // namespace facet::sim

#endif // FACET_LIB_SIM_STREAM_H
