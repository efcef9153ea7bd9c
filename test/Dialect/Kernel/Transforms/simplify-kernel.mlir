// RUN: facet-opt %s --kernel-simplify | FileCheck %s
// RUN: facet-opt %s --kernel-simplify="merge-maps=false" | FileCheck %s --check-prefix=APART
// RUN: facet-opt %s --kernel-simplify --verify-roundtrip --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=PIPELINE

// PIPELINE: kernel-simplify{merge-maps=true}

// CHECK-LABEL: kernel.func @drops_a_let_that_nothing_uses
// CHECK-NOT: kernel.map
kernel.func @drops_a_let_that_nothing_uses (inout x = %x: tensor<4xf32> [4]) {
  %e = tensor.empty() : tensor<4xf32>
  %t = kernel.map "t" [i: 4] ins(%x[i] as %a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    kernel.yield %a : f32
  } -> tensor<4xf32>
  kernel.return %x : tensor<4xf32>
}

// CHECK-LABEL: kernel.func @reads_once_and_only_what_is_used
// CHECK: kernel.map "y" [i: 4] ins(%id[i] as %id_i : tensor<4xi32>, %x[%id_i] as %x_id : tensor<4xf32>, %x[i] as %x_i : tensor<4xf32>) outs(
// CHECK-NEXT: arith.mulf %x_i, %x_i
kernel.func @reads_once_and_only_what_is_used (x = %x: tensor<4xf32> [4], z = %z: tensor<4xf32> [4], id = %id: tensor<4xi32> [4])
    -> (y: tensor<4xf32> [4]) {
  %e = tensor.empty() : tensor<4xf32>
  // x[id[i]] is not used, but id is checked for it.
  %y = kernel.map "y" [i: 4]
      ins(%z[i] as %c : tensor<4xf32>, %id[i] as %j : tensor<4xi32>, %x[%j] as %g : tensor<4xf32>,
          %x[i] as %a if(%t) : tensor<4xf32>, %x[i] as %b if(%t) : tensor<4xf32>)
      outs(%e : tensor<4xf32>) guards(%t, %unused) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %p = arith.cmpi eq, %j, %c0 : i32
    kernel.yield %true, %p : i1, i1
  } {
    %p = arith.mulf %a, %b : f32
    kernel.yield %p : f32
  } -> tensor<4xf32>
  kernel.return %y : tensor<4xf32>
}

// CHECK-LABEL: kernel.func @merges_maps_in_another_order_of_iterators
// CHECK-NOT: kernel.map "t"
// CHECK: kernel.map "y" [n: 8, m: 4] ins(%g[n] as %g_n : tensor<8xf32>, %x[m, n] as %x_mn : tensor<4x8xf32>)
// CHECK-NEXT: %[[I:.*]] = kernel.index "n"
// CHECK-NEXT: %[[F:.*]] = kernel.cast round %[[I]] : i64 to f32
// CHECK-NEXT: %[[S:.*]] = arith.addf %x_mn, %[[F]]
// CHECK-NEXT: %[[R:.*]] = kernel.cast round %[[S]] : f32 to bf16
// CHECK-NEXT: %[[W:.*]] = kernel.cast exact %[[R]] : bf16 to f32
// CHECK-NEXT: arith.mulf %[[W]], %g_n
// APART-LABEL: kernel.func @merges_maps_in_another_order_of_iterators
// APART: kernel.map "t"
// APART: kernel.map "y"
kernel.func @merges_maps_in_another_order_of_iterators (x = %x: tensor<4x8xf32> [4, 8], g = %g: tensor<8xf32> [8])
    -> (y: tensor<8x4xf32> [8, 4]) {
  %e = tensor.empty() : tensor<4x8xbf16>
  %f = tensor.empty() : tensor<8x4xf32>
  %t = kernel.map "t" [i: 4, j: 8] ins(%x[i, j] as %a : tensor<4x8xf32>) outs(%e : tensor<4x8xbf16>) {
    %i = kernel.index "j" : i64
    %if = kernel.cast round %i : i64 to f32
    %s = arith.addf %a, %if : f32
    %r = kernel.cast round %s : f32 to bf16
    kernel.yield %r : bf16
  } -> tensor<4x8xbf16>
  %y = kernel.map "y" [n: 8, m: 4] ins(%t[m, n] as %a : tensor<4x8xbf16>, %g[n] as %b : tensor<8xf32>) outs(%f : tensor<8x4xf32>) {
    %w = kernel.cast exact %a : bf16 to f32
    %p = arith.mulf %w, %b : f32
    kernel.yield %p : f32
  } -> tensor<8x4xf32>
  kernel.return %y : tensor<8x4xf32>
}

