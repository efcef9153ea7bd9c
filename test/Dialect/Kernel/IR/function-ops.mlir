// RUN: facet-opt %s --verify-roundtrip | FileCheck %s
// RUN: facet-opt %s --mlir-print-op-generic | facet-opt | FileCheck %s

// CHECK-LABEL: kernel.func @scale sizes [M]
// CHECK-SAME: (a = %a: tensor<?xf32> [M], f = %f: tensor<f32> [])
// CHECK-SAME: -> (y: tensor<?xbf16> [M]) {
kernel.func @scale sizes [M] (a = %a: tensor<?xf32> [M], f = %f: tensor<f32> [])
    -> (y: tensor<?xbf16> [M]) {
  // CHECK: %M = kernel.size "M" : index
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xbf16>
  // CHECK: %y = kernel.map "y" [m: %M] ins(%a[m] as %a_m : tensor<?xf32>, %f[] as %f_v : tensor<f32>)
  // CHECK-SAME: outs(%{{.*}} : tensor<?xbf16>) {
  %y = kernel.map "y" [m: %M] ins(%a[m] as %x : tensor<?xf32>, %f[] as %s : tensor<f32>)
      outs(%e : tensor<?xbf16>) {
    // CHECK-NEXT: %[[P:.*]] = arith.mulf %a_m, %f_v : f32
    %p = arith.mulf %x, %s : f32
    // CHECK-NEXT: %[[R:.*]] = kernel.cast round %[[P]] : f32 to bf16
    %r = kernel.cast round %p : f32 to bf16
    // CHECK-NEXT: kernel.yield %[[R]] : bf16
    kernel.yield %r : bf16
  // CHECK-NEXT: } -> tensor<?xbf16>
  } -> tensor<?xbf16>
  // CHECK: kernel.return %y : tensor<?xbf16>
  kernel.return %y : tensor<?xbf16>
}

// CHECK-LABEL: kernel.func @groups_and_modes sizes [M, Q]
// CHECK-SAME: (const w = %w: tensor<?x?x128xi8> [M, (Q, 128)], inout c = %c: tensor<?xf32> [M])
// CHECK-SAME: fixed {M = array<i64: 1, 16>}
// CHECK-SAME: documentation "two \22words\22"
// CHECK-SAME: attributes {note = "kept"} {
kernel.func @groups_and_modes sizes [M, Q]
    (const w = %w: tensor<?x?x128xi8> [M, (Q, 128)], inout c = %c: tensor<?xf32> [M])
    fixed {M = array<i64: 1, 16>} documentation "two \22words\22"
    attributes {note = "kept"} {
  kernel.return %c : tensor<?xf32>
}

// CHECK-LABEL: kernel.func @no_sizes_no_results ("inout" = %{{.*}}: tensor<f32> [], "a b" = %{{.*}}: tensor<i1> []) {
kernel.func @no_sizes_no_results ("inout" = %0: tensor<f32> [], "a b" = %1: tensor<i1> []) {
  kernel.return
}

// CHECK-LABEL: kernel.func @promises
kernel.func @promises sizes [K] (x = %x: tensor<?xf32> [K], n = %n: tensor<i32> []) {
  // CHECK: kernel.require "K % 64 == n" ins(%n as %[[N:.*]] : tensor<i32>) {
  kernel.require "K % 64 == n" ins(%n as %v : tensor<i32>) {
    // CHECK: %[[K:.*]] = kernel.size "K" : i64
    %K = kernel.size "K" : i64
    %c64 = arith.constant 64 : i64
    %r = arith.remsi %K, %c64 : i64
    // CHECK: arith.extsi %[[N]] : i32 to i64
    %w = arith.extsi %v : i32 to i64
    %eq = arith.cmpi eq, %r, %w : i64
    kernel.yield %eq : i1
  }
  kernel.return
}
