// RUN: facet-opt %s | facet-opt | FileCheck %s

// CHECK: #engine.plan<"trn2", [<contraction[0, 1] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector>>, <tiles[2]>]>
func.func private @planned() attributes {plan = #engine.plan<"trn2", [<contraction[0, 1] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector>>, <tiles[2]>]>}

// CHECK: #engine.plan<"trn2", [<attention[0, 1, 2, 3, 4, 5, 6, 7]>]>
func.func private @attention() attributes {plan = #engine.plan<"trn2", [<attention[0, 1, 2, 3, 4, 5, 6, 7]>]>}
