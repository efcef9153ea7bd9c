//===- Tensor.cpp - load_weights, matmul, transpose -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The array holds the weights loaded last, whichever iteration loaded them, so
// what static checks see in the text is looked at again here. PSUM remembers
// which accumulation group each of its words belongs to:
//
//   matmul start        opens group 7 on its elements
//   matmul              all of them, and no others, must be of group 7
//   matmul stop         closes it: 0
//   copy src=psum...    must find 0 everywhere
//
//===----------------------------------------------------------------------===//

#include "Core.h"
#include "Values.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace facet;
using namespace facet::sim;
using llvm::Twine;

/// Elements of one logical row: half of them in a double row.
static size_t columnsOf(const Region &region, bool doubleRow) {
  return region.elements() / (doubleRow ? 2 : 1);
}

void Core::loadWeights() {
  const Region &w = regions[0];
  bool pair = current->has(flag::weightsDoubleRow);
  weights.loaded = true;
  weights.doubleRow = pair;
  weights.dtype = w.access->dtype;
  weights.pass = Pass(current->sub[0]);
  weights.partition = w.access->partition;
  weights.partitions = w.access->partitions;
  weights.columns = columnsOf(w, pair);
  weights.rows = w.access->partitions * size_t(pair ? 2 : 1);
  ++weights.number;
  weights.place = w;
  weights.inPlace = !pair && Memory::isDense(*w.access) && isWhollyWritten(w);
  if (weights.inPlace) {
    weights.data = memory.line(*w.access, 0).data + w.start;
    weights.stride = memory.stride(Space::Sbuf);
    return;
  }
  Faults faults;
  size_t rowBytes = weights.columns * w.bytes();
  weights.copy.resize(weights.rows * rowBytes);
  weights.data = weights.copy.data();
  weights.stride = ptrdiff_t(rowBytes);
  std::vector<uint8_t> row;
  for (uint64_t p = 0; p != w.access->partitions; ++p) {
    read(w, p, row, faults);
    for (size_t half = 0; half != (pair ? 2u : 1u); ++half)
      std::memcpy(&weights.copy[(half * w.access->partitions + p) * rowBytes],
                  &row[half * rowBytes], rowBytes);
  }
  report(faults);
}

/// Looks at the bytes of a dense operand without reading it.
bool Core::isWhollyWritten(const Region &region) const {
  if (!options.checks || region.written)
    return true;
  int64_t end = region.start + int64_t(region.elements() * region.bytes());
  for (uint64_t p = 0; p != region.access->partitions; ++p)
    if (Memory::firstUnwritten(memory.line(*region.access, p), region.start,
                               end) >= 0)
      return false;
  return true;
}

/// The weights are in the array since they were loaded: takes them out of sbuf
/// before the instruction overwrites them there.
void Core::keepWeights() {
  if (!weights.inPlace)
    return;
  const Access &mine = *weights.place.access;
  for (const OperandInfo &o : opcodeInfo(current->opcode)->operands) {
    const Region &region = regions[o.slot];
    if (o.mode == OperandMode::Read || !region.access ||
        region.access->space != Space::Sbuf)
      continue;
    const Access &its = *region.access;
    auto [low, high] = rowSpan(its, region.start);
    auto [begin, end] = rowSpan(mine, weights.place.start);
    if (its.partition < mine.partition + mine.partitions &&
        mine.partition < its.partition + its.partitions && low < end &&
        begin < high)
      return copyWeights();
  }
}

void Core::copyWeights() {
  size_t rowBytes = weights.columns * dtypeBytes(weights.dtype);
  std::vector<uint8_t> copy(weights.rows * rowBytes);
  for (size_t k = 0; k != weights.rows; ++k)
    std::memcpy(&copy[k * rowBytes],
                weights.data + ptrdiff_t(k) * weights.stride, rowBytes);
  weights.copy = std::move(copy);
  weights.data = weights.copy.data();
  weights.stride = ptrdiff_t(rowBytes);
  weights.inPlace = false;
}

