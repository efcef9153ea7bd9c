// RUN: facet-opt %s --convert-kernel-to-loops | FileCheck %s
// RUN: facet-opt %s --convert-kernel-to-loops --facet-lower-to-llvm | FileCheck %s --check-prefix=LLVM

// Sizes, a pointer per array with the strides of all axes but the last, then the
// workspace and the error record.
// CHECK-LABEL: func.func @matmul.workspace(%arg0: i64, %arg1: i64, %arg2: i64) -> i64
// CHECK: arith.mului_extended
// CHECK-LABEL: func.func @matmul.impl(
// CHECK-SAME: %[[M:[^ :,)]+]]: i64, %[[K:[^ :,)]+]]: i64, %[[N:[^ :,)]+]]: i64,
// CHECK-SAME: %[[X:[^ :,)]+]]: !llvm.ptr {llvm.noalias}, %[[LDX:[^ :,)]+]]: i64,
// CHECK-SAME: %[[W:[^ :,)]+]]: !llvm.ptr {llvm.noalias}, %[[LDW:[^ :,)]+]]: i64,
// CHECK-SAME: %[[Y:[^ :,)]+]]: !llvm.ptr {llvm.noalias}, %[[LDY:[^ :,)]+]]: i64,
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}) -> i32
// One nest for the sum, accumulating in a value, and one for the result.
// CHECK: scf.for %[[I:[^ :,)]+]] = %{{.*}} to %[[M]]
// CHECK: scf.for %[[J:[^ :,)]+]] = %{{.*}} to %[[N]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[K]] {{.*}} iter_args(%[[ACC:[^ :,)]+]] = %{{.*}}) -> (f32)
// CHECK: llvm.load {{.*}} -> i16
// CHECK: %[[P:[^ :,)]+]] = arith.mulf
// CHECK: arith.addf %[[ACC]], %[[P]] : f32
// CHECK: llvm.store {{.*}} : f32
// CHECK: scf.for
// CHECK: llvm.store {{.*}} : i16
// CHECK: return %{{.*}} : i32
// LLVM-NOT: {{scf|arith|func|kernel}}.
// LLVM: llvm.func @matmul.impl
kernel.func @matmul sizes [M, K, N] (x = %x: tensor<?x?xbf16> [M, K], w = %w: tensor<?x?xbf16> [K, N])
    -> (y: tensor<?x?xbf16> [M, N]) {
  %M = kernel.size "M" : index
  %K = kernel.size "K" : index
  %N = kernel.size "N" : index
  %zero = arith.constant 0.0 : f32
  %z = tensor.splat %zero[%M, %N] : tensor<?x?xf32>
  %s = kernel.reduce sum [m: %M, n: %N] over [k: %K]
      ins(%x[m, k] as %a : tensor<?x?xbf16>, %w[k, n] as %b : tensor<?x?xbf16>)
      outs(%z : tensor<?x?xf32>) {
    %af = kernel.cast exact %a : bf16 to f32
    %bf = kernel.cast exact %b : bf16 to f32
    %p = arith.mulf %af, %bf : f32
    kernel.yield %p : f32
  } -> tensor<?x?xf32>
  %e = tensor.empty(%M, %N) : tensor<?x?xbf16>
  %y = kernel.map "y" [m: %M, n: %N] ins(%s[m, n] as %v : tensor<?x?xf32>)
      outs(%e : tensor<?x?xbf16>) {
    %r = kernel.cast round %v : f32 to bf16
    kernel.yield %r : bf16
  } -> tensor<?x?xbf16>
  kernel.return %y : tensor<?x?xbf16>
}

// An input under a guard is read only where the guard holds; points outside of a
// filter change nothing.
// CHECK-LABEL: func.func @guarded.impl
// CHECK: scf.for {{.*}} iter_args(%[[ACC:[^ :,)]+]] = %{{.*}}) -> (f32)
// CHECK: %[[IN:[^ :,)]+]] = arith.cmpi sle
// CHECK: scf.if %[[IN]] -> (f32) {
// CHECK: llvm.load {{.*}} -> f32
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[ACC]] : f32
kernel.func @guarded sizes [N] (x = %x: tensor<?xf32> [N]) -> (y: tensor<?xf32> [N]) {
  %N = kernel.size "N" : index
  %zero = arith.constant 0.0 : f32
  %z = tensor.splat %zero[%N] : tensor<?xf32>
  %y = kernel.reduce sum "y" [i: %N] over [j: %N] ins(%x[j] as %a : tensor<?xf32>)
      outs(%z : tensor<?xf32>) guards(%le) {
    %i = kernel.index "i" : i64
    %j = kernel.index "j" : i64
    %c = arith.cmpi sle, %j, %i : i64
    kernel.yield %c : i1
  } filter(%le) {
    kernel.yield %a : f32
  } -> tensor<?xf32>
  kernel.return %y : tensor<?xf32>
}

// A general init is accumulated from; no array is made for a splat.
// CHECK-LABEL: func.func @starts_from_memory.impl
// CHECK: %[[START:[^ :,)]+]] = llvm.load {{.*}} -> f32
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[START]])
kernel.func @starts_from_memory sizes [M, K] (c = %c: tensor<?xf32> [M], x = %x: tensor<?x?xf32> [M, K])
    -> (y: tensor<?xf32> [M]) {
  %M = kernel.size "M" : index
  %K = kernel.size "K" : index
  %y = kernel.reduce sum "y" [m: %M] over [k: %K] ins(%x[m, k] as %a : tensor<?x?xf32>)
      outs(%c : tensor<?xf32>) {
    kernel.yield %a : f32
  } -> tensor<?xf32>
  kernel.return %y : tensor<?xf32>
}

// What nothing needs is not computed and has no memory.
// CHECK-LABEL: func.func @dead.workspace
// CHECK-NOT: arith.mului_extended
// CHECK-LABEL: func.func @dead.impl
// CHECK-NOT: math
// CHECK-NOT: @facet.exp
// CHECK: return
kernel.func @dead sizes [N] (x = %x: tensor<?xf32> [N]) -> (y: tensor<?xf32> [N]) {
  %N = kernel.size "N" : index
  %e = tensor.empty(%N) : tensor<?xf32>
  %t = kernel.map "t" [i: %N] ins(%x[i] as %a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    %p = math.exp %a : f32
    kernel.yield %p : f32
  } -> tensor<?xf32>
  kernel.return %x : tensor<?xf32>
}
