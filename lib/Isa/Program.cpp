//===- Program.cpp - interning and small questions about a program --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds accesses, affine forms and predicates to their tables once each: asking
// twice for the same access gives the same number, so instructions that touch
// the same elements can be compared by that number.
//
//===----------------------------------------------------------------------===//

#include "facet/Isa/Program.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <tuple>

using namespace facet;

bool facet::operator==(const Access &a, const Access &b) {
  return std::tie(a.offset, a.affine, a.buffer, a.space, a.dtype, a.rank,
                  a.partition, a.partitions, a.rowStep) ==
             std::tie(b.offset, b.affine, b.buffer, b.space, b.dtype, b.rank,
                      b.partition, b.partitions, b.rowStep) &&
         std::equal(a.step, a.step + maxDims, b.step) &&
         std::equal(a.count, a.count + maxDims, b.count);
}

bool facet::operator==(const AffineForm &a, const AffineForm &b) {
  return std::tie(a.base, a.slotStride, a.ring) ==
             std::tie(b.base, b.slotStride, b.ring) &&
         std::equal(a.coefficients, a.coefficients + maxLoops, b.coefficients);
}

bool facet::operator==(const Predicate &a, const Predicate &b) {
  return a.conditions == b.conditions &&
         std::equal(a.forms, a.forms + 4, b.forms) &&
         std::equal(a.compares, a.compares + 4, b.compares);
}

template <typename T>
static uint32_t intern(std::vector<T> &table, const T &entry) {
  auto found = llvm::find(table, entry);
  if (found == table.end())
    found = table.insert(table.end(), entry);
  return uint32_t(found - table.begin()) + 1;
}

uint32_t Program::addAccess(const Access &access) {
  return intern(accesses, access);
}
uint32_t Program::addAffine(const AffineForm &form) {
  return intern(affines, form);
}
uint16_t Program::addPredicate(const Predicate &predicate) {
  return uint16_t(intern(predicates, predicate));
}

Queue &Program::queue(Engine engine) {
  auto at =
      llvm::find_if(queues, [&](const Queue &q) { return q.engine >= engine; });
  if (at != queues.end() && at->engine == engine)
    return *at;
  uint32_t index = uint32_t(at - queues.begin());
  for (RingInfo &ring : rings) // they name queues by index
    if (ring.queue >= index)
      ++ring.queue;
  Queue added;
  added.engine = engine;
  return *queues.insert(at, added);
}

uint32_t Program::ringDepth(unsigned queue, unsigned ring) const {
  for (const RingInfo &info : rings)
    if (info.queue == queue && info.ring == ring)
      return info.depth;
  return 0;
}
