/* Worst errors of the functions of the language, in units in the last place of the
 * exact result: f32 at every STRIDE-th bit pattern against the C library's f64, f64
 * at random points against its long double. The error of gelu, gelu_tanh and silu
 * is counted after 2^-23 |x| (f64: 2^-52 |x|) is taken off, as the language does.
 *
 *   functions STRIDE LIMIT32 LIMIT64 FIRST   from the pattern FIRST on; exit 1 when a limit is passed
 */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 9, BLOCK = 4096 };
static const char *names[FUNCTIONS] = {"exp",     "log",  "tanh", "erf",      "sqrt",
                                       "rsqrt", "sigmoid", "silu", "gelu"};

/* The reference road's functions as they stand, or with -DINTERFACE behind the C
 * interface, which has one argument less. */
#ifdef INTERFACE
#define SYMBOL(name) /* its own */
#else
#define SYMBOL(name) __asm__(name)
#endif

extern int32_t all32(int64_t n, const float *x, float *, float *, float *, float *, float *,
                     float *, float *, float *, float *, float *, void *, void *)
    SYMBOL("all32.impl");
extern int32_t all64(int64_t n, const double *x, double *, double *, double *, double *,
                     double *, double *, double *, double *, double *, double *, void *,
                     void *) SYMBOL("all64.impl");

static long double exact(int function, long double x) {
  switch (function) {
  case 0: return expl(x);
  case 1: return logl(x);
  case 2: return tanhl(x);
  case 3: return erfl(x);
  case 4: return sqrtl(x);
  case 5: return 1 / sqrtl(x);
  case 6: return 1 / (1 + expl(-x));
  case 7: return x / (1 + expl(-x));
  case 8: return x * (x < 0 ? erfcl(-x * 0.70710678118654752440084436210485L) : 1 + erfl(x * 0.70710678118654752440084436210485L)) / 2;
  default: { /* gelu_tanh, by sigmoid: no cancellation */
    long double inner = 0.79788456080286535587989211986876L * (x + 0.044715L * x * x * x);
    return x / (1 + expl(-2 * inner));
  }
  }
}

/* The same in f64, good to far below half a unit of f32, and faster. */
static double exact32(int function, double x) {
  switch (function) {
  case 0: return exp(x);
  case 1: return log(x);
  case 2: return tanh(x);
  case 3: return erf(x);
  case 4: return sqrt(x);
  case 5: return 1 / sqrt(x);
  case 6: return 1 / (1 + exp(-x));
  case 7: return x / (1 + exp(-x));
  case 8: return x * (x < 0 ? erfc(-x * 0.70710678118654752440) : 1 + erf(x * 0.70710678118654752440)) / 2;
  default: {
    double inner = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
    return x / (1 + exp(-2 * inner));
  }
  }
}

static double error(long double got, long double want, long double slack, int digits,
                    int least, long double overflow) {
  if (isnan(want) || isnan(got))
    return isnan(want) && isnan(got) ? 0 : HUGE_VAL;
  if (fabsl(want) >= overflow)
    want = copysignl(HUGE_VALL, want);
  if (isinf(want) || isinf(got))
    return want == got ? 0 : HUGE_VAL;
  long double off = fabsl(got - want) - slack;
  if (off <= 0)
    return 0;
  int exponent = want == 0 ? least : ilogbl(want);
  return off / ldexpl(1, (exponent < least ? least : exponent) - digits);
}

static double worst32[FUNCTIONS + 1], worst64[FUNCTIONS + 1];
static double where32[FUNCTIONS + 1], where64[FUNCTIONS + 1];

int main(int argc, char **argv) {
  uint64_t stride = argc > 1 ? strtoull(argv[1], 0, 10) : 4099;
  double limit32 = argc > 2 ? atof(argv[2]) : 2, limit64 = argc > 3 ? atof(argv[3]) : 8;
  static float x[BLOCK], y[10][BLOCK];
  static double u[BLOCK], v[10][BLOCK];
  uint64_t points = 0, first = argc > 4 ? strtoull(argv[4], 0, 10) : 0;
  for (uint64_t bits = first; bits < UINT64_C(1) << 32;) {
    int n = 0;
    for (; n < BLOCK && bits < UINT64_C(1) << 32; ++n, bits += stride) {
      uint32_t pattern = (uint32_t)bits;
      memcpy(&x[n], &pattern, 4);
    }
    all32(n, x, y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7], y[8], y[9], 0, 0);
    points += n;
    for (int f = 0; f <= FUNCTIONS; ++f)
      for (int i = 0; i < n; ++i) {
        if (f >= 7 && isinf(x[i])) /* by the formula: -inf * 0 */
          continue;
        double slack = f >= 7 ? fabs(x[i]) * 0x1p-23 : 0, want = exact32(f, x[i]);
        if (y[f][i] == (float)want && worst32[f] > 0.499)
          continue; /* within half a unit */
        double e = error(y[f][i], want, slack, 23, -126, 0x1.ffffffp127L);
        if (e > worst32[f])
          worst32[f] = e, where32[f] = x[i];
      }
  }
  uint64_t state = 1, points64 = 0;
  for (int block = 0; block < 400; ++block) {
    for (int i = 0; i < BLOCK; ++i) {
      state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      uint64_t r = state >> 11;
      /* Magnitudes from 2^-60 to 2^10, evenly over the exponents. */
      u[i] = ldexp(1 + (r & 0xfffffffffffff) * 0x1p-52, (int)((state >> 40) % 70) - 60);
      if (state >> 63)
        u[i] = -u[i];
    }
    all64(BLOCK, u, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], 0, 0);
    points64 += BLOCK;
    for (int f = 0; f <= FUNCTIONS; ++f)
      for (int i = 0; i < BLOCK; ++i) {
        long double slack = f >= 7 ? fabs(u[i]) * 0x1p-52L : 0;
        double e = error(v[f][i], exact(f, u[i]), slack, 52, -1022, 0x1.fffffffffffff8p1023L);
        if (e > worst64[f])
          worst64[f] = e, where64[f] = u[i];
      }
  }
  printf("%-10s %10s at %-16s %10s at\n", "", "f32", "", "f64");
  int bad = 0;
  for (int f = 0; f <= FUNCTIONS; ++f) {
    printf("%-10s %10.3f at %-16.9g %10.3f at %.17g\n", f < FUNCTIONS ? names[f] : "gelu_tanh",
           worst32[f], where32[f], worst64[f], where64[f]);
    bad |= worst32[f] > limit32 || worst64[f] > limit64;
  }
  printf("%llu points of f32, %llu of f64\n", (unsigned long long)points,
         (unsigned long long)points64);
  return bad;
}
