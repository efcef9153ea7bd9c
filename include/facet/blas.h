/*===- blas.h - what libfacet-blas adds to BLAS ----------------------------===
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * libfacet-blas takes the place of sgemm and dgemm in a program that is there already:
 *
 *   LD_PRELOAD=libfacet-blas.so python3 program.py     a built program
 *   cc program.c -lfacet-blas -lblas                   a program that is linked anew
 *
 * It exports sgemm_ and cblas_sgemm with 32-bit integers, sgemm_64_ and cblas_sgemm64_
 * with 64-bit ones as OpenBLAS names them, each also with the `scipy_` that PyPI's NumPy
 * and SciPy put in front, and the same for dgemm. All else of BLAS stays with the library
 * behind it. Threads: as facet_default_exec() (facet/runtime.h).
 *
 *   FACET_BLAS_COUNT=1    print the number of calls to stderr when the program ends
 *===----------------------------------------------------------------------===*/

#ifndef FACET_BLAS_H
#define FACET_BLAS_H

#include <stdint.h>

#if defined(__GNUC__)
#define FACET_BLAS_API __attribute__((visibility("default")))
#else
#define FACET_BLAS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** How many calls this library has computed in this process so far. Calls with a bad
 *  parameter do not count. */
FACET_BLAS_API uint64_t facet_blas_calls(void);

#ifdef __cplusplus
}
#endif

#endif /* FACET_BLAS_H */
