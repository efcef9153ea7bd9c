# Two tiles of x, one of w, a product of 128 x 64 x 512 in two steps of k, copied out.
PRODUCT = """
.buffer x in hbm.bf16[256, 512] at 0 bytes 262144
.buffer w const hbm.bf16[256, 64] at 0x40000 bytes 32768
.buffer y out hbm.f32[64, 512] at 0x80000 bytes 131072
.semaphore full
.semaphore summed
.semaphore copied
.queue tensor
  .ring r0 depth=2
  loop trips=2
    load_weights weights=sbuf.bf16[0:128, 128*r0, 64], wait(full >= 64)
    matmul dst=psum.f32[0:64, 0, 512], moving=sbuf.bf16[0:128, 4096 + 1024*r0, 512], start, if(i0 == 0)
    matmul dst=psum.f32[0:64, 0, 512], moving=sbuf.bf16[0:128, 4096 + 1024*r0, 512], stop, if(i0 != 0), update(summed += 1), loc("k.facet":3:9, "matmul y")
    advance ring=r0
  end
.queue vector
  copy dst=sbuf.f32[0:64, 0x8000, 512], src=psum.f32[0:64, 0, 512], wait(summed >= 1), update(copied += 1), loc("k.facet":4:1)
.queue sync
  .ring r0 depth=2
  loop trips=2
    dma_copy dst=sbuf.bf16[0:128, 128*r0, 64], src=hbm.bf16[w, 128, 16384*i0, 64], update(full += 1)
    dma_copy dst=sbuf.bf16[0:128, 4096 + 1024*r0, 512], src=hbm.bf16[x, 128, 131072*i0, 512], ring=3, update(full += 1)
    advance ring=r0
  end
  dma_copy dst=hbm.f32[y, 64, 0, 512], src=sbuf.f32[0:64, 0x8000, 512], wait(copied >= 1)
"""
