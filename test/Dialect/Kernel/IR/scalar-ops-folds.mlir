// RUN: facet-opt %s --canonicalize | FileCheck %s

// Constants are folded, and stay in the body that uses them.

// CHECK-LABEL: @fold_round_f32_bf16_1_001 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant 1.000000e+00 : bf16
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_round_f32_bf16_1_001 () -> (y: tensor<bf16> []) {
  %e = tensor.empty() : tensor<bf16>
  %y = kernel.map "y" [] outs(%e : tensor<bf16>) {
    %c = arith.constant 1.001 : f32
    %r = kernel.cast round %c : f32 to bf16
    kernel.yield %r : bf16
  } -> tensor<bf16>
  kernel.return %y : tensor<bf16>
}

// CHECK-LABEL: @fold_round_f32_f16_1_0e6 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant 0x7C00 : f16
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_round_f32_f16_1_0e6 () -> (y: tensor<f16> []) {
  %e = tensor.empty() : tensor<f16>
  %y = kernel.map "y" [] outs(%e : tensor<f16>) {
    %c = arith.constant 1.0e6 : f32
    %r = kernel.cast round %c : f32 to f16
    kernel.yield %r : f16
  } -> tensor<f16>
  kernel.return %y : tensor<f16>
}

// CHECK-LABEL: @fold_round_sat_f32_f16_1_0e6 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant 6.550400e+04 : f16
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_round_sat_f32_f16_1_0e6 () -> (y: tensor<f16> []) {
  %e = tensor.empty() : tensor<f16>
  %y = kernel.map "y" [] outs(%e : tensor<f16>) {
    %c = arith.constant 1.0e6 : f32
    %r = kernel.cast round_sat %c : f32 to f16
    kernel.yield %r : f16
  } -> tensor<f16>
  kernel.return %y : tensor<f16>
}

// CHECK-LABEL: @fold_round_f32_f8E4M3FN_1_0e6 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant 0x7F : f8E4M3FN
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_round_f32_f8E4M3FN_1_0e6 () -> (y: tensor<f8E4M3FN> []) {
  %e = tensor.empty() : tensor<f8E4M3FN>
  %y = kernel.map "y" [] outs(%e : tensor<f8E4M3FN>) {
    %c = arith.constant 1.0e6 : f32
    %r = kernel.cast round %c : f32 to f8E4M3FN
    kernel.yield %r : f8E4M3FN
  } -> tensor<f8E4M3FN>
  kernel.return %y : tensor<f8E4M3FN>
}

// CHECK-LABEL: @fold_round_sat_f32_f8E4M3FN_0xFF800000 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant -4.480000e+02 : f8E4M3FN
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_round_sat_f32_f8E4M3FN_0xFF800000 () -> (y: tensor<f8E4M3FN> []) {
  %e = tensor.empty() : tensor<f8E4M3FN>
  %y = kernel.map "y" [] outs(%e : tensor<f8E4M3FN>) {
    %c = arith.constant 0xFF800000 : f32
    %r = kernel.cast round_sat %c : f32 to f8E4M3FN
    kernel.yield %r : f8E4M3FN
  } -> tensor<f8E4M3FN>
  kernel.return %y : tensor<f8E4M3FN>
}

// CHECK-LABEL: @fold_round_sat_f32_f16_0x7FC00000 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant 0x7E00 : f16
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_round_sat_f32_f16_0x7FC00000 () -> (y: tensor<f16> []) {
  %e = tensor.empty() : tensor<f16>
  %y = kernel.map "y" [] outs(%e : tensor<f16>) {
    %c = arith.constant 0x7FC00000 : f32
    %r = kernel.cast round_sat %c : f32 to f16
    kernel.yield %r : f16
  } -> tensor<f16>
  kernel.return %y : tensor<f16>
}

