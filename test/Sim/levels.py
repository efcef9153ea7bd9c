# The whole program computes the same bits where the processor has AVX-512, AVX2 or neither: products
# of bf16 and f32, some of whose sums are subnormal, infinite or NaN.
# REQUIRES: qemu-x86_64
# UNSUPPORTED: asan
# RUN: mkdir -p %t && %python %s %facet-sim %facet-sim-rows %t

import os
import subprocess
import sys

import numpy as np

sim, rows, folder = sys.argv[1:]
M, N, K = 96, 200, 128
rng = np.random.default_rng(13)


def path(name):
    return os.path.join(folder, name)


for dtype in ("bf16", "f32"):
    subprocess.run([rows, "gemm", "-m", str(M), "-n", str(N), "-k", str(K), "--order", "MNK", "--tiles", "1,1,1",
                    "--type", dtype, "--result", "f32", "-o", path("p.engine")], check=True)
    for name, shape in (("lhsT", (K, M)), ("rhs", (K, N))):
        values = (rng.standard_normal(shape) * 2.0 ** rng.integers(-6, 6, shape)).astype(np.float32)
        values[:, ::7] *= np.float32(2.0**-65)  # these sums are near the least normal number or below
        values[:, 3] = np.inf
        values[5, 8] = np.nan
        bits = values.view(np.uint32) >> 16
        np.save(path(name + ".npy"), bits.astype(np.uint16) if dtype == "bf16" else values)
    found = {}
    for cpu in (None, "Haswell", "Nehalem"):
        command = ["qemu-x86_64", "-cpu", cpu] if cpu else []
        subprocess.run([*command, sim, "run", path("p.engine"), "--threads", "1",
                        *(f"{name}={path(name)}.npy" for name in ("lhsT", "rhs", "c"))],
                       check=True, stdout=subprocess.DEVNULL)
        found[cpu] = np.load(path("c.npy")).tobytes()
    assert len(set(found.values())) == 1, (dtype, [cpu for cpu in found if found[cpu] != found[None]])
    c = np.frombuffer(found[None], np.float32)
    small = np.abs(c[np.isfinite(c)])
    assert ((small > 0) & (small < 2.0**-126)).any() and np.isinf(c).any() and np.isnan(c).any()
