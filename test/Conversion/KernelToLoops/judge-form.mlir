// RUN: facet-opt %s "--convert-kernel-to-loops=judge=true" | FileCheck %s

// Sizes; the inputs; what the road stored; per output what is demanded, value and
// bound; workspace and error record.
// CHECK-LABEL: func.func @twice.judge.workspace(%arg0: i64) -> i64
// CHECK-LABEL: func.func @twice.judge(%arg0: i64,
// CHECK-SAME: %arg1: !llvm.ptr {llvm.noalias}, %arg2: !llvm.ptr {llvm.noalias},
// CHECK-SAME: %[[DEMANDED:[^ :,)]+]]: !llvm.ptr {llvm.noalias}, %[[VALUE:[^ :,)]+]]: !llvm.ptr {llvm.noalias}, %[[BOUND:[^ :,)]+]]: !llvm.ptr {llvm.noalias},
// CHECK-SAME: %{{[^ ]+}}: !llvm.ptr {llvm.noalias}, %{{[^ ]+}}: !llvm.ptr {llvm.noalias}) -> i32
// One product of exact operands that no addition can take: one rounding, no bound.
// CHECK: %[[P:.*]] = arith.mulf %{{.*}}, %{{.*}} : f64
// CHECK-NEXT: %[[R:.*]] = arith.truncf %[[P]] : f64 to f32
// CHECK-NEXT: arith.extf %[[R]] : f32 to f64
// CHECK-NOT: math.absf
// CHECK: llvm.getelementptr %[[DEMANDED]]
// CHECK: llvm.getelementptr %[[VALUE]]
// CHECK: llvm.getelementptr %[[BOUND]]
kernel.func @twice sizes [N] (x = %x: tensor<?xf32> [N]) -> (y: tensor<?xf32> [N]) {
  %N = kernel.size "N" : index
  %e = tensor.empty(%N) : tensor<?xf32>
  %y = kernel.map "y" [n: %N] ins(%x[n] as %a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    %two = arith.constant 2.0 : f32
    %p = arith.mulf %a, %two : f32
    kernel.yield %p : f32
  } -> tensor<?xf32>
  kernel.return %y : tensor<?xf32>
}

// Integers are exact: the sum is the sum, and the stored element is compared with it.
// CHECK-LABEL: func.func @whole.judge(
// CHECK: scf.for {{.*}} iter_args(%[[ACC:[^ ]+]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (i32, f64)
// CHECK: arith.addi %[[ACC]], %{{.*}} : i32
// CHECK: arith.sitofp %{{.*}} : i32 to f64
// CHECK: arith.cmpi ne, %{{.*}} : i32
// CHECK: arith.constant -1.000000e+00 : f64
kernel.func @whole sizes [N] (x = %x: tensor<?xi32> [N]) -> (y: tensor<i32> []) {
  %N = kernel.size "N" : index
  %zero = arith.constant 0 : i32
  %z = tensor.splat %zero : tensor<i32>
  %y = kernel.reduce sum "y" [] over [n: %N] ins(%x[n] as %a : tensor<?xi32>) outs(%z : tensor<i32>) {
    kernel.yield %a : i32
  } -> tensor<i32>
  kernel.return %y : tensor<i32>
}
