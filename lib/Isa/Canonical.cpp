//===- Canonical.cpp - one program, one form ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites a program's tables so that programs that say the same have the same
// bytes:
//
//   accesses, forms, predicates   in the order in which a walk over the queues
//                                 first meets them, each once, unused ones gone
//   access at 0x100, form 64 + 8*i0   ->   access at 0x140, form 8*i0
//   form 0                            ->   no form
//
// Text and file are then exact inverses of each other, and the reader can demand
// of a file that writing it again gives the same bytes.
//
//===----------------------------------------------------------------------===//

#include "Format.h"

#include "llvm/ADT/StringMap.h"

#include <map>
#include <tuple>

using namespace facet;

namespace {

/// A table that gives equal entries one number.
template <typename T>
class Interner {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  uint32_t number(const T &entry) { // from 1
    llvm::StringRef key(reinterpret_cast<const char *>(&entry), sizeof entry);
    auto [at, added] = numbers.try_emplace(key, uint32_t(entries.size() + 1));
    if (added)
      entries.push_back(entry);
    return at->second;
  }
  std::vector<T> entries;

private:
  llvm::StringMap<uint32_t> numbers;
};

class Canonicaliser {
public:
  explicit Canonicaliser(Program &program) : program(program) {}
  void run();

private:
  uint32_t form(AffineForm form, bool keepBase);
  uint32_t access(uint32_t old);
  uint16_t predicate(uint16_t old);
  void locations();

  Program &program;
  Interner<Access> accesses;
  Interner<AffineForm> affines;
  Interner<Predicate> predicates;
};

} // namespace

/// The number of a form; 0 for one that adds nothing to an address.
uint32_t Canonicaliser::form(AffineForm form, bool keepBase) {
  if (form.slotStride == 0)
    form.ring = -1;
  if (!keepBase && form == AffineForm())
    return 0;
  return affines.number(form);
}

uint32_t Canonicaliser::access(uint32_t old) {
  if (!old)
    return 0;
  Access access = program.accesses[old - 1];
  if (access.affine) {
    AffineForm address = program.affines[access.affine - 1];
    access.offset += address.base;
    address.base = 0;
    access.affine = form(address, /*keepBase=*/false);
  }
  return accesses.number(access);
}

uint16_t Canonicaliser::predicate(uint16_t old) {
  if (!old)
    return 0;
  Predicate predicate = program.predicates[old - 1];
  for (unsigned c = 0; c != predicate.conditions; ++c)
    predicate.forms[c] =
        form(program.affines[predicate.forms[c]], /*keepBase=*/true) - 1;
  return uint16_t(predicates.number(predicate));
}

void Canonicaliser::locations() {
  std::map<std::tuple<std::string, uint32_t, uint32_t, std::string>, uint32_t>
      numbers;
  std::vector<Location> entries;
  for (Queue &queue : program.queues)
    for (uint32_t &at : queue.locations) {
      if (!at)
        continue;
      const Location &l = program.locations[at - 1];
      if (l.file.empty() && l.op.empty() && !l.line && !l.column) {
        at = 0; // says nothing
        continue;
      }
      auto [found, added] = numbers.try_emplace(
          {l.file, l.line, l.column, l.op}, entries.size() + 1);
      if (added)
        entries.push_back(l);
      at = found->second;
    }
  program.locations = std::move(entries);
}

void Canonicaliser::run() {
  for (Queue &queue : program.queues)
    for (Instruction &i : queue.code) {
      i.predicate = predicate(i.predicate);
      for (uint32_t &operand : i.operands)
        operand = access(operand);
    }
  program.accesses = std::move(accesses.entries);
  program.affines = std::move(affines.entries);
  program.predicates = std::move(predicates.entries);
  locations();
}

void format::canonicalise(Program &program) { Canonicaliser(program).run(); }
