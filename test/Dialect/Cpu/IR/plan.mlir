// RUN: facet-opt %s | facet-opt | FileCheck %s

// CHECK-LABEL: @planned
// CHECK-SAME: #cpu.plan<"x86-64-v4", <[<contraction[0, 1] by <rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = ab, dot = f32>>, <lanes[2]>, <loops[3]>]>>
func.func @planned() attributes {plan = #cpu.plan<"x86-64-v4", <[
    <contraction[0, 1] by <rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = ab, dot = f32>>,
    <lanes[2]>, <loops[3]>]>>} {
  return
}

// CHECK-LABEL: @streamed
// CHECK-SAME: #cpu.plan<"x86-64-v4", <[<stream[0, 1, 2] in <rows = 6, key_vectors = 4, value_vectors = 4, lanes = 16, row_block = 126, key_block = 512, key_dot = f32, value_dot = f32, grain = 2097152>>]>>
func.func @streamed() attributes {plan = #cpu.plan<"x86-64-v4", <[
    <stream[0, 1, 2] in <rows = 6, key_vectors = 4, value_vectors = 4, lanes = 16, row_block = 126, key_block = 512, key_dot = f32, value_dot = f32, grain = 2097152>>]>>} {
  return
}

// CHECK-LABEL: @guarded
// CHECK-SAME: #cpu.plan<"x86-64-v4", <when [<"M" most 4>] [<lanes[0]>]>, <[<loops[0]>]>, <packed [<contraction[0] by <rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = a, dot = bf16, constant = true, prefetch = 4096>>]> layouts <1 by<columns = 48, lanes = 16, dot = bf16>>>
func.func @guarded() attributes {plan = #cpu.plan<"x86-64-v4", <when [<"M" most 4>] [<lanes[0]>]>, <[<loops[0]>]>,
    <packed [<contraction[0] by <rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = a,
                                 dot = bf16, constant = true, prefetch = 4096>>]>
    layouts <1 by <columns = 48, lanes = 16, dot = bf16>>>} {
  return
}
