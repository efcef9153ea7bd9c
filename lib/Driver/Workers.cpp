//===- Workers.cpp - threads that wait for the next phase -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program with threads of its own would bring to a kernel: starting threads
// costs more than a small kernel takes, so they stay. A worker looks for the next phase
// for some microseconds before it sleeps, because the phases of one call follow each
// other at once; whoever is free takes the next task.
//
//   parallel_for ─▶ phase number + 1 ─▶ workers, caller: task(0), task(1), … ─▶ all done
//
//===----------------------------------------------------------------------===//

#include "Workers.h"

using namespace facet;

/// How often a worker looks before it sleeps; some tens of microseconds.
static constexpr int looks = 4000;

Workers::Workers(unsigned count) {
  for (unsigned i = 1; i < count; ++i)
    threads.emplace_back([this] { serve(); });
}

Workers::~Workers() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ends = true;
  }
  begins.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

facet_exec Workers::exec() {
  facet_exec exec = FACET_EXEC_INIT;
  exec.threads = static_cast<int32_t>(threads.size() + 1);
  exec.parallel_for = parallelFor;
  exec.ctx = this;
  return exec;
}

/// Takes tasks until there are none, or one has failed.
void Workers::work() {
  for (int64_t i; !failed && (i = next++) < phase.n;)
    if (int code = phase.task(phase.data, i))
      failed = code;
}

void Workers::serve() {
  for (uint64_t seen = 0;;) {
    for (int i = 0; i < looks && number == seen && !ends; ++i)
      std::this_thread::yield();
    if (number == seen) {
      std::unique_lock<std::mutex> lock(mutex);
      begins.wait(lock, [&] { return number != seen || ends; });
    }
    if (number == seen)
      return;
    ++seen; // the caller waits for us, so no phase is missed
    work();
    --busy;
  }
}

int Workers::parallelFor(void *ctx, int64_t n, int (*task)(void *, int64_t),
                         void *data) {
  auto &self = *static_cast<Workers *>(ctx);
  self.phase = {n, task, data};
  self.next = 0;
  self.failed = 0;
  self.busy = static_cast<unsigned>(self.threads.size());
  {
    std::lock_guard<std::mutex> lock(self.mutex);
    ++self.number;
  }
  self.begins.notify_all();
  self.work();
  while (self.busy != 0)
    std::this_thread::yield();
  return self.failed;
}
