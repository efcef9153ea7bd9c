//===- Workers.h - threads that share the parts of an instruction ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_SIM_WORKERS_H
#define FACET_LIB_SIM_WORKERS_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace facet::sim {

/// Runs parts that do not depend on each other; which thread does which part
/// changes nothing about the result.
class Workers {
public:
  /// Started with the first work.
  explicit Workers(unsigned threads)
      : count(threads ? threads : 1), next(count) {}
  ~Workers();
  Workers(const Workers &) = delete;
  Workers &operator=(const Workers &) = delete;

  size_t threads() const { return count; }
  /// Calls part(n, t) for each n below `parts`, t telling the threads apart; the
  /// caller's is 0 and among them.
  void run(size_t parts, llvm::function_ref<void(size_t n, size_t t)> part);

private:
  void start();
  void work(size_t self);
  void takeParts(size_t self);

  unsigned count;
  std::vector<std::thread> others;

  // The work at hand; changed only while nobody is inside.
  size_t parts = 0;
  llvm::function_ref<void(size_t, size_t)> part;
  /// The next part of those that each thread begins with.
  struct alignas(64) Next {
    std::atomic<size_t> part{0};
  };
  std::vector<Next> next;

  /// Number of the work, whether one may still enter, and how many are inside.
  std::atomic<uint64_t> state{0};
  static constexpr uint64_t open = 1u << 15, inside = open - 1, step = open * 2;

  std::atomic<unsigned> sleepers{0};
  std::atomic<bool> stopping{false};
  std::mutex mutex;
  std::condition_variable wake;
};

} // namespace facet::sim

#endif // FACET_LIB_SIM_WORKERS_H
