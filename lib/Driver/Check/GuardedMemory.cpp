//===- GuardedMemory.cpp - memory whose neighbours cannot be touched ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   side End:    ┊ guard ┊ slack │ the bytes ┊ guard ┊
//   side Start:  ┊ guard ┊ the bytes │ slack ┊ guard ┊
//
// A page is the smallest thing an operating system can forbid, so an array can end
// exactly at a guard or begin there, not both: check does each in turn.
//
//===----------------------------------------------------------------------===//

#include "GuardedMemory.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace facet;

static size_t pageSize() {
  static const size_t size = size_t(sysconf(_SC_PAGESIZE));
  return size;
}

std::optional<GuardedMemory> GuardedMemory::create(size_t bytes, Side side) {
  size_t page = pageSize();
  if (bytes > size_t(PTRDIFF_MAX) - 3 * page)
    return std::nullopt;
  size_t inner = llvm::alignTo(std::max<size_t>(bytes, 1), page);
  GuardedMemory result;
  void *pages = mmap(nullptr, inner + 2 * page, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    return std::nullopt;
  result.mapping = static_cast<uint8_t *>(pages);
  result.mapped = inner + 2 * page;
  if (mprotect(result.mapping + page, inner, PROT_READ | PROT_WRITE) != 0)
    return std::nullopt;
  result.begin =
      result.mapping + page + (side == Side::End ? inner - bytes : 0);
  result.bytes = bytes;
  return result;
}

GuardedMemory::GuardedMemory(GuardedMemory &&other) noexcept
    : mapping(std::exchange(other.mapping, nullptr)), begin(other.begin),
      mapped(other.mapped), bytes(other.bytes) {}

GuardedMemory::~GuardedMemory() {
  if (mapping)
    munmap(mapping, mapped);
}

GuardedMemory::Relation GuardedMemory::relationOf(uintptr_t address) const {
  auto at = [](const uint8_t *pointer) {
    return reinterpret_cast<uintptr_t>(pointer);
  };
  if (address < at(mapping) || address >= at(mapping) + mapped)
    return Relation::Elsewhere;
  if (address < at(begin))
    return Relation::Before;
  return address < at(begin) + bytes ? Relation::Inside : Relation::Past;
}

void *GuardedWorkspace::reserve(size_t bytes) {
  memory.reset();
  std::optional<GuardedMemory> created =
      GuardedMemory::create(bytes, GuardedMemory::Side::End);
  if (!created)
    return nullptr;
  memory.emplace(std::move(*created));
  std::memset(memory->data(), 0xff, bytes);
  return memory->data();
}
