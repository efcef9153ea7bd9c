# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""ambiguous-stride: with an axis of extent 1, plain and transposed look alike. The text
says which it is; the stride of the axis of extent 1 is never used."""

from roads import Kernels, distinct

k = Kernels("""
kernel plain(a: f32[P, M, K], b: f32[P, K, N]) -> c: f32[P, M, N] { c[p, m, n] = sum[k](a[p, m, k] * b[p, k, n]) }
kernel turned(a: f32[P, K, M], b: f32[P, N, K]) -> c: f32[P, M, N] { c[p, m, n] = sum[k](a[p, k, m] * b[p, n, k]) }
""", engine=False)
for p, m, depth, n in (2, 1, 1, 1), (2, 1, 16, 1), (1, 16, 1, 32), (1, 16, 1, 513), (3, 1, 2, 16), (1, 2, 1, 1):
    a, b = distinct(p, m, depth), distinct(p, depth, n)
    sizes = dict(P=p, M=m, K=depth, N=n)
    k.holds("plain", sizes, dict(a=a, b=b), c=a @ b)
    k.holds("turned", sizes, dict(a=a.swapaxes(1, 2), b=b.swapaxes(1, 2)), c=a @ b)
