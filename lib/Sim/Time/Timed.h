//===- Timed.h - instructions, as far as time goes ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_TIME_TIMED_H
#define FACET_LIB_SIM_TIME_TIMED_H

#include "../Stream.h"

#include "facet/Isa/Timing.h"

namespace facet::sim {

/// What is the same at every visit of an instruction. Costs are filled in when
/// they are first asked for (Timer::costOf).
struct Timed {
  Cost cost[2]; // at full rate, slow
  bool known[2] = {false, false};
  TransferCost transfer;
  bool isTransfer = false;
  /// Takes the sequencer only: loops, rings, nop, set_semaphore, drain.
  bool isControl = false;
  /// Such a one that nobody else takes notice of.
  bool isSilent = false;
  bool needsTable = false;
  /// On vector, scalar and gpsimd: operands in memory that it reads and writes, a
  /// bit for each slot.
  uint8_t reads = 0, writes = 0;
  bool inPsum = false;
};

std::vector<Timed> timedCode(const Program &program, unsigned queue);

/// The bytes from the first to the last that an operand on chip touches, in each
/// of its partitions.
struct ByteRange {
  Space space = Space::Sbuf;
  uint32_t firstPartition = 0, lastPartition = 0;
  int64_t begin = 0, end = 0;
  bool meets(const ByteRange &other) const {
    return space == other.space && firstPartition <= other.lastPartition &&
           other.firstPartition <= lastPartition && begin < other.end &&
           other.begin < end;
  }
};
ByteRange byteRange(const Stream &stream, const Access &access);

} // namespace facet::sim

#endif // FACET_LIB_SIM_TIME_TIMED_H