// CHECK-LABEL: @fold_round_f32_f16_1_0e_40 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant 0.000000e+00 : f16
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_round_f32_f16_1_0e_40 () -> (y: tensor<f16> []) {
  %e = tensor.empty() : tensor<f16>
  %y = kernel.map "y" [] outs(%e : tensor<f16>) {
    %c = arith.constant 1.0e-40 : f32
    %r = kernel.cast round %c : f32 to f16
    kernel.yield %r : f16
  } -> tensor<f16>
  kernel.return %y : tensor<f16>
}

// CHECK-LABEL: @fold_wrap_i32_i8_130 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant -126 : i8
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_wrap_i32_i8_130 () -> (y: tensor<i8> []) {
  %e = tensor.empty() : tensor<i8>
  %y = kernel.map "y" [] outs(%e : tensor<i8>) {
    %c = arith.constant 130 : i32
    %r = kernel.cast wrap %c : i32 to i8
    kernel.yield %r : i8
  } -> tensor<i8>
  kernel.return %y : tensor<i8>
}

// CHECK-LABEL: @fold_sat_i32_i8_130 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant 127 : i8
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_sat_i32_i8_130 () -> (y: tensor<i8> []) {
  %e = tensor.empty() : tensor<i8>
  %y = kernel.map "y" [] outs(%e : tensor<i8>) {
    %c = arith.constant 130 : i32
    %r = kernel.cast sat %c : i32 to i8
    kernel.yield %r : i8
  } -> tensor<i8>
  kernel.return %y : tensor<i8>
}

// CHECK-LABEL: @fold_sat_f32_i32_2_5 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant 2 : i32
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_sat_f32_i32_2_5 () -> (y: tensor<i32> []) {
  %e = tensor.empty() : tensor<i32>
  %y = kernel.map "y" [] outs(%e : tensor<i32>) {
    %c = arith.constant 2.5 : f32
    %r = kernel.cast sat %c : f32 to i32
    kernel.yield %r : i32
  } -> tensor<i32>
  kernel.return %y : tensor<i32>
}

// CHECK-LABEL: @fold_sat_f32_i32_0x7FC00000 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant 0 : i32
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_sat_f32_i32_0x7FC00000 () -> (y: tensor<i32> []) {
  %e = tensor.empty() : tensor<i32>
  %y = kernel.map "y" [] outs(%e : tensor<i32>) {
    %c = arith.constant 0x7FC00000 : f32
    %r = kernel.cast sat %c : f32 to i32
    kernel.yield %r : i32
  } -> tensor<i32>
  kernel.return %y : tensor<i32>
}

// CHECK-LABEL: @fold_sat_f64_i16__1_0e9 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant -32768 : i16
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_sat_f64_i16__1_0e9 () -> (y: tensor<i16> []) {
  %e = tensor.empty() : tensor<i16>
  %y = kernel.map "y" [] outs(%e : tensor<i16>) {
    %c = arith.constant -1.0e9 : f64
    %r = kernel.cast sat %c : f64 to i16
    kernel.yield %r : i16
  } -> tensor<i16>
  kernel.return %y : tensor<i16>
}

// CHECK-LABEL: @fold_sat_f32_i64_0x7F800000 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant 9223372036854775807 : i64
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_sat_f32_i64_0x7F800000 () -> (y: tensor<i64> []) {
  %e = tensor.empty() : tensor<i64>
  %y = kernel.map "y" [] outs(%e : tensor<i64>) {
    %c = arith.constant 0x7F800000 : f32
    %r = kernel.cast sat %c : f32 to i64
    kernel.yield %r : i64
  } -> tensor<i64>
  kernel.return %y : tensor<i64>
}

// CHECK-LABEL: @fold_exact_i1_i64_true 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant 1 : i64
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_exact_i1_i64_true () -> (y: tensor<i64> []) {
  %e = tensor.empty() : tensor<i64>
  %y = kernel.map "y" [] outs(%e : tensor<i64>) {
    %c = arith.constant true
    %r = kernel.cast exact %c : i1 to i64
    kernel.yield %r : i64
  } -> tensor<i64>
  kernel.return %y : tensor<i64>
}

