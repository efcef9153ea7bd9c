# Any number of threads computes the same bits and finds the same mistakes: transfers with
# a change of type, gathers, maps, reductions and matmuls large enough to be shared. And
# weights stay what they were when they were loaded, though sbuf is overwritten behind them.
# RUN: mkdir -p %t && env PYTHONPATH=%S/Inputs %python %s %facet-sim %t

import sys

import numpy as np
from simulate import Case, same

case = Case(*sys.argv[1:])
rng = np.random.default_rng(9)
np.seterr(all="ignore")
THREADS = ("1", "2", "3", "8")
N = 2048


def inputs(**arrays):
    for name, array in arrays.items():
        np.save(case.path(name + ".npy"), array)
    return [f"{name}=" + case.path(name + ".npy") for name in arrays]


table = rng.integers(0, 2**16, (300, N), dtype=np.uint16)
x = rng.standard_normal((128, N)).astype(np.float32)
arguments = inputs(table=table, x=x, index=rng.integers(0, 300, (128, 1), dtype=np.int32))
text = f"""
.buffer table in hbm.bf16[300, {N}] at 0 bytes {table.nbytes}
.buffer x in hbm.f32[128, {N}] at 0x200000 bytes {x.nbytes}
.buffer index in hbm.i32[128, 1] at 0x400000 bytes 512
.buffer y out hbm.f32[128, {N}] at 0x500000 bytes {x.nbytes}
.buffer z out hbm.bf16[128, {N}] at 0x700000 bytes {x.nbytes // 2}
.buffer s out hbm.f32[128, 512] at 0x900000 bytes 262144
.semaphore have
.semaphore gathered
.semaphore curved
.semaphore done
.semaphore summed
.semaphore copied
.queue sync
dma_copy dst=sbuf.i32[0:128, 0], src=hbm.i32[index, 128, 0], update(have += 1)
dma_copy dst=sbuf.f32[0:128, 0x2000, {N}], src=hbm.f32[x, 128, 0, {N}], update(have += 1)
dma_copy dst=sbuf.bf16[0:128, 0x8000, {N}], src=hbm.f32[x, 128, 0, {N}], ring=1, update(have += 1)
dma_gather dst=sbuf.f32[0:128, 0x4000, {N}], src=hbm.bf16[table, 300, 0, {N}], index=sbuf.i32[0:128, 0], \
wait(have >= 48), update(gathered += 1)
dma_copy dst=hbm.f32[y, 128, 0, {N}], src=sbuf.f32[0:128, 0x6000, {N}], wait(done >= 1)
dma_copy dst=hbm.bf16[z, 128, 0, {N}], src=sbuf.f32[0:128, 0x6000, {N}], wait(done >= 1)
dma_copy dst=hbm.f32[s, 128, 0, 512], src=sbuf.f32[0:128, 0xa000, 512], wait(copied >= 1)
.queue scalar
activate dst=sbuf.f32[0:128, 0x6000, {N}], src=sbuf.f32[0:128, 0x2000, {N}], func=tanh, imm_scale=0.5, \
imm_bias=0.25, wait(have >= 48), update(curved += 1)
.queue tensor
load_weights weights=sbuf.bf16[0:128, 0x8000, 128], wait(have >= 48)
matmul dst=psum.f32[0:128, 0, 512], moving=sbuf.bf16[0:128, 0x8400, 512], start
matmul dst=psum.f32[0:128, 0, 512], moving=sbuf.bf16[0:128, 0x8800, 512], stop, update(summed += 1)
.queue vector
nop wait(curved >= 1)
tensor_tensor dst=sbuf.f32[0:128, 0x6000, {N}], a=sbuf.f32[0:128, 0x6000, {N}], b=sbuf.f32[0:128, 0x4000, {N}], \
op=mul, wait(gathered >= 16), update(done += 1)
copy dst=sbuf.f32[0:128, 0xa000, 512], src=psum.f32[0:128, 0, 512], wait(summed >= 1), update(copied += 1)
"""
found = {}
for threads in THREADS:
    done = case.raw(text, *arguments, *(f"{name}=" + case.path(name + ".npy") for name in "yzs"), "--threads", threads)
    assert done.returncode == 0, done.stderr
    found[threads] = [np.load(case.path(name + ".npy")) for name in "yzs"]
    for one, other in zip(found[threads], found["1"]):
        same(one, other, threads)
