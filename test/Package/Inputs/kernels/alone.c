#include "gemm.h"
#include <facet/runtime.h>
#include <stdio.h>
int main(void) {
  float a[1] = {3}, b[1] = {5}, y[1];
  int code = gemm(1, 1, 1, a, 1, b, 1, y, 1, facet_default_exec());
  printf("%d: %g\n", code, y[0]);
  return 0;
}
