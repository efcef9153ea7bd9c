// RUN: facet-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a tile of 0 rows by 3 vectors of 16 elements is empty}}
#p = #cpu.contraction<rows = 0, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = ab, dot = f32>

// -----

// expected-error @+1 {{row_block = 90 is no multiple of the tile's 8 rows}}
#p = #cpu.contraction<rows = 8, vectors = 3, lanes = 16, row_block = 90, column_block = 768, pack = ab, dot = f32>

// -----

// expected-error @+1 {{column_block = 100 is no multiple of the tile's 48 columns}}
#p = #cpu.contraction<rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 100, pack = none, dot = f32>

// -----

// expected-error @+1 {{a stage of form contraction needs the choices for its sum}}
#p = #cpu.stage<contraction[0]>

// -----

// expected-error @+1 {{a stage of form lanes has no sum to choose for}}
#p = #cpu.stage<lanes[0] by <rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = a, dot = f32>>

// -----

// expected-error @+1 {{a stage of form lanes has 2 ops; it takes 1}}
#p = #cpu.stage<lanes[0, 1]>

// -----

// expected-error @+1 {{a stage of form contraction has 3 ops; it takes 1 or 2}}
#p = #cpu.stage<contraction[0, 1, 2] by <rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = a, dot = f32>>

// -----

// expected-error @+1 {{a plan names no machine}}
#p = #cpu.plan<"", <[<lanes[0]>]>>

// -----

// expected-error @+1 {{the last variant for calls, and no other one, has no guard}}
#p = #cpu.plan<"x86-64-v4", <[<lanes[0]>]>, <[<loops[0]>]>>

// -----

// expected-error @+1 {{the last variant for calls, and no other one, has no guard}}
#p = #cpu.plan<"x86-64-v4", <[<lanes[0]>]>, <when [<"M" most 4>] [<loops[0]>]>>

// -----

// expected-error @+1 {{a plan with 0 layouts has 1 variants for packed calls}}
#p = #cpu.plan<"x86-64-v4", <[<lanes[0]>]>, <packed [<loops[0]>]>>

// -----

// expected-error @+1 {{a plan with 1 layouts has 0 variants for packed calls}}
#p = #cpu.plan<"x86-64-v4", <[<lanes[0]>]> layouts <1 by <columns = 48, lanes = 16, dot = f32>>>

// -----

// expected-error @+1 {{a guard wants 'M' to be 0 at most; it takes a size and 1 or more}}
#p = #cpu.guard<"M" most 0>

// -----

// expected-error @+1 {{panels of 40 columns for argument 1 are no whole vectors of 16 elements}}
#p = #cpu.layout<1 by <columns = 40, lanes = 16, dot = f32>>

// -----

// expected-error @+1 {{a stage reads packed arrays, but its variant is for calls with plain ones}}
#p = #cpu.variant<[<contraction[0] by <rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = a, dot = f32, constant = true>>]>

// -----

// expected-error @+1 {{pack = ab, but b is read from its packed array}}
#p = #cpu.contraction<rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = ab, dot = f32, constant = true>

// -----

// expected-error @+1 {{prefetch = -1 is negative}}
#p = #cpu.contraction<rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = ab, dot = f32, prefetch = -1>

// -----

// expected-error @+1 {{pack = b, but dot = bf16 takes groups of 2 elements, which packing makes}}
#p = #cpu.contraction<rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = b, dot = bf16>

// -----

// expected-error @+1 {{depth_block = 3 is no multiple of the 2 elements of a dot product}}
#p = #cpu.contraction<rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = ab, dot = bf16, depth_block = 3>

// -----

// expected-error @+1 {{grain = 0 with split = n; tasks have a grain, one task has none}}
#p = #cpu.contraction<rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = ab, dot = f32, split = n>

// -----

// expected-error @+1 {{a tile of 6 rows by 0 and 4 vectors of 16 elements is empty}}
#p = #cpu.streamed<rows = 6, key_vectors = 0, value_vectors = 4, lanes = 16, row_block = 126, key_block = 512, key_dot = f32, value_dot = f32>

// -----

// expected-error @+1 {{a tile of 17 rows has more than the 16 elements of a vector}}
#p = #cpu.streamed<rows = 17, key_vectors = 1, value_vectors = 1, lanes = 16, row_block = 17, key_block = 512, key_dot = f32, value_dot = f32>

// -----

// expected-error @+1 {{row_block = 128 is no multiple of the tile's 6 rows}}
#p = #cpu.streamed<rows = 6, key_vectors = 4, value_vectors = 4, lanes = 16, row_block = 128, key_block = 512, key_dot = f32, value_dot = f32>

// -----

// expected-error @+1 {{key_block = 500 is no multiple of the tile's 64 keys}}
#p = #cpu.streamed<rows = 6, key_vectors = 4, value_vectors = 4, lanes = 16, row_block = 126, key_block = 500, key_dot = f32, value_dot = f32>

// -----

// expected-error @+1 {{grain = -1 is less than 0}}
#p = #cpu.streamed<rows = 6, key_vectors = 4, value_vectors = 4, lanes = 16, row_block = 126, key_block = 512, key_dot = f32, value_dot = f32, grain = -1>

// -----

// expected-error @+1 {{a stage of form stream needs the choices for its blocks}}
#p = #cpu.stage<stream[0, 1, 2]>

// -----

// expected-error @+1 {{a stage of form lanes has no blocks to choose}}
#p = #cpu.stage<lanes[0] in <rows = 6, key_vectors = 4, value_vectors = 4, lanes = 16, row_block = 126, key_block = 512, key_dot = f32, value_dot = f32>>

// -----

// expected-error @+1 {{a stage of form stream has 2 ops; it takes 3 or more}}
#p = #cpu.stage<stream[0, 1] in <rows = 6, key_vectors = 4, value_vectors = 4, lanes = 16, row_block = 126, key_block = 512, key_dot = f32, value_dot = f32>>
