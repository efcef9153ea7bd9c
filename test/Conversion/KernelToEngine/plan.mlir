// RUN: facet-opt %s --convert-kernel-to-engine | FileCheck %s

// The plan of the kernel is obeyed: rings, tiles, loops, the engine that empties PSUM.

// CHECK-LABEL: engine.program @tn
// CHECK-DAG: engine.ring "rows" : <5 x 128x1x256xbf16, sbuf>
// CHECK-DAG: engine.ring "columns" : <6 x 128x1x512xbf16, sbuf>
// CHECK-DAG: engine.ring "sums" : <8 x 128x256xf32, psum>
// CHECK-DAG: engine.ring "out" : <3 x 128x256xf32, sbuf>
// Two blocks of b outside, two of a inside.
// CHECK: engine.for %{{.*}} = 2
// CHECK-COUNT-4: engine.issue gpsimd "dma_copy"
// CHECK: engine.for %{{.*}} = 2
// CHECK: engine.issue sync "dma_copy"
// CHECK-COUNT-4: engine.issue scalar "activate"
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 256, row_block = 256, column_block = 512, depth_block = 128, a_slots = 5, b_slots = 6, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = scalar>>]>} {
  %M = kernel.size "M" : index
  %N = kernel.size "N" : index
  %K = kernel.size "K" : index
  %zero = arith.constant 0.0 : f32
  %splat = tensor.splat %zero[%M, %N] : tensor<?x?xf32>
  %c = kernel.reduce sum "c" [m: %M, n: %N] over [k: %K] ins(%a[k, m] as %x : tensor<?x?xbf16>, %b[k, n] as %y : tensor<?x?xbf16>) outs(%splat : tensor<?x?xf32>) {
    %xf = kernel.cast exact %x : bf16 to f32
    %yf = kernel.cast exact %y : bf16 to f32
    %p = arith.mulf %xf, %yf : f32
    kernel.yield %p : f32
  } -> tensor<?x?xf32>
  kernel.return %c : tensor<?x?xf32>
}

// Two steps at once, a first part of one step, a last one of three; zeros first; what
// stays in one slot, which comes before what passes; scalar takes one tile of four,
// tiles leave in threes.
// CHECK-LABEL: engine.program @tn8
// CHECK-DAG: engine.ring "rows" : <5 x 128x4x512xf8E4M3, sbuf>
// CHECK-DAG: engine.ring "columns" : <2 x 128x7x256xf8E4M3, sbuf>
// CHECK-DAG: engine.ring "out" : <3 x 128x768xf32, sbuf>
// CHECK-DAG: engine.ring "out_1" : <3 x 128x768xf32, sbuf>
// CHECK: engine.for %{{.*}} = 5
// CHECK: engine.issue tensor "matmul"({{.*}}) {start, stop}
// CHECK: engine.view {{.*}} to <128x7x256xf8E4M3, sbuf>
// CHECK: engine.issue scalar "dma_copy"
// CHECK: engine.issue sync "dma_copy"
// CHECK: engine.issue tensor "load_weights"({{.*}}) :
// CHECK: engine.issue tensor "load_weights"({{.*}}) {double_row}
// CHECK: engine.issue scalar "activate"
// CHECK-COUNT-3: engine.issue vector "copy"
// CHECK-NOT: engine.issue vector "copy"
// CHECK-COUNT-2: engine.issue scalar "dma_copy"
kernel.func @tn8 sizes [K, M, N] (a = %a: tensor<?x?xf8E4M3> [K, M], b = %b: tensor<?x?xf8E4M3> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 896>, M = array<i64: 512>, N = array<i64: 256>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 256, row_block = 512, column_block = 256, depth_block = 384, a_slots = 5, b_slots = 2, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector, double_row = true, first_depth = 128, last_depth = 512, warm_up = 5, scalar_tiles = 1, store_tiles = 3, whole = true>>]>} {
  %M = kernel.size "M" : index
  %N = kernel.size "N" : index
  %K = kernel.size "K" : index
  %zero = arith.constant 0.0 : f32
  %splat = tensor.splat %zero[%M, %N] : tensor<?x?xf32>
  %c = kernel.reduce sum "c" [m: %M, n: %N] over [k: %K] ins(%a[k, m] as %x : tensor<?x?xf8E4M3>, %b[k, n] as %y : tensor<?x?xf8E4M3>) outs(%splat : tensor<?x?xf32>) {
    %xf = kernel.cast exact %x : f8E4M3 to f32
    %yf = kernel.cast exact %y : f8E4M3 to f32
    %p = arith.mulf %xf, %yf : f32
    kernel.yield %p : f32
  } -> tensor<?x?xf32>
  kernel.return %c : tensor<?x?xf32>
}

// The last block is apart: only there the last part of k is short. What was summed before it
// is stored by sync behind all loads.
// CHECK-LABEL: engine.program @decode
// CHECK-DAG: %[[KEPT:.*]] = engine.ring "kept" : <2 x 4x256xf32, sbuf>
// CHECK-DAG: %[[SCALAR:.*]] = engine.ring "kept_1" : <2 x 4x256xf32, sbuf>
// CHECK: engine.issue scalar "dma_copy"
// CHECK: engine.for %{{.*}} = 2
// CHECK: engine.view {{.*}} to <128x3x512xbf16, sbuf>
// CHECK: engine.issue sync "dma_copy"
// CHECK: engine.view {{.*}} to <128x3x512xbf16, sbuf>
// CHECK: engine.issue sync "dma_copy"
// CHECK-NOT: "dma_copy"
// CHECK: engine.acquire %[[SCALAR]] :
// CHECK: engine.issue scalar "activate"
// CHECK: engine.acquire %[[KEPT]] :
// CHECK: engine.issue vector "copy"
// CHECK: engine.view {{.*}} to <128x3x188xbf16, sbuf>
// CHECK: engine.view {{.*}} to <128x2x188xbf16, sbuf>
// CHECK: engine.view {{.*}} to <128x1x188xbf16, sbuf>
// CHECK: engine.for %{{.*}} = 2
// CHECK: engine.wait %[[SCALAR]] :
// CHECK: engine.issue sync "dma_copy"({{.*}}) {ring = 0 : i32}
// CHECK: engine.wait %[[KEPT]] :
// CHECK: engine.issue sync "dma_copy"({{.*}}) {ring = 0 : i32}
// CHECK: engine.issue scalar "activate"
// CHECK: engine.issue scalar "dma_copy"({{.*}}) {ring = 2 : i32}
kernel.func @decode sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 768>, M = array<i64: 4>, N = array<i64: 1212>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = a, stays = true, row_tile = 4, column_tile = 256, row_block = 4, column_block = 512, depth_block = 384, a_slots = 2, b_slots = 6, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector, scalar_tiles = 1, whole = true, end_depth = 128, keeps_results = true>>]>} {
  %M = kernel.size "M" : index
  %N = kernel.size "N" : index
  %K = kernel.size "K" : index
  %zero = arith.constant 0.0 : f32
  %splat = tensor.splat %zero[%M, %N] : tensor<?x?xf32>
  %c = kernel.reduce sum "c" [m: %M, n: %N] over [k: %K] ins(%a[k, m] as %x : tensor<?x?xbf16>, %b[k, n] as %y : tensor<?x?xbf16>) outs(%splat : tensor<?x?xf32>) {
    %xf = kernel.cast exact %x : bf16 to f32
    %yf = kernel.cast exact %y : bf16 to f32
    %p = arith.mulf %xf, %yf : f32
    kernel.yield %p : f32
  } -> tensor<?x?xf32>
  kernel.return %c : tensor<?x?xf32>
}
