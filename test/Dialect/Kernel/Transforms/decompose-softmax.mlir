// RUN: facet-opt %s --kernel-decompose-softmax --cse --canonicalize | FileCheck %s
// RUN: facet-opt %s --kernel-decompose-softmax --verify-roundtrip -o /dev/null

kernel.func @plain sizes [B] (s = %s: tensor<?x8xf32> [B, 8]) -> (p: tensor<?x8xf32> [B, 8]) {
  %B = kernel.size "B" : index
  %e = tensor.empty(%B) : tensor<?x8xf32>
  %p = kernel.softmax "p" [i: %B] over [j: 8] ins(%s[i, j] as %a : tensor<?x8xf32>)
      outs(%e : tensor<?x8xf32>) {
    kernel.yield %a : f32
  } -> tensor<?x8xf32>
  kernel.return %p : tensor<?x8xf32>
}
// CHECK-LABEL: kernel.func @plain
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.0
// CHECK-DAG: %[[LOW:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[LOWS:.*]] = tensor.splat %[[LOW]][%B]
// CHECK: %p.max = kernel.reduce max "p.max" [i: %B] over [j: 8] ins(%s[i, j] as %s_ij : {{.*}}) outs(%[[LOWS]] :
// CHECK-NEXT: kernel.yield %s_ij
// CHECK: %p.exp = kernel.map "p.exp" [i: %B, j: 8] ins(%s[i, j] as %s_ij : {{.*}}, %p.max[i] as %p.max_i :
// CHECK-NEXT: %[[D:.*]] = arith.subf %s_ij, %p.max_i
// CHECK-NEXT: %[[E:.*]] = math.exp %[[D]]
// CHECK-NEXT: kernel.yield %[[E]]
// CHECK: %[[ZEROS:.*]] = tensor.splat %[[ZERO]][%B]
// CHECK: %p.sum = kernel.reduce sum "p.sum" [i: %B] over [j: 8] ins(%p.exp[i, j] as %p.exp_ij : {{.*}}) outs(%[[ZEROS]] :
// CHECK-NEXT: kernel.yield %p.exp_ij
// CHECK: %p = kernel.map "p" [i: %B, j: 8] ins(%p.exp[i, j] as %p.exp_ij : {{.*}}, %p.sum[i] as %p.sum_i :
// CHECK-NEXT: %[[Q:.*]] = arith.divf %p.exp_ij, %p.sum_i
// CHECK-NEXT: kernel.yield %[[Q]]

// The filter reads len[b]; every new op asks it, and reads the rest only where it holds.
kernel.func @filter_with_lengths sizes [B, T, G] (s = %s: tensor<?x?x2xf32> [B, T, 2],
    len = %len: tensor<?xi32> [G], which = %which: tensor<?xi32> [B]) -> (p: tensor<?x?x2xf32> [B, T, 2]) {
  %B = kernel.size "B" : index
  %T = kernel.size "T" : index
  %e = tensor.empty(%B, %T) : tensor<?x?x2xf32>
  %p = kernel.softmax "p" [b: %B] over [u: %T, t: 2]
      ins(%s[b, u, t] as %a if(%g) : tensor<?x?x2xf32>, %which[b] as %w : tensor<?xi32>,
          %len[%w] as %n : tensor<?xi32>)
      outs(%e : tensor<?x?x2xf32>) guards(%g) {
    %u = kernel.index "u" : i64
    %n64 = kernel.cast exact %n : i32 to i64
    %lt = arith.cmpi slt, %u, %n64 : i64
    kernel.yield %lt : i1
  } filter(%g) {
    kernel.yield %a : f32
  } -> tensor<?x?x2xf32>
  kernel.return %p : tensor<?x?x2xf32>
}
// CHECK-LABEL: kernel.func @filter_with_lengths
// CHECK: %p.max = kernel.reduce max "p.max" [b: %B] over [u: %T, t: 2]
// CHECK-SAME: ins(%which[b] as %which_b : tensor<?xi32>, %len[%which_b] as %len_which : tensor<?xi32>, %s[b, u, t] as %s_but : tensor<?x?x2xf32>)
// CHECK: guards(%live) {
// CHECK: } filter(%live) {
// CHECK: %p.exp = kernel.map "p.exp" [b: %B, u: %T, t: 2]
// CHECK-SAME: ins(%which[b] as %which_b : tensor<?xi32>, %len[%which_b] as %len_which : tensor<?xi32>, %s[b, u, t] as %s_but if(%live) : tensor<?x?x2xf32>, %p.max[b] as %{{.*}} if(%live)
// CHECK: arith.cmpi slt
// CHECK: %[[E:.*]] = math.exp
// CHECK: %[[V:.*]] = arith.select %live, %[[E]], %{{.*}} : f32
// CHECK: kernel.yield %[[V]]
// CHECK: %p.sum = kernel.reduce sum "p.sum" [b: %B] over [u: %T, t: 2]
// CHECK: } filter(%live) {
// CHECK: %p = kernel.map "p" [b: %B, u: %T, t: 2]
// CHECK: %[[Q:.*]] = arith.divf
// CHECK: %[[V:.*]] = arith.select %live, %[[Q]], %{{.*}} : f32
// CHECK: kernel.yield %[[V]]

// CHECK-LABEL: kernel.func @stores_a_computed_exponent_once
// CHECK: %p.e = kernel.map "p.e" [i: 4, j: 8] ins(%s[i, j] as %[[A:.*]] : tensor<4x8xf64>)
// CHECK: arith.mulf
// CHECK: kernel.reduce max "p.max" [i: 4] over [j: 8] ins(%p.e[i, j]
// CHECK-NOT: arith.mulf
// CHECK: kernel.return
kernel.func @stores_a_computed_exponent_once (s = %s: tensor<4x8xf64> [4, 8]) -> (p: tensor<4x8xf64> [4, 8]) {
  %e = tensor.empty() : tensor<4x8xf64>
  %p = kernel.softmax "p" [i: 4] over [j: 8] ins(%s[i, j] as %a : tensor<4x8xf64>) outs(%e : tensor<4x8xf64>) {
    %b = arith.mulf %a, %a : f64
    kernel.yield %b : f64
  } -> tensor<4x8xf64>
  kernel.return %p : tensor<4x8xf64>
}
