/* The C interface of examples/gemm/bmm_shared.facet, written by hand: FAULT=0 is
 * right, every other number is a kernel that is wrong in one way. */
#include <facet/abi.h>

size_t bmm_shared_workspace(int64_t, int64_t, int64_t, int64_t, int32_t);
int bmm_shared(int64_t P, int64_t M, int64_t K, int64_t N, const float *a,
               const int64_t *strides_a, const float *b, int64_t ld_b, float *c,
               const int64_t *strides_c, const facet_exec *exec);

static int refuse(const facet_exec *exec, int code) {
  if (exec && exec->error)
    exec->error->code = code;
  return code;
}

size_t bmm_shared_workspace(int64_t P, int64_t M, int64_t K, int64_t N,
                            int32_t threads) {
  (void)P, (void)M, (void)K, (void)N, (void)threads;
  return 0;
}

int bmm_shared(int64_t P, int64_t M, int64_t K, int64_t N, const float *a,
               const int64_t *strides_a, const float *b, int64_t ld_b, float *c,
               const int64_t *strides_c, const facet_exec *exec) {
  if (FAULT == 1 && c)
    c[0] = 0; /* writes before it has checked */
  if (P < 0 || M < 0 || K < 0 || N < 0)
    return refuse(exec, FACET_E_SIZE);
  if (!a || !b || !c)
    return refuse(exec, FACET_E_NULL);
  int64_t dense_a[2] = {M * K, K}, dense_c[2] = {M * N, N};
  if (!strides_a || FAULT == 2) /* takes a for dense */
    strides_a = dense_a;
  if (!strides_c)
    strides_c = dense_c;
  if ((FAULT != 3 && strides_a[1] < K) || ld_b < N || strides_c[1] < N)
    return refuse(exec, FACET_E_STRIDE);
  for (int64_t p = 0; p < P; ++p)
    for (int64_t m = 0; m < M; ++m) {
      for (int64_t n = 0; n < N; ++n) {
        float sum = FAULT == 4 && !K ? 1 : 0; /* an empty sum is not 0 */
        for (int64_t k = 0; k < K; ++k)
          sum += a[p * strides_a[0] + m * strides_a[1] + k] * b[k * ld_b + n];
        if (FAULT == 5 && m == 6) /* one element off by 2^-14 of itself */
          sum *= 1.00006103515625f;
        c[p * strides_c[0] + m * strides_c[1] + n] = sum;
      }
      if (FAULT == 6) /* stores a whole vector at the end of a row */
        for (int64_t n = N; n % 4; ++n)
          c[p * strides_c[0] + m * strides_c[1] + n] = 0;
    }
  if (FAULT == 7 && P)
    ((float *)a)[0] = 0; /* takes an argument for its scratch */
  return FACET_OK;
}
