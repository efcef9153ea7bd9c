#include "gemm.h"
int product(float *y) {
  float a[1] = {3}, b[1] = {5};
  return my_gemm(1, 1, 1, a, 1, b, 1, y, 1, NULL);
}
