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

// expected-error @+1 {{a plan has 2 variants; it takes 1}}
#p = #cpu.plan<"x86-64-v4", <[<lanes[0]>]>, <[<loops[0]>]>>

// -----

// expected-error @+1 {{pack = b, but dot = bf16 takes groups of 2 elements, which packing makes}}
#p = #cpu.contraction<rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = b, dot = bf16>

// -----

// expected-error @+1 {{depth_block = 3 is no multiple of the 2 elements of a dot product}}
#p = #cpu.contraction<rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = ab, dot = bf16, depth_block = 3>

// -----

// expected-error @+1 {{grain = 0 with split = n; tasks have a grain, one task has none}}
#p = #cpu.contraction<rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = ab, dot = f32, split = n>