bool Core::checkWeights(const Region &dst, const Region *moving) {
  auto wrong = [&](const Twine &message) {
    find("SIM-WEIGHTS", message, /*fatal=*/true);
    return false;
  };
  if (!weights.loaded)
    return wrong("no weights are loaded");
  if (dst.access->partitions != weights.columns)
    return wrong("dst has " + Twine(dst.access->partitions) +
                 " partitions, the weights loaded last have " +
                 Twine(weights.columns) + " columns");
  if (!moving) {
    bool narrow = dtypeBits(weights.dtype) == 8;
    if (weights.doubleRow)
      return wrong("the weights loaded last are double_row");
    if (dst.elements() != weights.rows)
      return wrong("dst has " + Twine(dst.elements()) +
                   " elements per row, the weights loaded last have " +
                   Twine(weights.rows) + " rows");
    if (narrow ? !dtypeIsFloat(dst.access->dtype)
               : dst.access->dtype != weights.dtype)
      return wrong(Twine("dst is ") + dtypeName(dst.access->dtype) +
                   ", the weights loaded last are " + dtypeName(weights.dtype));
    return true;
  }
  if (current->has(flag::matmulDoubleRow) != weights.doubleRow)
    return wrong("double_row here and of the weights loaded last differ");
  if (Pass(current->sub[0]) != weights.pass)
    return wrong("pass here and of the weights loaded last differ");
  const Access &m = *moving->access;
  if (m.partition != weights.partition || m.partitions != weights.partitions)
    return wrong("moving has partitions " + Twine(m.partition) + ":" +
                 Twine(m.partition + m.partitions) +
                 ", the weights loaded last " + Twine(weights.partition) + ":" +
                 Twine(weights.partition + weights.partitions));
  bool wide = dtypeBits(m.dtype) == 32 || dtypeBits(weights.dtype) == 32;
  auto meets = [&](DType a, DType b) {
    return (m.dtype == a && weights.dtype == b) ||
           (m.dtype == b && weights.dtype == a);
  };
  if ((wide && m.dtype != weights.dtype) ||
      meets(DType::F8E4M3, DType::F8E4M3FN))
    return wrong(Twine("moving is ") + dtypeName(m.dtype) +
                 ", the weights loaded last are " + dtypeName(weights.dtype));
  return true;
}

void Core::checkBanks(const Region &dst) {
  auto [low, high] = rowSpan(*dst.access, dst.start);
  int64_t bank = machine.psum.bankBytes;
  int64_t banks = (high - 1) / bank - low / bank + 1;
  if (banks > machine.psum.matmulBanks)
    find("SIM-BANK", "dst reaches bytes " + Twine(low) + " to " +
                         Twine(high - 1) + " of psum, " + Twine(banks) +
                         " banks; one instruction may write " +
                         Twine(machine.psum.matmulBanks));
}

//===----------------------------------------------------------------------===//
// Accumulation groups
//===----------------------------------------------------------------------===//

template <typename Visit>
static void forEachWord(const Region &region, Visit visit) {
  forEachRun(*region.access, [&](int64_t first, int64_t count, int64_t step) {
    for (int64_t i = 0; i != count; ++i)
      visit(region.start / 4 + first + i * step);
  });
}

/// Gives a row's words another group when all of them have `from`.
static bool exchange(uint32_t *words, const Region &region, uint32_t from,
                     uint32_t to) {
  if (!Memory::isDense(*region.access))
    return false;
  uint32_t *begin = words + region.start / 4, *end = begin + region.elements();
  uint32_t differs = 0;
  for (uint32_t *word = begin; word != end; ++word)
    differs |= *word ^ from;
  if (differs)
    return false;
  std::fill(begin, end, to);
  return true;
}

/// Takes words out of an open group; one without words is no more. 0: none.
void Core::leaveGroup(uint32_t group, uint64_t words) {
  auto open = openGroups.find(group);
  if (open == openGroups.end())
    return;
  open->second.words -= std::min(open->second.words, words);
  if (open->second.words == 0)
    openGroups.erase(open);
}

void Core::openGroup(const Region &dst) {
  int64_t open = -1;
  uint64_t partition = 0;
  uint32_t group = ++lastGroup;
  for (uint64_t row = 0; row != dst.access->partitions; ++row) {
    uint32_t *words = groupsOf(dst, row);
    if (exchange(words, dst, 0, group))
      continue;
    forEachWord(dst, [&](int64_t word) {
      if (words[word] && open < 0)
        open = word, partition = row;
      if (words[word])
        leaveGroup(words[word], 1);
      words[word] = group;
    });
  }
  openGroups[group] = {dst.access->partitions * dst.elements(), *dst.access,
                       dst.start};
  if (open >= 0)
    find("SIM-GROUP", "starts a group on " +
                          byteName(dst, partition, open * 4) +
                          ", where an accumulation group is open");
}

/// They touch the same elements when they start at the same byte.
static bool sameShape(Access a, Access b) {
  a.offset = b.offset = 0;
  a.affine = b.affine = 0;
  return a == b;
}

void Core::continueGroup(const Region &dst) {
  uint32_t group = groupsOf(dst, 0)[dst.start / 4];
  auto open = openGroups.find(group);
  if (!group || open == openGroups.end()) {
    find("SIM-GROUP", "adds to " + byteName(dst, 0, dst.start) +
                          ", where no accumulation group is open");
    return;
  }
  bool same = open->second.words == dst.access->partitions * dst.elements();
  // Most often it is the access that the group was started with: as long as the
  // group has all its words, those are the ones.
  if (same && open->second.start == dst.start &&
      sameShape(open->second.access, *dst.access))
    return;
  for (uint64_t row = 0; row != dst.access->partitions; ++row) {
    const uint32_t *words = groupsOf(dst, row);
    forEachWord(dst, [&](int64_t word) { same &= words[word] == group; });
  }
  if (!same)
    find("SIM-GROUP", "adds to other elements than the group at " +
                          byteName(dst, 0, dst.start) + " was started with");
}

