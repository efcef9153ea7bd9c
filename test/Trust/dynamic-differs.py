# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""dynamic-differs: sizes that arrive at run time, tall and flat; the same sizes fixed by
-D give the same bits."""

import numpy as np
from agreement import call, signature
from roads import FACET, LEVELS, Kernels, distinct, facet

k = Kernels("""
kernel f(a: f32[M, K], b: f32[K, N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
kernel h(a: bf16[M, K], b: bf16[K, N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
kernel q(a: i8[M, K], b: i8[K, N]) -> c: i32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
""", engine=False)
for m, depth, n in (2, 2, 8192), (2, 8192, 2), (8192, 2, 2), (16, 16, 256), (4, 1, 16384):
    for name in "fhq":
        a, b = distinct(m, depth, modulus=5), distinct(depth, n)
        k.holds(name, dict(M=m, K=depth, N=n), dict(a=a, b=b), c=a @ b)
# Bits, on values whose sums depend on their order.
rng = np.random.default_rng(1)
a, b = rng.standard_normal((37, 300)), rng.standard_normal((300, 70))
sizes = dict(M=37, K=300, N=70)
fixed = k.path / "fixed.so"
facet("compile", k.source, "-o", fixed, "--target=" + ",".join(LEVELS.values()), *(f"-D{s}={v}" for s, v in sizes.items()))
dynamic, k.libraries = list(k.roads("f", sizes, dict(a=a, b=b))), dict(cpu=fixed)
for road, found in k.roads("f", sizes, dict(a=a, b=b)):
    assert (found["c"] == dict(dynamic)[road]["c"]).all(), road
