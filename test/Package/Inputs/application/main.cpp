#include <facet/runtime.h>
#include <kernels/gemm.h>
#include <cstdio>
int main() {
  const float a[] = {1, 2}, b[] = {3, 4};
  float y[4];
  int code = my_gemm(2, 1, 2, a, 1, b, 2, y, 2, facet_default_exec());
  std::printf("%d: %g %g %g %g\n", code, y[0], y[1], y[2], y[3]);
}
