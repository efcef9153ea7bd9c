/* The same call on the CPU and on a simulated engine: strided arrays, a scalar, subscripts,
 * two results, threads; refusals by the same codes. */
#include "linear.h"
#include "linear_trn2.h"

#include <facet/sim.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { M = 37, K = 64, N = 48, LD = 80 };

static facet_bf16 x[M * LD], w[K * LD];
static int32_t rows[M];

static facet_bf16 narrow(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  facet_bf16 result = {(uint16_t)(bits >> 16)};
  return result;
}

static float widen(facet_bf16 value) {
  uint32_t bits = (uint32_t)value.bits << 16;
  float result;
  memcpy(&result, &bits, 4);
  return result;
}

static double seconds[3];

static void *callMany(void *number) {
  facet_bf16 y[M * LD];
  float most[M];
  for (int i = 0; i < 3; i++)
    if (linear_trn2(M, K, N, x, LD, w, LD, rows, 0.5f, y, LD, most, NULL))
      return NULL;
  seconds[*(int *)number] = facet_sim_seconds();
  return number;
}

int main(void) {
  for (int i = 0; i < M * LD; i++)
    x[i] = narrow((float)(i * 7 % 13 - 6) / 8);
  for (int i = 0; i < K * LD; i++)
    w[i] = narrow((float)(i * 5 % 11 - 5) / 8);
  for (int i = 0; i < M; i++)
    rows[i] = i * 5 % M;

  facet_bf16 here[M * LD], there[M * LD];
  float mostHere[M], mostThere[M];
  memset(here, 0xff, sizeof(here));
  memset(there, 0xff, sizeof(there));
  int cpu = linear(M, K, N, x, LD, w, LD, rows, 0.5f, here, LD, mostHere, NULL);
  printf("time before: %g\n", facet_sim_seconds());
  int engine = linear_trn2(M, K, N, x, LD, w, LD, rows, 0.5f, there, LD, mostThere, NULL);
  double worst = 0;
  int gapsAreLeft = 1;
  for (int m = 0; m < M; m++)
    for (int n = 0; n < LD; n++)
      if (n < N) {
        double off = widen(here[m * LD + n]) - widen(there[m * LD + n]);
        worst = off > worst ? off : -off > worst ? -off : worst;
      } else {
        gapsAreLeft &= there[m * LD + n].bits == 0xffff;
      }
  printf("%d %d close: %d gaps: %d exact: %d\n", cpu, engine, worst < 0.02, gapsAreLeft,
         memcmp(mostHere, mostThere, sizeof(mostHere)) == 0);
  printf("time is positive: %d, message: '%s'\n", facet_sim_seconds() > 1e-6, facet_sim_message());

  /* A packed constant, and DLTensors. */
  static _Alignas(64) char packed[16384];
  memset(there, 0xff, sizeof(there));
  printf("packed: %d", linear_trn2_pack_w_bytes(K, N) <= sizeof(packed) ? linear_trn2_pack_w(K, N, w, LD, packed) : 1);
  printf(" %d", linear_trn2_packed(M, K, N, x, LD, packed, rows, 0.5f, there, LD, mostThere, NULL));
  printf(" %s\n", linear_trn2_info()->name);

  facet_exec exec = FACET_EXEC_INIT;
  facet_error error;
  exec.error = &error;
  int code = linear_trn2(M, K, N + 4, x, LD, w, LD, rows, 0.5f, there, LD, mostThere, &exec);
  printf("refused: %d %s, found %d, wants %d\n", code, error.argument, (int)error.found, (int)error.wanted);
  rows[5] = M;
  code = linear_trn2(M, K, N, x, LD, w, LD, rows, 0.5f, there, LD, mostThere, &exec);
  printf("refused: %d %s %s, found %d, wants %d\n", code, error.kernel, error.argument, (int)error.found, (int)error.wanted);
  rows[5] = 0;

  pthread_t threads[3];
  int numbers[3] = {0, 1, 2};
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, callMany, &numbers[i]);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  printf("threads agree: %d\n", seconds[0] > 0 && seconds[0] == seconds[1] && seconds[1] == seconds[2]);
  return 0;
}
