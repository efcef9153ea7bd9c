//===- StdThread.h - plain C++ threads for compiled kernels ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Header only, C++17. Starts threads at every parallel phase and joins them at
// its end: nothing stays behind, which suits programs that must own every thread
// and call large kernels. `threads` in facet_exec says how many.
//
//   facet_exec exec = facet::stdThreadExec(4);
//   linear(..., &exec);
//
//===----------------------------------------------------------------------===//

#ifndef FACET_RUNTIME_STDTHREAD_H
#define FACET_RUNTIME_STDTHREAD_H

#include "facet/abi.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace facet {

/// facet_exec.parallel_for; `ctx` is the number of threads, as a pointer-sized integer.
inline int stdThreadParallelFor(void *ctx, int64_t n,
                                int (*task)(void *, int64_t), void *data) {
  std::atomic<int64_t> next{0};
  std::atomic<int> failed{0};
  auto work = [&] {
    for (int64_t i; !failed && (i = next++) < n;)
      if (int code = task(data, i))
        failed = code;
  };
  int64_t wanted = std::min<int64_t>(
      n, static_cast<int64_t>(reinterpret_cast<intptr_t>(ctx)));
  std::vector<std::thread> helpers;
  try {
    for (int64_t t = 1; t < wanted; ++t)
      helpers.emplace_back(work);
  } catch (
      ...) { // no more threads or memory to be had: go on with those there are
  }
  work();
  for (std::thread &helper : helpers)
    helper.join();
  return failed;
}

/// An exec that uses `threads` threads, the caller's included.
inline facet_exec stdThreadExec(int threads) {
  facet_exec exec = FACET_EXEC_INIT;
  exec.threads = threads;
  exec.parallel_for = stdThreadParallelFor;
  exec.ctx = reinterpret_cast<void *>(static_cast<intptr_t>(threads));
  return exec;
}

} // namespace facet

#endif // FACET_RUNTIME_STDTHREAD_H