void Core::closeGroup(const Region &dst) {
  // Most often there is one.
  uint32_t group = groupsOf(dst, 0)[dst.start / 4];
  uint64_t count = 0; // words of `group` in a row
  for (uint64_t row = 0; row != dst.access->partitions; ++row) {
    uint32_t *words = groupsOf(dst, row);
    if (exchange(words, dst, group, 0)) {
      count += dst.elements();
      continue;
    }
    forEachWord(dst, [&](int64_t word) {
      if (words[word] != group) {
        leaveGroup(group, count);
        group = words[word];
        count = 0;
      }
      ++count;
      words[word] = 0;
    });
  }
  leaveGroup(group, count);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void Core::multiply(const Moving &moving, const Sums &sums, bool start) {
  Level level = bestLevel();
  auto block = [&](size_t n, size_t thread) {
    Packed &mine = packed[thread];
    if (mine.number != weights.number)
      mine.weights.pack(weights.data, weights.stride, weights.dtype,
                        weights.rows, weights.columns);
    mine.number = weights.number;
    multiplyBlock(level, mine.weights, moving, n * columnBlock, sums, start);
  };
  size_t blocks = (moving.columns + columnBlock - 1) / columnBlock;
  // Below this a thread is longer in coming than the work takes.
  constexpr size_t worthSharing = size_t(1) << 21;
  if (weights.rows * weights.columns * moving.columns >= worthSharing)
    return workers.run(blocks, block);
  for (size_t n = 0; n != blocks; ++n)
    block(n, 0);
}

void Core::matmul() {
  const Region &dst = regions[0], &moving = regions[1];
  if (!checkWeights(dst, &moving))
    return;
  if (weights.pass == Pass::Low)
    return;
  bool pair = weights.doubleRow, start = current->has(flag::matmulStart);
  size_t n = columnsOf(moving, pair), m = weights.columns, k = weights.rows;
  size_t size = moving.bytes();
  uint64_t partitions = moving.access->partitions;

  Moving x{nullptr, ptrdiff_t(n * size), moving.access->dtype, n};
  std::vector<uint8_t> gathered, row;
  Faults faults;
  if (!pair && Memory::isDense(*moving.access) && isWhollyWritten(moving)) {
    x.data = memory.line(*moving.access, 0).data + moving.start;
    x.stride = memory.stride(Space::Sbuf);
  } else {
    gathered.resize(k * n * size);
    x.data = gathered.data();
    for (uint64_t p = 0; p != partitions; ++p) {
      read(moving, p, row, faults);
      for (size_t half = 0; half != (pair ? 2u : 1u); ++half)
        std::memcpy(&gathered[(half * partitions + p) * n * size],
                    &row[half * n * size], n * size);
    }
  }
  report(faults);
  result.multiplyAdds += uint64_t(k) * m * n;
  if (options.checks) {
    checkBanks(dst);
    start ? openGroup(dst) : continueGroup(dst);
  }

  if (Memory::isDense(*dst.access)) {
    multiply(x,
             {memory.line(*dst.access, 0).data + dst.start,
              memory.stride(Space::Psum)},
             start);
    for (uint64_t p = 0; p != m && options.checks && start && !dst.written; ++p)
      Memory::markWritten(memory.line(*dst.access, p), dst.start,
                          dst.start + int64_t(n * sizeof(float)));
  } else {
    std::vector<uint8_t> sums(m * n * sizeof(float));
    size_t row = n * sizeof(float);
    for (uint64_t p = 0; p != m && !start; ++p)
      (void)memory.read(dst, p, &sums[p * row]);
    multiply(x, {sums.data(), ptrdiff_t(row)}, start);
    for (uint64_t p = 0; p != m; ++p)
      memory.write(dst, p, &sums[p * row]);
  }
  if (options.checks && current->has(flag::matmulStop))
    closeGroup(dst);
}

void Core::transpose() {
  const Region &dst = regions[0];
  if (!checkWeights(dst, nullptr))
    return;
  if (options.checks)
    checkBanks(dst);
  DType from = weights.dtype, to = dst.access->dtype;
  unsigned size = dst.bytes(), weightBytes = dtypeBytes(from);
  std::vector<uint8_t> row(weights.rows * size);
  Faults faults;
  std::vector<float> values(weights.rows * weights.columns);
  if (weights.inPlace)
    copyWeights();
  toFloats(weights.data, from, values.size(), values.data());
  for (uint64_t m = 0; m != weights.columns; ++m) {
    for (size_t k = 0; k != weights.rows; ++k) {
      size_t at = k * weights.columns + m;
      uint64_t bits = loadBits(&weights.copy[at * weightBytes], from);
      bool isNaN = std::isnan(values[at]);
      if (from != to || (isNaN && !machine.tensor.exactTranspose))
        bits = fromFloat(values[at], to, /*saturate=*/false);
      storeBits(&row[k * size], to, bits);
    }
    write(dst, m, row.data(), faults);
  }
  report(faults);
}
