//===- TensorClock.h - the windows of the tensor engine's clock -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_TIME_TENSORCLOCK_H
#define FACET_LIB_SIM_TIME_TENSORCLOCK_H

#include "facet/Isa/Timing.h"
#include "facet/Sim/Time.h"

namespace facet::sim {

/// Says at which rate the array runs. Asked in the order of time.
class TensorClock {
public:
  TensorClock(const Machine &machine, const Timing &timing,
              const TimeOptions &options, TimeResult &result);

  bool slowAt(Ticks now);
  /// `work` at full rate was streamed between begin and end; begin is not before
  /// the window last asked about.
  void stream(Ticks begin, Ticks end, Ticks work);
  /// The program ended; records the last window.
  void finish();

private:
  void close();
  void skipAlike(Ticks now);

  bool enabled;
  bool record;
  Ticks length, needed;
  const std::vector<bool> &given;
  TimeResult &result;
  uint64_t number = 0; // of the window
  Ticks windowStart;
  bool slow = true;
  Ticks work = 0;
  bool filled = false; // this window, by the streaming that goes on
  /// Streaming that lies beyond this window.
  Ticks laterBegin = 0, laterEnd = 0, laterWork = 0;
};

} // namespace facet::sim

#endif // FACET_LIB_SIM_TIME_TENSORCLOCK_H
