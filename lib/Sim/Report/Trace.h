//===- Trace.h - a run as slices on tracks --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_REPORT_TRACE_H
#define FACET_LIB_SIM_REPORT_TRACE_H

#include "facet/Sim/Report.h"

#include <string>
#include <vector>

namespace facet::sim {

/// Something to know about a slice: text, or a number when text is empty.
struct TraceArgument {
  const char *name = "";
  std::string text;
  double number = 0;
};

struct TraceSlice {
  unsigned track = 0;
  /// In ns. Slices of one track do not overlap and come in order.
  double begin = 0, end = 0;
  llvm::StringRef name, category;
  llvm::ArrayRef<TraceArgument> arguments;
  /// Arrows that leave from its end and that arrive at its beginning, by number.
  llvm::ArrayRef<uint64_t> leaving, arriving;
};

/// A file format.
class TraceSink {
public:
  virtual ~TraceSink();
  /// Tracks are declared before they are used, in the order to show them in;
  /// those of the same name are one to the reader.
  virtual void track(unsigned track, llvm::StringRef name) = 0;
  virtual void counterTrack(unsigned track, llvm::StringRef name,
                            llvm::StringRef unit) = 0;
  virtual void slice(const TraceSlice &slice) = 0;
  /// In the order of `ns` on each track.
  virtual void count(unsigned track, double ns, double value) = 0;
};

/// Tells a sink what happened. Returns what was left out, or "".
std::string tellTrace(const Program &program, const TimeResult &time,
                      const TraceOptions &options, TraceSink &sink);

/// How the value of a semaphore goes: (when, value), from its first change.
struct SemaphoreStep {
  Ticks at = 0;
  int64_t value = 0;
};
std::vector<std::vector<SemaphoreStep>> semaphoreSteps(const Program &program,
                                                       const TimeResult &time);

/// Bytes per second of all DMA engines together: (when, rate).
struct RateStep {
  Ticks at = 0;
  double bytesPerSecond = 0;
};
std::vector<RateStep> dmaRateSteps(const TimeResult &time);

} // namespace facet::sim

#endif // FACET_LIB_SIM_REPORT_TRACE_H
