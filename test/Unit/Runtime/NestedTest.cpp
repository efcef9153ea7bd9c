//===- NestedTest.cpp - kernels called from the caller's own tasks --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program may call kernels from oneTBB tasks of its own. While such a call
// waits for its phase, its thread must not begin another of the program's tasks:
// that one would call a kernel on the same thread's workspace.
//
//===----------------------------------------------------------------------===//

#include "facet/runtime.h"
#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <thread>
#include <vector>

namespace {

/// What a kernel does with its workspace: fill, a phase, look again.
struct Call {
  char *workspace;
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> tasks{0};
};

/// Slow on the helpers, so that the caller is done first and has to wait.
int task(void *data, int64_t) {
  auto &call = *static_cast<Call *>(data);
  bool isHelper = std::this_thread::get_id() != call.caller;
  std::this_thread::sleep_for(std::chrono::microseconds(isHelper ? 3000 : 200));
  ++call.tasks;
  return 0;
}

TEST(Nested, AThreadThatWaitsBeginsNoOtherCall) {
  std::atomic<int> spoiled{0}, nested{0}, lost{0};
  // More threads than outer tasks at first, so that some help inside; then more
  // outer tasks than threads, so that some are left to be taken wrongly.
  tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 6);
  tbb::task_arena arena(6);
  auto body = [&](int number) {
    thread_local int depth = 0;
    nested += depth++ != 0;
    const facet_exec *exec = facet_default_exec();
    Call call;
    call.workspace = static_cast<char *>(exec->reserve(exec->ctx, 4096));
    std::memset(call.workspace, number, 4096);
    lost +=
        exec->parallel_for(exec->ctx, 8, task, &call) != 0 || call.tasks != 8;
    for (int i = 0; i < 4096; ++i)
      spoiled += call.workspace[i] != static_cast<char>(number);
    --depth;
  };
  arena.execute([&] {
    for (int round = 0; round < 10; ++round)
      tbb::parallel_for(0, 12, body, tbb::simple_partitioner());
  });
  EXPECT_EQ(nested, 0);
  EXPECT_EQ(spoiled, 0);
  EXPECT_EQ(lost, 0);
}

} // namespace
