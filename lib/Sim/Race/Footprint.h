//===- Footprint.h - the bytes an operand touches -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_RACE_FOOTPRINT_H
#define FACET_LIB_SIM_RACE_FOOTPRINT_H

#include "../Stream.h"

#include "llvm/ADT/SmallVector.h"

namespace facet::sim {

/// An operand as a set of bytes: the same in each of its partitions, or the bytes
/// of an HBM buffer.
struct Footprint {
  Space space = Space::Sbuf;
  uint32_t buffer = 0;
  /// On chip.
  uint32_t partition = 0, partitions = 1;
  /// Stretches of `length` bytes: from `first` on, repeated as `repeats` says.
  int64_t first = 0, length = 0;
  struct Repeat {
    int64_t count, step; // bytes; steps positive
  };
  llvm::SmallVector<Repeat, 4> repeats;
  /// One past the last byte.
  int64_t end = 0;

  int64_t stretches() const {
    int64_t n = 1; // below 2^32: see footprintOf
    for (const Repeat &r : repeats)
      n *= r.count;
    return n;
  }
  /// Calls visit(begin, end) for each stretch.
  template <typename Visit>
  void forEach(Visit visit) const {
    int64_t index[maxDims + 1] = {};
    int64_t at = first;
    for (;;) {
      visit(at, at + length);
      unsigned d = 0;
      for (; d != repeats.size(); ++d) {
        at += repeats[d].step;
        if (++index[d] != repeats[d].count)
          break;
        at -= repeats[d].step * repeats[d].count;
        index[d] = 0;
      }
      if (d == repeats.size())
        return;
    }
  }
};

/// The footprint of an access whose affine form is worth `form`. False when it
/// leaves its memory or is too large to be run (the run says so).
bool footprintOf(const Program &program, const Access &access, __int128 form,
                 Footprint &footprint);

/// An operand that an instruction reads or writes.
struct Touch {
  const OperandInfo *operand;
  const Access *access;
  bool reads, writes;
};

/// Those of an instruction that lie in a memory. What is read and then written is
/// one touch.
llvm::SmallVector<Touch, 5> touchesOf(const Program &program,
                                      const Instruction &instruction);

} // namespace facet::sim

#endif // FACET_LIB_SIM_RACE_FOOTPRINT_H
