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
#include "Multiply.h"
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
  size_t rowBytes = weights.columns * w.bytes();
  weights.bits.resize(weights.rows * rowBytes);
  for (uint64_t p = 0; p != w.access->partitions; ++p) {
    read(w, p, rows[0]);
    for (size_t half = 0; half != (pair ? 2u : 1u); ++half)
      std::memcpy(&weights.bits[(half * w.access->partitions + p) * rowBytes],
                  &rows[0][half * rowBytes], rowBytes);
  }
  weights.values.resize(weights.rows * weights.columns);
  toFloats(weights.bits.data(), weights.dtype, weights.values.size(),
           weights.values.data());
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
  int64_t low = dst.start, high = dst.start + dst.bytes();
  for (unsigned d = 0; d != dst.access->rank; ++d) {
    int64_t span = dst.access->step[d] * (int64_t(dst.access->count[d]) - 1) *
                   int64_t(dst.bytes());
    (span < 0 ? low : high) += span;
  }
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

/// Takes words out of an open group; one without words is no more. 0: none.
void Core::leaveGroup(uint32_t group, uint64_t words) {
  auto open = openGroups.find(group);
  if (open == openGroups.end())
    return;
  open->second -= std::min(open->second, words);
  if (open->second == 0)
    openGroups.erase(open);
}

void Core::openGroup(const Region &dst) {
  int64_t open = -1;
  uint64_t partition = 0;
  uint32_t group = ++lastGroup;
  for (uint64_t row = 0; row != dst.access->partitions; ++row) {
    uint32_t *words = groupsOf(dst, row);
    forEachWord(dst, [&](int64_t word) {
      if (words[word] && open < 0)
        open = word, partition = row;
      if (words[word])
        leaveGroup(words[word], 1);
      words[word] = group;
    });
  }
  openGroups[group] = dst.access->partitions * dst.elements();
  if (open >= 0)
    find("SIM-GROUP", "starts a group on " +
                          byteName(dst, partition, open * 4) +
                          ", where an accumulation group is open");
}

void Core::continueGroup(const Region &dst) {
  uint32_t group = groupsOf(dst, 0)[dst.start / 4];
  auto open = openGroups.find(group);
  if (!group || open == openGroups.end()) {
    find("SIM-GROUP", "adds to " + byteName(dst, 0, dst.start) +
                          ", where no accumulation group is open");
    return;
  }
  bool same = open->second == dst.access->partitions * dst.elements();
  for (uint64_t row = 0; row != dst.access->partitions; ++row) {
    const uint32_t *words = groupsOf(dst, row);
    forEachWord(dst, [&](int64_t word) { same &= words[word] == group; });
  }
  if (!same)
    find("SIM-GROUP", "adds to other elements than the group at " +
                          byteName(dst, 0, dst.start) + " was started with");
}

void Core::closeGroup(const Region &dst) {
  uint32_t group = 0;
  uint64_t count = 0; // words of `group` in a row
  for (uint64_t row = 0; row != dst.access->partitions; ++row) {
    uint32_t *words = groupsOf(dst, row);
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

void Core::matmul() {
  const Region &dst = regions[0], &moving = regions[1];
  if (!checkWeights(dst, &moving))
    return;
  if (weights.pass == Pass::Low)
    return;
  bool pair = weights.doubleRow, start = current->has(flag::matmulStart);
  size_t n = columnsOf(moving, pair), m = weights.columns, k = weights.rows;
  size_t padded = (n + columnBlock - 1) / columnBlock * columnBlock;
  std::vector<float> x(k * padded), sums(m * padded), row(moving.elements());
  for (uint64_t p = 0; p != moving.access->partitions; ++p) {
    read(moving, p, rows[1]);
    toFloats(rows[1].data(), moving.access->dtype, row.size(), row.data());
    for (size_t half = 0; half != (pair ? 2u : 1u); ++half)
      std::memcpy(&x[(half * moving.access->partitions + p) * padded],
                  &row[half * n], n * sizeof(float));
  }
  multiply(weights.values.data(), x.data(), k, m, padded, sums.data());
  result.multiplyAdds += uint64_t(k) * m * n;

  if (options.checks) {
    checkBanks(dst);
    start ? openGroup(dst) : continueGroup(dst);
  }
  std::vector<uint8_t> old(n * sizeof(float));
  for (uint64_t p = 0; p != m; ++p) {
    float *t = &sums[p * padded];
    if (!start)
      (void)memory.read(dst, p, old.data());
    for (size_t i = 0; i != n; ++i) {
      float before = 0;
      std::memcpy(&before, &old[i * sizeof(float)], sizeof(float));
      t[i] = canonical(start ? t[i] : before + t[i]);
    }
    memory.write(dst, p, reinterpret_cast<const uint8_t *>(t));
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
  for (uint64_t m = 0; m != weights.columns; ++m) {
    for (size_t k = 0; k != weights.rows; ++k) {
      size_t at = k * weights.columns + m;
      uint64_t bits = loadBits(&weights.bits[at * weightBytes], from);
      bool isNaN = std::isnan(weights.values[at]);
      if (from != to || (isNaN && !machine.tensor.exactTranspose))
        bits = fromFloat(weights.values[at], to, /*saturate=*/false);
      storeBits(&row[k * size], to, bits);
    }
    write(dst, m, row.data());
  }
}
