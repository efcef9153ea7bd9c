//===- DefaultExec.cpp - facet_default_exec -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread that asks gets a facet_exec of its own: the environment as it was
// at that moment, a workspace that only grows, an error record. There is no
// shared state but one flag, hence no lock that a fork could leave held:
//
//   thread A ── facet_default_exec() ─▶ { threads 8, workspace A, error A }
//   thread B ── facet_default_exec() ─▶ { threads 8, workspace B, error B }
//   child of a process that used threads ─▶ { threads 1, plain loop, ... }
//
// Why serial after fork: oneTBB's workers do not exist in the child and its
// market may have been caught in the middle of a step. Waiting for neither is
// the only answer that is always right; a child that execs is not concerned.
//
//===----------------------------------------------------------------------===//

#include "AvailableCpus.h"
#include "TileRegisters.h"
#include "facet/Runtime/Tbb.h"
#include "facet/runtime.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>

namespace {

/// Set by the first parallel phase; a fork after that leaves oneTBB unusable.
std::atomic<bool> threadsUsed{false};
std::atomic<bool> forkedAfterUse{false};

void noteFork() {
  if (threadsUsed.load(std::memory_order_relaxed))
    forkedAfterUse.store(true, std::memory_order_relaxed);
}

/// At load, not at the first call: a lock around a first call could be held by
/// another thread at a fork.
const int hooked = pthread_atfork(nullptr, nullptr, noteFork);

int parallelFor(void *ctx, int64_t n, int (*task)(void *, int64_t), void *data);
void *reserve(void *ctx, size_t bytes);

/// At load: an object looks for tile registers once, at its first call. A refusal leaves
/// kernels at the level below.
[[maybe_unused]] const bool hasTileRegisters = facet::requestTileRegisters();

struct ThreadState {
  facet_exec exec = FACET_EXEC_INIT;
  facet_error error = {FACET_OK, -1, nullptr, nullptr, 0, 0};
  int32_t cpus = facet::availableCpus();

  ThreadState() {
    exec.parallel_for = parallelFor;
    exec.reserve = reserve;
    exec.ctx = this;
    exec.error = &error;
    exec.max_level = levelFromEnvironment();
    exec.flags = checkFromEnvironment() ? FACET_CHECK : 0;
  }
  ThreadState(const ThreadState &) = delete;
  ThreadState &operator=(const ThreadState &) = delete;
  ~ThreadState() { release(); }

  void release() {
    std::free(exec.workspace);
    exec.workspace = nullptr;
    exec.workspace_bytes = 0;
  }

  /// -1 for a text that names no level: kernels refuse it by FACET_E_EXEC.
  static int32_t levelFromEnvironment() {
    const char *text = std::getenv("FACET_MAX_ISA");
    if (!text || !*text)
      return FACET_LEVEL_ANY;
    if (!std::strcmp(text, "x86-64-v2"))
      return FACET_LEVEL_X86_64_V2;
    if (!std::strcmp(text, "x86-64-v3"))
      return FACET_LEVEL_X86_64_V3;
    if (!std::strcmp(text, "x86-64-v3-vnni"))
      return FACET_LEVEL_X86_64_V3_VNNI;
    if (!std::strcmp(text, "x86-64-v4"))
      return FACET_LEVEL_X86_64_V4;
    if (!std::strcmp(text, "znver4"))
      return FACET_LEVEL_ZNVER4;
    if (!std::strcmp(text, "sapphirerapids"))
      return FACET_LEVEL_SAPPHIRERAPIDS;
    if (!std::strcmp(text, "aarch64"))
      return FACET_LEVEL_AARCH64;
    return -1;
  }

  static bool checkFromEnvironment() {
    const char *text = std::getenv("FACET_CHECK");
    return text && *text && std::strcmp(text, "0") != 0;
  }
};

ThreadState &threadState() {
  thread_local ThreadState state;
  return state;
}

int runSerially(int64_t n, int (*task)(void *, int64_t), void *data) {
  for (int64_t i = 0; i < n; ++i)
    if (int code = task(data, i))
      return code;
  return 0;
}

int parallelFor(void *ctx, int64_t n, int (*task)(void *, int64_t),
                void *data) {
  int32_t threads = static_cast<ThreadState *>(ctx)->exec.threads;
  if (threads <= 1 || n <= 1 || forkedAfterUse.load(std::memory_order_relaxed))
    return runSerially(n, task, data);
  threadsUsed.store(true, std::memory_order_relaxed);
  return facet::tbbRun(threads, n, task, data);
}

/// Keeps one block, 64-byte aligned, in whole pages; what it held is not kept.
void *reserve(void *ctx, size_t bytes) {
  auto &state = *static_cast<ThreadState *>(ctx);
  if (bytes <= state.exec.workspace_bytes)
    return state.exec.workspace;
  constexpr size_t page = 4096;
  if (bytes > SIZE_MAX - page)
    return nullptr;
  size_t rounded = (bytes + page - 1) / page * page;
  state.release();
  state.exec.workspace = std::aligned_alloc(64, rounded);
  state.exec.workspace_bytes = state.exec.workspace ? rounded : 0;
  return state.exec.workspace;
}

} // namespace

const facet_exec *facet_default_exec(void) {
  ThreadState &state = threadState();
  // Without the hook a fork would go unnoticed: better one thread than a hang.
  bool serial = hooked != 0 || forkedAfterUse.load(std::memory_order_relaxed);
  state.exec.threads = serial ? 1 : state.cpus;
  return &state.exec;
}

const facet_error *facet_last_error(void) { return &threadState().error; }

void facet_release_workspace(void) { threadState().release(); }
