// y = max(2 x + 1, 0), tile by tile through rings of three buffers: seven tiles, so
// the last round of every ring is not full. Loads, vector and stores run at the same time.
.program 1
.machine "trn2"
.buffer x in hbm.f32[128, 448] at 0 bytes 229376
.buffer y out hbm.f32[128, 448] at 0x40000 bytes 229376
.semaphore loaded0
.semaphore loaded1
.semaphore loaded2
.semaphore used
.semaphore made
.semaphore stored0
.semaphore stored1
.semaphore stored2

.queue vector
  .ring r0 depth=3 name=in
  .ring r1 depth=3 name=out
  loop trips=7
    tensor_scalar dst=sbuf.f32[0:128, 0x1000 + 256*r1, 64], src=sbuf.f32[0:128, 256*r0, 64], op0=mul, op1=add, imm0=2.0, imm1=1.0, wait(loaded0[r0] >= 16 + 16*round), wait(stored0[r1] >= 0 + 16*round), update(used += 1)
    tensor_scalar dst=sbuf.f32[0:128, 0x1000 + 256*r1, 64], src=sbuf.f32[0:128, 0x1000 + 256*r1, 64], op0=max, imm0=0.0, update(made += 1)
    advance ring=r0
    advance ring=r1
  end
.queue scalar
  .ring r0 depth=3
  .ring r1 depth=1
  loop trips=7
    dma_copy dst=hbm.f32[y, 128@448, 256*i0, 64], src=sbuf.f32[0:128, 0x1000 + 256*r0, 64], ring=1, wait(made[r1] >= 1 + 1*round), update(stored0[r0] += 1)
    advance ring=r0
    advance ring=r1
  end
.queue sync
  .ring r0 depth=3
  .ring r1 depth=1
  // Tile i goes where tile i - 3 was: `used` must have reached i - 2.
  loop trips=7
    dma_copy dst=sbuf.f32[0:128, 256*r0, 64], src=hbm.f32[x, 128@448, 256*i0, 64], wait(used[r1] >= -2 + 1*round), update(loaded0[r0] += 1)
    advance ring=r0
    advance ring=r1
  end
