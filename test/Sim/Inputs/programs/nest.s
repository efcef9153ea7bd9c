// y = x^T w for x[640, 192], w[640, 512] in blocks of 64 x 256 x 128: loops three deep
// in every queue that needs them. Five steps over k go through rings of three tiles, so that
// blocks begin at every slot; two PSUM banks and two result tiles take turns.
.program 1
.machine "trn2"
.buffer x in hbm.bf16[640, 192] at 0 bytes 245760
.buffer w const hbm.bf16[640, 512] at 0x40000 bytes 655360
.buffer y out hbm.f32[192, 512] at 0x100000 bytes 393216
.semaphore full0
.semaphore full1
.semaphore full2
.semaphore used0
.semaphore used1
.semaphore used2
.semaphore summed
.semaphore drained
.semaphore copied
.semaphore stored0
.semaphore stored1

.queue tensor
  .ring r0 depth=3 name=tiles
  .ring r1 depth=2 name=banks
  .ring r2 depth=1 name=block
  loop trips=3
    loop trips=2
      nop wait(drained[r2] >= -1 + 1*round)
      loop trips=5
        load_weights weights=sbuf.bf16[0:128, 128*r0, 64], wait(full0[r0] >= 32 + 32*round)
        matmul dst=psum.f32[0:64, 2048*r1, 256], moving=sbuf.bf16[0:128, 0x1000 + 512*r0, 256], start, if(i2 == 0), update(used0[r0] += 1)
        matmul dst=psum.f32[0:64, 2048*r1, 256], moving=sbuf.bf16[0:128, 0x1000 + 512*r0, 256], if(i2 > 0, i2 - 4 < 0), update(used0[r0] += 1)
        matmul dst=psum.f32[0:64, 2048*r1, 256], moving=sbuf.bf16[0:128, 0x1000 + 512*r0, 256], stop, if(i2 - 4 == 0), update(used0[r0] += 1), update(summed += 1)
        advance ring=r0
      end
      advance ring=r1
      advance ring=r2
    end
  end
.queue vector
  .ring r0 depth=2
  .ring r1 depth=1
  loop trips=3
    loop trips=2
      nop wait(stored0[r0] >= 0 + 16*round)
      copy dst=sbuf.f32[0:64, 0x2000 + 1024*r0, 256], src=psum.f32[0:64, 2048*r0, 256], wait(summed[r1] >= 1 + 1*round), update(drained += 1), update(copied += 1)
      advance ring=r0
      advance ring=r1
    end
  end
.queue scalar
  .ring r0 depth=2
  .ring r1 depth=1
  loop trips=3
    loop trips=2
      dma_copy dst=hbm.f32[y, 64@512, 131072*i0 + 1024*i1, 256], src=sbuf.f32[0:64, 0x2000 + 1024*r0, 256], ring=2, wait(copied[r1] >= 1 + 1*round), update(stored0[r0] += 1)
      advance ring=r0
      advance ring=r1
    end
  end
.queue sync
  .ring r0 depth=3
  loop trips=3
    loop trips=2
      loop trips=5
        dma_copy dst=sbuf.bf16[0:128, 128*r0, 64], src=hbm.bf16[x, 128@192, 128*i0 + 49152*i2, 64], wait(used0[r0] >= 0 + 1*round), update(full0[r0] += 1)
        dma_copy dst=sbuf.bf16[0:128, 0x1000 + 512*r0, 256], src=hbm.bf16[w, 128@512, 512*i1 + 131072*i2, 256], ring=1, update(full0[r0] += 1)
        advance ring=r0
      end
    end
  end
