// RUN: facet-opt %s --test-kernel-tile="op=y sizes=m:4 fuse" --canonicalize --cse | FileCheck %s
// RUN: facet-opt %s --test-kernel-tile="op=y sizes=m:4 forall" --verify-roundtrip | FileCheck %s --check-prefix=FORALL

// CHECK-LABEL: kernel.func @pulls_the_producers_of_a_tile_into_the_loop
// CHECK: scf.for %[[M:.*]] =
// CHECK: kernel.reduce sum "acc" [m: 4, n: 6] over [k: 32]
// CHECK: kernel.softmax "p" [m: 4] over [n: 6]
// CHECK: kernel.map "y" [m: 4, n: 6]
// CHECK-NOT: kernel.reduce
// FORALL: scf.forall
// FORALL: kernel.map "y" [m: 4, n: 6]
kernel.func @pulls_the_producers_of_a_tile_into_the_loop
    (a = %a: tensor<16x32xf32> [16, 32], b = %b: tensor<32x6xf32> [32, 6]) -> (y: tensor<16x6xf32> [16, 6]) {
  %zero = arith.constant 0.0 : f32
  %z = tensor.splat %zero : tensor<16x6xf32>
  %e = tensor.empty() : tensor<16x6xf32>
  %acc = kernel.reduce sum "acc" [m: 16, n: 6] over [k: 32]
      ins(%a[m, k] as %x : tensor<16x32xf32>, %b[k, n] as %w : tensor<32x6xf32>) outs(%z : tensor<16x6xf32>) {
    %p = arith.mulf %x, %w : f32
    kernel.yield %p : f32
  } -> tensor<16x6xf32>
  %p = kernel.softmax "p" [m: 16] over [n: 6] ins(%acc[m, n] as %x : tensor<16x6xf32>) outs(%e : tensor<16x6xf32>) {
    kernel.yield %x : f32
  } -> tensor<16x6xf32>
  %y = kernel.map "y" [m: 16, n: 6] ins(%p[m, n] as %x : tensor<16x6xf32>) outs(%e : tensor<16x6xf32>) {
    %d = arith.addf %x, %x : f32
    kernel.yield %d : f32
  } -> tensor<16x6xf32>
  kernel.return %y : tensor<16x6xf32>
}
