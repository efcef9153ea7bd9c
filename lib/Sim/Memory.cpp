//===- Memory.cpp - what a core can store, byte by byte -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three memories, each of lines: 128 partitions of sbuf and of psum, the buffers
// of hbm. Beside each byte one bit says whether something wrote it:
//
//   write [4, 8)    written 0b11110000
//   read  [2, 6)    -> byte 2 was never written
//
// What was never written reads as ones: NaN in every float type, -1 in integers, so
// that it shows in a result; also where nobody keeps bits, unless that is so large
// that touching it would cost more than the run.
//
// Pages come from the host untouched, so a large memory that a program leaves
// alone costs nothing. A program that moves much gets large pages: rows lie far
// apart, and each row of a transfer or matmul would need a page of its own to be
// looked up. Callers have looked at bounds before.
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include <algorithm>
#include <cstring>

#if defined(__linux__)
#include <sys/mman.h>
#endif

using namespace facet;
using namespace facet::sim;

/// Each byte of what was never written.
constexpr uint8_t poison = 0xff;
constexpr int64_t mostPoisoned = int64_t(1) << 28;

constexpr int64_t largePage = int64_t(1) << 21;
/// Bytes in HBM from which on a program touches most pages of what it uses, so
/// that clearing large ones is not in vain.
constexpr uint64_t worthLargePages = uint64_t(1) << 24;

/// Zeros, from an address that is a multiple of `align` on.
static uint8_t *allocate(int64_t bytes, int64_t align,
                         std::unique_ptr<uint8_t, Memory::Free> &owner) {
  owner.reset(static_cast<uint8_t *>(std::calloc(size_t(bytes + align), 1)));
  if (!owner)
    return nullptr;
  uint8_t *first =
      owner.get() +
      (align - reinterpret_cast<intptr_t>(owner.get()) % align) % align;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (align == largePage)
    (void)madvise(first, size_t(bytes), MADV_HUGEPAGE); // a wish
#endif
  return first;
}

Memory::Store Memory::make(int64_t lines, int64_t lineBytes, bool track,
                           bool given) {
  Store store;
  store.lineBytes = lineBytes;
  // The same byte of all partitions is what is read together; a few cache lines
  // more between them and they do not all fall into the same place of a cache.
  constexpr int64_t cacheLine = 64;
  store.stride = (lineBytes / cacheLine + 6) * cacheLine;
  int64_t align =
      largePages && lines * store.stride >= largePage ? largePage : cacheLine;
  store.first = allocate(lines * store.stride, align, store.data);
  store.lineBits = (lineBytes / 8 / cacheLine + 1) * cacheLine;
  if (track)
    store.firstBit = allocate(lines * store.lineBits, align, store.written);
  else if (store.first && !given && lines * store.stride <= mostPoisoned)
    std::memset(store.first, poison, size_t(lines * store.stride));
  ok &= store.data && (store.written || !track);
  return store;
}

Memory::Memory(const Program &program, bool track) {
  const Machine &m = program.machine;
  uint64_t bytes = 0;
  for (const Buffer &b : program.buffers)
    bytes += b.space == Space::Hbm ? b.bytes : 0;
  largePages = bytes >= worthLargePages;
  sbuf = make(m.core.partitions, m.sbuf.partitionBytes, track);
  psum = make(m.core.partitions, m.psum.banks * m.psum.bankBytes, track);
  for (const Buffer &b : program.buffers) {
    bool given = b.kind != BufferKind::Out && b.kind != BufferKind::Scratch;
    buffers.push_back(b.space == Space::Hbm
                          ? make(1, int64_t(b.bytes), track, given)
                          : Store());
  }
}

Line Memory::line(const Access &access, uint64_t row) const {
  switch (access.space) {
  case Space::Sbuf:
    return sbuf.line(access.partition + int64_t(row));
  case Space::Psum:
    return psum.line(access.partition + int64_t(row));
  default:
    return hbm(access.buffer);
  }
}

bool Memory::isDense(const Access &access) {
  int64_t next = 1;
  for (unsigned d = access.rank; d != 0; --d) {
    if (access.count[d - 1] == 1)
      continue;
    if (access.step[d - 1] != next)
      return false;
    next *= access.count[d - 1];
  }
  return true;
}

