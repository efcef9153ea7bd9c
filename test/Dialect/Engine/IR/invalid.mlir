// RUN: facet-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a tile has rows and up to 4 dimensions inside a row, not 6 dimensions in all}}
func.func private @f(!engine.tile<1x2x3x4x5x6xf32, sbuf>)

// -----

// expected-error @+1 {{the extents of a tile are positive}}
func.func private @f(!engine.tile<0x2xf32, sbuf>)

// -----

// expected-error @+1 {{the machine has no elements of type 'i1'}}
func.func private @f(!engine.tile<1x2xi1, sbuf>)

// -----

// expected-error @+1 {{a ring has at least one slot, not 0}}
func.func private @f(!engine.ring<0 x 1x2xf32, sbuf>)

// -----

// expected-error @+1 {{a ring lies in sbuf or psum, not in hbm}}
func.func private @f(!engine.ring<1 x 1x2xf32, hbm>)

// -----

engine.program @p machine "trn2" {
  // expected-error @+1 {{lies in hbm, not in sbuf}}
  %x = engine.buffer "x" in : !engine.tile<128x512xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  // expected-error @+1 {{holds f64, which is only moved, never computed with}}
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf64, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  // expected-error @+1 {{opens and closes different numbers of slots of ring 'r'}}
  engine.for %i = 8 {
    %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  }
}

// -----

engine.program @p machine "trn2" {
  %x = engine.buffer "x" in : !engine.tile<128x512xf32, hbm>
  %w = engine.view %x at affine_map<() -> (0)> row_step 512 : !engine.tile<128x512xf32, hbm> to !engine.tile<128x64xf32, hbm>
  // expected-error @+1 {{is of a buffer or of a slot of a ring, not of a view}}
  %v = engine.view %w at affine_map<() -> (0)> : !engine.tile<128x64xf32, hbm> to !engine.tile<128x64xf32, hbm>
}

// -----

engine.program @p machine "trn2" {
  %x = engine.buffer "x" in : !engine.tile<128x512xf32, hbm>
  // expected-error @+1 {{is in sbuf, what it views in hbm}}
  %v = engine.view %x at affine_map<() -> (0)> : !engine.tile<128x512xf32, hbm> to !engine.tile<128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %x = engine.buffer "x" in : !engine.tile<128x512xf32, hbm>
  // expected-error @+1 {{has 0 counters; its map must take as many and give one number}}
  %v = engine.view %x at affine_map<(i) -> (i)> : !engine.tile<128x512xf32, hbm> to !engine.tile<128x64xf32, hbm>
}

// -----

engine.program @p machine "trn2" {
  %x = engine.buffer "x" in : !engine.tile<128x512xf32, hbm>
  // expected-error @+1 {{has 1 dimensions in a row and 2 steps}}
  %v = engine.view %x at affine_map<() -> (0)> steps [1, 2] : !engine.tile<128x512xf32, hbm> to !engine.tile<128x64xf32, hbm>
}

// -----

func.func @f(%x: !engine.tile<128x512xf32, hbm>, %i: index) {
  // expected-error @+1 {{is moved by counters of engine.for only}}
  %v = engine.view %x[%i] at affine_map<(i) -> (i)> : !engine.tile<128x512xf32, hbm> to !engine.tile<1x64xf32, hbm>
  return
}

// -----

engine.program @p machine "trn2" {
  %x = engine.buffer "x" in : !engine.tile<128x512xf32, hbm>
  engine.for %i = 8 {
  // expected-error @+1 {{is at a sum of counters times numbers, not at affine_map<(d0) -> (d0 mod 3)>}}
  %v = engine.view %x[%i] at affine_map<(i) -> (i mod 3)> : !engine.tile<128x512xf32, hbm> to !engine.tile<128x64xf32, hbm>
  }
}

// -----

engine.program @p machine "trn2" {
  %x = engine.buffer "x" in : !engine.tile<128x512xf32, hbm>
  // expected-error @+1 {{of hbm has no partition}}
  %v = engine.view %x at affine_map<() -> (0)> partition 32 : !engine.tile<128x512xf32, hbm> to !engine.tile<128x64xf32, hbm>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{of a tile on chip has no row_step: rows are partitions}}
  %v = engine.view %a at affine_map<() -> (0)> row_step 64 : !engine.tile<128x64xf32, sbuf> to !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{takes partitions 64 to 191 of a tile with 128}}
  %v = engine.view %a at affine_map<() -> (0)> partition 64 : !engine.tile<128x64xf32, sbuf> to !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{reaches elements 1 to 64; there are 64 in a row of the tile}}
  %v = engine.view %a at affine_map<() -> (1)> : !engine.tile<128x64xf32, sbuf> to !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %x = engine.buffer "x" in : !engine.tile<128x512xf32, hbm>
  engine.for %i = 9 {
  // expected-error @+1 {{reaches elements 0 to 65599; there are 65536 in the buffer}}
  %v = engine.view %x[%i] at affine_map<(i) -> (i * 64)> row_step 512 : !engine.tile<128x512xf32, hbm> to !engine.tile<128x64xf32, hbm>
  }
}

// -----

engine.program @p machine "trn2" {
  // expected-error @+1 {{'pool' is no engine}}
  engine.issue pool "nop"()
}

// -----

engine.program @p machine "trn2" {
  // expected-error @+1 {{'loop' is no instruction}}
  engine.issue vector "loop"()
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{'matmul' does not run on vector}}
  engine.issue vector "matmul"(dst = %a, moving = %a) : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{'copy' has no operand 'b'}}
  engine.issue vector "copy"(dst = %a, b = %a) : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{'copy' has no second operand 'dst'}}
  engine.issue vector "copy"(dst = %a, dst = %a) : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{operand 'dst' cannot lie in sbuf}}
  engine.issue tensor "matmul"(dst = %a, moving = %a) : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %x = engine.buffer "x" in : !engine.tile<128x512xf32, hbm>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{operand 'src' is a whole buffer; a view says what its rows are}}
  engine.issue sync "dma_copy"(dst = %a, src = %x) : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x512xf32, hbm>
  engine.commit %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{'copy' needs operand 'src'}}
  engine.issue vector "copy"(dst = %a) : !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{'copy' has no field or flag 'op'}}
  engine.issue vector "copy"(dst = %a, src = %a) {op = "add"} : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{gives flag 'sat' a value}}
  engine.issue vector "copy"(dst = %a, src = %a) {sat = 1 : i32} : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{gives field 'op' neither a word nor a number}}
  engine.issue vector "tensor_tensor"(dst = %a, a = %a, b = %a) {op} : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{has a condition on 1 counters and 0 of them}}
  engine.issue vector "copy"(dst = %a, src = %a) if affine_set<(i): (i == 0)>() : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  engine.for %i = 2 {
  // expected-error @+1 {{has 5 conditions; an instruction takes four}}
  engine.issue vector "copy"(dst = %a, src = %a) if affine_set<(i): (i >= 0, i >= 0, i >= 0, i >= 0, i == 0)>(%i) : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, sbuf>
  }
  engine.commit %r : <2 x 128x64xf32, sbuf>
}
