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
// needs all of them first.
//
//===----------------------------------------------------------------------===//

#include "Core.h"
#include "Values.h"

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

void Core::transferCopy() {
  const Region &dst = regions[0], &src = regions[1];
  uint64_t rowCount = dst.access->partitions;
  // Most bytes of a program come this way: one copy, not three.
  bool direct = src.access->dtype == dst.access->dtype &&
                Memory::isDense(*dst.access) &&
                areApart(*src.access, *dst.access);
  int64_t rowBytes = int64_t(dst.elements() * dst.bytes());
  for (uint64_t row = 0; direct && row != rowCount; ++row) {
    Line line = memory.line(*dst.access, row);
    int64_t begin = Memory::rowStart(dst, row);
    int64_t missing = memory.read(src, row, line.data + begin);
    if (missing >= 0)
      reportUnwritten(src, row, missing);
    checkClosed(src, row, "reads");
    checkClosed(dst, row, "writes");
    if (line.written)
      Memory::markWritten(line, begin, begin + rowBytes);
  }
  for (uint64_t row = 0; !direct && row != rowCount; ++row) {
    read(src, row, rows[1]);
    convertRow(rows[1], src.access->dtype, rows[0], dst.access->dtype,
               dst.elements(), current->has(flag::saturate));
    write(dst, row, rows[0].data());
  }
  countBytes(src, rowCount);
  countBytes(dst, rowCount);
}

void Core::transferTranspose() {
  const Region &dst = regions[0], &src = regions[1];
  size_t size = src.bytes(), n = src.elements(), p = src.access->partitions;
  std::vector<uint8_t> all(p * n * size), row(p * size);
  for (size_t r = 0; r != p; ++r) {
    read(src, r, rows[1]);
    std::memcpy(&all[r * n * size], rows[1].data(), n * size);
  }
  for (size_t e = 0; e != n; ++e) {
    for (size_t r = 0; r != p; ++r)
      std::memcpy(&row[r * size], &all[(r * n + e) * size], size);
    write(dst, e, row.data());
  }
  countBytes(src, p);
  countBytes(dst, n);
}

void Core::transferGather() {
  const Region &dst = regions[0], &src = regions[1], &index = regions[2];
  uint64_t rowCount = dst.access->partitions;
  std::vector<int32_t> indices;
  for (uint64_t row = 0; row != rowCount; ++row) {
    read(index, row, rows[2]);
    indices.push_back(toInt(loadBits(rows[2].data(), DType::I32), DType::I32));
    if (indices[row] < 0 || uint32_t(indices[row]) >= src.access->partitions) {
      find("SIM-INDEX",
           "index " + Twine(row) + " is " + Twine(indices[row]) + ", src has " +
               Twine(src.access->partitions) + " rows",
           /*fatal=*/true);
      return;
    }
  }
  for (uint64_t row = 0; row != rowCount; ++row) {
    read(src, uint64_t(indices[row]), rows[1]);
    convertRow(rows[1], src.access->dtype, rows[0], dst.access->dtype,
               dst.elements(), current->has(flag::saturate));
    write(dst, row, rows[0].data());
  }
  countBytes(src, rowCount);
  countBytes(index, rowCount);
  countBytes(dst, rowCount);
}
