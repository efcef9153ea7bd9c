//===- AffineRange.cpp - what an address can become -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds an affine form over all values its counters and its ring can have:
//
//   loop 8, inside it loop 4:   1024*i0 - 16*i1 + slot(r0, depth 3)*2048
//     -> [-48, 7168 + 4096]
//
// Forms are linear, so the extremes of the terms add up and the bound is exact
// (for one instruction; which slot goes with which counter is not considered).
// Sums saturate: a form that leaves 64 bits is out of every bound anyway.
//
//===----------------------------------------------------------------------===//

#include "Checker.h"

#include <algorithm>

using namespace facet;

static int64_t saturate(__int128 value) {
  constexpr int64_t limit = INT64_MAX / 4; // room for callers to add
  return int64_t(std::clamp<__int128>(value, -limit, limit));
}

std::vector<unsigned> facet::enclosingLoops(const Queue &queue, unsigned pc) {
  std::vector<unsigned> loops;
  for (unsigned i = 0; i < pc && i < queue.code.size(); ++i) {
    if (queue.code[i].op() == Opcode::Loop)
      loops.push_back(i);
    else if (queue.code[i].op() == Opcode::End && !loops.empty())
      loops.pop_back();
  }
  return loops;
}

Range facet::affineRangeIn(const Program &program, unsigned queue,
                           llvm::ArrayRef<unsigned> loops, uint32_t affine) {
  for (unsigned loop : loops)
    if (program.queues[queue].code[loop].imm[0] == 0)
      return {0, -1};
  if (affine == 0)
    return {0, 0};
  const AffineForm &form = program.affines[affine - 1];
  __int128 low = form.base, high = form.base;
  auto add = [&](__int128 coefficient, __int128 last) {
    __int128 span = coefficient * last;
    (span < 0 ? low : high) += span;
  };
  for (unsigned d = 0; d != loops.size() && d != maxLoops; ++d)
    add(form.coefficients[d],
        int64_t(program.queues[queue].code[loops[d]].imm[0]) - 1);
  if (form.ring >= 0)
    add(form.slotStride,
        std::max<int64_t>(1, program.ringDepth(queue, unsigned(form.ring))) -
            1);
  return {saturate(low), saturate(high)};
}

Range facet::affineRange(const Program &program, unsigned queue, unsigned pc,
                         uint32_t affine) {
  return affineRangeIn(program, queue,
                       enclosingLoops(program.queues[queue], pc), affine);
}

Range facet::elementRange(const Access &access) {
  __int128 low = 0, high = 0;
  for (unsigned d = 0; d != access.rank; ++d) {
    __int128 span = __int128(access.step[d]) * (int64_t(access.count[d]) - 1);
    (span < 0 ? low : high) += span;
  }
  return {saturate(low), saturate(high)};
}
