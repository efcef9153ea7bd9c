/*===- runtime.h - threads and scratch memory for compiled kernels ---------===
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * libfacet-runtime: a ready facet_exec with oneTBB's threads and a workspace that
 * each thread keeps. Kernels do not need it; any facet_exec will do, and those
 * who have threads already find adapters in facet/Runtime/. This library alone
 * reads the environment:
 *
 *   FACET_MAX_ISA   x86-64-v2, x86-64-v3, x86-64-v4, znver4 or sapphirerapids: the
 *                   highest level to use. Any other text makes every call fail with FACET_E_EXEC.
 *   FACET_CHECK     1: check alignment and overlap at every call (FACET_CHECK).
 *===----------------------------------------------------------------------===*/

#ifndef FACET_RUNTIME_H
#define FACET_RUNTIME_H

#include "facet/abi.h"

#if defined(__GNUC__)
#define FACET_RUNTIME_API __attribute__((visibility("default")))
#else
#define FACET_RUNTIME_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** How to run on the calling thread: as many tasks at once as the affinity mask
 *  and the cgroup's quota give this process, the thread's own workspace, which
 *  grows as calls need it, and the thread's own error record. Valid until the
 *  thread ends; give it to calls of this thread only. The environment is read at
 *  a thread's first call. Never NULL.
 *
 *  After fork(), a child of a process that had used threads runs on one: the
 *  workers did not come along. */
FACET_RUNTIME_API const facet_exec *facet_default_exec(void);

/** The record of the last call of this thread that was refused under
 *  facet_default_exec(); its code is FACET_OK when there was none. */
FACET_RUNTIME_API const facet_error *facet_last_error(void);

/** Writes a sentence about `error` to `text`, cut to `bytes` and closed by a NUL,
 *  like snprintf: returns the length of the whole. */
FACET_RUNTIME_API int facet_describe_error(const facet_error *error, char *text, size_t bytes);

/** Frees the workspace that the calling thread keeps. */
FACET_RUNTIME_API void facet_release_workspace(void);

#ifdef __cplusplus
}
#endif

#endif /* FACET_RUNTIME_H */
