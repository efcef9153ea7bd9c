//===- Operands.cpp - how instructions reach memory -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns an access into a place, looks whether it stays inside its memory, and
// reads and writes rows, looking on the way for what must not happen:
//
//   sbuf.bf16[0:128, 1024*r0, 512] at r0 = 2   ->  partitions 0.., bytes 2048..3071
//   src reads byte 2048 of partition 0 of sbuf, which nothing wrote   SIM-UNINIT
//
// An instruction in a loop tends to do wrong each time, so a finding is kept once
// for each instruction and counted.
//
//===----------------------------------------------------------------------===//

#include "Core.h"

#include <algorithm>
#include <utility>

using namespace facet;
using namespace facet::sim;
using llvm::Twine;

Finding &Core::find(const char *code, const Twine &message, bool fatal) {
  stopped |= fatal;
  auto [at, isNew] =
      found.try_emplace({code, int(queue), pc}, result.findings.size());
  if (isNew) {
    Finding finding;
    finding.code = code;
    finding.message = message.str();
    finding.queue = int(queue);
    finding.pc = pc;
    finding.when = when.empty() ? streams[queue].describe() : when;
    result.findings.push_back(std::move(finding));
  } else {
    ++result.findings[at->second].times;
  }
  return result.findings[at->second];
}

Finding &Core::findInProgram(const char *code, const Twine &message) {
  Finding finding;
  finding.code = code;
  finding.message = message.str();
  result.findings.push_back(std::move(finding));
  return result.findings.back();
}

