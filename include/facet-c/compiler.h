/*===- compiler.h - the compiler as a library ------------------------------===
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * libfacet: kernels from text to functions of this process. C99 and C++17; handles
 * are opaque, structures begin with their size and grow at their end.
 *
 *   facetc_messages *messages;
 *   facetc_module *module = facetc_compile(text, strlen(text), NULL, &messages);
 *   if (!module)
 *     fputs(facetc_messages_text(messages), stderr);
 *   else
 *     code = facetc_call(facetc_kernel_at(module, 0), in, out, NULL);
 *
 * Any thread may call any function; compilations and simulations wait for each
 * other. A kernel is called by any number of threads at once, each with a facet_exec
 * of its own. The library never prints, exits, or touches the signal handlers it finds.
 *===----------------------------------------------------------------------===*/

#ifndef FACET_C_COMPILER_H
#define FACET_C_COMPILER_H

#include "facet/abi.h"

#if defined(__GNUC__)
#define FACETC_API __attribute__((visibility("default")))
#else
#define FACETC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Counts changes of this header that break callers. */
#define FACETC_API_VERSION 1

/** FACETC_API_VERSION of the library that is loaded. */
FACETC_API int facetc_api_version(void);
/** Of the compiler, "0.1.0" say. */
FACETC_API const char *facetc_version(void);

/* ---- Messages -------------------------------------------------------------- */

typedef enum facetc_severity {
  FACETC_ERROR = 0,
  FACETC_WARNING = 1,
  FACETC_REMARK = 2,
  FACETC_NOTE = 3 /**< belongs to the message before it */
} facetc_severity;

/** One message. Strings live as long as the list; none is NULL. */
typedef struct facetc_message {
  int32_t severity;    /**< a facetc_severity */
  uint32_t line;       /**< from 1; 0: the file as a whole, or no place */
  uint32_t column;     /**< from 1, in bytes; 0: the line as a whole */
  uint32_t end_column; /**< one past the last byte; 0: unknown */
  const char *file;    /**< the name given, or an import; empty: no place */
  const char *group;   /**< of a warning or remark, without -W; else empty */
  const char *text;
} facetc_message;

typedef struct facetc_messages facetc_messages;

FACETC_API size_t facetc_message_count(const facetc_messages *messages);
/** The message at `index`, below the count. */
FACETC_API facetc_message facetc_message_at(const facetc_messages *messages,
                                            size_t index);
/** All of them as the command line prints them, each with its line of the text. */
FACETC_API const char *facetc_messages_text(const facetc_messages *messages);
FACETC_API void facetc_messages_free(facetc_messages *messages);

/* ---- Compiling ------------------------------------------------------------- */

/** How to compile. Start from FACETC_OPTIONS_INIT; NULL stands for that. Lists end
 *  with NULL; a NULL list is empty. */
typedef struct facetc_options {
  uint32_t size;    /**< sizeof(facetc_options) as the caller knows it */
  const char *name; /**< stands for the text in messages; imports are looked for
                          beside it. NULL: "<text>" */
  const char *target; /**< as --target= takes it. NULL: "native", the highest
                           level of this machine */
  const char *const *defines;      /**< sizes to fix: "M=1,16,*" */
  const char *const *include_dirs; /**< where to look for imports too */
  const char *const *warnings; /**< "perf", "no-unused", "error" as behind -W */
} facetc_options;

#define FACETC_OPTIONS_INIT                                                    \
  {(uint32_t)sizeof(facetc_options), NULL, NULL, NULL, NULL, NULL}

/** Kernels, compiled and loaded. */
typedef struct facetc_module facetc_module;
/** One of them; lives as long as its module. */
typedef struct facetc_kernel facetc_kernel;

/** Compiles `bytes` bytes of `text` for this process. NULL when that is refused.
 *  `messages`, if not NULL, is set to a list in either case, to be freed. */
