// RUN: facet-opt %s --test-emit-engine -o %t.mlir | FileCheck %s

// Two engines and the transfers, each with its own queue; what rings say becomes
// waits, updates and steps of ring registers.

// CHECK: .buffer x in hbm.f32[128, 512]
// CHECK: .buffer xs scratch sbuf.f32[] at 0x0 bytes 512 partitions 0:128 live 0:1
// CHECK: .semaphore full_xs0 final=64
// CHECK: .semaphore free_xs0_vector final=4
// CHECK: .semaphore full_ys0 final=4
// CHECK: .semaphore free_ys0_sync_dma final=64
// CHECK: .queue vector
// CHECK: loop trips=8
// CHECK-NEXT: tensor_tensor dst=sbuf.f32[0:128, 0x200 + 256*r1, 64], {{.*}} wait(free_ys0_sync_dma[r1] >= 0 + 16*round), wait(full_xs0[r0] >= 16 + 16*round), update(full_ys0[r1] += 1), update(free_xs0_vector[r0] += 1)
// CHECK-NEXT: advance ring=r1
// CHECK-NEXT: advance ring=r0
// CHECK-NEXT: end
// CHECK: .queue sync
// CHECK: dma_copy dst=sbuf.f32[0:128, 256*r0, 64], src=hbm.f32[x, 128@512, 256*i0, 64], wait(free_xs0_vector[r0] >= 0 + 1*round), update(full_xs0[r0] += 1)
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
