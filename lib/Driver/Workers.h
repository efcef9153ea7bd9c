//===- Workers.h - threads that wait for the next phase -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_WORKERS_H
#define FACET_LIB_DRIVER_WORKERS_H

#include "facet/abi.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace facet {

/// Threads for the parallel phases of kernels, kept from phase to phase. One call of a
/// kernel at a time.
class Workers {
public:
  /// `threads` counts the caller.
  explicit Workers(unsigned threads);
  ~Workers();
  Workers(const Workers &) = delete;
  Workers &operator=(const Workers &) = delete;

  /// How to run on them; good as long as they live.
  facet_exec exec();

private:
  static int parallelFor(void *ctx, int64_t n, int (*task)(void *, int64_t),
                         void *data);
  void serve();
  void work();

  struct Phase {
    int64_t n = 0;
    int (*task)(void *, int64_t) = nullptr;
    void *data = nullptr;
  } phase;
  std::atomic<int64_t> next{0};
  std::atomic<int> failed{0};
  std::atomic<unsigned> busy{0};   ///< workers that have not finished the phase
  std::atomic<uint64_t> number{0}; ///< of the phase; counts up
  std::atomic<bool> ends{false};
  std::mutex mutex;
  std::condition_variable begins;
  std::vector<std::thread> threads;
};

} // namespace facet

#endif // FACET_LIB_DRIVER_WORKERS_H
