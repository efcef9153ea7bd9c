// Every refusal of a call has its code, argument, axis and numbers, and writes nothing. The
// implementation here stands in for a road: it stores alpha into y[0].
//
// REQUIRES: gcc
// RUN: split-file %s %t
// RUN: %facet-opt --emit-interface --facet-lower-to-llvm %t/axpy.mlir | mlir-translate --mlir-to-llvmir | llc -mtriple=x86_64-linux-gnu -relocation-model=pic -filetype=obj -o %t/axpy.o
// RUN: %facet-opt --test-emit-header=file=axpy.h %t/axpy.mlir -o %t/unused > %t/axpy.h
// RUN: %gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -I %include -I %t %t/main.c %t/axpy.o -o %t/main && %t/main | FileCheck %s
//
// Nothing but memcpy is asked of the program, and only the header's names are seen.
// RUN: llvm-nm --undefined-only --just-symbol-name %t/axpy.o | count 1
// RUN: llvm-nm --undefined-only --just-symbol-name %t/axpy.o | FileCheck %s --check-prefix=ASKED
// RUN: llvm-nm --extern-only --defined-only --just-symbol-name %t/axpy.o | sort | FileCheck %s --check-prefix=SEEN
// RUN: llvm-readelf -S %t/axpy.o | FileCheck %s --check-prefix=STACK
// ASKED: memcpy
// SEEN:      {{^}}axpy{{$}}
// SEEN-NEXT: axpy_dl
// SEEN-NEXT: axpy_info
// SEEN-NEXT: axpy_pack_x
// SEEN-NEXT: axpy_pack_x_bytes
// SEEN-NEXT: axpy_packed
// SEEN-NEXT: axpy_workspace
// SEEN-NEXT: parallel
// SEEN-NEXT: parallel_dl
// SEEN-NEXT: parallel_info
// SEEN-NEXT: parallel_workspace
// SEEN-NOT:  {{.}}
// STACK: .note.GNU-stack PROGBITS {{0+ [0-9a-f]+ 000000 00 +0}}

//--- axpy.mlir
kernel.func @axpy sizes [M, N] (alpha = %alpha: tensor<f32> [], const x = %x: tensor<?x?xbf16> [M, N],
                                inout y = %y: tensor<?x?xf32> [M, N]) documentation "y += alpha * x" {
  kernel.require "M >= N" {
    %m = kernel.size "M" : i64
    %n = kernel.size "N" : i64
    %c = arith.cmpi sge, %m, %n : i64
    kernel.yield %c : i1
  }
  kernel.require "alpha < 100" ins(%alpha as %alpha_v : tensor<f32>) {
    %limit = arith.constant 100.0 : f32
    %c = arith.cmpf olt, %alpha_v, %limit : f32
    kernel.yield %c : i1
  }
  %m = kernel.size "M" : index
  %n = kernel.size "N" : index
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %new = kernel.map "y" [i: %m, j: %n] ins(%alpha[] as %a : tensor<f32>, %x[i, j] as %v : tensor<?x?xbf16>)
      outs(%e : tensor<?x?xf32>) {
    %w = kernel.cast exact %v : bf16 to f32
    %p = arith.mulf %a, %w : f32
    kernel.yield %p : f32
  } -> tensor<?x?xf32>
  kernel.return %new : tensor<?x?xf32>
}
func.func @axpy.workspace(%m: i64, %n: i64) -> i64 {
  %c = arith.constant 50 : i64
  %p = arith.muli %m, %n : i64
  %r = arith.muli %p, %c : i64
  return %r : i64
}
func.func @axpy.impl(%m: i64, %n: i64, %alpha: !llvm.ptr, %x: !llvm.ptr, %ldx: i64, %y: !llvm.ptr, %ldy: i64,
                     %ws: !llvm.ptr, %err: !llvm.ptr) -> i32 {
  %c = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %a = arith.cmpi sgt, %m, %zero : i64
  %b = arith.cmpi sgt, %n, %zero : i64
  %some = arith.andi %a, %b : i1
  cf.cond_br %some, ^write, ^done
^write:
  %v = llvm.load %alpha : !llvm.ptr -> f32
  llvm.store %v, %y : f32, !llvm.ptr
  cf.br ^done
^done:
  return %c : i32
}
// An implementation that runs in parallel is given the exec, whatever the way to its scratch.
kernel.func @parallel sizes [N] () -> (threads: tensor<i32> []) {
  %e = tensor.empty() : tensor<i32>
  kernel.return %e : tensor<i32>
}
func.func @parallel.workspace(%n: i64, %threads: i32) -> i64 {
  %t = arith.extsi %threads : i32 to i64
  %b = arith.muli %n, %t : i64
  return %b : i64
}
func.func @parallel.impl(%n: i64, %y: !llvm.ptr, %ws: !llvm.ptr, %err: !llvm.ptr, %exec: !llvm.ptr) -> i32 {
  %c = arith.constant 0 : i32
  %p = llvm.getelementptr %exec[4] : (!llvm.ptr) -> !llvm.ptr, i8
  %threads = llvm.load %p : !llvm.ptr -> i32
  llvm.store %threads, %y : i32, !llvm.ptr
  return %c : i32
}

