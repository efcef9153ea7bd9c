#include "gemm.h"
#include "twö.h"
#include <facet/runtime.h>
#include <stdio.h>

int main(void) {
  float a[2] = {1, 2}, b[2] = {3, 4}, y[4], z[2];
  int code = gemm(2, 1, 2, a, 1, b, 2, y, 2, facet_default_exec());
  code |= scaled(2, y + 2, z, NULL);
  printf("%d: %g %g %g %g, %g %g\n", code, y[0], y[1], y[2], y[3], z[0], z[1]);
  return 0;
}
