//===- Memory.h - what a core can store, byte by byte ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_MEMORY_H
#define FACET_LIB_SIM_MEMORY_H

#include "facet/Isa/Program.h"

#include <cstdlib>
#include <memory>
#include <utility>

namespace facet::sim {

/// One partition of sbuf or psum, or one buffer of hbm.
struct Line {
  uint8_t *data = nullptr;
  /// One bit per byte: something wrote it. Null when nobody asks.
  uint8_t *written = nullptr;
  int64_t size = 0;
};

/// An access with its affine form worked out: where its first element lies.
struct Region {
  const Access *access = nullptr;
  const char *name = ""; // of the operand
  int64_t start = 0;
  /// All its bytes are known to be written: what was written stays so.
  bool written = false;
  size_t elements() const { return size_t(access->elements()); }
  unsigned bytes() const { return dtypeBytes(access->dtype); }
};

/// The bytes from the first to behind the last that a row touches whose first element
/// is at byte `start`.
inline std::pair<int64_t, int64_t> rowSpan(const Access &access,
                                           int64_t start) {
  int64_t bytes = dtypeBytes(access.dtype), low = start, high = start + bytes;
  for (unsigned d = 0; d != access.rank; ++d) {
    int64_t reach = access.step[d] * (int64_t(access.count[d]) - 1) * bytes;
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

class Memory {
public:
  Memory(const Program &program, bool track);
  /// False when the host has not that much memory.
  bool allocated() const { return ok; }

  Line hbm(unsigned buffer) const { return buffers[buffer].line(); }
  /// The line that a row of an access lies in.
  Line line(const Access &access, uint64_t row) const;
  /// Bytes from a partition's line to the next.
  ptrdiff_t stride(Space space) const {
    return ptrdiff_t(space == Space::Psum ? psum.stride : sbuf.stride);
  }
  /// The byte in its line where a row of a region starts.
  static int64_t rowStart(const Region &region, uint64_t row) {
    return region.start +
           int64_t(row) * region.access->rowStep * int64_t(region.bytes());
  }

  /// A row is one stretch of bytes, in the order of its elements.
  static bool isDense(const Access &access);

  /// Gathers a row, element after element. Returns the first byte of an element
  /// that was not all written, or -1. `wanted`, if given, says which elements
  /// matter.
  int64_t read(const Region &region, uint64_t row, uint8_t *packed,
               const uint8_t *wanted = nullptr) const;
  void write(const Region &region, uint64_t row, const uint8_t *packed);

  /// The first byte in [begin, end) of a line that nothing wrote, or -1.
  static int64_t firstUnwritten(const Line &line, int64_t begin, int64_t end);
  static void markWritten(const Line &line, int64_t begin, int64_t end);

  struct Free {
    void operator()(uint8_t *p) const { std::free(p); }
  };

private:
  using Bytes = std::unique_ptr<uint8_t, Free>;
  struct Store {
    Bytes data, written;
    uint8_t *first = nullptr; // of data, on a cache line or a large page
    uint8_t *firstBit = nullptr;
    int64_t lineBytes = 0, stride = 0, lineBits = 0;
    Line line(int64_t n = 0) const {
      return {first + n * stride, firstBit ? firstBit + n * lineBits : nullptr,
              lineBytes};
    }
  };
  /// `given`: filled by the caller.
  Store make(int64_t lines, int64_t lineBytes, bool track, bool given = false);

  Store sbuf, psum;
  std::vector<Store> buffers; // parallel to Program::buffers
  bool largePages = false;
  bool ok = true;
};

/// Calls run(first element, count, step) for each innermost dimension of a row;
/// elements and steps as in Access.
template <typename Run>
void forEachRun(const Access &access, Run run) {
  if (access.rank == 0)
    return run(int64_t(0), int64_t(1), int64_t(1));
  unsigned inner = access.rank - 1u;
  uint32_t index[maxDims] = {};
  int64_t first = 0;
  for (;;) {
    run(first, int64_t(access.count[inner]), access.step[inner]);
    unsigned d = inner;
    while (d != 0) {
      --d;
      first += access.step[d];
      if (++index[d] != access.count[d])
        break;
      first -= access.step[d] * int64_t(access.count[d]);
      index[d] = 0;
      if (d == 0)
        return;
    }
    if (inner == 0)
      return;
  }
}

} // namespace facet::sim

#endif // FACET_LIB_SIM_MEMORY_H
