//===- Parts.h - the parts of a report, one file each ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_REPORT_PARTS_H
#define FACET_LIB_SIM_REPORT_PARTS_H

#include "Work.h"

#include "facet/Sim/Report.h"

namespace facet::sim {

/// What all executions of a program amount to.
struct Totals {
  uint64_t macs[3] = {}; // by MacType
  uint64_t elements = 0;
  /// Of matmuls, on a full array.
  double idealCycles = 0;
  /// Streaming at full rate of the transposes.
  Ticks transposes = 0;
  uint64_t movedBytes = 0;
  /// Of transfers that touch HBM, each byte once for each end that lies there.
  uint64_t hbmBytes = 0;
  /// Bytes of HBM buffers that must be read or written whatever the order of the
  /// work: each input once, each output once.
  uint64_t compulsoryBytes = 0;
  /// The type that takes most of the array's time.
  DType dtype = DType::BF16;
  /// All types of matmuls: "bf16, f32".
  std::string types;
};

Totals totalsOf(const Program &program, const Timing &timing,
                const TimeResult &time);

void findBound(const Program &program, const Timing &timing,
               const Totals &totals, Report &report); // Roofline.cpp
void findLadder(const Program &program, const Timing &timing,
                const Totals &totals, Report &report); // Ladder.cpp
void findEnergy(const Program &program, const Totals &totals,
                Report &report); // Energy.cpp
void findPath(const Program &program, const TimeResult &time,
              Report &report); // Path.cpp

} // namespace facet::sim

#endif // FACET_LIB_SIM_REPORT_PARTS_H
