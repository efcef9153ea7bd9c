# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""wrong-axis, tile-coordinates: biases by row, by column and by element, all values
different, over several blocks of an odd shape."""

import numpy as np
from roads import Kernels, distinct

k = Kernels("""
kernel rows(a: f32[M, K], b: f32[K, N], d: f32[M]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) + d[m] }
kernel columns(a: f32[M, K], b: f32[K, N], d: f32[N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) + d[n] }
kernel both(a: f32[M, K], b: f32[K, N], d: f32[M], e: f32[N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) * d[m] + e[n] }
kernel each(a: f16[M, K], b: f16[K, N], d: f32[M, N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) + d[m, n] + f32(1000 * m + n) }
""", "".join(f'schedule {name} on "x86-64-v3" {{ c: tile(m = 3, n = 16), block(m = 33, n = 32, k = 16) }}\n' for name in ("rows", "columns", "both", "each")), levels={3: "x86-64-v3"})
for m, depth, n in (8, 4, 8), (5, 3, 7), (40, 8, 31), (131, 5, 97):
    a, b, d, e = distinct(m, depth), distinct(depth, n), np.arange(m) + 1.0, np.arange(n) * 10.0
    sizes, c = dict(M=m, K=depth, N=n), a @ b
    k.holds("rows", sizes, dict(a=a, b=b, d=d), c=c + d[:, None])
    k.holds("columns", sizes, dict(a=a, b=b, d=e), c=c + e, engine=m == 8)
    k.holds("both", sizes, dict(a=a, b=b, d=d, e=e), c=c * d[:, None] + e, engine=m == 131)
    full = 32.0 * np.arange(m)[:, None] + np.arange(n)
    k.holds("each", sizes, dict(a=a, b=b, d=full), c=c + full + 1000.0 * np.arange(m)[:, None] + np.arange(n), engine=False)
