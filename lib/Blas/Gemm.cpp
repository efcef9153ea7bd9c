//===- Gemm.cpp - sgemm and dgemm of BLAS on our kernels ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// BLAS has columns, our kernels have rows. A matrix of contiguous columns is its transpose
// in contiguous rows, so
//
//   C = op(A)·op(B) by columns   is   Cᵀ = op(B)ᵀ·op(A)ᵀ by rows:
//
// the operands change places, M and N too, and "transposed" keeps its meaning. The same
// holds the other way round for CblasRowMajor, which then needs no exchange at all.
//
// What BLAS promises beyond the product: A and B are not read when alpha or k is 0, C is
// not read when beta is 0, nothing happens when m or n is 0, and a bad parameter is told
// to xerbla by its position, before anything is touched.
//
// xerbla is the program's: tests of BLAS bring their own. Without one a line on stderr
// says the same, and the call returns.
//
//===----------------------------------------------------------------------===//

#include "gemm.h"
#include "facet/blas.h"
#include "facet/runtime.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

// Of the program or the library behind this one, when there is such.
extern "C" __attribute__((weak)) void
xerbla_(const char *name, const void *position, size_t length);
extern "C" __attribute__((weak)) void
cblas_xerbla(int position, const char *name, const char *form, ...);
/// The reference CBLAS tells its xerbla by this that M and N, lda and ldb have changed
/// places on the way to Fortran; that xerbla then changes their numbers back.
extern "C" __attribute__((weak)) int RowMajorStrg;

namespace {

std::atomic<uint64_t> calls{0};

/// FACET_BLAS_COUNT prints when the library leaves, after the program's own output.
struct Count {
  ~Count() {
    const char *wanted = std::getenv("FACET_BLAS_COUNT");
    if (wanted && *wanted && std::strcmp(wanted, "0") != 0)
      std::fprintf(stderr, "facet-blas: %" PRIu64 " calls\n", calls.load());
  }
} count;

/// A kernel of gemm.facet. The sizes are M, K, N, but K, M, N where a lies transposed: a
/// kernel takes them in the order in which its text names them.
template <typename T>
using Kernel = int (*)(int64_t, int64_t, int64_t, T, const T *, int64_t,
                       const T *, int64_t, T, T *, int64_t, const facet_exec *);

/// The kernels of a type: [is a transposed][is b transposed].
constexpr Kernel<float> singles[2][2] = {{blas_sgemm_nn, blas_sgemm_nt},
                                         {blas_sgemm_tn, blas_sgemm_tt}};
constexpr Kernel<double> doubles[2][2] = {{blas_dgemm_nn, blas_dgemm_nt},
                                          {blas_dgemm_tn, blas_dgemm_tt}};
Kernel<float> kernelFor(float, bool ta, bool tb) { return singles[ta][tb]; }
Kernel<double> kernelFor(double, bool ta, bool tb) { return doubles[ta][tb]; }

/// One call by rows: c[m, n] = alpha·op(a)·op(b) + beta·c.
template <typename T>
struct Product {
  bool transA, transB;
  int64_t m, n, k;
  T alpha;
  const T *a;
  int64_t lda;
  const T *b;
  int64_t ldb;
  T beta;
  T *c;
  int64_t ldc;

  void run(const char *name) const {
    calls.fetch_add(1, std::memory_order_relaxed);
    if (m == 0 || n == 0)
      return;
    int64_t depth = alpha == 0 ? 0 : k;
    if (depth == 0 && beta == 1)
      return;
    auto kernel = kernelFor(T(), transA, transB);
    int code = kernel(transA ? depth : m, transA ? m : depth, n, alpha, a, lda,
                      b, ldb, beta, c, ldc, facet_default_exec());
    if (code == FACET_OK)
      return;
    // BLAS has no way to say that memory ran out, and a wrong C is worse than none.
    char why[512];
    facet_describe_error(facet_last_error(), why, sizeof(why));
    std::fprintf(stderr, "facet-blas: %s: %s\n", name, why);
    std::abort();
  }
};

/// Which parameter is bad first, by BLAS's own count; 0 when none is. `rows` says how the
/// matrices lie, `base` where trans stands.
struct Parameters {
  bool rows;
  int base;
  int transA, transB; ///< 0, 1, or -1 for what is neither
  int64_t m, n, k, lda, ldb, ldc;

