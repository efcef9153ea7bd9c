// RUN: facet-opt %s | facet-opt | FileCheck %s

// CHECK-LABEL: @planned
// CHECK-SAME: #cpu.plan<"x86-64-v4", <[<contraction[0, 1] by <rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = ab, dot = f32>>, <lanes[2]>, <loops[3]>]>>
func.func @planned() attributes {plan = #cpu.plan<"x86-64-v4", <[
    <contraction[0, 1] by <rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = ab, dot = f32>>,
    <lanes[2]>, <loops[3]>]>>} {
  return
}
