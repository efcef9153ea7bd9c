# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""bf16-pairs: odd sums over types whose instructions take K in pairs or quads, one row
and many, NaN behind the last element; NaN stays NaN."""

import numpy as np
from roads import DOTS, Kernels, distinct

TYPES = "bf16", "f16", "f8e4m3fn", "f8e5m2"
k = Kernels("".join(f"kernel k_{t}(a: {t}[M, K], b: {t}[K, N]) -> c: f32[M, N] {{ c[m, n] = sum[k](a[m, k] * b[k, n]) }}\n" for t in TYPES), levels=DOTS)
for t in TYPES:
    for m, depth, n in (1, 1, 1), (1, 3, 17), (5, 31, 9), (6, 63, 16):
        a, b = distinct(m, depth), distinct(depth, n)
        k.holds("k_" + t, dict(M=m, K=depth, N=n), dict(a=a, b=b), c=a @ b, engine=m == 5 and "8" not in t)
    a, b = distinct(3, 5), distinct(5, 18)
    a[1, 4], a[2, 0] = np.nan, 2
    k.holds("k_" + t, dict(M=3, K=5, N=18), dict(a=a, b=b), c=a @ b, engine=False)
