/*===- abi.h - what every compiled kernel and its caller agree on ----------===
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The one header that generated headers include. C99 and C++17, nothing to link.
 * Layouts here are fixed: `facet_exec` grows only at its end, and its first
 * member says how much of it the caller knows. docs/Interface.md tells the story.
 *===----------------------------------------------------------------------===*/

#ifndef FACET_ABI_H
#define FACET_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#elif defined(__GNUC__)
/* C forbids a pointer of one type where another is wanted; older compilers only
 * warn. bf16 data passed as f16 must not get that far. */
#pragma GCC diagnostic error "-Wincompatible-pointer-types"
#endif

/** Counts changes that break old objects or old callers. */
#define FACET_ABI_VERSION 1

/* ---- Elements ------------------------------------------------------------ */

/* float, double, bool and the intN_t of C are themselves. Each other storage
 * type is a type of its own, so that a pointer to the wrong one does not compile.
 * `bits` is the encoding: bfloat16, IEEE binary16, and the 8-bit floats E4M3 with
 * infinities (largest value 240), E4M3FN (448) and E5M2. */
typedef struct facet_bf16 { uint16_t bits; } facet_bf16;
typedef struct facet_f16 { uint16_t bits; } facet_f16;
typedef struct facet_f8e4m3 { uint8_t bits; } facet_f8e4m3;
typedef struct facet_f8e4m3fn { uint8_t bits; } facet_f8e4m3fn;
typedef struct facet_f8e5m2 { uint8_t bits; } facet_f8e5m2;
/* Two 4-bit integers, the low nibble first. Sizes and strides count nibbles, not
 * pairs; a last axis and a stride are even. A lone one is a low nibble. */
typedef struct facet_i4x2 { uint8_t bits; } facet_i4x2;
typedef struct facet_u4x2 { uint8_t bits; } facet_u4x2;

/** Element types by number, as `facet_argument` and packed buffers name them. */
typedef enum facet_type {
  FACET_BOOL = 1, FACET_I32 = 2, FACET_I64 = 3, FACET_F32 = 4, FACET_F64 = 5,
  FACET_F16 = 6, FACET_BF16 = 7, FACET_F8E4M3 = 8, FACET_F8E4M3FN = 9,
  FACET_F8E5M2 = 10, FACET_I16 = 11, FACET_I8 = 12, FACET_U8 = 13,
  FACET_I4 = 14, FACET_U4 = 15
} facet_type;

/* ---- Errors -------------------------------------------------------------- */

/** What a kernel returns: 0, or one of these. A call that returns anything but
 *  FACET_OK and FACET_E_TASK has written no result. */
enum {
  FACET_OK = 0,
  FACET_E_EXEC = -1,      /**< facet_exec is malformed: its size, its level */
  FACET_E_SIZE = -2,      /**< a size is negative */
  FACET_E_FIXED = -3,     /**< a size was fixed to other values at compile time */
  FACET_E_OVERFLOW = -4,  /**< an array or the workspace exceeds 2^63 - 1 bytes */
  FACET_E_ODD = -5,       /**< the last axis of a 4-bit array is odd */
  FACET_E_STRIDE = -6,    /**< a stride is too small, negative, odd, or makes elements of a result overlap */
  FACET_E_NULL = -7,      /**< a pointer is NULL and would be read or written */
  FACET_E_WORKSPACE = -8, /**< the workspace is too small or cannot be had */
  FACET_E_INDEX = -9,     /**< an element used as a subscript is out of range */
  FACET_E_PACKED = -10,   /**< not a packed buffer for this operand, type, level and these sizes */
  FACET_E_ALIGN = -11,    /**< a pointer is not aligned as its elements need (FACET_CHECK, packed buffers) */
  FACET_E_OVERLAP = -12,  /**< a result shares memory with another argument (FACET_CHECK) */
  FACET_E_DEVICE = -13,   /**< DLTensor: not in CPU memory */
  FACET_E_TYPE = -14,     /**< DLTensor: another element type */
  FACET_E_RANK = -15,     /**< DLTensor: another number of axes */
  FACET_E_SHAPE = -16,    /**< DLTensor: an extent contradicts another argument */
  FACET_E_LEVEL = -17,    /**< the object has no code for this CPU at or below max_level */
  FACET_E_TASK = -18,     /**< parallel_for reported a failure */
  /** The first promise (`requires`) is broken; the next ones are -101, -102, ...
   *  in the order of the text. The record's argument is the promise as written. */
  FACET_E_REQUIRE = -100
};