//--- main.c
#include "axpy.h"
#include <stdio.h>
#include <string.h>

static facet_error error;
static facet_bf16 x[6];
static float y[6];
static int64_t packed[16] __attribute__((aligned(64)));

static char scratch[256];
static void *reserve(void *ctx, size_t bytes) { return ctx == scratch && bytes <= sizeof scratch ? scratch : NULL; }

static void show(const char *what, int code) {
  printf("%s: %d", what, code);
  if (error.code)
    printf(" '%s' '%s' axis %d, found %lld, wanted %lld", error.kernel, error.argument ? error.argument : "",
           (int)error.axis, (long long)error.found, (long long)error.wanted);
  if (error.code != code || (code != FACET_OK) == (y[0] != 0))
    printf(" WRONG record %d, y[0] %g", (int)error.code, y[0]);
  printf("\n");
  memset(&error, 0, sizeof error);
  y[0] = 0;
}

int main(void) {
  facet_exec exec = FACET_EXEC_INIT;
  char workspace[400];
  exec.error = &error;
  // CHECK: good: 0
  show("good", axpy(3, 2, 1.5f, x, 2, y, 2, &exec));
  // CHECK: serial: 0
  show("serial", axpy(3, 2, 1.5f, x, 2, y, 2, NULL));
  // CHECK: negative: -2 'axpy' 'M' axis -1, found -3, wanted 0
  show("negative", axpy(-3, 2, 1.5f, x, 2, y, 2, &exec));
  // CHECK: narrow x: -6 'axpy' 'x' axis 0, found 1, wanted 2
  show("narrow x", axpy(3, 2, 1.5f, x, 1, y, 2, &exec));
  // CHECK: narrow y: -6 'axpy' 'y' axis 0, found 0, wanted 2
  show("narrow y", axpy(3, 2, 1.5f, x, 2, y, 0, &exec));
  // CHECK: one row: 0
  show("one row", axpy(1, 1, 1.5f, x, -7, y, 0, &exec));
  // CHECK: no x: -7 'axpy' 'x' axis -1
  show("no x", axpy(3, 2, 1.5f, NULL, 2, y, 2, &exec));
  // CHECK: no y: -7 'axpy' 'y' axis -1
  show("no y", axpy(3, 2, 1.5f, x, 2, NULL, 2, &exec));
  // CHECK: promise 0: -100 'axpy' 'M >= N' axis -1
  show("promise 0", axpy(1, 2, 1.5f, x, 2, y, 2, &exec));
  // CHECK: promise 1: -101 'axpy' 'alpha < 100' axis -1
  show("promise 1", axpy(3, 2, 100.f, x, 2, y, 2, &exec));
  // CHECK: elements: -4 'axpy' 'x' axis -1
  show("elements", axpy(INT64_MAX / 2, 3, 1.5f, x, 3, y, 3, &exec));
  // CHECK: span: -4 'axpy' 'x' axis -1
  show("span", axpy(3, 2, 1.5f, x, INT64_MAX / 2, y, 2, &exec));
  // CHECK: bytes: -4 'axpy' 'y' axis -1
  show("bytes", axpy(INT64_MAX / 2, 1, 1.5f, x, 1, y, 1, &exec));

  // zero-extent: checked, then nothing is written.
  // CHECK: empty: 0 0
  printf("empty: %d %g\n", axpy(INT64_MAX, 0, 1.5f, NULL, 1, NULL, 1, &exec), y[0]);

  // CHECK: workspace 363, 18446744073709551615, 18446744073709551615
  printf("workspace %zu, %zu, %zu\n", axpy_workspace(3, 2, 1), axpy_workspace(3, -2, 1),
         axpy_workspace(INT64_MAX / 2, INT64_MAX / 2, 1));
  exec.workspace = workspace;
  exec.workspace_bytes = 299;
  // CHECK: small workspace: -8 'axpy' '' axis -1, found 299, wanted 363
  show("small workspace", axpy(3, 2, 1.5f, x, 2, y, 2, &exec));
  exec.workspace_bytes = 363;
  // CHECK: workspace: 0
  show("workspace", axpy(3, 2, 1.5f, x, 2, y, 2, &exec));
  exec.workspace = NULL;
  // CHECK: stack: 0
  show("stack", axpy(655, 2, 1.5f, x, 2, y, 2, &exec));
  // CHECK: no stack: -8 'axpy' '' axis -1, found 363, wanted 65663
  show("no stack", axpy(656, 2, 1.5f, x, 2, y, 2, &exec));

  exec.flags = FACET_CHECK;
  // caller-alignment
  // CHECK: odd y: -11 'axpy' 'y' axis -1, found {{[0-9]+}}, wanted 4
  show("odd y", axpy(1, 1, 1.5f, x, 1, (float *)(void *)((char *)y + 2), 1, &exec));
  // CHECK: odd x: -11 'axpy' 'x' axis -1, found {{[0-9]+}}, wanted 2
  show("odd x", axpy(1, 1, 1.5f, (void *)((char *)x + 1), 1, y, 1, &exec));
  // CHECK: alias: -12 'axpy' 'y' axis -1
  show("alias", axpy(3, 2, 1.5f, (void *)(y + 5), 2, y, 2, &exec));
  // CHECK: beside: 0
  show("beside", axpy(2, 2, 1.5f, (void *)(y + 4), 2, y, 2, &exec));
  exec.flags = 0;

  exec.max_level = -1;
  // CHECK: level: -1 'axpy' 'max_level' axis -1, found -1, wanted 0
  show("level", axpy(3, 2, 1.5f, x, 2, y, 2, &exec));
  exec.max_level = 0;
  exec.size = 8;
  // CHECK: short exec: -1
  printf("short exec: %d\n", axpy(3, 2, 1.5f, x, 2, y, 2, &exec));
  exec.size = sizeof exec + 8;
  // CHECK: later exec: 0
  show("later exec", axpy(3, 2, 1.5f, x, 2, y, 2, &exec));

  x[3].bits = 7;
  // CHECK: pack 128 bytes: 0
  printf("pack %zu bytes: %d\n", axpy_pack_x_bytes(3, 2), axpy_pack_x(3, 2, x, 2, packed));
  // CHECK: head facetpk1 64 2 7 0 0, 3 2, element 7
  const facet_packed *head = (const facet_packed *)packed;
  printf("head %.8s %u %d %d %d %d, %d %d, element %d\n", head->magic, head->header_bytes, head->rank, head->type,
         head->level, head->layout, (int)packed[4], (int)packed[5], ((facet_bf16 *)(packed + 8))[3].bits);
  // CHECK: packed: 0
  show("packed", axpy_packed(3, 2, 1.5f, packed, y, 2, &exec));
  // CHECK: packed for 3: -10 'axpy' 'x' axis 0, found 3, wanted 4
  show("packed for 3", axpy_packed(4, 2, 1.5f, packed, y, 2, &exec));
  // CHECK: packed odd: -11 'axpy' 'x' axis -1
  show("packed odd", axpy_packed(3, 2, 1.5f, packed + 1, y, 2, &exec));
  // CHECK: packed NULL: -7 'axpy' 'x' axis -1
  show("packed NULL", axpy_packed(3, 2, 1.5f, NULL, y, 2, &exec));
  packed[1] ^= (int64_t)1 << 32;
  // CHECK: packed other: -10 'axpy' 'x' axis -1, found 3, wanted 2
  show("packed other", axpy_packed(3, 2, 1.5f, packed, y, 2, &exec));
  memset(packed, 0, 8);
  // CHECK: not packed: -10 'axpy' 'x' axis -1
  show("not packed", axpy_packed(3, 2, 1.5f, packed, y, 2, &exec));
  // CHECK: pack: -7 -7 -11 -6 -2
  printf("pack: %d %d %d %d %d\n", axpy_pack_x(3, 2, NULL, 2, packed), axpy_pack_x(3, 2, x, 2, NULL),
         axpy_pack_x(3, 2, x, 2, packed + 1), axpy_pack_x(3, 2, x, 1, packed), axpy_pack_x(3, -2, x, 1, packed));

  // CHECK: axpy axpy "y += alpha * x" 0.1.0 {{[0-9a-f]+}} reference, sizes M N, promises M >= N, alpha < 100; levels 0; 6 flops
  const facet_info *info = axpy_info();
  printf("%s %s \"%s\" %s %s %s, sizes %s %s, promises %s, %s; levels %d; %g flops\n", info->name, info->symbol,
         info->documentation, info->version, info->hash, info->plan, info->sizes[0], info->sizes[1],
         info->promises[0], info->promises[1], info->levels[0], info->flops((int64_t[]){3, 2}));
  // CHECK: alpha 4 0 0
  // CHECK: x 7 1 2 M N
  // CHECK: y 4 2 2 M N
  for (int i = 0; i < info->argument_count; ++i) {
    const facet_argument *argument = &info->arguments[i];
    printf("%s %d %d %d", argument->name, argument->type, argument->mode, argument->rank);
    for (int axis = 0; axis < argument->rank; ++axis)
      printf(" %s", argument->axes[axis]);
    printf("\n");
  }

  int32_t threads = 0;
  exec.threads = 7;
  exec.ctx = scratch;
  // CHECK: parallel workspace 100 + 63, 700 + 63
  printf("parallel workspace %d + 63, %d + 63\n", (int)parallel_workspace(100, 0) - 63,
         (int)parallel_workspace(100, 7) - 63);
  // CHECK: parallel: 0 7, 0 0, 0 7, -8
  printf("parallel: %d", parallel(10, &threads, &exec));
  printf(" %d", threads);
  printf(", %d", parallel(10, &threads, NULL) + (threads == 1 ? 0 : 100));
  printf(" %d", (int)error.code);
  exec.reserve = reserve;
  printf(", %d", parallel(10, &threads, &exec));
  printf(" %d", threads);
  printf(", %d\n", parallel(1000, &threads, &exec));
  return info->size != sizeof *info || info->abi != FACET_ABI_VERSION;
}