int64_t Memory::firstUnwritten(const Line &line, int64_t begin, int64_t end) {
  for (int64_t at = begin; at < end; ++at) {
    if (at % 8 == 0) {
      uint64_t all = 0;
      while (at + 64 <= end &&
             (std::memcpy(&all, line.written + at / 8, 8), ~all == 0))
        at += 64;
      while (at + 8 <= end && line.written[at / 8] == 0xff)
        at += 8;
    }
    if (at < end && !(line.written[at / 8] >> (at % 8) & 1))
      return at;
  }
  return -1;
}

void Memory::markWritten(const Line &line, int64_t begin, int64_t end) {
  for (; begin < end && begin % 8; ++begin)
    line.written[begin / 8] |= uint8_t(1u << (begin % 8));
  if (begin < end)
    std::memset(line.written + begin / 8, 0xff, size_t((end - begin) / 8));
  for (begin = std::max(begin, end - end % 8); begin < end; ++begin)
    line.written[begin / 8] |= uint8_t(1u << (begin % 8));
}

/// Copies elements of `Size` bytes between a strided and a dense row.
template <unsigned Size, bool ToPacked>
static void copyStrided(uint8_t *memory, int64_t step, uint8_t *packed,
                        int64_t count) {
  for (int64_t i = 0; i != count; ++i) {
    uint8_t *at = memory + i * step * int64_t(Size);
    if (ToPacked)
      std::memcpy(packed + i * int64_t(Size), at, Size);
    else
      std::memcpy(at, packed + i * int64_t(Size), Size);
  }
}

template <bool ToPacked>
static void copyRun(unsigned size, uint8_t *memory, int64_t step,
                    uint8_t *packed, int64_t count) {
  if (step == 1 || count == 1) {
    size_t bytes = size_t(count) * size;
    std::memcpy(ToPacked ? packed : memory, ToPacked ? memory : packed, bytes);
    return;
  }
  switch (size) {
  case 1:
    return copyStrided<1, ToPacked>(memory, step, packed, count);
  case 2:
    return copyStrided<2, ToPacked>(memory, step, packed, count);
  case 4:
    return copyStrided<4, ToPacked>(memory, step, packed, count);
  default:
    return copyStrided<8, ToPacked>(memory, step, packed, count);
  }
}

/// Bytes of a row that nothing wrote.
static void poisonRow(const Line &at, const Region &region, int64_t start,
                      uint8_t *packed) {
  int64_t size = region.bytes();
  forEachRun(*region.access, [&](int64_t first, int64_t count, int64_t step) {
    for (int64_t i = 0; i != count; ++i)
      for (int64_t b = 0; b != size; ++b, ++packed)
        if (int64_t byte = start + (first + i * step) * size + b;
            !(at.written[byte / 8] >> (byte % 8) & 1))
          *packed = poison;
  });
}

int64_t Memory::read(const Region &region, uint64_t row, uint8_t *packed,
                     const uint8_t *wanted) const {
  uint8_t *first = packed;
  Line at = line(*region.access, row);
  int64_t size = region.bytes(), start = rowStart(region, row), missing = -1;
  forEachRun(*region.access, [&](int64_t first, int64_t count, int64_t step) {
    int64_t begin = start + first * size;
    copyRun<true>(unsigned(size), at.data + begin, step, packed, count);
    packed += count * size;
    if (at.written && !region.written && missing < 0) {
      if (step == 1 && !wanted)
        missing = firstUnwritten(at, begin, begin + count * size);
      else
        for (int64_t i = 0; i != count && missing < 0; ++i)
          if (int64_t element = begin + i * step * size; !wanted || wanted[i])
            missing = firstUnwritten(at, element, element + size);
    }
    if (wanted)
      wanted += count;
  });
  if (missing >= 0)
    poisonRow(at, region, start, first);
  return missing;
}

void Memory::write(const Region &region, uint64_t row, const uint8_t *packed) {
  Line at = line(*region.access, row);
  int64_t size = region.bytes(), start = rowStart(region, row);
  forEachRun(*region.access, [&](int64_t first, int64_t count, int64_t step) {
    int64_t begin = start + first * size;
    copyRun<false>(unsigned(size), at.data + begin, step,
                   const_cast<uint8_t *>(packed), count);
    packed += count * size;
    if (!at.written || region.written)
      return;
    if (step == 1)
      return markWritten(at, begin, begin + count * size);
    for (int64_t i = 0; i != count; ++i)
      markWritten(at, begin + i * step * size, begin + i * step * size + size);
  });
}
