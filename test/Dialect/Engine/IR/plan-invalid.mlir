// RUN: facet-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a tile of 0 rows by 512 columns is empty}}
#p = #engine.contraction<stationary = a, outer = b, stays = true, row_tile = 0, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector>

// -----

// expected-error @+1 {{row_block = 200 is no multiple of the tile's 128 rows}}
#p = #engine.contraction<stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 200, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector>

// -----

// expected-error @+1 {{column_block = 100 is no multiple of the tile's 512 columns}}
#p = #engine.contraction<stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 100, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector>

// -----

// expected-error @+1 {{depth_block = 0 holds nothing}}
#p = #engine.contraction<stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 0, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector>

// -----

// expected-error @+1 {{a_slots = 0; a ring has at least one slot}}
#p = #engine.contraction<stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 0, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector>

// -----

// expected-error @+1 {{result_slots = 0; a ring has at least one slot}}
#p = #engine.contraction<stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 0, unroll = 16, a_load = copy, b_load = transpose, evict = vector>

// -----

// expected-error @+1 {{sum_slots = 3, but a block has 4 tiles of sums}}
#p = #engine.contraction<stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 3, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector>

// -----

// expected-error @+1 {{unroll = 0 writes out nothing}}
#p = #engine.contraction<stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 0, a_load = copy, b_load = transpose, evict = vector>

// -----

// expected-error @+1 {{evict = tensor; vector or scalar empties PSUM}}
#p = #engine.contraction<stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = tensor>

// -----

// expected-error @+1 {{a stage of form contraction needs the choices for its sum}}
#p = #engine.stage<contraction[0]>

// -----

// expected-error @+1 {{a stage of form tiles has no sum to choose for}}
#p = #engine.stage<tiles[0] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector>>

// -----

// expected-error @+1 {{a stage of form tiles has 2 ops; it takes 1}}
#p = #engine.stage<tiles[0, 1]>

// -----

// expected-error @+1 {{a stage of form contraction has 3 ops; it takes 1 or 2}}
#p = #engine.stage<contraction[0, 1, 2] by <stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector>>

// -----

// expected-error @+1 {{a stage of form attention has 2 ops; it takes 6 or more, in their order}}
#p = #engine.stage<attention[0, 1]>

// -----

// expected-error @+1 {{first_depth = -128 is negative}}
#p = #engine.contraction<stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector, first_depth = -128>

// -----

// expected-error @+1 {{store_tiles = 0 stores nothing}}
#p = #engine.contraction<stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector, store_tiles = 0>

// -----

// expected-error @+1 {{batch_block = 0 holds nothing}}
#p = #engine.contraction<stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector, batch_block = 0>

// -----

// expected-error @+1 {{end_depth = 128 needs a factor that stays whole, and no batch}}
#p = #engine.contraction<stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector, end_depth = 128>

// -----

// expected-error @+1 {{end_depth = 128 needs a factor that stays whole, and no batch}}
#p = #engine.contraction<stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector, whole = true, batch_block = 2, end_depth = 128>

// -----

// expected-error @+1 {{end_depth = -1 is negative}}
#p = #engine.contraction<stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector, whole = true, end_depth = -1>

// -----

// expected-error @+1 {{keeps_results needs an end_depth}}
#p = #engine.contraction<stationary = a, outer = b, stays = true, row_tile = 128, column_tile = 512, row_block = 512, column_block = 512, depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4, unroll = 16, a_load = copy, b_load = transpose, evict = vector, whole = true, keeps_results = true>

// -----

// expected-error @+1 {{a plan names no machine}}
#p = #engine.plan<"", [<tiles[0]>]>
