// RUN: facet-opt %s -split-input-file -verify-diagnostics

func.func @dot(%a: !llvm.ptr, %s: i64) {
  // expected-error @+1 {{multiplies bf16 in tile registers; it takes tile_bf16 and the tile_ kinds of bytes}}
  cpu.tile_kernel bf16 tiles 2 vectors 2 a(%a) b(%a, %s) steps %s sums(%a)
  return
}

// -----

func.func @registers(%a: !llvm.ptr, %s: i64) {
  // expected-error @+1 {{attribute 'tiles' failed to satisfy constraint}}
  cpu.tile_kernel tile_bf16 tiles 3 vectors 2 a(%a) b(%a, %s) steps %s sums(%a)
  return
}

// -----

func.func @vectors(%a: !llvm.ptr, %s: i64, %z: vector<16xf32>) {
  // expected-error @+1 {{multiplies tile_bf16 in vector registers; that is what cpu.tile_kernel is for}}
  %acc = cpu.micro_kernel tile_bf16 rows 1 vectors 1 lanes 16
      a(%a, %s, %s) b(%a, %s) steps %s inits(%z : vector<16xf32>) : vector<16xf32>
  return
}

// -----

// expected-error @+1 {{dot = tile_bf16 takes blocks of 32 rows by 1 or 2 vectors of 16 elements, not 8 by 3 of 16}}
#p = #cpu.contraction<rows = 8, vectors = 3, lanes = 16, row_block = 96, column_block = 768, pack = ab, dot = tile_bf16>

// -----

// expected-error @+1 {{depth_block = 48 is no multiple of the 32 elements of a dot product}}
#p = #cpu.contraction<rows = 32, vectors = 2, lanes = 16, row_block = 32, column_block = 32, pack = ab, dot = tile_bf16, depth_block = 48>