  int firstBad() const {
    int64_t least[] = {transA == rows ? m : k, transB == rows ? k : n,
                       rows ? n : m};
    int bad[] = {transA < 0,
                 transB < 0,
                 m < 0,
                 n < 0,
                 k < 0,
                 0, // alpha
                 0, // a
                 lda < std::max<int64_t>(1, least[0]),
                 0, // b
                 ldb < std::max<int64_t>(1, least[1]),
                 0, // beta
                 0, // c
                 ldc < std::max<int64_t>(1, least[2])};
    for (int i = 0; i != std::size(bad); ++i)
      if (bad[i])
        return base + i;
    return 0;
  }
};

int transposes(char letter) {
  switch (letter) {
  case 'N':
  case 'n':
    return 0;
  case 'T':
  case 't':
  case 'C':
  case 'c':
    return 1;
  default:
    return -1;
  }
}

/// CBLAS_TRANSPOSE: CblasNoTrans, CblasTrans, CblasConjTrans.
int transposes(int value) {
  return value == 111 ? 0 : value == 112 || value == 113 ? 1 : -1;
}

/// The number of M for N's, of lda for ldb's and back, as cblas_?gemm counts.
int exchanged(int position) {
  switch (position) {
  case 4:
    return 5;
  case 5:
    return 4;
  case 9:
    return 11;
  case 11:
    return 9;
  default:
    return position;
  }
}

/// BLAS of Fortran; `name` has six letters, as xerbla takes it.
template <typename T, typename Int>
void fortran(const char *name, const char *transA, const char *transB,
             const Int *m, const Int *n, const Int *k, const T *alpha,
             const T *a, const Int *lda, const T *b, const Int *ldb,
             const T *beta, T *c, const Int *ldc) {
  int ta = transposes(*transA), tb = transposes(*transB);
  if (int bad = Parameters{false, 1, ta, tb, *m, *n, *k, *lda, *ldb, *ldc}
                    .firstBad()) {
    int64_t position = bad; // little-endian: right for an xerbla of either size
    if (xerbla_)
      return xerbla_(name, &position, 6);
    std::fprintf(
        stderr,
        " ** On entry to %s parameter number %2d had an illegal value\n", name,
        bad);
    return;
  }
  Product<T>{tb == 1, ta == 1, *n,   *m,    *k, *alpha, b,
             *ldb,    a,       *lda, *beta, c,  *ldc}
      .run(name);
}

/// CBLAS; `name` is the function's.
template <typename T, typename Int>
void cblas(const char *name, int layout, int transA, int transB, Int m, Int n,
           Int k, T alpha, const T *a, Int lda, const T *b, Int ldb, T beta,
           T *c, Int ldc) {
  bool rows = layout == 101;
  int ta = transposes(transA), tb = transposes(transB);
  int bad =
      !rows && layout != 102
          ? 1
          : Parameters{rows, 2, ta, tb, m, n, k, lda, ldb, ldc}.firstBad();
  if (bad) {
    if (cblas_xerbla) {
      if (&RowMajorStrg) {
        RowMajorStrg = rows;
        bad = rows ? exchanged(bad) : bad;
      }
      return cblas_xerbla(bad, name, "");
    }
    std::fprintf(stderr, "Parameter %d to routine %s was incorrect\n", bad,
                 name);
    return;
  }
  if (rows)
    Product<T>{ta == 1, tb == 1, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}
        .run(name);
  else
    Product<T>{tb == 1, ta == 1, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc}
        .run(name);
}

} // namespace

uint64_t facet_blas_calls(void) {
  return calls.load(std::memory_order_relaxed);
}

// The exported names. Fortran's lengths of the two letters come last; nobody reads them.
#define FACET_FORTRAN(symbol, name, T, Int)                                    \
  extern "C" FACET_BLAS_API void symbol(                                       \
      const char *transA, const char *transB, const Int *m, const Int *n,      \
      const Int *k, const T *alpha, const T *a, const Int *lda, const T *b,    \
      const Int *ldb, const T *beta, T *c, const Int *ldc) {                   \
    fortran<T, Int>(name, transA, transB, m, n, k, alpha, a, lda, b, ldb,      \
                    beta, c, ldc);                                             \
  }
#define FACET_CBLAS(symbol, T, Int)                                            \
  extern "C" FACET_BLAS_API void symbol(                                       \
      int layout, int transA, int transB, Int m, Int n, Int k, T alpha,        \
      const T *a, Int lda, const T *b, Int ldb, T beta, T *c, Int ldc) {       \
    cblas<T, Int>(#symbol, layout, transA, transB, m, n, k, alpha, a, lda, b,  \
                  ldb, beta, c, ldc);                                          \
  }

FACET_FORTRAN(sgemm_, "SGEMM ", float, int32_t)
FACET_FORTRAN(dgemm_, "DGEMM ", double, int32_t)
FACET_CBLAS(cblas_sgemm, float, int32_t)
FACET_CBLAS(cblas_dgemm, double, int32_t)
// The copy of OpenBLAS in SciPy's wheels; then 64-bit integers: OpenBLAS's suffix, and NumPy's wheels.
FACET_FORTRAN(scipy_sgemm_, "SGEMM ", float, int32_t)
FACET_FORTRAN(scipy_dgemm_, "DGEMM ", double, int32_t)
FACET_CBLAS(scipy_cblas_sgemm, float, int32_t)
FACET_CBLAS(scipy_cblas_dgemm, double, int32_t)
FACET_FORTRAN(sgemm_64_, "SGEMM ", float, int64_t)
FACET_FORTRAN(dgemm_64_, "DGEMM ", double, int64_t)
FACET_CBLAS(cblas_sgemm64_, float, int64_t)
FACET_CBLAS(cblas_dgemm64_, double, int64_t)
FACET_FORTRAN(scipy_sgemm_64_, "SGEMM ", float, int64_t)
FACET_FORTRAN(scipy_dgemm_64_, "DGEMM ", double, int64_t)
FACET_CBLAS(scipy_cblas_sgemm64_, float, int64_t)
FACET_CBLAS(scipy_cblas_dgemm64_, double, int64_t)
