//===- Tbb.h - the caller's oneTBB arena for compiled kernels -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Header only, C++17. facet_default_exec() uses the arena it is called in; this
// is for programs that hand work to an arena of their own. Tasks run isolated: a
// thread that waits for a kernel takes no work from outside it, so a workspace
// that belongs to a thread is safe.
//
//   tbb::task_arena arena(4);
//   facet_exec exec = facet::tbbExec(arena);
//   linear(..., &exec);
//
//===----------------------------------------------------------------------===//

#ifndef FACET_RUNTIME_TBB_H
#define FACET_RUNTIME_TBB_H

#include "facet/abi.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>

namespace facet {

/// Runs the tasks on the arena of the calling thread, at most `threads` at once,
/// the next free thread taking the next task. Returns what a failing task
/// returned, FACET_E_TASK when oneTBB throws.
inline int tbbRun(int64_t threads, int64_t n, int (*task)(void *, int64_t),
                  void *data) noexcept {
  std::atomic<int64_t> next{0};
  std::atomic<int> failed{0};
  auto work = [&](int64_t) {
    for (int64_t i; !failed && (i = next++) < n;)
      if (int code = task(data, i))
        failed = code;
  };
  try {
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(int64_t{0}, std::min(threads, n), work,
                        tbb::simple_partitioner());
    });
  } catch (...) {
    return FACET_E_TASK;
  }
  return failed;
}

/// facet_exec.parallel_for; `ctx` is a tbb::task_arena.
inline int tbbParallelFor(void *ctx, int64_t n, int (*task)(void *, int64_t),
                          void *data) {
  auto &arena = *static_cast<tbb::task_arena *>(ctx);
  try {
    return arena.execute(
        [&] { return tbbRun(arena.max_concurrency(), n, task, data); });
  } catch (...) {
    return FACET_E_TASK;
  }
}

/// An exec on `arena`, which must outlive it.
inline facet_exec tbbExec(tbb::task_arena &arena) {
  facet_exec exec = FACET_EXEC_INIT;
  exec.threads = arena.max_concurrency();
  exec.parallel_for = tbbParallelFor;
  exec.ctx = &arena;
  return exec;
}

} // namespace facet

#endif // FACET_RUNTIME_TBB_H
