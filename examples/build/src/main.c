/* The program of every recipe: one call of a kernel, with the runtime's threads. */
#include "dense.h"
#include <facet/runtime.h>
#include <stdio.h>

int main(void) {
  const float x[2 * 3] = {1, 2, 3, 4, 5, 6};
  const float w[3 * 2] = {1, -1, 1, -1, 1, -1};
  const float b[2] = {1, 10};
  float y[2 * 2];
  char text[200];
  int code = dense(2, 3, 2, x, 3, w, 2, b, y, 2, facet_default_exec());
  if (code) {
    facet_describe_error(facet_last_error(), text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return 1;
  }
  printf("%g %g\n%g %g\n", y[0], y[1], y[2], y[3]); /* 49 16, 256 0 */
  return 0;
}