/** Where a refused call went wrong. Strings are constants of the object. */
typedef struct facet_error {
  int32_t code;         /**< as returned */
  int32_t axis;         /**< axis of `argument` in memory, from 0; -1: none */
  const char *kernel;   /**< the kernel's name */
  const char *argument; /**< argument, result, size or promise; NULL: none */
  int64_t found;        /**< the value at fault; an address for FACET_E_ALIGN */
  int64_t wanted;       /**< the value, bound (FACET_E_INDEX: one above it) or alignment wanted */
} facet_error;

/** One line of English for a code. Never NULL. */
static inline const char *facet_strerror(int code) {
  if (code <= FACET_E_REQUIRE)
    return "a promise of the kernel (requires) is broken";
  switch (code) {
  case FACET_OK: return "success";
  case FACET_E_EXEC: return "facet_exec is malformed";
  case FACET_E_SIZE: return "a size is negative";
  case FACET_E_FIXED: return "a size has another value than the ones compiled for";
  case FACET_E_OVERFLOW: return "an array or the workspace exceeds 2^63 - 1 bytes";
  case FACET_E_ODD: return "the last axis of a 4-bit array is odd";
  case FACET_E_STRIDE: return "a stride does not fit its array";
  case FACET_E_NULL: return "a pointer that is needed is NULL";
  case FACET_E_WORKSPACE: return "the workspace is too small";
  case FACET_E_INDEX: return "an element used as a subscript is out of range";
  case FACET_E_PACKED: return "not a packed buffer for this operand";
  case FACET_E_ALIGN: return "a pointer is not aligned as its elements need";
  case FACET_E_OVERLAP: return "a result shares memory with another argument";
  case FACET_E_DEVICE: return "a tensor is not in CPU memory";
  case FACET_E_TYPE: return "a tensor has another element type";
  case FACET_E_RANK: return "a tensor has another number of axes";
  case FACET_E_SHAPE: return "the shapes of the tensors do not fit together";
  case FACET_E_LEVEL: return "the object has no code for this CPU at or below max_level";
  case FACET_E_TASK: return "parallel_for reported a failure";
  default: return "unknown error code";
  }
}

/* ---- How to run ---------------------------------------------------------- */

/** Instruction-set levels, for facet_exec.max_level and packed buffers. */
enum {
  FACET_LEVEL_ANY = 0, /**< no cap; a layout that every level takes */
  FACET_LEVEL_X86_64_V2 = 2,
  FACET_LEVEL_X86_64_V3 = 3,
  FACET_LEVEL_X86_64_V4 = 4,
  FACET_LEVEL_ZNVER4 = 5, /**< x86-64-v4 with AVX512_VNNI and AVX512_BF16 */
  FACET_LEVEL_X86_64_V3_VNNI = 6, /**< x86-64-v3 with AVX_VNNI, below x86-64-v4 */
  FACET_LEVEL_SAPPHIRERAPIDS = 7, /**< znver4 with AMX_TILE, AMX_BF16 and AMX_INT8 */
  FACET_LEVEL_AARCH64 = 8 /**< any AArch64: NEON */
};

/** Bits of facet_exec.flags. */
enum {
  FACET_CHECK = 1 /**< also check alignment, and that results share no memory */
};

/** How a call runs. A NULL facet_exec means: on this thread alone, with at most
 *  64 KiB of scratch on the stack. Start from FACET_EXEC_INIT. */
typedef struct facet_exec {
  uint32_t size;     /**< sizeof(facet_exec) as the caller knows it */
  int32_t threads;   /**< how many tasks at once are worth while; 0 is 1 */
  int32_t max_level; /**< highest level to use; 0: what the CPU has */
  uint32_t flags;
  /** Calls task(data, i) for every i from 0 to n - 1, in any order and as
   *  parallel as it likes, and returns when all are done: 0, or what a task
   *  returned if not 0. Tasks never wait for each other. NULL: a plain loop. */
  int (*parallel_for)(void *ctx, int64_t n, int (*task)(void *data, int64_t i), void *data);
  void *ctx;              /**< first argument of parallel_for and reserve */
  void *workspace;        /**< scratch of this call alone, any alignment, or NULL */
  size_t workspace_bytes; /**< its size; NAME_workspace says what is enough */
  facet_error *error;     /**< filled when a call is refused; or NULL */
  /** Asked for at least `bytes` of scratch when `workspace` is too small; the
   *  memory stays good until the call returns. NULL: nothing to ask; returns
   *  NULL: no more to be had. */
  void *(*reserve)(void *ctx, size_t bytes);
} facet_exec;

