// RUN: facet-opt %s --verify-roundtrip | FileCheck %s
// RUN: facet-opt %s --mlir-print-op-generic | facet-opt | FileCheck %s

// CHECK-LABEL: kernel.func @gathers_under_a_filter
kernel.func @gathers_under_a_filter sizes [T, E, K]
    (x = %x: tensor<?x?xbf16> [T, K], w = %w: tensor<?x?x2xbf16> [E, K, 2],
     id = %id: tensor<?xi32> [T], len = %len: tensor<?xi32> [T]) -> (y: tensor<?xf32> [T]) {
  %T = kernel.size "T" : index
  %K = kernel.size "K" : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%T) : tensor<?xf32>
  %z = tensor.splat %zero[%T] : tensor<?xf32>
  // CHECK: %y = kernel.reduce sum "y" [t: %T] over [k: %K]
  // CHECK-SAME: ins(%x[t, k] as %x_tk if(%live) : tensor<?x?xbf16>, %id[t] as %id_t if(%live) : tensor<?xi32>,
  // CHECK-SAME: %w[%id_t, k, 0] as %w_idk0 if(%live, %live_0) : tensor<?x?x2xbf16>,
  // CHECK-SAME: %len[t] as %len_t : tensor<?xi32>)
  // CHECK-SAME: outs(%{{.*}} : tensor<?xf32>) attributes {note} guards(%live, %live_0) {
  // CHECK: kernel.index "k" : i64
  // CHECK: kernel.cast exact %len_t : i32 to i64
  // CHECK: kernel.yield {{.*}} : i1, i1
  // CHECK-NEXT: } filter(%live) {
  // CHECK: kernel.cast exact %x_tk
  // CHECK: kernel.cast exact %w_idk0
  // CHECK: kernel.yield
  // CHECK-NEXT: } -> tensor<?xf32>
  %y = kernel.reduce sum "y" [t: %T] over [k: %K]
      ins(%x[t, k] as %a if(%in) : tensor<?x?xbf16>, %id[t] as %i if(%in) : tensor<?xi32>,
          %w[%i, k, 0] as %b if(%in, %odd) : tensor<?x?x2xbf16>, %len[t] as %n : tensor<?xi32>)
      outs(%z : tensor<?xf32>) attributes {note} guards(%in, %odd) {
    %k = kernel.index "k" : i64
    %n64 = kernel.cast exact %n : i32 to i64
    %lt = arith.cmpi slt, %k, %n64 : i64
    %ge = arith.cmpi sge, %k, %n64 : i64
    kernel.yield %lt, %ge : i1, i1
  } filter(%in) {
    %af = kernel.cast exact %a : bf16 to f32
    %bf = kernel.cast exact %b : bf16 to f32
    %c = arith.select %odd, %bf, %af : f32
    %p = arith.mulf %af, %c : f32
    kernel.yield %p : f32
  } -> tensor<?xf32>
  kernel.return %y : tensor<?xf32>
}

// CHECK-LABEL: kernel.func @argmax
kernel.func @argmax sizes [M] (z = %z: tensor<?x7xf32> [M, 7]) -> (token: tensor<?xi64> [M]) {
  %M = kernel.size "M" : index
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant -1 : i64
  %v0 = tensor.splat %low[%M] : tensor<?xf32>
  %i0 = tensor.splat %none[%M] : tensor<?xi64>
  // CHECK: %token:2 = kernel.reduce argmax "token" [m: %M] over [v: 7] ins(%z[m, v] as %z_mv : tensor<?x7xf32>)
  // CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<?xf32>, tensor<?xi64>) {
  %t:2 = kernel.reduce argmax "token" [m: %M] over [v: 7] ins(%z[m, v] as %a : tensor<?x7xf32>)
      outs(%v0, %i0 : tensor<?xf32>, tensor<?xi64>) {
    %v = kernel.index "v" : i64
    kernel.yield %a, %v : f32, i64
  // CHECK: } -> (tensor<?xf32>, tensor<?xi64>)
  } -> (tensor<?xf32>, tensor<?xi64>)
  kernel.return %t#1 : tensor<?xi64>
}

// CHECK-LABEL: kernel.func @softmax
kernel.func @softmax sizes [B] (s = %s: tensor<?x8x8xf32> [B, 8, 8]) -> (p: tensor<?x8x8xf32> [B, 8, 8]) {
  %B = kernel.size "B" : index
  %e = tensor.empty(%B) : tensor<?x8x8xf32>
  // CHECK: %p = kernel.softmax "p" [b: %B, i: 8] over [j: 8] ins(%s[b, i, j] as %s_bij : tensor<?x8x8xf32>)
  // CHECK-SAME: guards(%live) {
  // CHECK: } filter(%live) {
  %p = kernel.softmax "p" [b: %B, i: 8] over [j: 8] ins(%s[b, i, j] as %a : tensor<?x8x8xf32>)
      outs(%e : tensor<?x8x8xf32>) guards(%g) {
    %i = kernel.index "i" : i64
    %j = kernel.index "j" : i64
    %le = arith.cmpi sle, %j, %i : i64
    kernel.yield %le : i1
  } filter(%g) {
    kernel.yield %a : f32
  } -> tensor<?x8x8xf32>
  kernel.return %p : tensor<?x8x8xf32>
}

// CHECK-LABEL: kernel.func @diagonal_of_a_nameless_map
kernel.func @diagonal_of_a_nameless_map (a = %a: tensor<4x4xf32> [4, 4]) -> (y: tensor<4xf32> [4]) {
  %e = tensor.empty() : tensor<4xf32>
  // CHECK: kernel.map [i: 4] ins(%a[i, i] as %a_ii : tensor<4x4xf32>)
  %y = kernel.map [i: 4] ins(%a[i, i] as %d : tensor<4x4xf32>) outs(%e : tensor<4xf32>) {
    kernel.yield %d : f32
  } -> tensor<4xf32>
  kernel.return %y : tensor<4xf32>
}

// CHECK-LABEL: kernel.func @scalar_result_without_inputs
kernel.func @scalar_result_without_inputs () -> (y: tensor<f32> []) {
  %e = tensor.empty() : tensor<f32>
  // CHECK: kernel.map "y" [] outs(%{{.*}} : tensor<f32>) {
  %y = kernel.map "y" [] outs(%e : tensor<f32>) {
    %one = arith.constant 1.0 : f32
    kernel.yield %one : f32
  } -> tensor<f32>
  kernel.return %y : tensor<f32>
}
