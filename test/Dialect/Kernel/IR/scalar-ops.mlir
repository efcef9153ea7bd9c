// RUN: facet-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: kernel.func @casts_and_functions
kernel.func @casts_and_functions (a = %a: tensor<4xf8E4M3FN> [4], q = %q: tensor<4xui4> [4]) -> (y: tensor<4xi8> [4]) {
  %e = tensor.empty() : tensor<4xi8>
  %y = kernel.map "y" [i: 4] ins(%a[i] as %x : tensor<4xf8E4M3FN>, %q[i] as %n : tensor<4xui4>) outs(%e : tensor<4xi8>) {
    // CHECK: kernel.cast exact %a_i : f8E4M3FN to f32
    %0 = kernel.cast exact %x : f8E4M3FN to f32
    // CHECK: kernel.cast exact %q_i : ui4 to i32
    %1 = kernel.cast exact %n : ui4 to i32
    // CHECK: kernel.cast round %{{.*}} : i32 to f32
    %2 = kernel.cast round %1 : i32 to f32
    %3 = arith.addf %0, %2 : f32
    // CHECK: kernel.apply gelu_tanh %{{.*}} : f32
    %4 = kernel.apply gelu_tanh %3 : f32
    // CHECK: kernel.apply relu %{{.*}} : i32
    %5 = kernel.apply relu %1 : i32
    // CHECK: kernel.cast round %{{.*}} : f32 to tf32
    %6 = kernel.cast round %4 : f32 to tf32
    %7 = kernel.cast exact %6 : tf32 to f32
    // CHECK: kernel.cast round_sat %{{.*}} : f32 to f8E4M3
    %8 = kernel.cast round_sat %7 : f32 to f8E4M3
    // CHECK: kernel.cast sat %{{.*}} : f32 to i8
    %9 = kernel.cast sat %7 : f32 to i8
    // CHECK: kernel.cast wrap %{{.*}} : i32 to i16
    %10 = kernel.cast wrap %5 : i32 to i16
    // CHECK: %i = kernel.index "i" : i64
    %i = kernel.index "i" : i64
    kernel.yield %9 : i8
  } -> tensor<4xi8>
  kernel.return %y : tensor<4xi8>
}
