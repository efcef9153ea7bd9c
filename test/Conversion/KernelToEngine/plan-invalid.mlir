// RUN: facet-opt %s --convert-kernel-to-engine -split-input-file -verify-diagnostics

// A plan that does not fit is refused with the limit that it breaks.

// expected-error @+1 {{the plan is for trn1, not for trn2}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn1", [<contraction[0] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 256, row_block = 256, column_block = 512, depth_block = 128, a_slots = 5, b_slots = 6, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector>>]>} {
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

// -----

// expected-error @+1 {{the plan does not fit kernel 'tn': it has no op 1}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn2", [<tiles[1]>]>} {
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

// -----

// expected-error @+1 {{op 0 comes after op 0}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn2", [<tiles[0]>, <tiles[0]>]>} {
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

// -----

// expected-error @+1 {{a tile of 256 rows; the array of trn2 has 128 columns}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = b, stays = true, row_tile = 256, column_tile = 256, row_block = 256, column_block = 512, depth_block = 128, a_slots = 5, b_slots = 6, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector>>]>} {
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

// -----

// expected-error @+1 {{a tile of 1024 columns; trn2 has 512 in one bank of sums}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 1024, row_block = 256, column_block = 1024, depth_block = 128, a_slots = 5, b_slots = 6, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector>>]>} {
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

// -----

// expected-error @+1 {{a block of 100 steps is no whole number of the array's 128 rows}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 256, row_block = 256, column_block = 512, depth_block = 100, a_slots = 5, b_slots = 6, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector>>]>} {
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

// -----

// expected-error @+1 {{9 tiles of sums; PSUM has 8 banks}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 256, row_block = 256, column_block = 512, depth_block = 128, a_slots = 5, b_slots = 6, sum_slots = 9, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector>>]>} {
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

// -----

// expected-error @+1 {{3 slots of what stays; all of k takes 4}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 256, row_block = 256, column_block = 512, depth_block = 128, a_slots = 5, b_slots = 3, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector>>]>} {
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

// -----

// expected-error @+1 {{a is not transposed by the DMA: it turns around 2 or 4 bytes that stay as they are, where k is dense}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 256, row_block = 256, column_block = 512, depth_block = 128, a_slots = 5, b_slots = 6, sum_slots = 8, result_slots = 3, unroll = 2, a_load = transpose, b_load = copy, evict = vector>>]>} {
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

// -----

// expected-error @+1 {{the factors' rings take 262144 bytes of the 229376 of each partition of SBUF}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 256, row_block = 256, column_block = 512, depth_block = 128, a_slots = 500, b_slots = 6, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector>>]>} {
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

// -----

// expected-error @+1 {{op 0 is no sum of products that the array makes with op 0 behind it}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0, 0] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 256, row_block = 256, column_block = 512, depth_block = 128, a_slots = 5, b_slots = 6, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector>>]>} {
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

// -----

// expected-error @+1 {{two steps at once take 8-bit factors, at least 256 elements of k and a machine with tensor.double_row}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 256, row_block = 256, column_block = 512, depth_block = 128, a_slots = 5, b_slots = 6, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector, double_row = true>>]>} {
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

// -----

// expected-error @+1 {{a block of 100 steps is no whole number of the array's 128 rows}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 256, row_block = 256, column_block = 512, depth_block = 128, a_slots = 5, b_slots = 6, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector, first_depth = 100>>]>} {
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

// -----

// expected-error @+1 {{products of a batch are taken together only where each has one tile of sums, which are stored as they are}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 256, row_block = 256, column_block = 512, depth_block = 128, a_slots = 5, b_slots = 6, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector, batch_block = 4>>]>} {
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

// -----

// expected-error @+1 {{a factor is loaded whole that does not stay}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = b, stays = false, row_tile = 128, column_tile = 256, row_block = 256, column_block = 512, depth_block = 128, a_slots = 5, b_slots = 6, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector, whole = true>>]>} {
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

// -----

// expected-error @+1 {{gpsimd stores what vector copies only where scalar copies some tiles as well}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 512>, M = array<i64: 512>, N = array<i64: 1024>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 256, row_block = 256, column_block = 512, depth_block = 128, a_slots = 5, b_slots = 6, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector, gpsimd_stores = true>>]>} {
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

// -----

// expected-error @+1 {{end_depth is for sums of one block of the outer factor, without a batch or parts}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 768>, M = array<i64: 64>, N = array<i64: 1212>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = a, stays = true, row_tile = 4, column_tile = 256, row_block = 4, column_block = 512, depth_block = 384, a_slots = 2, b_slots = 6, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector, whole = true, end_depth = 128>>]>} {
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

// -----

// expected-error @+1 {{a block of 100 steps is no whole number of the array's 128 rows}}
kernel.func @tn sizes [K, M, N] (a = %a: tensor<?x?xbf16> [K, M], b = %b: tensor<?x?xbf16> [K, N]) -> (c: tensor<?x?xf32> [M, N])
    fixed {K = array<i64: 768>, M = array<i64: 4>, N = array<i64: 1212>}
    attributes {kernel.plan = #engine.plan<"trn2", [<contraction[0] by <stationary = a, outer = a, stays = true, row_tile = 4, column_tile = 256, row_block = 4, column_block = 512, depth_block = 384, a_slots = 2, b_slots = 6, sum_slots = 8, result_slots = 3, unroll = 2, a_load = copy, b_load = copy, evict = vector, whole = true, end_depth = 100>>]>} {
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
