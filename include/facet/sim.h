/*===- sim.h - programs of matrix engines, called as C functions -----------===
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * libfacet-sim: what `facet compile --target=trn2 -o k.o` needs. The object holds the
 * program and the C functions of the kernel, with the prototypes that a CPU's object has;
 * a call runs the program on the simulator:
 *
 *   #include "linear.h"   // facet compile linear.facet --header linear.h ...
 *   int code = linear_trn2(M, K, N, x, K, w, N, b, y, N, NULL);
 *   printf("%.1f us\n", facet_sim_seconds() * 1e6);
 *
 * Any number of threads may call at once. C99 and C++17.
 *===----------------------------------------------------------------------===*/

#ifndef FACET_SIM_H
#define FACET_SIM_H

#include "facet/abi.h"

#if defined(__GNUC__)
#define FACET_SIM_API __attribute__((visibility("default")))
#else
#define FACET_SIM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** How long the calling thread's last simulated call would have taken on the machine, in
 *  seconds, from the start of the queues to the last write. 0 when that call failed or there
 *  was none. Worked out at the first time it is asked for, once per program. */
FACET_SIM_API double facet_sim_seconds(void);

/** Why the calling thread's last simulated call returned FACET_E_TASK: what the simulator
 *  found in the program, with its place in the source. Empty when it did not. Valid until
 *  the thread's next call. */
FACET_SIM_API const char *facet_sim_message(void);

/* ---- For compiled objects -------------------------------------------------- */

/** One parameter of a kernel: arguments in order, then results. */
typedef struct facet_sim_operand {
  const char *name;
  const int64_t *extents; /**< of its axes in memory, `rank` of them */
  int64_t
      below; /**< its elements are subscripts and lie in [0, below); -1: none are */
  int32_t rank;
  int32_t type; /**< a facet_type */
} facet_sim_operand;

/** A kernel of fixed sizes and its program. */
typedef struct facet_sim_kernel {
  const void *program; /**< the bytes of an .engine file */
  uint64_t program_bytes;
  const facet_sim_operand *operands;
  int64_t operand_count;
} facet_sim_kernel;

/** Runs the program on `data`, a pointer per operand. `strides` has those of all axes but
 *  the last of each operand, in elements, one operand after the other. Returns FACET_OK,
 *  FACET_E_INDEX with `error` filled in, if it is not NULL, or FACET_E_TASK with a message;
 *  results are written only in the first case. */
FACET_SIM_API int facet_sim_call(const facet_sim_kernel *kernel,
                                 void *const *data, const int64_t *strides,
                                 facet_error *error);

#ifdef __cplusplus
}
#endif

#endif /* FACET_SIM_H */