FACETC_API facetc_module *facetc_compile(const char *text, size_t bytes,
                                         const facetc_options *options,
                                         facetc_messages **messages);
/** Unloads the code. No kernel of it may be running, no facet_info be in use. */
FACETC_API void facetc_module_free(facetc_module *module);

/** What `facet compile --emit=KIND` writes: "asm", "llvm", "mlir", "kernel", "header",
 *  "obj", "static". Its length goes to `length`; a NUL follows it. To be given to
 *  facetc_free; NULL when it is refused. */
FACETC_API char *facetc_emit(const char *text, size_t bytes, const char *kind,
                             const facetc_options *options, size_t *length,
                             facetc_messages **messages);
FACETC_API void facetc_free(void *memory);

/** How a kernel is computed and why: what `facet explain` prints. `form` is "text",
 *  "json" or "schedule". `kernel` NULL: all of the text. To be given to facetc_free;
 *  NULL when it is refused. */
FACETC_API char *facetc_explain(const char *text, size_t bytes,
                                const char *kernel, const char *form,
                                const facetc_options *options, size_t *length,
                                facetc_messages **messages);

/* ---- Kernels --------------------------------------------------------------- */

/** At least 1; in the order of the text. */
FACETC_API size_t facetc_kernel_count(const facetc_module *module);
FACETC_API const facetc_kernel *facetc_kernel_at(const facetc_module *module,
                                                 size_t index);
/** NULL when there is none of that name. */
FACETC_API const facetc_kernel *facetc_kernel_named(const facetc_module *module,
                                                    const char *name);

/** Names, arguments, axes, promises, flops: what the object knows of itself. */
FACETC_API const facet_info *facetc_kernel_info(const facetc_kernel *kernel);

/** Calls the kernel: arguments in `in`, results in `out`, in the order of the text;
 *  a scalar is a tensor without axes, NULL an argument left out. Returns 0 or a
 *  FACET_E_ code (docs/Interface.md). `exec` may be NULL. */
FACETC_API int facetc_call(const facetc_kernel *kernel,
                           const facet_dltensor *const *in,
                           facet_dltensor *const *out, const facet_exec *exec);

/** Any function; to be cast to its own type. */
typedef void (*facetc_function)(void);
/** A C function of the kernel as its header declares it: "" is the kernel,
 *  "_workspace" its NAME_workspace, "_pack_w". NULL: it has none such. */
FACETC_API facetc_function facetc_kernel_function(const facetc_kernel *kernel,
                                                  const char *suffix);

/* ---- The simulator --------------------------------------------------------- */

/** A run on a simulated matrix engine that came to its end. */
typedef struct facetc_simulation facetc_simulation;

/** Runs a kernel of the text on the simulator, as `facet run --target=trn2` does: a
 *  program for the sizes of the tensors is made, checked and timed. `in` and `out` as
 *  for facetc_call, `in_count` and `out_count` of them; strides may be any. `kernel`
 *  NULL: the only one. options->target NULL: "trn2". options->defines says sizes that
 *  no tensor has, one value each. NULL, with messages, when something is refused, or
 *  found in the program; results are written only otherwise. */
FACETC_API facetc_simulation *
facetc_simulate(const char *text, size_t bytes, const char *kernel,
                const facetc_options *options, const facet_dltensor *const *in,
                size_t in_count, facet_dltensor *const *out, size_t out_count,
                facetc_messages **messages);
/** "json" (docs/Simulator.md, with `kernel`, `sizes`, `flops`, `seconds`), "stats",
 *  "html", "trace" (for Perfetto) or "asm". To be given to facetc_free; NULL for
 *  anything else, and for the trace of a run too long to be recorded. */
FACETC_API char *facetc_simulation_result(const facetc_simulation *simulation,
                                          const char *kind, size_t *length);
FACETC_API void facetc_simulation_free(facetc_simulation *simulation);

#ifdef __cplusplus
}
#endif

#endif /* FACET_C_COMPILER_H */
