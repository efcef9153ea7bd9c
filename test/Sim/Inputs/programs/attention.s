// y = softmax(q^T k / 8) v^T-wise for 128 queries and 5 blocks of 128 keys, streamed: each block
// brings its scores, the running maximum m and sum l are carried, and what was summed before is
// rescaled by c = exp((m_old - m_new) / 8). q[64, 128] and k[64, 640] lie with the head's
// dimension on partitions, v[640, 64] with the keys; rings of three hold k and v. Nothing waits
// for PSUM to be free: who needs it next has waited for something that came after.
.program 1
.machine "trn2"
.buffer q in hbm.bf16[64, 128] at 0 bytes 16384
.buffer k in hbm.bf16[64, 640] at 0x10000 bytes 81920
.buffer v in hbm.bf16[640, 64] at 0x30000 bytes 81920
.buffer y out hbm.f32[128, 64] at 0x50000 bytes 32768
.semaphore q_full
.semaphore k_full0
.semaphore k_full1
.semaphore k_full2
.semaphore v_full0
.semaphore v_full1
.semaphore v_full2
.semaphore k_free
.semaphore v_free
.semaphore scored
.semaphore maximum
.semaphore p_full
.semaphore turned
.semaphore pt_full
.semaphore rescale
.semaphore mixed
.semaphore done

// sbuf: q 0, k 0x1000, v 0x2000, p 0x3000, its transpose 0x4000,
//   0x5000 m, + 4 new m, + 8 -new m / 8, + 12 m - new m, + 16 c, + 20 l, + 24 the block's sum, + 28 1 / l
//   running sums 0x6000, result 0x7000.   psum: scores in bank 0, transpose 1, p v 2
.queue tensor
  .ring r0 depth=3 name=kv
  .ring r1 depth=1 name=block
  nop wait(q_full >= 16)
  loop trips=5
    load_weights weights=sbuf.bf16[0:64, 0, 128], wait(k_full0[r0] >= 16 + 16*round)
    matmul dst=psum.f32[0:128, 0, 128], moving=sbuf.bf16[0:64, 0x1000 + 256*r0, 128], start, stop, update(k_free += 1), update(scored += 1)
    load_weights weights=sbuf.bf16[0:128, 0x3000, 128], for_transpose, wait(p_full[r1] >= 1 + 1*round)
    transpose dst=psum.bf16[0:128, 2048, 128], update(turned += 1)
    load_weights weights=sbuf.bf16[0:128, 0x4000, 128], wait(pt_full[r1] >= 1 + 1*round)
    matmul dst=psum.f32[0:128, 4096, 64], moving=sbuf.bf16[0:128, 0x2000 + 128*r0, 64], start, stop, wait(v_full0[r0] >= 16 + 16*round), update(v_free += 1), update(mixed += 1)
    advance ring=r0
    advance ring=r1
  end
.queue vector
  .ring r0 depth=1 name=block
  fill dst=sbuf.f32[0:128, 0x5000, 1], value=-100000.0
  fill dst=sbuf.f32[0:128, 0x5014, 1], value=0.0
  fill dst=sbuf.f32[0:128, 0x6000, 64], value=0.0
  loop trips=5
    reduce dst=sbuf.f32[0:128, 0x5004, 1], src=psum.f32[0:128, 0, 128], op=max, axes=1, wait(scored[r0] >= 1 + 1*round)
    tensor_tensor dst=sbuf.f32[0:128, 0x5004, 1], a=sbuf.f32[0:128, 0x5004, 1], b=sbuf.f32[0:128, 0x5000, 1], op=max
    tensor_scalar dst=sbuf.f32[0:128, 0x5008, 1], src=sbuf.f32[0:128, 0x5004, 1], op0=mul, imm0=-0.125
    tensor_tensor dst=sbuf.f32[0:128, 0x500c, 1], a=sbuf.f32[0:128, 0x5000, 1], b=sbuf.f32[0:128, 0x5004, 1], op=sub, update(maximum += 1)
    copy dst=sbuf.f32[0:128, 0x5000, 1], src=sbuf.f32[0:128, 0x5004, 1]
    copy dst=sbuf.bf16[0:128, 0x4000, 128], src=psum.bf16[0:128, 2048, 128], wait(turned[r0] >= 1 + 1*round), update(pt_full += 1)
    scalar_tensor_tensor dst=sbuf.f32[0:128, 0x5014, 1], src=sbuf.f32[0:128, 0x5014, 1], s0=sbuf.f32[0:128, 0x5010, 1], b=sbuf.f32[0:128, 0x5018, 1], op0=mul, op1=add, wait(rescale[r0] >= 1 + 1*round)
    scalar_tensor_tensor dst=sbuf.f32[0:128, 0x6000, 64], src=sbuf.f32[0:128, 0x6000, 64], s0=sbuf.f32[0:128, 0x5010, 1], b=psum.f32[0:128, 4096, 64], op0=mul, op1=add, wait(mixed[r0] >= 1 + 1*round)
    advance ring=r0
  end
  tensor_scalar dst=sbuf.f32[0:128, 0x501c, 1], src=sbuf.f32[0:128, 0x5014, 1], op0=reciprocal
  tensor_scalar dst=sbuf.f32[0:128, 0x7000, 64], src=sbuf.f32[0:128, 0x6000, 64], s0=sbuf.f32[0:128, 0x501c, 1], op0=mul, update(done += 1)
.queue scalar
  .ring r0 depth=1 name=block
  loop trips=5
    activate dst=sbuf.bf16[0:128, 0x3000, 128], src=psum.f32[0:128, 0, 128], bias=sbuf.f32[0:128, 0x5008, 1], acc=sbuf.f32[0:128, 0x5018, 1], func=exp, acc_op=add, imm_scale=0.125, wait(maximum[r0] >= 1 + 1*round), update(p_full += 1)
    activate dst=sbuf.f32[0:128, 0x5010, 1], src=sbuf.f32[0:128, 0x500c, 1], func=exp, imm_scale=0.125, update(rescale += 1)
    advance ring=r0
  end
.queue sync
  .ring r0 depth=3 name=kv
  .ring r1 depth=1 name=block
  dma_copy dst=sbuf.bf16[0:64, 0, 128], src=hbm.bf16[q, 64, 0, 128], update(q_full += 1)
  loop trips=5
    dma_copy dst=sbuf.bf16[0:64, 0x1000 + 256*r0, 128], src=hbm.bf16[k, 64@640, 256*i0, 128], wait(k_free[r1] >= -2 + 1*round), update(k_full0[r0] += 1)
    dma_copy dst=sbuf.bf16[0:128, 0x2000 + 128*r0, 64], src=hbm.bf16[v, 128, 16384*i0, 64], ring=1, wait(v_free[r1] >= -2 + 1*round), update(v_full0[r0] += 1)
    advance ring=r0
    advance ring=r1
  end
  dma_copy dst=hbm.f32[y, 128, 0, 64], src=sbuf.f32[0:128, 0x7000, 64], wait(done >= 1)