// CHECK-LABEL: kernel.func @merges_a_guarded_gather
// CHECK: kernel.map "y" [m: 4]
// CHECK-SAME: ins(%s[m] as %s_m if(%live) : tensor<4xf32>, %id[m] as %id_m : tensor<4xi32>, %w[%id_m] as %w_id if(%live_0) : tensor<?xf32>)
// CHECK-SAME: guards(%live, %live_0) {
// CHECK: %[[M:.*]] = kernel.index "m"
// CHECK: %[[A:.*]] = arith.cmpi sgt, %[[M]]
// CHECK: %[[B:.*]] = arith.cmpi sge, %id_m
// CHECK: kernel.yield %[[A]], %[[B]]
// CHECK: } {
// CHECK: %[[T:.*]] = arith.select %live_0, %w_id
// CHECK: %[[S:.*]] = arith.select %live, %s_m, %[[T]]
kernel.func @merges_a_guarded_gather sizes [E] (w = %w: tensor<?xf32> [E], id = %id: tensor<4xi32> [4], s = %s: tensor<4xf32> [4])
    -> (y: tensor<4xf32> [4]) {
  %e = tensor.empty() : tensor<4xf32>
  %t = kernel.map "t" [i: 4] ins(%id[i] as %j : tensor<4xi32>, %w[%j] as %a if(%g) : tensor<?xf32>)
      outs(%e : tensor<4xf32>) guards(%g) {
    %c0 = arith.constant 0 : i32
    %p = arith.cmpi sge, %j, %c0 : i32
    kernel.yield %p : i1
  } {
    %z = arith.constant 0.0 : f32
    %v = arith.select %g, %a, %z : f32
    kernel.yield %v : f32
  } -> tensor<4xf32>
  %y = kernel.map "y" [m: 4] ins(%t[m] as %a : tensor<4xf32>, %s[m] as %b if(%h) : tensor<4xf32>)
      outs(%e : tensor<4xf32>) guards(%h) {
    %i = kernel.index "m" : i64
    %c2 = arith.constant 2 : i64
    %p = arith.cmpi sgt, %i, %c2 : i64
    kernel.yield %p : i1
  } {
    %v = arith.select %h, %b, %a : f32
    kernel.yield %v : f32
  } -> tensor<4xf32>
  kernel.return %y : tensor<4xf32>
}

// CHECK-LABEL: kernel.func @merges_a_map_into_a_filtered_sum
// CHECK-NOT: kernel.map
// CHECK: kernel.reduce sum "y" [] over [j: 4] ins(%x[j] as %x_j : tensor<4xf32>)
// CHECK: filter(%live) {
// CHECK-NEXT: math.exp %x_j
kernel.func @merges_a_map_into_a_filtered_sum (x = %x: tensor<4xf32> [4]) -> (y: tensor<f32> []) {
  %e = tensor.empty() : tensor<4xf32>
  %z = arith.constant dense<0.0> : tensor<f32>
  %t = kernel.map "t" [i: 4] ins(%x[i] as %a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    %v = math.exp %a : f32
    kernel.yield %v : f32
  } -> tensor<4xf32>
  %y = kernel.reduce sum "y" [] over [j: 4] ins(%t[j] as %a : tensor<4xf32>) outs(%z : tensor<f32>) guards(%g) {
    %i = kernel.index "j" : i64
    %c2 = arith.constant 2 : i64
    %p = arith.cmpi sgt, %i, %c2 : i64
    kernel.yield %p : i1
  } filter(%g) {
    kernel.yield %a : f32
  } -> tensor<f32>
  kernel.return %y : tensor<f32>
}

// CHECK-LABEL: kernel.func @negative_an_element_read_more_than_once
// CHECK: kernel.map "t"
// CHECK: kernel.map "u"
// CHECK: kernel.map "d"
// CHECK: kernel.softmax "p"
// CHECK: kernel.map "y"
kernel.func @negative_an_element_read_more_than_once (x = %x: tensor<4xf32> [4], id = %id: tensor<4xi32> [4])
    -> (y: tensor<4x4xf32> [4, 4], p: tensor<4xf32> [4]) {
  %e = tensor.empty() : tensor<4xf32>
  %e2 = tensor.empty() : tensor<4x4xf32>
  %t = kernel.map "t" [i: 4] ins(%x[i] as %a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    %v = math.exp %a : f32
    kernel.yield %v : f32
  } -> tensor<4xf32>
  %u = kernel.map "u" [i: 4] ins(%x[i] as %a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    %v = math.sqrt %a : f32
    kernel.yield %v : f32
  } -> tensor<4xf32>
  %d = kernel.map "d" [i: 4, j: 4] ins(%x[i] as %a : tensor<4xf32>, %x[j] as %b : tensor<4xf32>) outs(%e2 : tensor<4x4xf32>) {
    %v = arith.addf %a, %b : f32
    kernel.yield %v : f32
  } -> tensor<4x4xf32>
  %q = kernel.map "q" [i: 4] ins(%x[i] as %a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    %v = math.tanh %a : f32
    kernel.yield %v : f32
  } -> tensor<4xf32>
  // A softmax may need its exponent again.
  %p = kernel.softmax "p" [] over [i: 4] ins(%q[i] as %a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    kernel.yield %a : f32
  } -> tensor<4xf32>
  // Once per j, at an index known at run time, on the diagonal.
  %y = kernel.map "y" [i: 4, j: 4] ins(%t[i] as %a : tensor<4xf32>, %id[j] as %k : tensor<4xi32>,
      %u[%k] as %b : tensor<4xf32>, %d[i, i] as %c : tensor<4x4xf32>) outs(%e2 : tensor<4x4xf32>) {
    %v = arith.addf %a, %b : f32
    %w = arith.addf %v, %c : f32
    kernel.yield %w : f32
  } -> tensor<4x4xf32>
  kernel.return %y, %p : tensor<4x4xf32>, tensor<4xf32>
}

