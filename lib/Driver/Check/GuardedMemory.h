//===- GuardedMemory.h - memory whose neighbours cannot be touched --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_CHECK_GUARDEDMEMORY_H
#define FACET_LIB_DRIVER_CHECK_GUARDEDMEMORY_H

#include "../Call.h"

namespace facet {

/// Pages of their own between two that cannot be touched.
class GuardedMemory {
public:
  enum class Side { Start, End };

  /// `bytes` that begin right behind the first guard, or end right before the second.
  /// Nothing when there is no memory.
  static std::optional<GuardedMemory> create(size_t bytes, Side side);
  ~GuardedMemory();
  GuardedMemory(GuardedMemory &&other) noexcept;
  GuardedMemory &operator=(GuardedMemory &&) = delete;
  GuardedMemory(const GuardedMemory &) = delete;

  uint8_t *data() const { return begin; }
  size_t size() const { return bytes; }
  enum class Relation { Elsewhere, Before, Inside, Past };
  /// Where `address` lies, guards included.
  Relation relationOf(uintptr_t address) const;

private:
  GuardedMemory() = default;
  uint8_t *mapping = nullptr, *begin = nullptr;
  size_t mapped = 0, bytes = 0;
};

/// A workspace of exactly as many bytes as a call says it needs, full of NaN.
class GuardedWorkspace : public Workspace {
public:
  void *reserve(size_t bytes) override;
  const GuardedMemory *current() const { return memory ? &*memory : nullptr; }

private:
  std::optional<GuardedMemory> memory;
};

} // namespace facet

#endif // FACET_LIB_DRIVER_CHECK_GUARDEDMEMORY_H
