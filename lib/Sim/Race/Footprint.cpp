//===- Footprint.cpp - the bytes an operand touches -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns dimensions into as few stretches of bytes as it takes; the order of the
// elements plays no part:
//
//   f32 [16@64, 64]         one stretch of 4096 bytes
//   f32 [16@128, 64]        16 stretches of 256 bytes, 512 apart
//   f32 [64@0, 8@-1]        one stretch of 32 bytes, which ends at the offset
//
//===----------------------------------------------------------------------===//

#include "Footprint.h"

#include "llvm/ADT/STLExtras.h"

using namespace facet;
using namespace facet::sim;

/// The run refuses larger ones (SIM-SIZE).
constexpr uint64_t maxBytesTouched = uint64_t(1) << 32;

static int64_t bytesIn(const Program &program, const Access &access) {
  const Machine &m = program.machine;
  switch (access.space) {
  case Space::Sbuf:
    return m.sbuf.partitionBytes;
  case Space::Psum:
    return m.psum.banks * m.psum.bankBytes;
  default:
    return int64_t(program.buffers[access.buffer].bytes);
  }
}

bool sim::footprintOf(const Program &program, const Access &a, __int128 form,
                      Footprint &f) {
  if (a.elements() > maxBytesTouched / a.partitions / 8)
    return false;
  f.space = a.space;
  f.buffer = a.buffer;
  f.partition = a.partition;
  f.partitions = a.space == Space::Hbm ? 1 : a.partitions;
  f.length = dtypeBytes(a.dtype);
  f.repeats.clear();
  __int128 low = a.offset + form, span = f.length;
  auto repeat = [&](int64_t count, int64_t step) {
    if (count <= 1 || step == 0)
      return;
    __int128 reach = __int128(step) * (count - 1) * dtypeBytes(a.dtype);
    low += reach < 0 ? reach : 0;
    span += reach < 0 ? -reach : reach;
    f.repeats.push_back({count, step < 0 ? -step : step});
  };
  if (a.space == Space::Hbm)
    repeat(a.partitions, a.rowStep);
  for (unsigned d = 0; d != a.rank; ++d)
    repeat(a.count[d], a.step[d]);
  if (low < 0 || low + span > bytesIn(program, a))
    return false;
  f.first = int64_t(low);
  f.end = int64_t(low + span);
  // Inside the memory, so that steps in bytes are small numbers now.
  for (Footprint::Repeat &r : f.repeats)
    r.step *= dtypeBytes(a.dtype);
  llvm::sort(f.repeats,
             [](const Footprint::Repeat &x, const Footprint::Repeat &y) {
               return x.step < y.step;
             });
  size_t inner = 0;
  for (; inner != f.repeats.size() && f.repeats[inner].step <= f.length;
       ++inner)
    f.length += f.repeats[inner].step * (f.repeats[inner].count - 1);
  f.repeats.erase(f.repeats.begin(), f.repeats.begin() + ptrdiff_t(inner));
  return true;
}

llvm::SmallVector<Touch, 5> sim::touchesOf(const Program &program,
                                           const Instruction &i) {
  llvm::SmallVector<Touch, 5> touches;
  for (const OperandInfo &operand : opcodeInfo(i.opcode)->operands) {
    const Access *access = program.access(i, operand.slot);
    if (!access || access->space == Space::Index)
      continue;
    bool writes = operand.mode != OperandMode::Read;
    bool reads = operand.mode != OperandMode::Write;
    if (operand.mode == OperandMode::Accumulate) {
      if (i.op() == Opcode::Matmul)
        reads = !i.has(flag::matmulStart);
      else
        reads = i.has(i.op() == Opcode::Reduce ? flag::reduceCarry
                                               : flag::accCarry);
    }
    // A low pass keeps the array busy and writes nothing.
    if (i.op() == Opcode::Matmul && writes && Pass(i.sub[0]) == Pass::Low)
      continue;
    touches.push_back({&operand, access, reads, writes});
  }
  return touches;
}
