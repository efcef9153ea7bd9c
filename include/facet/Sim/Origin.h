//===- Origin.h - which instructions made a byte --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows a byte of the result back to the inputs, for a wrong element to be looked
// for where it was made:
//
//   for (const sim::OriginStep &step : sim::originOf(program, 2, 0))
//     ...   // the store, then the copy out of psum, the matmul, the loads
//
//===----------------------------------------------------------------------===//

#ifndef FACET_SIM_ORIGIN_H
#define FACET_SIM_ORIGIN_H

#include "facet/Isa/Program.h"

#include <string>
#include <vector>

namespace facet::sim {

/// An instruction that had a part in a byte.
struct OriginStep {
  /// Index into Program::queues and into its code.
  int queue = -1, pc = -1;
  /// Loop counters and rings at the last time that it had.
  std::string when;
  /// How many times it had.
  uint64_t times = 1;
};

/// The instruction that was the last to write byte `byte` of HBM buffer `buffer`, those
/// that wrote what it had read, and so on, each once; the last executed first. Operands
/// count as a whole, so that some may be about other elements of a tile only. The program
/// must have passed checkProgram and must have no races. Empty when nothing wrote the
/// byte, or when the program is too long to be followed.
std::vector<OriginStep> originOf(const Program &program, unsigned buffer,
                                 int64_t byte);

/// "queue vector, instruction 3 (copy), 2 times, the last with i0 = 1", followed by the
/// instruction as text and where it comes from, a line each.
std::vector<std::string> describeOrigin(const Program &program,
                                        const OriginStep &step);

} // namespace facet::sim

#endif // FACET_SIM_ORIGIN_H
