//===- Probe.h - what this machine can do at most -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_PROBE_H
#define FACET_LIB_DRIVER_PROBE_H

#include <cstdint>
#include <optional>

namespace facet {

/// What a multiply-add instruction multiplies.
enum class PeakKind {
  F32,
  F64,
  BF16, ///< AVX512_BF16: pairs with f32 sums
  U8S8  ///< VNNI: quads with i32 sums
};

/// Seconds, from an arbitrary beginning. With one thread it is the CPU time of the
/// calling thread, so that other programs on the machine count less; else the time
/// of the wall.
double stopwatch(unsigned threads);

/// A loop of independent multiply-adds on registers, for about `seconds` on each of
/// `threads` threads at once: operations per second, of which a multiply-add is two.
/// Nothing where the machine has no such instruction.
std::optional<double> measurePeak(PeakKind kind, unsigned threads,
                                  double seconds = 0.02);

/// Reads memory once, front to back, several times the largest cache, on `threads`
/// threads at once: bytes per second, the best of some rounds.
double measureReadBandwidth(unsigned threads);

} // namespace facet

#endif // FACET_LIB_DRIVER_PROBE_H
