// RUN: facet-opt %s --split-input-file --test-kernel-tile="op=acc sizes=m:4,k:8" --canonicalize --cse | FileCheck %s
// RUN: facet-opt %s --split-input-file --test-kernel-tile="op=acc sizes=m:4,k:8" --verify-roundtrip -o /dev/null

kernel.func @map_keeps_names_and_edges_of_a_dynamic_tile sizes [M, N] (a = %a: tensor<?x?xf32> [M, N])
    -> (acc: tensor<?x?xf32> [N, M]) {
  %M = kernel.size "M" : index
  %N = kernel.size "N" : index
  %e = tensor.empty(%N, %M) : tensor<?x?xf32>
  %acc = kernel.map "acc" [k: %N, m: %M] ins(%a[m, k] as %x : tensor<?x?xf32>)
      outs(%e : tensor<?x?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?x?xf32>
  kernel.return %acc : tensor<?x?xf32>
}
// CHECK-LABEL: kernel.func @map_keeps_names_and_edges_of_a_dynamic_tile
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %N step %c8
// CHECK: scf.for %[[M:.*]] = %{{.*}} to %M step %c4
// CHECK: %[[KS:.*]] = affine.min #{{.*}}(%[[K]])[%N]
// CHECK: %[[MS:.*]] = affine.min #{{.*}}(%[[M]])[%M]
// CHECK: %[[A:.*]] = tensor.extract_slice %a[%[[M]], %[[K]]] [%[[MS]], %[[KS]]] [1, 1]
// CHECK: %[[E:.*]] = tensor.extract_slice %{{.*}}[%[[K]], %[[M]]] [%[[KS]], %[[MS]]] [1, 1]
// CHECK: %[[T:.*]] = kernel.map "acc" [k: %[[KS]], m: %[[MS]]] ins(%[[A]][m, k] as %{{.*}}) outs(%[[E]] :
// CHECK: tensor.insert_slice %[[T]] into %{{.*}}[%[[K]], %[[M]]] [%[[KS]], %[[MS]]] [1, 1]

// -----

kernel.func @reduce_carries_its_init_through_the_reduction_loop
    (a = %a: tensor<16x32xf32> [16, 32], b = %b: tensor<32x5xf32> [32, 5]) -> (acc: tensor<16x5xf32> [16, 5]) {
  %zero = arith.constant 0.0 : f32
  %z = tensor.splat %zero : tensor<16x5xf32>
  %acc = kernel.reduce sum "acc" [m: 16, n: 5] over [k: 32]
      ins(%a[m, k] as %x : tensor<16x32xf32>, %b[k, n] as %w : tensor<32x5xf32>) outs(%z : tensor<16x5xf32>) {
    %p = arith.mulf %x, %w : f32
    kernel.yield %p : f32
  } -> tensor<16x5xf32>
  kernel.return %acc : tensor<16x5xf32>
}
// CHECK-LABEL: kernel.func @reduce_carries_its_init_through_the_reduction_loop
// CHECK: %[[Z:.*]] = arith.constant dense<0.0
// CHECK: scf.for %[[M:.*]] = %c0 to %c16 step %c4 iter_args(%[[ACC0:.*]] = %[[Z]])
// CHECK: scf.for %[[K:.*]] = %c0 to %c32 step %c8 iter_args(%[[ACC:.*]] = %[[ACC0]])
// CHECK: %[[A:.*]] = tensor.extract_slice %a[%[[M]], %[[K]]] [4, 8] [1, 1]
// CHECK: %[[B:.*]] = tensor.extract_slice %b[%[[K]], 0] [8, 5] [1, 1]
// CHECK: %[[E:.*]] = tensor.extract_slice %[[ACC]][%[[M]], 0] [4, 5] [1, 1]
// CHECK: kernel.reduce sum "acc" [m: 4, n: 5] over [k: 8]
// CHECK-SAME: ins(%[[A]][m, k] as {{.*}}, %[[B]][k, n] as {{.*}}) outs(%[[E]] :

// -----

kernel.func @filter_gather_number_and_diagonal sizes [M, E] (w = %w: tensor<?x?x2x64xf32> [E, M, 2, 64],
    id = %id: tensor<?xi32> [M], d = %d: tensor<?x?xf32> [M, M], one = %one: tensor<i32> []) -> (acc: tensor<?xf32> [M]) {
  %M = kernel.size "M" : index
  %zero = arith.constant 0.0 : f32
  %z = tensor.splat %zero[%M] : tensor<?xf32>
  %acc = kernel.reduce sum "acc" [m: %M] over [k: 64, unused: 3]
      ins(%id[m] as %e : tensor<?xi32>, %w[%e, m, 1, k] as %x if(%g) : tensor<?x?x2x64xf32>,
          %d[m, m] as %y : tensor<?x?xf32>, %one[] as %s : tensor<i32>) outs(%z : tensor<?xf32>) guards(%g) {
    %i = kernel.index "m" : i64
    %j = kernel.index "k" : i64
    %le = arith.cmpi sle, %j, %i : i64
    kernel.yield %le : i1
  } filter(%g) {
    %u = kernel.index "unused" : i64
    %uf = kernel.cast round %u : i64 to f32
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %p, %uf : f32
    kernel.yield %q : f32
  } -> tensor<?xf32>
  kernel.return %acc : tensor<?xf32>
}
// CHECK-LABEL: kernel.func @filter_gather_number_and_diagonal
// CHECK: scf.for %[[M:.*]] = %c0 to %M step %c4
// CHECK: scf.for %[[K:.*]] = %c0 to %c64 step %c8
// CHECK: %[[MS:.*]] = affine.min
// CHECK-DAG: %[[ID:.*]] = tensor.extract_slice %id[%[[M]]] [%[[MS]]] [1]
// CHECK-DAG: %[[E:.*]] = tensor.dim %w, %c0
// CHECK-DAG: %[[W:.*]] = tensor.extract_slice %w[0, %[[M]], 1, %[[K]]] [%[[E]], %[[MS]], 1, 8] [1, 1, 1, 1]
// CHECK-DAG: %[[D:.*]] = tensor.extract_slice %d[%[[M]], %[[M]]] [%[[MS]], %[[MS]]] [1, 1]
// CHECK-DAG: %[[MI:.*]] = arith.index_cast %[[M]] : index to i64
// CHECK-DAG: %[[KI:.*]] = arith.index_cast %[[K]] : index to i64
// CHECK: kernel.reduce sum "acc" [m: %[[MS]]] over [k: 8, unused: 3]
// CHECK-SAME: ins(%[[ID]][m] as %[[IDE:.*]] : tensor<?xi32>, %[[W]][%[[IDE]], m, 0, k] as
// CHECK-SAME: %[[D]][m, m] as
// CHECK-SAME: %one[] as
// CHECK: %[[I:.*]] = kernel.index "m"
// CHECK: %[[IM:.*]] = arith.addi %[[I]], %[[MI]]
// CHECK: %[[J:.*]] = kernel.index "k"
// CHECK: %[[JK:.*]] = arith.addi %[[J]], %[[KI]]
// CHECK: arith.cmpi sle, %[[JK]], %[[IM]]
// CHECK: } filter(
// CHECK: %[[U:.*]] = kernel.index "unused"
// CHECK-NEXT: kernel.cast round %[[U]]

// -----

kernel.func @argmax_counts_from_the_start_of_the_row (z = %z: tensor<8x32xf32> [8, 32]) -> (t: tensor<8xi64> [8]) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant -1 : i64
  %v0 = tensor.splat %low : tensor<8xf32>
  %i0 = tensor.splat %none : tensor<8xi64>
  %t:2 = kernel.reduce argmax "acc" [m: 8] over [k: 32] ins(%z[m, k] as %a : tensor<8x32xf32>)
      outs(%v0, %i0 : tensor<8xf32>, tensor<8xi64>) {
    %k = kernel.index "k" : i64
    kernel.yield %a, %k : f32, i64
  } -> (tensor<8xf32>, tensor<8xi64>)
  kernel.return %t#1 : tensor<8xi64>
}
// CHECK-LABEL: kernel.func @argmax_counts_from_the_start_of_the_row
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c4 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<8xf32>, tensor<8xi64>)
// CHECK: scf.for %[[K:.*]] = %c0 to %c32 step %c8
// CHECK: %[[KI:.*]] = arith.index_cast %[[K]]
// CHECK: kernel.reduce argmax "acc" [m: 4] over [k: 8]
// CHECK: %[[I:.*]] = kernel.index "k"
// CHECK: %[[S:.*]] = arith.addi %[[I]], %[[KI]]
// CHECK: kernel.yield %{{.*}}, %[[S]] : f32, i64

// -----

kernel.func @softmax_keeps_its_row_whole sizes [K] (s = %s: tensor<16x?x8xf32> [16, K, 8])
    -> (p: tensor<16x?x8xf32> [16, K, 8]) {
  %K = kernel.size "K" : index
  %e = tensor.empty(%K) : tensor<16x?x8xf32>
  %p = kernel.softmax "acc" [m: 16, k: %K] over [n: 8] ins(%s[m, k, n] as %a : tensor<16x?x8xf32>)
      outs(%e : tensor<16x?x8xf32>) {
    kernel.yield %a : f32
  } -> tensor<16x?x8xf32>
  kernel.return %p : tensor<16x?x8xf32>
}
// CHECK-LABEL: kernel.func @softmax_keeps_its_row_whole
// CHECK: scf.for %[[M:.*]] = %c0 to %c16 step %c4
// CHECK: scf.for %[[K:.*]] = %c0 to %K step %c8
// CHECK-NOT: scf.for
// CHECK: tensor.extract_slice %s[%[[M]], %[[K]], 0] [4, %[[KS:.*]], 8] [1, 1, 1]
// CHECK: kernel.softmax "acc" [m: 4, k: %[[KS]]] over [n: 8]