std::string Core::byteName(const Region &region, uint64_t row,
                           int64_t byte) const {
  const Access &a = *region.access;
  std::string text = "byte " + std::to_string(byte) + " of ";
  if (a.space == Space::Hbm)
    return text + "buffer '" + program.buffers[a.buffer].name + "'";
  return text + "partition " + std::to_string(a.partition + row) + " of " +
         spaceName(a.space);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

bool Core::resolve(unsigned slot, const char *name) {
  const Access &a = *program.access(*current, slot);
  __int128 start = __int128(a.offset) + streams[queue].value(a.affine);
  Region &region = regions[slot];
  region = {&a, name, int64_t(start)};
  if (a.space == Space::Index) // numbers, wrapping in 64 bits at the far end
    return true;
  __int128 low = start, high = start + region.bytes();
  auto reach = [&](__int128 step, __int128 count) {
    __int128 span = step * (count - 1) * region.bytes();
    (span < 0 ? low : high) += span;
  };
  reach(a.rowStep, a.partitions);
  for (unsigned d = 0; d != a.rank; ++d)
    reach(a.step[d], a.count[d]);
  int64_t size = memory.line(a, 0).size;
  if (low >= 0 && high <= size) {
    region.written = written.contains({&a, region.start});
    return true;
  }
  __int128 worst = low < 0 ? low : high - 1;
  constexpr __int128 far = INT64_MAX;
  region.start = 0;
  find("SIM-BOUNDS",
       Twine(name) + " reaches " +
           byteName(region, 0, int64_t(std::clamp(worst, -far, far))) +
           ", which has " + Twine(size) + " bytes",
       /*fatal=*/true);
  return false;
}

/// One instruction may not touch more than this; a host could not hold it.
constexpr uint64_t maxBytesTouched = uint64_t(1) << 32;

bool Core::resolve() {
  for (Region &region : regions)
    region = {};
  for (const OperandInfo &o : opcodeInfo(current->opcode)->operands) {
    const Access *a = program.access(*current, o.slot);
    if (!a)
      continue;
    if (a->elements() > maxBytesTouched / a->partitions / 8) {
      find("SIM-SIZE",
           Twine(o.name) + " has " + Twine(a->partitions) + " rows of " +
               Twine(a->elements()) + " elements, more than fit in one run",
           /*fatal=*/true);
      return false;
    }
    if (!resolve(o.slot, o.name))
      return false;
  }
  return true;
}

/// An operand of which an instruction may leave elements alone.
static bool isPartial(const Instruction &i, unsigned slot) {
  switch (i.op()) {
  case Opcode::Matmul:
    return Pass(i.sub[0]) == Pass::Low ||
           (slot == 0 && !i.has(flag::matmulStart));
  case Opcode::AffineSelect:
  case Opcode::DmaGather:
    return slot == 1;
  default:
    return false;
  }
}

/// The instruction has been executed: what it read was there, or it is reported,
/// and what it wrote is there now. Loops come to the same places again and again.
void Core::noteWritten() {
  constexpr size_t most = 1 << 16;
  if (!options.checks || sawUnwritten || written.size() >= most)
    return;
  for (unsigned slot = 0; slot != 5; ++slot)
    if (const Region &region = regions[slot];
        region.access && !region.written &&
        region.access->space != Space::Index && !isPartial(*current, slot))
      written.insert({region.access, region.start});
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

const uint32_t *Core::groupsOf(const Region &region, uint64_t row) const {
  int64_t words = machine.psum.banks * machine.psum.bankBytes / 4;
  return groups.data() + (region.access->partition + int64_t(row)) * words;
}

uint32_t *Core::groupsOf(const Region &region, uint64_t row) {
  return const_cast<uint32_t *>(std::as_const(*this).groupsOf(region, row));
}

/// Only the matmuls of a group touch the elements of an open one.
void Core::checkClosed(const Region &region, uint64_t row, const char *verb,
                       Faults &faults) const {
  if (openGroups.empty() || region.access->space != Space::Psum)
    return;
  const uint32_t *group = groupsOf(region, row);
  int64_t size = region.bytes(), bad = -1;
  forEachRun(*region.access, [&](int64_t first, int64_t count, int64_t step) {
    for (int64_t i = 0; i != count && bad < 0; ++i) {
      int64_t byte = region.start + (first + i * step) * size;
      if (group[byte / 4] || group[(byte + size - 1) / 4])
        bad = byte;
    }
  });
  if (bad >= 0)
    faults.push_back({&region, row, bad, verb});
}

void Core::read(const Region &region, uint64_t row,
                std::vector<uint8_t> &packed, Faults &faults,
                const uint8_t *wanted) const {
  packed.resize(region.elements() * region.bytes());
  int64_t missing = memory.read(region, row, packed.data(), wanted);
  if (missing >= 0)
    faults.push_back({&region, row, missing, nullptr});
  checkClosed(region, row, "reads", faults);
}

void Core::write(const Region &region, uint64_t row, const uint8_t *packed,
                 Faults &faults) {
  checkClosed(region, row, "writes", faults);
  memory.write(region, row, packed);
}

void Core::report(const Faults &faults) {
  for (const Fault &fault : faults) {
    std::string byte = byteName(*fault.region, fault.row, fault.byte);
    sawUnwritten |= !fault.verb;
    if (fault.verb)
      find("SIM-GROUP", Twine(fault.region->name) + " " + fault.verb + " " +
                            byte + ", where an accumulation group is open");
    else
      find("SIM-UNINIT", Twine(fault.region->name) + " reads " + byte +
                             ", which nothing wrote");
  }
}

void Core::shareRows(uint64_t rows, uint64_t ns,
                     llvm::function_ref<void(uint64_t, Faults &)> work) {
  // Below this a thread is longer in coming than the work takes.
  constexpr uint64_t worthSharing = 10'000;
  // Parts small enough that threads end together.
  constexpr uint64_t mostParts = 16;
  // Each thread holds its row: of long ones that would be too much.
  constexpr uint64_t longRow = 4'000'000;
  bool shared = ns >= worthSharing && ns / rows <= longRow;
  uint64_t parts = shared ? std::min(rows, mostParts) : 1;
  std::vector<Faults> faults(parts);
  workers.run(parts, [&](size_t part, size_t) {
    for (uint64_t row = rows * part / parts, end = rows * (part + 1) / parts;
         row != end; ++row)
      work(row, faults[part]);
  });
  for (const Faults &some : faults)
    report(some);
}