// CHECK-LABEL: kernel.func @negative_a_map_read_under_a_condition
// CHECK: kernel.map "t"
// CHECK: kernel.map "y"
kernel.func @negative_a_map_read_under_a_condition (x = %x: tensor<4xf32> [4]) -> (y: tensor<4xf32> [4]) {
  %e = tensor.empty() : tensor<4xf32>
  %t = kernel.map "t" [i: 4] ins(%x[i] as %a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    %v = math.exp %a : f32
    kernel.yield %v : f32
  } -> tensor<4xf32>
  %y = kernel.map "y" [m: 4] ins(%t[m] as %a if(%h) : tensor<4xf32>) outs(%e : tensor<4xf32>) guards(%h) {
    %i = kernel.index "m" : i64
    %c2 = arith.constant 2 : i64
    %p = arith.cmpi sgt, %i, %c2 : i64
    kernel.yield %p : i1
  } {
    %z = arith.constant 1.0 : f32
    %v = arith.select %h, %a, %z : f32
    kernel.yield %v : f32
  } -> tensor<4xf32>
  kernel.return %y : tensor<4xf32>
}

// CHECK-LABEL: kernel.func @negative_factors_stay_where_they_are
// CHECK: kernel.reduce sum "s"
// CHECK-NEXT: arith.mulf
// CHECK: kernel.map "y"
// CHECK-NEXT: arith.mulf
kernel.func @negative_factors_stay_where_they_are (x = %x: tensor<4x8xf32> [4, 8], f = %f: tensor<f32> []) -> (y: tensor<4xf32> [4]) {
  %e = tensor.empty() : tensor<4xf32>
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %s = kernel.reduce sum "s" [i: 4] over [k: 8] ins(%x[i, k] as %a : tensor<4x8xf32>, %f[] as %b : tensor<f32>) outs(%z : tensor<4xf32>) {
    %v = arith.mulf %a, %b : f32
    kernel.yield %v : f32
  } -> tensor<4xf32>
  %y = kernel.map "y" [i: 4] ins(%s[i] as %a : tensor<4xf32>, %f[] as %b : tensor<f32>) outs(%e : tensor<4xf32>) {
    %v = arith.mulf %a, %b : f32
    kernel.yield %v : f32
  } -> tensor<4xf32>
  kernel.return %y : tensor<4xf32>
}

// A map that repeats its input goes, but not the copy into a result.
// CHECK-LABEL: kernel.func @repeats
// CHECK-NOT: kernel.map "t"
// CHECK: kernel.softmax "p" [] over [i: 4] ins(%x[i] as
// CHECK: kernel.map "y"
kernel.func @repeats (x = %x: tensor<4xf32> [4]) -> (y: tensor<4xf32> [4], p: tensor<4xf32> [4]) {
  %e = tensor.empty() : tensor<4xf32>
  %t = kernel.map "t" [i: 4] ins(%x[i] as %a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    kernel.yield %a : f32
  } -> tensor<4xf32>
  %p = kernel.softmax "p" [] over [i: 4] ins(%t[i] as %a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    kernel.yield %a : f32
  } -> tensor<4xf32>
  %y = kernel.map "y" [i: 4] ins(%x[i] as %a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    kernel.yield %a : f32
  } -> tensor<4xf32>
  kernel.return %y, %p : tensor<4xf32>, tensor<4xf32>
}

// CSE may have taken a constant out of a body.
// CHECK-LABEL: kernel.func @brings_constants_back
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant 2.0
// CHECK-NEXT: arith.mulf %x_i, %[[C]]
kernel.func @brings_constants_back (x = %x: tensor<4xf32> [4]) -> (y: tensor<4xf32> [4]) {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %y = kernel.map "y" [i: 4] ins(%x[i] as %a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    %v = arith.mulf %a, %two : f32
    kernel.yield %v : f32
  } -> tensor<4xf32>
  kernel.return %y : tensor<4xf32>
}
