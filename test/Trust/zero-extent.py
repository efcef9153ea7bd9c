# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""zero-extent: an axis without elements. The sum over nothing is 0 and the epilogue is
still computed; a result without elements is no error, a wrong shape is one before."""

import numpy as np
from roads import Kernels, distinct, facet

k = Kernels("""
kernel product(a: f32[M, K], b: f32[K, N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
kernel biased(a: f32[M, K], b: f32[K, N], d: f32[N]) -> c: f32[M, N] { c[m, n] = relu(sum[k](a[m, k] * b[k, n]) + d[n]) }
kernel bytes(a: i8[M, K], b: i8[K, N]) -> c: i32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
""")
for m, n, depth in (4, 4, 0), (0, 4, 4), (4, 0, 4), (0, 0, 0):
    sizes = dict(M=m, K=depth, N=n)
    a, b, d = distinct(m, depth), distinct(depth, n), np.arange(n) - 1.0
    k.holds("product", sizes, dict(a=a, b=b), c=a @ b, engine=depth == 0 or m == 0)
    k.holds("biased", sizes, dict(a=a, b=b, d=d), c=np.maximum(a @ b + d, 0), engine=depth == 0)
    k.holds("bytes", sizes, dict(a=a, b=b), c=a @ b, engine=False)
np.save(k.path / "a.npy", np.zeros((0, 4), np.float32))
np.save(k.path / "b.npy", np.zeros((3, 5), np.float32))
said = facet("run", k.source, "--kernel=product", f"a={k.path}/a.npy", f"b={k.path}/b.npy", "--target=reference", code=1)
assert "size 'K' is 4" in said or "K" in said and "4" in said and "3" in said, said
