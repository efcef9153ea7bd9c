//===- Transfers.cpp - dma_copy, dma_transpose, dma_gather ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transfer is done whole when it is triggered: the earliest legal time, and as
// good as any other in a program without races. Its updates follow, once per DMA
// engine (Run.cpp).
//
//   dma_gather: index [2, 0] of rows a b c   ->   c a
//
// Rows are read and written one after another, except in a transpose, which
// needs all of them first. Threads share rows that cannot meet.
//
//===----------------------------------------------------------------------===//

#include "Core.h"
#include "Values.h"

#include <cstdlib>
#include <cstring>

using namespace facet;
using namespace facet::sim;
using llvm::Twine;

/// Converts n packed elements; same types keep their bits. `from` is given up.
static void convertRow(std::vector<uint8_t> &from, DType fromType,
                       std::vector<uint8_t> &to, DType toType, size_t n,
                       bool saturate) {
  if (fromType == toType)
    return std::swap(from, to);
  bool integers = dtypeIsInteger(fromType) && dtypeIsInteger(toType);
  to.resize(n * dtypeBytes(toType));
  for (size_t e = 0; e != n; ++e) {
    uint64_t bits = loadBits(&from[e * dtypeBytes(fromType)], fromType);
    storeBits(&to[e * dtypeBytes(toType)], toType,
              integers ? fromInt(toInt(bits, fromType), toType, saturate)
                       : fromFloat(toFloat(bits, fromType), toType, saturate));
  }
}

void Core::countBytes(const Region &region, uint64_t rowCount) {
  if (region.access->space != Space::Hbm)
    return;
  uint64_t bytes = rowCount * region.elements() * region.bytes();
  (&region == &regions[0] ? result.hbmBytesWritten : result.hbmBytesRead) +=
      bytes;
}

/// They cannot have a byte in common.
static bool areApart(const Access &a, const Access &b) {
  return a.space != b.space || (a.space == Space::Hbm && a.buffer != b.buffer);
}

/// Rows that are written have no byte in common, and no byte of Memory's bits.
static bool rowsAreApart(const Region &dst) {
  const Access &a = *dst.access;
  if (a.space != Space::Hbm)
    return true; // each has its own partition
  uint64_t bytes = dst.elements() * dst.bytes();
  uint64_t step = uint64_t(std::abs(a.rowStep)) * dst.bytes();
  return Memory::isDense(a) && step >= bytes && step % 8 == 0 &&
         dst.start % 8 == 0;
}

/// About what a transfer takes here.
static uint64_t nsToMove(const Region &dst, uint64_t rowCount) {
  return rowCount * dst.elements() * dst.bytes() / 8;
}

/// `direct`: same type, apart, and dst is dense. Most bytes of a program come this
/// way: one copy, not three.
void Core::moveRow(const Region &dst, uint64_t dstRow, const Region &src,
                   uint64_t srcRow, bool direct, Faults &faults) {
  if (direct) {
    Line line = memory.line(*dst.access, dstRow);
    int64_t begin = Memory::rowStart(dst, dstRow);
    int64_t missing = memory.read(src, srcRow, line.data + begin);
    if (missing >= 0)
      faults.push_back({&src, srcRow, missing, nullptr});
    checkClosed(src, srcRow, "reads", faults);
    checkClosed(dst, dstRow, "writes", faults);
    if (line.written && !dst.written)
      Memory::markWritten(line, begin,
                          begin + int64_t(dst.elements() * dst.bytes()));
    return;
  }
  static thread_local std::vector<uint8_t> from, to;
  read(src, srcRow, from, faults);
  convertRow(from, src.access->dtype, to, dst.access->dtype, dst.elements(),
             current->has(flag::saturate));
  write(dst, dstRow, to.data(), faults);
}

void Core::transferCopy() {
  const Region &dst = regions[0], &src = regions[1];
  uint64_t rowCount = dst.access->partitions;
  bool apart = areApart(*src.access, *dst.access);
  bool direct = apart && src.access->dtype == dst.access->dtype &&
                Memory::isDense(*dst.access);
  uint64_t ns = apart && rowsAreApart(dst) ? nsToMove(dst, rowCount) : 0;
  shareRows(rowCount, ns, [&](uint64_t row, Faults &faults) {
    moveRow(dst, row, src, row, direct, faults);
  });
  countBytes(src, rowCount);
  countBytes(dst, rowCount);
}

void Core::transferTranspose() {
  const Region &dst = regions[0], &src = regions[1];
  size_t size = src.bytes(), n = src.elements(), p = src.access->partitions;
  std::vector<uint8_t> all(p * n * size), row;
  Faults faults;
  for (size_t r = 0; r != p; ++r) {
    read(src, r, row, faults);
    std::memcpy(&all[r * n * size], row.data(), n * size);
  }
  row.resize(p * size);
  for (size_t e = 0; e != n; ++e) {
    for (size_t r = 0; r != p; ++r)
      std::memcpy(&row[r * size], &all[(r * n + e) * size], size);
    write(dst, e, row.data(), faults);
  }
  report(faults);
  countBytes(src, p);
  countBytes(dst, n);
}

void Core::transferGather() {
  const Region &dst = regions[0], &src = regions[1], &index = regions[2];
  uint64_t rowCount = dst.access->partitions;
  std::vector<int32_t> indices;
  std::vector<uint8_t> bits;
  for (uint64_t row = 0; row != rowCount; ++row) {
    Faults faults;
    read(index, row, bits, faults);
    report(faults);
    indices.push_back(toInt(loadBits(bits.data(), DType::I32), DType::I32));
    if (indices[row] < 0 || uint32_t(indices[row]) >= src.access->partitions) {
      find("SIM-INDEX",
           "index " + Twine(row) + " is " + Twine(indices[row]) + ", src has " +
               Twine(src.access->partitions) + " rows",
           /*fatal=*/true);
      return;
    }
  }
  bool apart = areApart(*src.access, *dst.access);
  bool direct = apart && src.access->dtype == dst.access->dtype &&
                Memory::isDense(*dst.access);
  uint64_t ns = apart && rowsAreApart(dst) ? nsToMove(dst, rowCount) : 0;
  shareRows(rowCount, ns, [&](uint64_t row, Faults &faults) {
    moveRow(dst, row, src, uint64_t(indices[row]), direct, faults);
  });
  countBytes(src, rowCount);
  countBytes(index, rowCount);
  countBytes(dst, rowCount);
}
