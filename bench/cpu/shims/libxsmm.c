/*===- libxsmm.c - libxsmm as a peer -----------------------------------------===
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Its kernels are for small products, (m·n·k)^(1/3) up to 64 by its own measure, and for
 * columns: the row-major product is that of the transposed operands. The kernel of a
 * shape is generated at its first call and looked up at each.
 *===----------------------------------------------------------------------===*/

#include <libxsmm.h>
#include <stdint.h>

static int is_small(int64_t m, int64_t n, int64_t k) {
  return (double)m * (double)n * (double)k <= 128.0 * 128.0 * 128.0;
}

int peer_f32(int64_t m, int64_t n, int64_t k, const float *a, const float *b,
             float *c) {
  const int lda = (int)n, ldb = (int)k, ldc = (int)n;
  const float one = 1, zero = 0;
  libxsmm_smmfunction kernel;
  if (!is_small(m, n, k))
    return 1;
  kernel = libxsmm_smmdispatch((int)n, (int)m, (int)k, &lda, &ldb, &ldc, &one,
                               &zero, 0, 0);
  if (!kernel)
    return 1;
  kernel(b, a, c);
  return 0;
}

int peer_f64(int64_t m, int64_t n, int64_t k, const double *a, const double *b,
             double *c) {
  const int lda = (int)n, ldb = (int)k, ldc = (int)n;
  const double one = 1, zero = 0;
  libxsmm_dmmfunction kernel;
  if (!is_small(m, n, k))
    return 1;
  kernel = libxsmm_dmmdispatch((int)n, (int)m, (int)k, &lda, &ldb, &ldc, &one,
                               &zero, 0, 0);
  if (!kernel)
    return 1;
  kernel(b, a, c);
  return 0;
}