// CHECK-LABEL: @fold_exact_i1_f32_true 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_exact_i1_f32_true () -> (y: tensor<f32> []) {
  %e = tensor.empty() : tensor<f32>
  %y = kernel.map "y" [] outs(%e : tensor<f32>) {
    %c = arith.constant true
    %r = kernel.cast exact %c : i1 to f32
    kernel.yield %r : f32
  } -> tensor<f32>
  kernel.return %y : tensor<f32>
}

// CHECK-LABEL: @fold_round_i32_f32_16777217 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant 0x4B800000 : f32
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_round_i32_f32_16777217 () -> (y: tensor<f32> []) {
  %e = tensor.empty() : tensor<f32>
  %y = kernel.map "y" [] outs(%e : tensor<f32>) {
    %c = arith.constant 16777217 : i32
    %r = kernel.cast round %c : i32 to f32
    kernel.yield %r : f32
  } -> tensor<f32>
  kernel.return %y : tensor<f32>
}

// CHECK-LABEL: @fold_exact_i16_i32__3 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant -3 : i32
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_exact_i16_i32__3 () -> (y: tensor<i32> []) {
  %e = tensor.empty() : tensor<i32>
  %y = kernel.map "y" [] outs(%e : tensor<i32>) {
    %c = arith.constant -3 : i16
    %r = kernel.cast exact %c : i16 to i32
    kernel.yield %r : i32
  } -> tensor<i32>
  kernel.return %y : tensor<i32>
}

// CHECK-LABEL: @fold_exact_bf16_f32_1_5 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant 1.500000e+00 : f32
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_exact_bf16_f32_1_5 () -> (y: tensor<f32> []) {
  %e = tensor.empty() : tensor<f32>
  %y = kernel.map "y" [] outs(%e : tensor<f32>) {
    %c = arith.constant 1.5 : bf16
    %r = kernel.cast exact %c : bf16 to f32
    kernel.yield %r : f32
  } -> tensor<f32>
  kernel.return %y : tensor<f32>
}

// CHECK-LABEL: @fold_exact_f32_f64_1_5 
// CHECK: kernel.map
// CHECK-NEXT: %[[C:.*]] = arith.constant 1.500000e+00 : f64
// CHECK-NEXT: kernel.yield %[[C]]
kernel.func @fold_exact_f32_f64_1_5 () -> (y: tensor<f64> []) {
  %e = tensor.empty() : tensor<f64>
  %y = kernel.map "y" [] outs(%e : tensor<f64>) {
    %c = arith.constant 1.5 : f32
    %r = kernel.cast exact %c : f32 to f64
    kernel.yield %r : f64
  } -> tensor<f64>
  kernel.return %y : tensor<f64>
}

// CHECK-LABEL: @widened_value_goes_back 
// CHECK: kernel.map
// CHECK-NEXT: kernel.yield %x_v
kernel.func @widened_value_goes_back (x = %x: tensor<bf16> []) -> (y: tensor<bf16> []) {
  %e = tensor.empty() : tensor<bf16>
  %y = kernel.map "y" [] ins(%x[] as %v : tensor<bf16>) outs(%e : tensor<bf16>) {
    %0 = kernel.cast exact %v : bf16 to f32
    %1 = kernel.cast round %0 : f32 to bf16
    kernel.yield %1 : bf16
  } -> tensor<bf16>
  kernel.return %y : tensor<bf16>
}

// CHECK-LABEL: @widened_integer_goes_back 
// CHECK: kernel.map
// CHECK-NEXT: kernel.yield %x_v
kernel.func @widened_integer_goes_back (x = %x: tensor<i8> []) -> (y: tensor<i8> []) {
  %e = tensor.empty() : tensor<i8>
  %y = kernel.map "y" [] ins(%x[] as %v : tensor<i8>) outs(%e : tensor<i8>) {
    %0 = kernel.cast exact %v : i8 to i32
    %1 = kernel.cast sat %0 : i32 to i8
    kernel.yield %1 : i8
  } -> tensor<i8>
  kernel.return %y : tensor<i8>
}

