// RUN: facet-opt %s | facet-opt | FileCheck %s

engine.program @double machine "trn2" {
  %x = engine.buffer "x" in : !engine.tile<128x512xf32, hbm>
  %y = engine.buffer "y" out : !engine.tile<128x512xf32, hbm>
  %xs = engine.ring "xs" : !engine.ring<2 x 128x64xf32, sbuf>
  %ys = engine.ring "ys" : !engine.ring<2 x 128x64xf32, sbuf>
  engine.for %i = 8 {
    %xv = engine.view %x[%i] at affine_map<(i) -> (i * 64)> row_step 512
        : !engine.tile<128x512xf32, hbm> to !engine.tile<128x64xf32, hbm>
    %yv = engine.view %y[%i] at affine_map<(i) -> (i * 64)> row_step 512
        : !engine.tile<128x512xf32, hbm> to !engine.tile<128x64xf32, hbm>
    %a = engine.acquire %xs : <2 x 128x64xf32, sbuf>
    engine.issue sync "dma_copy"(dst = %a, src = %xv) : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, hbm>
    engine.commit %xs : <2 x 128x64xf32, sbuf>
    %b = engine.wait %xs : <2 x 128x64xf32, sbuf>
    %c = engine.acquire %ys : <2 x 128x64xf32, sbuf>
    engine.issue vector "tensor_tensor"(dst = %c, a = %b, b = %b) {op = "add"}
        : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, sbuf>
    engine.commit %ys : <2 x 128x64xf32, sbuf>
    engine.release %xs : <2 x 128x64xf32, sbuf>
    %d = engine.wait %ys : <2 x 128x64xf32, sbuf>
    engine.issue sync "dma_copy"(dst = %yv, src = %d) : !engine.tile<128x64xf32, hbm>, !engine.tile<128x64xf32, sbuf>
    engine.release %ys : <2 x 128x64xf32, sbuf>
  }
}

// CHECK-LABEL: engine.program @double machine "trn2"
// CHECK: %[[x:.*]] = engine.buffer "x" in : <128x512xf32, hbm>
// CHECK: %[[xs:.*]] = engine.ring "xs" : <2 x 128x64xf32, sbuf>
// CHECK: engine.for %[[i:.*]] = 8 {
// CHECK: engine.view %[[x]][%[[i]]] at #{{.*}} row_step 512 : <128x512xf32, hbm> to <128x64xf32, hbm>
// CHECK: %[[a:.*]] = engine.acquire %[[xs]] : <2 x 128x64xf32, sbuf>
// CHECK: engine.issue sync "dma_copy"(dst = %[[a]], src = %{{.*}}) : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, hbm>
// CHECK: engine.commit %[[xs]] : <2 x 128x64xf32, sbuf>
// CHECK: engine.issue vector "tensor_tensor"({{.*}}) {op = "add"} : {{.*}}

// CHECK-LABEL: engine.program @conditional
// CHECK: engine.issue tensor "matmul"(dst = %{{.*}}, moving = %{{.*}}) {start} if #{{.*}}(%{{.*}}) : !engine.tile<64x8xf32, psum>, !engine.tile<128x8xbf16, sbuf>
// CHECK: engine.issue sync "nop"()
// CHECK: engine.barrier
engine.program @conditional machine "trn2" {
  %s = engine.ring "s" : !engine.ring<1 x 64x8xf32, psum>
  %m = engine.ring "m" : !engine.ring<2 x 128x4x8xbf16, sbuf>
  %sums = engine.acquire %s : <1 x 64x8xf32, psum>
  engine.for %k = 4 {
    %b = engine.wait %m : <2 x 128x4x8xbf16, sbuf>
    %v = engine.view %b[%k] at affine_map<(k) -> (k * 8)> : !engine.tile<128x4x8xbf16, sbuf> to !engine.tile<128x8xbf16, sbuf>
    engine.issue tensor "matmul"(dst = %sums, moving = %v) {start} if affine_set<(k): (k == 0)>(%k)
        : !engine.tile<64x8xf32, psum>, !engine.tile<128x8xbf16, sbuf>
    engine.release %m : <2 x 128x4x8xbf16, sbuf>
  }
  engine.commit %s : <1 x 64x8xf32, psum>
  engine.issue sync "nop"()
  engine.barrier
}