#define FACET_EXEC_INIT                                                        \
  { (uint32_t)sizeof(facet_exec), 1, 0, 0, NULL, NULL, NULL, 0, NULL, NULL }

/* ---- What a kernel says about itself ------------------------------------- */

/** What a parameter is for. */
typedef enum facet_mode {
  FACET_IN = 0, FACET_CONST = 1, FACET_INOUT = 2, FACET_OUT = 3
} facet_mode;

/** One parameter of a kernel: arguments in order, then results. */
typedef struct facet_argument {
  const char *name;
  int32_t type;  /**< a facet_type */
  int32_t mode;  /**< a facet_mode */
  int32_t rank;  /**< axes in memory; a group is one */
  int32_t layout; /**< 0: elements in memory as the strides say; a packed buffer's is in its head */
  /** One text per axis: a size, a number, or a group like "(Q, 128)". */
  const char *const *axes;
} facet_argument;

/** Returned by NAME_info(). `size` is sizeof(facet_info) as the object knows it. */
typedef struct facet_info {
  uint32_t size;
  uint32_t abi;             /**< FACET_ABI_VERSION of the object */
  const char *name;         /**< the kernel's name in the text */
  const char *symbol;       /**< its C name */
  const char *documentation;
  const char *version;      /**< of the compiler */
  const char *hash;         /**< 16 hex digits: equal kernels have equal hashes */
  const char *plan;         /**< how each level computes it */
  int32_t size_count, argument_count, require_count, level_count;
  const char *const *sizes; /**< in the order of the dim_ parameters */
  const facet_argument *arguments;
  const char *const *promises; /**< the text of each `requires`, in order */
  const int32_t *levels;       /**< FACET_LEVEL_*, lowest first */
  /** Additions, multiplications and function calls of one run, filters taken
   *  as true; `sizes` in the order above. */
  double (*flops)(const int64_t *sizes);
  /** The level at which a call with `exec` runs here: one of `levels`, or
   *  FACET_E_LEVEL. NULL, like a max_level of 0, means no cap. */
  int32_t (*level)(const facet_exec *exec);
} facet_info;

/** What a packed buffer starts with; rank extents (int64_t) follow, then, at
 *  header_bytes, the elements. Buffers are 64-byte aligned. */
typedef struct facet_packed {
  char magic[8];         /**< "facetpk1" */
  uint32_t header_bytes; /**< a multiple of 64 */
  int32_t rank;
  int32_t type;   /**< a facet_type */
  int32_t level;  /**< the level it was packed for; 0: any */
  int32_t layout; /**< 0: dense rows; else a number for the panels of the level's plan */
  int32_t reserved;
} facet_packed;

/* ---- DLPack -------------------------------------------------------------- */

/* NAME_dl takes DLTensors. Where <dlpack/dlpack.h> was included before, its own
 * type is meant; else a structure of the same layout, to which a DLTensor
 * pointer may be cast. */
#ifdef DLPACK_DLPACK_H_
typedef DLTensor facet_dltensor;
#else
typedef struct facet_dltensor {
  void *data;
  struct { int32_t device_type, device_id; } device; /**< CPU is 1 */
  int32_t ndim;
  struct { uint8_t code, bits; uint16_t lanes; } dtype;
  int64_t *shape;
  int64_t *strides; /**< in elements; NULL: dense */
  uint64_t byte_offset;
} facet_dltensor;
#endif

#ifdef __cplusplus
}

static_assert(sizeof(bool) == 1, "a bool is one byte in arrays");
static_assert(sizeof(facet_error) == 24 + 2 * sizeof(void *), "layout of facet_error");
static_assert(sizeof(void *) != 8 || sizeof(facet_dltensor) == 48, "layout of DLTensor");
#endif

#endif /* FACET_ABI_H */
