# RUN: %python %s %facet
"""Quotients where the reciprocal alone would be an infinity or lose bits: the machine divides nowhere."""

import subprocess
import sys
import tempfile

import numpy as np

KERNELS = """
kernel rows(a: f32[M, N], b: f32[M]) -> q: f32[M, N] { q[m, n] = a[m, n] / b[m] }
kernel tiles(a: f32[M, N], b: f32[M, N]) -> q: f32[M, N] { q[m, n] = a[m, n] / b[m, n] }
kernel tiny(a: f32[M, N]) -> q: f32[M, N] { q[m, n] = a[m, n] / 3e-39 }
kernel huge(a: f32[M, N]) -> q: f32[M, N] { q[m, n] = a[m, n] / 3e38 }
kernel inverse(b: f32[M]) -> q: f32[M] { q[m] = 1 / b[m] }
"""

edges = np.array([1e-45, 3e-39, 1.2e-38, 1e-30, 7e-31, 0.3, 1, 3, 1e30, 2e30, 8.6e37, 3.4e38, np.inf, 0], np.float32)
edges = np.concatenate([edges, -edges, [np.nan]]).astype(np.float32)
with tempfile.TemporaryDirectory() as folder:
    with open(f"{folder}/k.facet", "w", encoding="utf-8") as file:
        file.write(KERNELS)

    def run(kernel, **arrays):
        for name, array in arrays.items():
            np.save(f"{folder}/{name}.npy", array)
        subprocess.run([sys.argv[1], "run", "-q", "--target=trn2", f"{folder}/k.facet", f"--kernel={kernel}",
                        *(f"{name}={folder}/{name}.npy" for name in arrays), f"q={folder}/q.npy"], check=True)
        return np.load(f"{folder}/q.npy")

    def compare(got, a, b):
        with np.errstate(all="ignore"):
            want = a.astype(np.float64) / b.astype(np.float64)
            nearest = want.astype(np.float32)
            room = 2 * np.maximum(np.abs(np.spacing(nearest)), np.float32(2.0**-149)).astype(np.float64)
            close = np.abs(got.astype(np.float64) - want) <= room
        good = close | (got == nearest) | (np.isnan(got) & np.isnan(nearest))
        assert good.all(), [(a[i], b[i], got[i], nearest[i]) for i in zip(*np.nonzero(~good))][:5]

    a, b = (array.copy() for array in np.broadcast_arrays(edges[None, :], edges[:, None]))
    compare(run("rows", a=a, b=edges), a, b)
    compare(run("tiles", a=a, b=b), a, b)
    compare(run("tiny", a=a), a, np.full_like(a, 3e-39))
    compare(run("huge", a=a), a, np.full_like(a, 3e38))
    compare(run("inverse", b=edges), np.ones_like(edges), edges)
