//===- Workers.cpp - threads that share the parts of an instruction -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   matmul, 512 columns   ->   16 blocks of 32: the first thread takes 0, 1, ...,
//                              the second 8, 9, ..., then each what others left
//
// So a part is most often done by the thread that did it in the instruction before,
// whose cache has the sums that it adds to.
//
// An instruction is over in some ten microseconds, so a thread without work looks
// for some for a while before it sleeps. On a busy host it may come too late; then
// the work is done without it, and nobody waits for a thread that did not enter.
//
//===----------------------------------------------------------------------===//

#include "Workers.h"

using namespace facet;
using namespace facet::sim;

/// How often one looks before giving the processor away.
constexpr unsigned patience = 4000;

static void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

Workers::~Workers() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  wake.notify_all();
  for (std::thread &thread : others)
    thread.join();
}

void Workers::takeParts(size_t self) {
  for (size_t t = 0; t != count; ++t) {
    size_t whose = (self + t) % count, end = parts * (whose + 1) / count;
    for (size_t n; (n = next[whose].part.fetch_add(1)) < end;)
      part(n, self);
  }
}

void Workers::work(size_t self) {
  uint64_t done = 0; // number of the last work, with `open`
  for (;;) {
    uint64_t now = state;
    for (unsigned i = 0; i != patience; ++i, now = state) {
      if ((now & open) && (now & ~inside) != done)
        break;
      pause();
    }
    if (!(now & open) || (now & ~inside) == done) {
      std::unique_lock<std::mutex> lock(mutex);
      ++sleepers;
      wake.wait(lock, [&] {
        now = state;
        return stopping || ((now & open) && (now & ~inside) != done);
      });
      --sleepers;
      if (stopping)
        return;
    }
    while ((now & open) && (now & ~inside) != done)
      if (state.compare_exchange_weak(now, now + 1)) {
        done = now & ~inside;
        takeParts(self);
        --state;
      }
  }
}

void Workers::start() {
  for (unsigned t = 1; t < count; ++t)
    others.emplace_back([this, t] { work(t); });
}

void Workers::run(size_t partCount,
                  llvm::function_ref<void(size_t, size_t)> function) {
  if (count == 1 || partCount <= 1) {
    for (size_t n = 0; n != partCount; ++n)
      function(n, 0);
    return;
  }
  if (others.empty())
    start();
  parts = partCount;
  part = function;
  for (size_t t = 0; t != count; ++t)
    next[t].part = parts * t / count;
  uint64_t number = (state & ~inside & ~open) + step;
  state = number | open;
  if (sleepers) {
    {
      std::lock_guard<std::mutex> lock(mutex);
    }
    wake.notify_all();
  }
  takeParts(0);
  state &= ~open;
  for (unsigned i = 0; state & inside; ++i)
    i < patience ? pause() : std::this_thread::yield();
}
