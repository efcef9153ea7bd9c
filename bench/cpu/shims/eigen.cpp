//===- eigen.cpp - Eigen as a peer ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled with all that this machine has (-march=native) and OpenMP, Eigen's own way to
// threads.
//
//===----------------------------------------------------------------------===//

#include <Eigen/Core>
#include <cstdint>

template <typename T>
static int multiply(int64_t m, int64_t n, int64_t k, const T *a, const T *b,
                    T *c) {
  using Matrix =
      Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Matrix>(c, m, n).noalias() =
      Eigen::Map<const Matrix>(a, m, k) * Eigen::Map<const Matrix>(b, k, n);
  return 0;
}

extern "C" {
void peer_threads(int threads) { Eigen::setNbThreads(threads); }
int peer_f32(int64_t m, int64_t n, int64_t k, const float *a, const float *b,
             float *c) {
  return multiply(m, n, k, a, b, c);
}
int peer_f64(int64_t m, int64_t n, int64_t k, const double *a, const double *b,
             double *c) {
  return multiply(m, n, k, a, b, c);
}
}
