//===- Shadow.cpp - who touched which bytes last --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands are rectangles, so memory is remembered in rectangles: partitions are
// cut into bands where some access begins or ends, bytes into cells as they are
// touched.
//
//   write [0, 4096)                 [0, 4096) W1
//   read  [1024, 2048)              [0, 1024) W1   [1024, 2048) W1 R2   [2048, 4096) W1
//   write [0, 4096)                 [0, 4096) W3
//
// A program touches the same stretches over and over: most accesses meet one cell.
//
//===----------------------------------------------------------------------===//

#include "Shadow.h"

#include <iterator>

using namespace facet;
using namespace facet::sim;

void Cell::addReader(const Epoch &epoch) {
  for (Epoch &reader : readers)
    if (reader.component == epoch.component) {
      if (reader.value <= epoch.value)
        reader = epoch;
      return;
    }
  readers.push_back(epoch);
}

ShadowLine::Cells::iterator ShadowLine::from(int64_t begin) {
  auto at = cells.lower_bound(begin);
  if (at == cells.begin())
    return at;
  auto before = std::prev(at);
  if (before->second.end <= begin)
    return at;
  at = cells.emplace_hint(at, begin, before->second);
  before->second.end = begin;
  return at;
}

ShadowLine::Cells::iterator ShadowLine::fit(Cells::iterator at, int64_t begin,
                                            int64_t end) {
  if (at == cells.end() || at->first > begin) {
    Cell empty;
    empty.end = at == cells.end() ? end : std::min(end, at->first);
    empty.written = given;
    return cells.emplace_hint(at, begin, empty);
  }
  if (at->second.end > end) {
    cells.emplace_hint(std::next(at), end, at->second);
    at->second.end = end;
  }
  return at;
}

void ShadowLine::write(int64_t begin, int64_t end, const Epoch &epoch) {
  auto at = fit(from(begin), begin, end);
  // Most often it is one cell already.
  Cell &cell = at->second;
  for (auto next = std::next(at);
       cell.end != end && next != cells.end() && next->first < end;) {
    if (next->second.end > end)
      cells.emplace_hint(std::next(next), end, next->second);
    next = cells.erase(next);
  }
  cell.end = end;
  cell.written = cell.hasWriter = true;
  cell.writer = epoch;
  cell.readers.clear();
}

Shadow::Shadow(const Program &program) : program(program) {
  for (const Buffer &buffer : program.buffers)
    buffers.emplace_back(buffer.kind == BufferKind::InOut);
  for (const Access &a : program.accesses) {
    if (a.space != Space::Sbuf && a.space != Space::Psum)
      continue;
    auto &bands = a.space == Space::Psum ? psum : sbuf;
    bands.try_emplace(a.partition);
    bands.try_emplace(a.partition + a.partitions);
  }
}

bool Shadow::isConstant(const Access &access) const {
  if (access.space != Space::Hbm)
    return false;
  BufferKind kind = program.buffers[access.buffer].kind;
  return kind == BufferKind::In || kind == BufferKind::Const ||
         kind == BufferKind::Data;
}