gathered = (table[np.load(case.path("index.npy"))[:, 0]].astype(np.uint32) << 16).view(np.float32)
plain = np.tanh(x.astype(np.float64) * 0.5 + 0.25).astype(np.float32) * gathered
ordinary = np.isfinite(plain)
assert np.allclose(found["8"][0][ordinary], plain[ordinary], rtol=1e-5), "tanh"

# Rows from 77 on are not there; the first such row is named, and it is counted once.
text = f"""
.buffer x in hbm.f32[128, {N}] at 0x200000 bytes {x.nbytes}
.semaphore have
.queue sync
dma_copy dst=sbuf.f32[0:77, 0, {N}], src=hbm.f32[x, 77, 0, {N}], update(have += 1)
.queue vector
nop wait(have >= 16)
tensor_tensor dst=sbuf.f32[0:128, 0x4000, {N}], a=sbuf.f32[0:128, 0, {N}], b=sbuf.f32[0:128, 0, {N}], op=add
"""
said = set()
for threads in THREADS:
    done = case.raw(text, arguments[1], "--threads", threads)
    assert done.returncode == 1
    said.add(done.stderr)
text, = said
assert "SIM-UNINIT" in text and "a reads byte 0 of partition 77 of sbuf, which nothing wrote" in text, text

# The array has its weights from load_weights on: what vector writes there later is not
# used by the second matmul, nor by the transpose.
w, m = (rng.integers(-8, 9, shape).astype(np.float32) for shape in ((128, 64), (128, 512)))
arguments = inputs(w=(w.view(np.uint32) >> 16).astype(np.uint16), m=(m.view(np.uint32) >> 16).astype(np.uint16))
text = """
.buffer w in hbm.bf16[128, 64] at 0 bytes 16384
.buffer m in hbm.bf16[128, 512] at 0x10000 bytes 131072
.buffer y out hbm.f32[64, 512] at 0x40000 bytes 131072
.buffer t out hbm.bf16[64, 128] at 0x60000 bytes 16384
.semaphore have
.semaphore loaded
.semaphore filled
.semaphore summed
.semaphore copied
.queue sync
dma_copy dst=sbuf.bf16[0:128, 0, 64], src=hbm.bf16[w, 128, 0, 64], update(have += 1)
dma_copy dst=sbuf.bf16[0:128, 1024, 512], src=hbm.bf16[m, 128, 0, 512], update(have += 1)
dma_copy dst=hbm.f32[y, 64, 0, 512], src=sbuf.f32[0:64, 4096, 512], wait(copied >= 2)
dma_copy dst=hbm.bf16[t, 64, 0, 128], src=sbuf.bf16[0:64, 8192, 128], wait(copied >= 2)
.queue tensor
load_weights weights=sbuf.bf16[0:128, 0, 64], wait(have >= 32), update(loaded += 1)
matmul dst=psum.f32[0:64, 0, 512], moving=sbuf.bf16[0:128, 1024, 512], start, FIRST
matmul dst=psum.f32[0:64, 0, 512], moving=sbuf.bf16[0:128, 1024, 512], stop, wait(filled >= 1), update(summed += 1)
transpose dst=psum.bf16[0:64, 2048, 128], update(summed += 1)
.queue vector
fill dst=sbuf.bf16[0:100, 16, 4], value=3.0, wait(loaded >= 1), update(filled += 1)
copy dst=sbuf.f32[0:64, 4096, 512], src=psum.f32[0:64, 0, 512], wait(summed >= 2), update(copied += 1)
copy dst=sbuf.bf16[0:64, 8192, 128], src=psum.bf16[0:64, 2048, 128], update(copied += 1)
"""
for threads in ("1", "2"):
    for first in ("wait(have >= 32)", "wait(filled >= 1)"):
        done = case.raw(text.replace("FIRST", first), *arguments, "y=" + case.path("y.npy"), "t=" + case.path("t.npy"),
                        "--threads", threads)
        assert done.returncode == 0, done.stderr
        same(np.load(case.path("y.npy")), 2 * (w.T @ m), first)
        same(np.load(case.path("t.npy")), (w.T.copy().view(np.uint32) >> 16).astype(np.uint16), "transpose")
