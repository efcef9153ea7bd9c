//===- Shadow.h - who touched which bytes last ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_RACE_SHADOW_H
#define FACET_LIB_SIM_RACE_SHADOW_H

#include "Footprint.h"

#include <map>

namespace facet::sim {

/// An access that happened, and what says that it is done: knowing `value` of
/// `component`.
struct Epoch {
  uint32_t component = 0, value = 0;
  uint32_t step = 0; // of its queue
  uint32_t pc = 0;
  uint8_t queue = 0, slot = 0;
  bool write = false;
};

/// Bytes that were treated alike.
struct Cell {
  int64_t end = 0;
  /// Something wrote them, or they were given.
  bool written = false;
  bool hasWriter = false;
  Epoch writer;
  /// Since then: the last of each component.
  llvm::SmallVector<Epoch, 2> readers;

  void addReader(const Epoch &epoch);
};

/// The bytes of one HBM buffer, or of some partitions of sbuf or psum that all
/// accesses treat alike.
class ShadowLine {
public:
  /// `given`: holds something from the start.
  explicit ShadowLine(bool given = false) : given(given) {}

  /// Calls visit(begin, cell) for the cells of [begin, end), made to fit.
  template <typename Visit>
  void visit(int64_t begin, int64_t end, Visit visit) {
    auto at = from(begin);
    while (begin < end) {
      at = fit(at, begin, end);
      visit(begin, at->second);
      begin = at->second.end;
      ++at;
    }
  }
  /// [begin, end) becomes one cell that `epoch` wrote.
  void write(int64_t begin, int64_t end, const Epoch &epoch);
  size_t size() const { return cells.size(); }

private:
  using Cells = std::map<int64_t, Cell>;
  /// The cell that begins at `begin` or else the next; one around it is split.
  Cells::iterator from(int64_t begin);
  /// A cell that begins at `begin` and ends at most at `end`; `at` is the first
  /// that begins there or later.
  Cells::iterator fit(Cells::iterator at, int64_t begin, int64_t end);

  Cells cells;
  bool given;
};

/// All memory that a program writes.
class Shadow {
public:
  explicit Shadow(const Program &program);

  /// Calls visit(first partition, line) for each line of a footprint.
  template <typename Visit>
  void forEachLine(const Footprint &f, Visit visit) {
    if (f.space == Space::Hbm)
      return visit(0u, buffers[f.buffer]);
    auto &bands = f.space == Space::Psum ? psum : sbuf;
    for (auto at = bands.lower_bound(f.partition);
         at != bands.end() && at->first < f.partition + f.partitions; ++at)
      visit(at->first, at->second);
  }
  /// Nothing writes it: no race is possible.
  bool isConstant(const Access &access) const;

private:
  const Program &program;
  std::vector<ShadowLine> buffers;
  /// By first partition.
  std::map<uint32_t, ShadowLine> sbuf, psum;
};

} // namespace facet::sim

#endif // FACET_LIB_SIM_RACE_SHADOW_H
