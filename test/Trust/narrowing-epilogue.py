# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""narrowing-epilogue: scale, zero point and saturation behind a sum of bytes, and results
narrower than the sum, in tiles of odd rows."""

import ml_dtypes
import numpy as np
from roads import Kernels, distinct

k = Kernels("""
kernel q(a: u8[M, K], b: i8[K, N], s: f32[N], z: i32) -> c: i8[M, N] { c[m, n] = i8.sat(round(f32(sum[k]((a[m, k] - z) * b[k, n])) * s[n])) }
kernel h(a: f16[M, K], b: f16[K, N]) -> c: f16[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
""", engine=False)
for m, depth, n in (40, 24, 33), (24, 40, 33), (129, 16, 24), (1, 3, 5):
    a, b = distinct(m, depth, modulus=250, dtype=int) + 125, distinct(depth, n, modulus=121, dtype=int)
    s = 2.0 ** -(np.arange(n) % 9)
    want = np.clip(np.rint((a - 3) @ b * s), -128, 127)
    k.holds("q", dict(M=m, K=depth, N=n), dict(a=a, b=b, s=s, z=3), c=want)
    a, b = distinct(m, depth), distinct(depth, n)
    k.holds("h", dict(M=m, K=depth, N=n), dict(a=a, b=b), c=(a @ b).astype(np.float16))
