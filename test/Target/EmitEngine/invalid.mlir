// RUN: facet-opt %s --test-emit-engine -split-input-file -verify-diagnostics -o %t.mlir

// expected-error @+1 {{is for machine 'x86-64-v3', which is no matrix engine}}
engine.program @p machine "x86-64-v3" {

}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  engine.issue vector "fill"(dst = %a) : !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
  %b = engine.wait %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{writes a slot of ring 'r' that it waited for; acquire is for writing}}
  engine.issue vector "fill"(dst = %b) : !engine.tile<128x64xf32, sbuf>
  engine.release %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  engine.issue vector "fill"(dst = %a) : !engine.tile<128x64xf32, sbuf>
  // expected-error @+1 {{makes a second writer of ring 'r'; one engine, or transfers of one queue, fill it}}
  engine.issue gpsimd "fill"(dst = %a) : !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
  %b = engine.wait %r : <2 x 128x64xf32, sbuf>
  engine.release %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %x = engine.buffer "x" in : !engine.tile<128x64xf32, hbm>
  %xv = engine.view %x at affine_map<() -> (0)> row_step 64 : !engine.tile<128x64xf32, hbm> to !engine.tile<128x64xf32, hbm>
  engine.for %i = 2 {
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{is a transfer under a condition; how much of ring 'r' it fills must be known}}
  engine.issue sync "dma_copy"(dst = %a, src = %xv) if affine_set<(i): (i == 0)>(%i) : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, hbm>
  engine.commit %r : <2 x 128x64xf32, sbuf>
  %b = engine.wait %r : <2 x 128x64xf32, sbuf>
  engine.release %r : <2 x 128x64xf32, sbuf>
  }
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  engine.issue vector "fill"(dst = %a) : !engine.tile<128x64xf32, sbuf>
  // expected-error @+1 {{finds slots of ring 'r' open}}
  engine.barrier
  engine.commit %r : <2 x 128x64xf32, sbuf>
  %b = engine.wait %r : <2 x 128x64xf32, sbuf>
  engine.release %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<1 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <1 x 128x64xf32, sbuf>
  // expected-error @+1 {{opens slot 2 of ring 'r', which has 1}}
  %c = engine.acquire %r : <1 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  // expected-error @+1 {{closes a slot of ring 'r'; none is open}}
  engine.commit %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  // expected-error @+1 {{has slots open at the end}}
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  // expected-error @+1 {{is filled 1 times and read 0 times}}
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  engine.issue vector "fill"(dst = %a) : !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  // expected-error @+1 {{is read, but nothing writes it}}
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
  %b = engine.wait %r : <2 x 128x64xf32, sbuf>
  engine.release %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  // expected-error @+1 {{finds no 300 semaphores side by side: machine 'trn2' has 256, of which others take 0 in its stages. fewer slots in rings take fewer}}
  %o = engine.ring "o" : !engine.ring<300 x 128x1xf32, sbuf>
  %b = engine.buffer "b" in : !engine.tile<128x1xf32, hbm>
  %v = engine.view %b at affine_map<() -> (0)> row_step 1 : !engine.tile<128x1xf32, hbm> to !engine.tile<128x1xf32, hbm>
  %q = engine.ring "q" : !engine.ring<1 x 128x1xf32, sbuf>
  %w2 = engine.acquire %q : <1 x 128x1xf32, sbuf>
  engine.for %i = 300 {
  %a = engine.acquire %o : <300 x 128x1xf32, sbuf>
  engine.issue sync "dma_copy"(dst = %a, src = %v) : !engine.tile<128x1xf32, sbuf>, !engine.tile<128x1xf32, hbm>
  engine.commit %o : <300 x 128x1xf32, sbuf>
  }
  engine.for %j = 300 {
  %w = engine.wait %o : <300 x 128x1xf32, sbuf>
  engine.issue vector "copy"(dst = %w2, src = %w) : !engine.tile<128x1xf32, sbuf>, !engine.tile<128x1xf32, sbuf>
  engine.release %o : <300 x 128x1xf32, sbuf>
  }
  engine.commit %q : <1 x 128x1xf32, sbuf>
  %w3 = engine.wait %q : <1 x 128x1xf32, sbuf>
  engine.release %q : <1 x 128x1xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %s = engine.ring "s" : !engine.ring<1 x 128x30000xf32, sbuf>
  // expected-error @+2 {{does not fit sbuf: 1 x 120000 bytes of each partition's 229376}}
  // expected-note @+1 {{beside it: s: 1 x 120000 bytes}}
  %r = engine.ring "r" : !engine.ring<1 x 128x30000xf32, sbuf>
  %as = engine.acquire %s : <1 x 128x30000xf32, sbuf>
  engine.issue vector "fill"(dst = %as) : !engine.tile<128x30000xf32, sbuf>
  engine.commit %s : <1 x 128x30000xf32, sbuf>
  %bs = engine.wait %s : <1 x 128x30000xf32, sbuf>
  engine.release %s : <1 x 128x30000xf32, sbuf>
  %ar = engine.acquire %r : <1 x 128x30000xf32, sbuf>
  engine.issue vector "fill"(dst = %ar) : !engine.tile<128x30000xf32, sbuf>
  engine.commit %r : <1 x 128x30000xf32, sbuf>
  %br = engine.wait %r : <1 x 128x30000xf32, sbuf>
  engine.release %r : <1 x 128x30000xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  // expected-error @+1 {{has 256 rows; machine 'trn2' has 128 partitions}}
  %r = engine.ring "r" : !engine.ring<1 x 256x4xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  // expected-error @+1 {{does not fit hbm}}
  %x = engine.buffer "x" in : !engine.tile<1000000x1000000xf32, hbm>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{'sum' is no value of field 'op0'}}
  engine.issue vector "tensor_scalar"(dst = %a, src = %a) {op0 = "sum"} : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
  %b = engine.wait %r : <2 x 128x64xf32, sbuf>
  engine.release %r : <2 x 128x64xf32, sbuf>
}

// -----

engine.program @p machine "trn2" {
  %r = engine.ring "r" : !engine.ring<2 x 128x64xf32, sbuf>
  %a = engine.acquire %r : <2 x 128x64xf32, sbuf>
  engine.issue vector "fill"(dst = %a) : !engine.tile<128x64xf32, sbuf>
  engine.commit %r : <2 x 128x64xf32, sbuf>
  // expected-error @+1 {{uses a slot after it was closed}}
  engine.issue vector "fill"(dst = %a) : !engine.tile<128x64xf32, sbuf>
  %b = engine.wait %r : <2 x 128x64xf32, sbuf>
  engine.release %r : <2 x 128x64xf32, sbuf>
}
