# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""accumulate-lost: what is added to an inout argument stays added, also over no terms,
and what is not read is not read."""

import numpy as np
from roads import Kernels, distinct

k = Kernels("""
kernel gemm(a: f32[M, K], b: f32[K, N], alpha: f32, beta: f32, c: inout f32[M, N]) {
  c[m, n] = alpha * sum[k](a[m, k] * b[k, n]) + where(beta == 0, 0, beta * c[m, n])
}
""")
for m, depth, n in (6, 5, 17), (33, 40, 9), (4, 0, 3):
    a, b = distinct(m, depth), distinct(depth, n)
    sizes, seven = dict(M=m, K=depth, N=n), np.full((m, n), 7.0)
    k.holds("gemm", sizes, dict(a=a, b=b, alpha=1, beta=1, c=seven), c=a @ b + 7, engine=False)
    k.holds("gemm", sizes, dict(a=a, b=b, alpha=2, beta=0.5, c=seven), c=2 * (a @ b) + 3.5, engine=False)
    k.holds("gemm", sizes, dict(a=a, b=b, alpha=2, beta=0, c=seven * np.nan), c=2 * (a @ b) + 0.0, engine=False)
