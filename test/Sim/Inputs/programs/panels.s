// c = a^T b for a[256, 512], b[256, 1536], all bf16: the order of a blocked matmul. A panel of
// b stays while panels of a go by; both are double buffered, four PSUM banks take turns.
.program 1
.machine "trn2"
.buffer a in hbm.bf16[256, 512] at 0 bytes 262144
.buffer b in hbm.bf16[256, 1536] at 0x40000 bytes 786432
.buffer c out hbm.bf16[512, 1536] at 0x140000 bytes 1572864
.semaphore a_full0
.semaphore a_full1
.semaphore a_free0
.semaphore a_free1
.semaphore b_full0
.semaphore b_full1
.semaphore b_free
.semaphore summed
.semaphore drained
.semaphore stored0
.semaphore stored1

.queue tensor
  .ring r0 depth=2 name=b
  .ring r1 depth=2 name=a
  .ring r2 depth=4 name=banks
  .ring r3 depth=1 name=block
  loop trips=3
    nop wait(b_full0[r0] >= 16 + 16*round)
    loop trips=4
      nop wait(a_full0[r1] >= 16 + 16*round), wait(drained[r3] >= -3 + 1*round)
      loop trips=2
        load_weights weights=sbuf.bf16[0:128, 0x4000 + 512*r1 + 256*i2, 128]
        matmul dst=psum.f32[0:128, 2048*r2, 512], moving=sbuf.bf16[0:128, 2048*r0 + 1024*i2, 512], start, if(i2 == 0)
        matmul dst=psum.f32[0:128, 2048*r2, 512], moving=sbuf.bf16[0:128, 2048*r0 + 1024*i2, 512], stop, if(i2 - 1 == 0), update(a_free0[r1] += 1), update(summed += 1)
      end
      advance ring=r1
      advance ring=r2
      advance ring=r3
    end
    nop update(b_free += 1)
    advance ring=r0
  end
.queue vector
  .ring r0 depth=2
  .ring r1 depth=1
  .ring r2 depth=4
  loop trips=12
    nop wait(stored0[r0] >= 0 + 16*round)
    copy dst=sbuf.bf16[0:128, 0x8000 + 1024*r0, 512], src=psum.f32[0:128, 2048*r2, 512], wait(summed[r1] >= 1 + 1*round), update(drained += 1)
    advance ring=r0
    advance ring=r1
    advance ring=r2
  end
.queue scalar
  .ring r0 depth=2
  .ring r1 depth=1
  loop trips=3
    loop trips=4
      dma_copy dst=hbm.bf16[c, 128@1536, 1024*i0 + 393216*i1, 512], src=sbuf.bf16[0:128, 0x8000 + 1024*r0, 512], ring=2, wait(drained[r1] >= 1 + 1*round), update(stored0[r0] += 1)
      advance ring=r0
      advance ring=r1
    end
  end
.queue sync
  .ring r0 depth=2
  .ring r1 depth=2
  .ring r2 depth=1
  loop trips=3
    dma_copy dst=sbuf.bf16[0:128, 2048*r0, 2, 512], src=hbm.bf16[b, 128@1536, 1024*i0, 2@196608, 512], ring=1, wait(b_free[r2] >= -1 + 1*round), update(b_full0[r0] += 1)
    advance ring=r0
    advance ring=r2
    loop trips=4
      dma_copy dst=sbuf.bf16[0:128, 0x4000 + 512*r1, 2, 128], src=hbm.bf16[a, 128@512, 256*i1, 2@65536, 128], wait(a_free0[r1] >= 0 + 1*round), update(a_full0[r1] += 1)
      advance ring=r1
    end
  end
