/*===- OpenMP.h - the caller's OpenMP threads for compiled kernels ---------===
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Header only, so that the program's own OpenMP runtime is used and no second
 * one appears. C99 and C++17, compiled with -fopenmp:
 *
 *   facet_exec exec = facet_openmp_exec();
 *   linear(..., &exec);
 *===----------------------------------------------------------------------===*/

#ifndef FACET_RUNTIME_OPENMP_H
#define FACET_RUNTIME_OPENMP_H

#ifndef _OPENMP
#error "facet/Runtime/OpenMP.h needs -fopenmp"
#endif

#include "facet/abi.h"

#include <omp.h>

/** facet_exec.parallel_for on an OpenMP team. `ctx` is not used. */
static inline int facet_openmp_parallel_for(void *ctx, int64_t n,
                                            int (*task)(void *data, int64_t i),
                                            void *data) {
  int failed = 0;
  int64_t i;
  (void)ctx;
#pragma omp parallel for schedule(dynamic, 1)
  for (i = 0; i < n; ++i) {
    int skip, code;
#pragma omp atomic read
    skip = failed;
    if (skip)
      continue;
    code = task(data, i);
    if (code) {
#pragma omp atomic write
      failed = code;
    }
  }
  return failed;
}

/** An exec with this thread's team size; add a workspace where one is needed. */
static inline facet_exec facet_openmp_exec(void) {
  facet_exec exec = FACET_EXEC_INIT;
  exec.threads = omp_get_max_threads();
  exec.parallel_for = facet_openmp_parallel_for;
  return exec;
}

#endif /* FACET_RUNTIME_OPENMP_H */