// CHECK-LABEL: @unsigned_goes_back 
// CHECK: kernel.map
// CHECK-NEXT: kernel.yield %x_v
kernel.func @unsigned_goes_back (x = %x: tensor<ui4> []) -> (y: tensor<ui4> []) {
  %e = tensor.empty() : tensor<ui4>
  %y = kernel.map "y" [] ins(%x[] as %v : tensor<ui4>) outs(%e : tensor<ui4>) {
    %0 = kernel.cast exact %v : ui4 to i32
    %1 = kernel.cast wrap %0 : i32 to ui4
    kernel.yield %1 : ui4
  } -> tensor<ui4>
  kernel.return %y : tensor<ui4>
}

// CHECK-LABEL: @two_exact_casts_are_one 
// CHECK: %[[R:.*]] = kernel.cast exact %x_v : i1 to i64
// CHECK-NEXT: kernel.yield %[[R]]
kernel.func @two_exact_casts_are_one (x = %x: tensor<i1> []) -> (y: tensor<i64> []) {
  %e = tensor.empty() : tensor<i64>
  %y = kernel.map "y" [] ins(%x[] as %v : tensor<i1>) outs(%e : tensor<i64>) {
    %0 = kernel.cast exact %v : i1 to i32
    %1 = kernel.cast exact %0 : i32 to i64
    kernel.yield %1 : i64
  } -> tensor<i64>
  kernel.return %y : tensor<i64>
}

// CHECK-LABEL: @negative_two_steps_stay_where_no_single_cast_exists 
// CHECK: kernel.cast exact %x_v : bf16 to f32
// CHECK-NEXT: kernel.cast exact
kernel.func @negative_two_steps_stay_where_no_single_cast_exists (x = %x: tensor<bf16> []) -> (y: tensor<f64> []) {
  %e = tensor.empty() : tensor<f64>
  %y = kernel.map "y" [] ins(%x[] as %v : tensor<bf16>) outs(%e : tensor<f64>) {
    %0 = kernel.cast exact %v : bf16 to f32
    %1 = kernel.cast exact %0 : f32 to f64
    kernel.yield %1 : f64
  } -> tensor<f64>
  kernel.return %y : tensor<f64>
}

// CHECK-LABEL: @negative_saturation_changes_an_infinity 
// CHECK: kernel.cast exact
// CHECK-NEXT: kernel.cast round_sat
kernel.func @negative_saturation_changes_an_infinity (x = %x: tensor<bf16> []) -> (y: tensor<bf16> []) {
  %e = tensor.empty() : tensor<bf16>
  %y = kernel.map "y" [] ins(%x[] as %v : tensor<bf16>) outs(%e : tensor<bf16>) {
    %0 = kernel.cast exact %v : bf16 to f32
    %1 = kernel.cast round_sat %0 : f32 to bf16
    kernel.yield %1 : bf16
  } -> tensor<bf16>
  kernel.return %y : tensor<bf16>
}

// CHECK-LABEL: @negative_a_rounding_is_not_undone 
// CHECK: kernel.cast round
// CHECK-NEXT: kernel.cast exact
kernel.func @negative_a_rounding_is_not_undone (x = %x: tensor<f32> []) -> (y: tensor<f32> []) {
  %e = tensor.empty() : tensor<f32>
  %y = kernel.map "y" [] ins(%x[] as %v : tensor<f32>) outs(%e : tensor<f32>) {
    %0 = kernel.cast round %v : f32 to bf16
    %1 = kernel.cast exact %0 : bf16 to f32
    kernel.yield %1 : f32
  } -> tensor<f32>
  kernel.return %y : tensor<f32>
}
