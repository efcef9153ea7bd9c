# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""rank-assumed, broadcast-rank, batch-broadcast: operands and results of ranks 0 to 5, axes
of extent 1, operands shared by a batch on the left and on the right."""

import numpy as np
from roads import Kernels, distinct

k = Kernels("""
kernel rank1(x: f32[N], b: f32[N]) -> y: f32[N] { y[n] = x[n] + b[n] }
kernel rank0(a: f32[N], b: f32[N], s: f32) -> t: f32 { t = s * sum[n](a[n] * b[n]) }
kernel rank5(a: f32[P, Q, R, M, K], b: f32[K, N], d: f32[N], s: f32) -> c: f32[P, Q, R, M, N] {
  c[p, q, r, m, n] = sum[k](a[p, q, r, m, k] * b[k, n]) + d[n] + s }
kernel right(a: f32[P, M, K], b: f32[1, K, N]) -> c: f32[P, M, N] { c[p, m, n] = sum[k](a[p, m, k] * b[0, k, n]) }
kernel left(a: f32[M, K], b: f32[P, Q, K, N]) -> c: f32[P, Q, M, N] { c[p, q, m, n] = sum[k](a[m, k] * b[p, q, k, n]) }
kernel full(a: f32[M, K], b: f32[K, N], d: f32[1, M, N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) + d[0, m, n] }
""", levels={3: "x86-64-v3", 4: "x86-64-v4"})
x, b = distinct(5), distinct(5, modulus=11)
k.holds("rank1", dict(N=5), dict(x=x, b=b), y=x + b)
k.holds("rank0", dict(N=5), dict(a=x, b=b, s=2), t=2 * (x @ b))
for p, q, r, m in (2, 3, 1, 4), (1, 1, 1, 3), (1, 2, 1, 1), (1, 1, 1, 1):
    a, b, d = distinct(p, q, r, m, 3), distinct(3, 5), distinct(5)
    k.holds("rank5", dict(P=p, Q=q, R=r, M=m, K=3, N=5), dict(a=a, b=b, d=d, s=0.5), c=a @ b + d + 0.5, engine=False)
for p, m, depth, n in (4, 6, 16, 33), (1, 1, 1, 1), (3, 1, 5, 1):
    sizes = dict(P=p, M=m, K=depth, N=n)
    a, b = distinct(p, m, depth), distinct(1, depth, n)
    k.holds("right", sizes, dict(a=a, b=b), c=a @ b, engine=p == 4)
    b = distinct(p, 2, depth, n)
    k.holds("left", dict(sizes, Q=2), dict(a=a[0], b=b), c=a[0] @ b, engine=p == 4)
    d = distinct(1, m, n, modulus=101)
    k.holds("full", dict(M=m, K=depth, N=n), dict(a=a[0], b=b[0, 0], d=d), c=a[0] @ b[0, 0] + d[0], engine=p == 4)
