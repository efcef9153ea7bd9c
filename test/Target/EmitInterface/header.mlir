// The header of a kernel: documentation, arguments, promises, a call to copy, prototypes.
//
// RUN: %facet-opt --test-emit-header=file=dir/attention-1.h %s -o /dev/null | FileCheck %s --strict-whitespace --match-full-lines
// The same input gives the same bytes.
// RUN: %facet-opt --test-emit-header=file=a.h %s -o /dev/null > %t.1
// RUN: %facet-opt --test-emit-header=file=a.h %s -o /dev/null > %t.2
// RUN: cmp %t.1 %t.2

//      CHECK:/* attention-1.h - made by facet 0.1.0; do not edit. */
// CHECK-NEXT:#ifndef FACET_ATTENTION_1_H_{{[0-9A-F]*}}
// CHECK-NEXT:#define FACET_ATTENTION_1_H_{{[0-9A-F]*}}
//CHECK-EMPTY:
// CHECK-NEXT:#include <facet/abi.h>
//CHECK-EMPTY:
// CHECK-NEXT:#ifdef __cplusplus
// CHECK-NEXT:extern "C" {
// CHECK-NEXT:#endif
//CHECK-EMPTY:
// CHECK-NEXT:/** softmax(q·k) * v,
// CHECK-NEXT: *  for * / and / * and ? ?/ alike
// CHECK-NEXT: *
// CHECK-NEXT: *  q      bf16 [B, S, (G, 8), D]; strides_q in elements, NULL: dense
// CHECK-NEXT: *  k      bf16 [B, T, G, D], constant: may be packed; strides_k in elements, NULL: dense
// CHECK-NEXT: *  w      u4 [D, 16]; rows are ld_w elements apart; two per byte, low nibble first
// CHECK-NEXT: *  scale  f64, constant
// CHECK-NEXT: *  on     bool
// CHECK-NEXT: *  z      f8e4m3fn
// CHECK-NEXT: *  n      i32, one element, read and written
// CHECK-NEXT: *  o      f16 [B, S, (G, 8), D], written; strides_o in elements, NULL: dense
// CHECK-NEXT: *  loss   f32, one element, written
// CHECK-NEXT: *  dim_B is 1, 2 or 4, as compiled; else FACET_E_FIXED
// CHECK-NEXT: *
// CHECK-NEXT: *  Results share no memory with anything else. Returns FACET_OK, or a
// CHECK-NEXT: *  negative code (facet_strerror) and has written nothing; exec->error says
// CHECK-NEXT: *  which argument. exec may be NULL: one thread, 64 KiB of scratch at most.
// CHECK-NEXT: *  FACET_E_REQUIRE: T >= S does not hold
// CHECK-NEXT: *  FACET_E_REQUIRE - 1: S >= 1 does not hold
// CHECK-NEXT: *
// CHECK-NEXT: *    // #include <facet/runtime.h>, link -lfacet-runtime
// CHECK-NEXT: *    int code = attention(B, S, G, D, T, q, NULL, k, NULL, w, 16, scale, on, z,
// CHECK-NEXT: *          &n, o, NULL, &loss, facet_default_exec());
// CHECK-NEXT: *    if (code != FACET_OK)
// CHECK-NEXT: *      fprintf(stderr, "attention: %s\n", facet_strerror(code));
// CHECK-NEXT: */
// CHECK-NEXT:int attention(int64_t dim_B, int64_t dim_S, int64_t dim_G, int64_t dim_D,
// CHECK-NEXT:    int64_t dim_T, const facet_bf16 *q, const int64_t strides_q[3],
// CHECK-NEXT:    const facet_bf16 *k, const int64_t strides_k[3], const facet_u4x2 *w,
// CHECK-NEXT:    int64_t ld_w, double scale, bool on, facet_f8e4m3fn z, int32_t *n,
// CHECK-NEXT:    facet_f16 *o, const int64_t strides_o[3], float *loss,
// CHECK-NEXT:    const facet_exec *exec);
//      CHECK:size_t attention_workspace(int64_t dim_B, int64_t dim_S, int64_t dim_G,
// CHECK-NEXT:    int64_t dim_D, int64_t dim_T, int threads);
//      CHECK:size_t attention_pack_k_bytes(int64_t dim_B, int64_t dim_G, int64_t dim_D,
// CHECK-NEXT:    int64_t dim_T);
// CHECK-NEXT:int attention_pack_k(int64_t dim_B, int64_t dim_G, int64_t dim_D,
// CHECK-NEXT:    int64_t dim_T, const facet_bf16 *k, const int64_t strides_k[3], void *dst);
//      CHECK:int attention_packed(int64_t dim_B, int64_t dim_S, int64_t dim_G,
// CHECK-NEXT:    int64_t dim_D, int64_t dim_T, const facet_bf16 *q,
// CHECK-NEXT:    const int64_t strides_q[3], const void *k, const facet_u4x2 *w,
// CHECK-NEXT:    int64_t ld_w, double scale, bool on, facet_f8e4m3fn z, int32_t *n,
// CHECK-NEXT:    facet_f16 *o, const int64_t strides_o[3], float *loss,
// CHECK-NEXT:    const facet_exec *exec);
//      CHECK:int attention_dl(const facet_dltensor *const *in, facet_dltensor *const *out,
// CHECK-NEXT:    const facet_exec *exec);
//      CHECK:const facet_info *attention_info(void);
//      CHECK:/** Kernel second.
//      CHECK:int second(const facet_exec *exec);
//      CHECK:size_t second_workspace(int threads);
//  CHECK-NOT:second_pack
//      CHECK:#ifdef __cplusplus
// CHECK-NEXT:}
// CHECK-NEXT:#endif

kernel.func @attention sizes [B, S, G, D, T]
    (q = %q: tensor<?x?x?x8x?xbf16> [B, S, (G, 8), D], const k = %k: tensor<?x?x?x?xbf16> [B, T, G, D],
     w = %w: tensor<?x16xui4> [D, 16], const scale = %s: tensor<f64> [], on = %on: tensor<i1> [],
     z = %z: tensor<f8E4M3FN> [], inout n = %n: tensor<i32> [])
    -> (o: tensor<?x?x?x8x?xf16> [B, S, (G, 8), D], loss: tensor<f32> [])
    fixed {B = array<i64: 1, 2, 4>}
    documentation "softmax(q·k) * v,\0Afor */ and /* and ??/ alike" {
  kernel.require "T >= S" {
    %t = kernel.size "T" : i64
    %s0 = kernel.size "S" : i64
    %c = arith.cmpi sge, %t, %s0 : i64
    kernel.yield %c : i1
  }
  kernel.require "S >= 1" {
    %s0 = kernel.size "S" : i64
    %one = arith.constant 1 : i64
    %c = arith.cmpi sge, %s0, %one : i64
    kernel.yield %c : i1
  }
  %b = kernel.size "B" : index
  %s1 = kernel.size "S" : index
  %g = kernel.size "G" : index
  %d = kernel.size "D" : index
  %o = tensor.empty(%b, %s1, %g, %d) : tensor<?x?x?x8x?xf16>
  %l = tensor.empty() : tensor<f32>
  kernel.return %n, %o, %l : tensor<i32>, tensor<?x?x?x8x?xf16>, tensor<f32>
}
kernel.func @second () {
  kernel.return
}
