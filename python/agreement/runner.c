/*===- runner.c - kernels of another architecture, called on request ------===
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program without a C library, so that nothing but a compiler and a linker is
 * needed to make one for AArch64. It is linked with the object of a kernel, runs
 * under an emulator, and obeys requests on its standard input (emulated.py):
 *
 *   memory in:  { address, bytes }, data     mapped there, and written
 *   call:       { function, integers, floats, words on the stack }  ─▶  result
 *   memory out: { address, bytes }           ─▶  data
 *===----------------------------------------------------------------------===*/

#include <stddef.h>
#include <stdint.h>

enum { WRITE = 1, CALL = 2, READ = 3, PARALLEL = 4 };

static long system_call(long number, long a, long b, long c, long d, long e,
                        long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}

static void leave(int code) {
  system_call(93, code, 0, 0, 0, 0, 0);
  __builtin_unreachable();
}

static void take(void *data, size_t bytes) {
  for (char *at = data; bytes;) {
    long got = system_call(63, 0, (long)at, (long)bytes, 0, 0, 0);
    if (got <= 0)
      leave(got == 0 ? 0 : 3);
    at += got;
    bytes -= (size_t)got;
  }
}

static void give(const void *data, size_t bytes) {
  for (const char *at = data; bytes;) {
    long put = system_call(64, 1, (long)at, (long)bytes, 0, 0, 0);
    if (put <= 0)
      leave(3);
    at += put;
    bytes -= (size_t)put;
  }
}

/* All that objects of Facet ask of the outside. */
void *memcpy(void *to, const void *from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}
void *memset(void *to, int value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    ((volatile char *)to)[i] = (char)value;
  return to;
}

/* A legal parallel_for that shows any order dependence: last task first. */
static int backwards(void *context, int64_t n, int (*task)(void *, int64_t),
                     void *argument) {
  (void)context;
  for (int64_t i = n; i-- > 0;) {
    int code = task(argument, i);
    if (code)
      return code;
  }
  return 0;
}

struct request {
  int64_t kind, address, bytes;
};

/* The first eight integers and floats in registers, the rest in words on the stack. */
struct call {
  int64_t integers[8];
  double floats[8];
  int64_t words, stack[40];
};

int64_t call_with(const struct call *call, int64_t function);
__asm__("call_with:\n"
        "  stp x29, x30, [sp, #-32]!\n"
        "  mov x29, sp\n"
        "  str x19, [sp, #16]\n"
        "  mov x16, x1\n"
        "  mov x9, x0\n"
        "  ldr x10, [x9, #128]\n" /* words */
        "  add x11, x10, #1\n"
        "  and x11, x11, #-2\n"
        "  sub sp, sp, x11, lsl #3\n"
        "  add x12, x9, #136\n" /* stack */
        "  mov x13, sp\n"
        "1: cbz x10, 2f\n"
        "  ldr x14, [x12], #8\n"
        "  str x14, [x13], #8\n"
        "  sub x10, x10, #1\n"
        "  b 1b\n"
        "2: ldp d0, d1, [x9, #64]\n"
        "  ldp d2, d3, [x9, #80]\n"
        "  ldp d4, d5, [x9, #96]\n"
        "  ldp d6, d7, [x9, #112]\n"
        "  ldp x0, x1, [x9]\n"
        "  ldp x2, x3, [x9, #16]\n"
        "  ldp x4, x5, [x9, #32]\n"
        "  ldp x6, x7, [x9, #48]\n"
        "  blr x16\n"
        "  mov sp, x29\n"
        "  ldr x19, [sp, #16]\n"
        "  ldp x29, x30, [sp], #32\n"
        "  ret\n");

void _start(void) {
  for (;;) {
    struct request request;
    take(&request, sizeof request);
    void *memory = (void *)request.address;
    if (request.kind == WRITE) {
      long page = 65536, from = request.address & -page;
      long end = (request.address + request.bytes + page - 1) & -page;
      /* Readable and writable, private, fixed, of no file. */
      if (system_call(222, from, end - from, 3, 0x32, -1, 0) != from)
        leave(4);
      take(memory, (size_t)request.bytes);
    } else if (request.kind == READ) {
      give(memory, (size_t)request.bytes);
    } else if (request.kind == CALL) {
      struct call call;
      take(&call, sizeof call);
      int64_t result = call_with(&call, request.address);
      give(&result, sizeof result);
    } else if (request.kind == PARALLEL) {
      int64_t function = (int64_t)&backwards;
      give(&function, sizeof function);
    } else {
      leave(5);
    }
  }
}
