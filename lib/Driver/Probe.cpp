//===- Probe.cpp - what this machine can do at most -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two ceilings that a share in a report is a share of:
//
//   peak        for (…) s0 += x·y, s1 += x·y, … s11 += x·y     registers only
//   bandwidth   for (…) t ^= memory[i]                          read once
//
// Measured in the process that measures the kernel, just before it, because the
// clock of a core follows its temperature and its neighbours: a figure from a data
// sheet would turn a share into a guess. Twelve sums hide the latency of every core
// we know and fit the registers of each.
//
//===----------------------------------------------------------------------===//

#include "Probe.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

using namespace facet;

double facet::stopwatch(unsigned threads) {
#ifdef CLOCK_THREAD_CPUTIME_ID
  if (threads <= 1) {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
  }
#endif
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Runs `work` on `threads` threads that begin together; the sum of what they return.
template <typename Work>
static double onThreads(unsigned threads, Work work) {
  if (threads <= 1)
    return work();
  std::atomic<unsigned> waiting{threads};
  std::vector<double> results(threads);
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (--waiting; waiting.load() != 0;)
        std::this_thread::yield();
      results[t] = work();
    });
  double sum = 0;
  for (unsigned t = 0; t < threads; ++t) {
    all[t].join();
    sum += results[t];
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Peak
//===----------------------------------------------------------------------===//

static constexpr int sums = 12, stepsPerLoop = 4000;

/// A function NAME that makes `stepsPerLoop` steps on `sums` vectors. The empty
/// assembly hides where the values come from: nothing can be computed beforehand.
#define FACET_LOOP(NAME, TARGET, VECTOR, INPUT, STEP)                          \
  TARGET static void NAME() {                                                  \
    VECTOR s[sums] = {};                                                       \
    INPUT x = {}, y = {};                                                      \
    asm volatile("" : "+x"(x), "+x"(y));                                       \
    _Pragma("GCC unroll 12") for (int j = 0; j < sums;                         \
                                  ++j) asm volatile("" : "+x"(s[j]));          \
    for (int i = 0; i < stepsPerLoop; ++i)                                     \
      _Pragma("GCC unroll 12") for (int j = 0; j < sums; ++j) s[j] =           \
          STEP(s[j], x, y);                                                    \
    _Pragma("GCC unroll 12") for (int j = 0; j < sums;                         \
                                  ++j) asm volatile("" : : "x"(s[j]));         \
  }

namespace {
struct Loop {
  void (*run)();
  double operationsPerStep; ///< of one vector
};
} // namespace

#ifdef __x86_64__

#define FACET_TARGET(features) __attribute__((target(features)))
#define FACET_PS128(s, x, y) _mm_add_ps(s, _mm_mul_ps(x, y))
#define FACET_PD128(s, x, y) _mm_add_pd(s, _mm_mul_pd(x, y))
#define FACET_PS256(s, x, y) _mm256_fmadd_ps(x, y, s)
#define FACET_PD256(s, x, y) _mm256_fmadd_pd(x, y, s)
#define FACET_PS512(s, x, y) _mm512_fmadd_ps(x, y, s)
#define FACET_PD512(s, x, y) _mm512_fmadd_pd(x, y, s)

FACET_LOOP(loopF32Sse, , __m128, __m128, FACET_PS128)
FACET_LOOP(loopF64Sse, , __m128d, __m128d, FACET_PD128)
FACET_LOOP(loopF32Avx2, FACET_TARGET("avx2,fma"), __m256, __m256, FACET_PS256)
FACET_LOOP(loopF64Avx2, FACET_TARGET("avx2,fma"), __m256d, __m256d, FACET_PD256)
FACET_LOOP(loopF32Avx512, FACET_TARGET("avx512f"), __m512, __m512, FACET_PS512)
FACET_LOOP(loopF64Avx512, FACET_TARGET("avx512f"), __m512d, __m512d,
           FACET_PD512)
FACET_LOOP(loopBf16, FACET_TARGET("avx512f,avx512bf16"), __m512, __m512bh,
           _mm512_dpbf16_ps)
FACET_LOOP(loopU8s8, FACET_TARGET("avx512f,avx512vnni"), __m512i, __m512i,
           _mm512_dpbusd_epi32)
FACET_LOOP(loopU8s8Avx, FACET_TARGET("avx2,avxvnni"), __m256i, __m256i,
           _mm256_dpbusd_avx_epi32)

static std::optional<Loop> loopOf(PeakKind kind) {
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f");
  const bool avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  switch (kind) {
  case PeakKind::F32:
    return avx512 ? Loop{loopF32Avx512, 32}
           : avx2 ? Loop{loopF32Avx2, 16}
                  : Loop{loopF32Sse, 8};
  case PeakKind::F64:
    return avx512 ? Loop{loopF64Avx512, 16}
           : avx2 ? Loop{loopF64Avx2, 8}
                  : Loop{loopF64Sse, 4};
  case PeakKind::BF16:
    if (avx512 && __builtin_cpu_supports("avx512bf16"))
      return Loop{loopBf16, 64};
    return std::nullopt;
  case PeakKind::U8S8:
    if (avx512 && __builtin_cpu_supports("avx512vnni"))
      return Loop{loopU8s8, 128};
    if (avx2 && __builtin_cpu_supports("avxvnni"))
      return Loop{loopU8s8Avx, 64};
    return std::nullopt;
  }
  __builtin_unreachable();
}

#else // what the compiler makes of vectors of 16 bytes

typedef float Floats __attribute__((vector_size(16)));
typedef double Doubles __attribute__((vector_size(16)));
template <typename Vector>
static void loopPlain() {
  Vector s[sums] = {}, x = {}, y = {};
  asm volatile("" : "+m"(x), "+m"(y));
  for (int i = 0; i < stepsPerLoop; ++i)
    for (int j = 0; j < sums; ++j)
      s[j] += x * y;
  asm volatile("" ::"m"(s));
}
static std::optional<Loop> loopOf(PeakKind kind) {
  switch (kind) {
  case PeakKind::F32:
    return Loop{loopPlain<Floats>, 8};
  case PeakKind::F64:
    return Loop{loopPlain<Doubles>, 4};
  default:
    return std::nullopt;
  }
}

#endif

std::optional<double> facet::measurePeak(PeakKind kind, unsigned threads,
                                         double seconds) {
  std::optional<Loop> loop = loopOf(kind);
  if (!loop)
    return std::nullopt;
  const double operations = loop->operationsPerStep * sums * stepsPerLoop;
  // The clock of the wall is the same for all threads; each takes its best loop, as
  // a kernel's best call is looked at.
  return onThreads(threads, [&] {
    double best = 0, begin = stopwatch(1), end = begin;
    while (end - begin < seconds) {
      double start = stopwatch(1);
      for (int i = 0; i < 8; ++i)
        loop->run();
      end = stopwatch(1);
      best = std::max(best, 8 * operations / (end - start));
    }
    return best;
  });
}

//===----------------------------------------------------------------------===//
// Bandwidth
//===----------------------------------------------------------------------===//

/// Four times the largest cache, within reason.
static size_t streamBytes() {
  long cache = -1;
#ifdef _SC_LEVEL3_CACHE_SIZE
  cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  size_t bytes = cache > 0 ? 4 * size_t(cache) : 0;
  return std::clamp<size_t>(bytes, 64 << 20, 256 << 20);
}

typedef long long Word __attribute__((vector_size(16)));

/// Reads everything, a line at a time, in two streams that the hardware follows.
static void readAll(const char *memory, size_t bytes) {
  constexpr size_t line = 64, words = line / sizeof(Word);
  const size_t half = bytes / 2;
  Word t[2 * words] = {};
  for (size_t i = 0; i < half; i += line)
    for (size_t stream = 0; stream < 2; ++stream) {
      const char *place = memory + stream * half + i;
      for (size_t word = 0; word < words; ++word)
        t[stream * words + word] ^=
            *reinterpret_cast<const Word *>(place + word * sizeof(Word));
    }
  asm volatile("" : : "m"(t));
}

double facet::measureReadBandwidth(unsigned threads) {
  const size_t bytes = streamBytes() / threads / 1024 * 1024;
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };
  return onThreads(threads, [&] {
    std::unique_ptr<char, Free> memory(
        static_cast<char *>(std::aligned_alloc(64, bytes)));
    if (!memory)
      return 0.0;
    std::memset(memory.get(), 1, bytes); // pages of its own, not the zero page
    double best = 0;
    for (int round = 0; round < 6; ++round) {
      double start = stopwatch(1);
      readAll(memory.get(), bytes);
      best = std::max(best, double(bytes) / (stopwatch(1) - start));
    }
    return best;
  });
}
