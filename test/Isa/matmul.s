// A looped matmul: x[512, 512]^T * w[512, 512], rings of 3, prints back as it stands.
// RUN: %facet-sim as %s -o %t.engine
// RUN: %facet-sim dis %t.engine -o %t.s
// RUN: FileCheck %s < %t.s
// RUN: %facet-sim as %t.s -o %t2.engine
// RUN: cmp %t.engine %t2.engine
// RUN: %facet-sim dis %t2.engine | cmp %t.s -

.program 1
.machine "trn2"
.note "kernel" "matmul \"quoted\""
.buffer x in hbm.bf16[512, 512] at 0 bytes 524288
.buffer w const hbm.bf16[512, 512] at 0x80000 bytes 524288
.buffer y out hbm.f32[512, 512] at 0x100000 bytes 1048576
.buffer ones data hbm.bf16[128] at 0x200000 bytes 256
  .bytes "803f803f"
  .zeros 252
.semaphore full0
.semaphore full1
.semaphore full2
.semaphore used0
.semaphore used1
.semaphore used2
.semaphore summed
.semaphore drained
.semaphore stored final=64

// CHECK: .program 1
// CHECK-NEXT: .machine "trn2" {
// CHECK-NEXT: core.partitions 128
// CHECK: .note "kernel" "matmul \"quoted\""
// CHECK-NEXT: .buffer x in hbm.bf16[512, 512] at 0x0 bytes 524288
// CHECK-NEXT: .buffer w const hbm.bf16[512, 512] at 0x80000 bytes 524288
// CHECK-NEXT: .buffer y out hbm.f32[512, 512] at 0x100000 bytes 1048576
// CHECK-NEXT: .buffer ones data hbm.bf16[128] at 0x200000 bytes 256
// CHECK-NEXT: .bytes "803f803f"
// CHECK-NEXT: .zeros 252
// CHECK-NEXT: .semaphore full0

// CHECK: .queue tensor
// CHECK-NEXT: .ring r0 depth=3 name=tiles
// CHECK-NEXT: loop trips=4{{$}}
// CHECK-NEXT: loop trips=4
// CHECK-NEXT: load_weights weights=sbuf.bf16[0:128, 256*r0, 128], wait(full0[r0] >= 32 + 32*round)
// CHECK-NEXT: matmul dst=psum.f32[0:128, 0, 512], moving=sbuf.bf16[0:128, 0x1000 + 1024*r0, 512], start, if(i1 == 0), wait(drained >= 0), update(used0[r0] += 1)
// CHECK-NEXT: matmul dst=psum.f32[0:128, 0, 512], moving=sbuf.bf16[0:128, 0x1000 + 1024*r0, 512], if(i1 != 0, -3 + i1 != 0), update(used0[r0] += 1)
// CHECK-NEXT: matmul dst={{.*}}, stop, if(-3 + i1 == 0), update(used0[r0] += 1), update(summed += 1)
// CHECK-NEXT: advance ring=r0
// CHECK-NEXT: end
// CHECK-NEXT: end
.queue tensor
  .ring r0 depth=3 name=tiles
  loop trips=4
    loop trips=4
      load_weights weights=sbuf.bf16[0:128, 256*r0, 128], wait(full0[r0] >= 32 + 32*round)
      matmul dst=psum.f32[0:128, 0, 512], moving=sbuf.bf16[0:128, 4096 + 1024*r0, 512@1], start, if(i1 == 0), wait(drained >= 0), update(used0[r0] += 1)
      matmul dst=psum.f32[0:128, 0, 512], moving=sbuf.bf16[0:128, 1024*r0 + 0x1000, 512], if(i1 != 0, i1 - 3 != 0), update(used0[r0] += 1)
      matmul dst=psum.f32[0:128, 0, 512], moving=sbuf.bf16[0:128, 0x1000 + 1024*r0, 512], stop, if(-3 + i1 == 0), update(used0[r0] += 1), update(summed += 1)
      advance ring=r0
    end
  end

// CHECK: .queue vector
// CHECK: copy dst=sbuf.f32[0:128, 0x8000, 512], src=psum.f32[0:128, 0, 512], wait(summed >= 1), update(drained += 1), loc("k.facet":3:9, "matmul y")
.queue vector
  copy dst=sbuf.f32[0:128, 0x8000, 512], src=psum.f32[0:128, 0, 512], wait(summed >= 1), update(drained += 1), loc("k.facet":3:9, "matmul y")

// CHECK: .queue sync
// CHECK-NEXT: .ring r1 depth=3
// CHECK: dma_copy dst=sbuf.bf16[0:128, 256*r1, 128], src=hbm.bf16[x, 128@512, 256*i0 + 131072*i1, 128]
// CHECK: dma_copy dst=hbm.f32[y, 128, 0, 512], src=sbuf.f32[0:128, 0x8000, 512], ring=2, wait(drained >= 1), update(stored += 4)
.queue sync
  .ring r1 depth=3
  loop trips=4
    loop trips=4
      dma_copy dst=sbuf.bf16[0:128, 256*r1, 128], src=hbm.bf16[x, 128@512, 256*i0 + 131072*i1, 128], wait(used0[r1] >= 0 + 1*round), update(full0[r1] += 1)
      dma_copy dst=sbuf.bf16[0:128, 4096 + 1024*r1, 512], src=hbm.bf16[w, 128, 131072*i1, 512], ring=1, update(full0[r1] += 1)
      advance ring=r1
    end
  end
  dma_copy dst=hbm.f32[y, 128, 0, 512], src=sbuf.f32[0:128, 0x8000, 512], ring=2, wait(drained >= 1), update(stored += 4)
