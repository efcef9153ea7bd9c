# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""padding-leaks, over-read, padded-rows, caller-alignment: NaN behind every row, in front
of and behind every array, one element off any alignment: none of it reaches a sum. (What
is read outside is found by guard pages, test/Pipelines/guard-pages.test.)"""

import numpy as np
from roads import Kernels, distinct

k = Kernels("""
kernel f(a: f32[M, K], b: f32[K, N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
kernel h(a: bf16[M, K], b: bf16[K, N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
kernel t(a: f32[K, M], b: f32[N, K]) -> c: f32[M, N] { c[m, n] = sum[k](a[k, m] * b[n, k]) }
kernel most(a: f32[M, K]) -> c: f32[M], d: f32[M] { c[m] = max[k](a[m, k])  d[m] = min[k](a[m, k]) }
""")
for m, depth, n in (1, 1, 1), (3, 33, 5), (5, 129, 33), (9, 3, 130):
    a, b = distinct(m, depth), distinct(depth, n)
    sizes = dict(M=m, K=depth, N=n)
    for name in "fh":
        k.holds(name, sizes, dict(a=a, b=b), c=a @ b)  # the engine's memory begins as poison
    k.holds("t", sizes, dict(a=a.T, b=b.T), c=a @ b)
    k.holds("most", dict(M=m, K=depth), dict(a=a), c=a.max(1), d=a.min(1), engine=m > 1)
