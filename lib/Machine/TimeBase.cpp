//===- TimeBase.cpp - a tick that every clock divides into ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the tick of simulated time. A cycle of a clock of f MHz lasts 1000/f
// ns, so a tick of 1/n ns holds it a whole number of times when f divides
// 1000·n. n is the least common multiple of 1000 (the ps of latencies) and of
// each clock's f / gcd(f, 1000):
//
//   2400, 1200, 960 MHz   ->   12, 6, 24 and 1000   ->   n = 3000 ticks per ns
//
// Sums of cycles are then exact, and 8192 matmuls of 512 columns take 4194304
// cycles, not a few picoseconds less.
//
//===----------------------------------------------------------------------===//

#include "facet/Machine/Machine.h"

#include <numeric>

using namespace facet;

TimeBase::TimeBase(const Machine &machine) {
  constexpr Ticks finest = 10000000;
  ticksPerNs = 1000;
  if (!machine.isEngine())
    return;
  for (int64_t clock : {machine.tensor.clockMHz, machine.vector.clockMHz,
                        machine.scalar.clockMHz, machine.gpsimd.clockMHz,
                        machine.sync.clockMHz, machine.tensor.windowClockMHz}) {
    ticksPerNs = std::lcm(ticksPerNs, clock / std::gcd(clock, int64_t(1000)));
    if (ticksPerNs > finest) {
      ticksPerNs = 1000000;
      return;
    }
  }
}

/// Times nobody will wait for stay numbers that can be added.
static Ticks clamp(__int128 ticks) {
  constexpr Ticks longest = Ticks(1) << 58;
  return ticks > longest ? longest : Ticks(ticks);
}

Ticks TimeBase::fromMilliCycles(int64_t milliCycles, int64_t clockMHz) const {
  // ticks = milliCycles / 1000 * (1000 / clockMHz) ns * ticksPerNs
  __int128 scaled = __int128(milliCycles) * ticksPerNs;
  return clamp((scaled + clockMHz / 2) / clockMHz);
}

Ticks TimeBase::fromBytes(int64_t bytes, int64_t rateMBs) const {
  // One MB/s moves a byte in 1000 ns.
  __int128 scaled = __int128(bytes) * 1000 * ticksPerNs;
  return clamp((scaled + rateMBs - 1) / rateMBs);
}

int64_t TimeBase::toPs(Ticks ticks) const {
  Ticks perPs = ticksPerNs / 1000;
  return (ticks + perPs / 2) / perPs;
}
