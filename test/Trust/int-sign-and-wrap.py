# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""int-sign-and-wrap: sign and width of mixed operands are the text's; sums wrap in their
type on every road; no road counts on no overflow."""

import numpy as np
from roads import Kernels, distinct

k = Kernels("""
kernel mixed(a: i16[M, K], b: i32[K, N], z: i32) -> c: i32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) + z }
kernel bytes(a: i8[M, K], b: u8[K, N]) -> c: i32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
kernel under(x: u8[N], y: u8[N]) -> z: u8[N] { z[n] = u8(x[n] - y[n]) }
kernel over(x: i32[N]) -> y: i32[N] { y[n] = x[n] + 1 }
kernel large(a: i32[M, K], b: i32[K, N]) -> c: i32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
""", engine=False)
k.holds("mixed", dict(M=16, K=8, N=32), dict(a=np.full((16, 8), -50), b=np.full((8, 32), 159), z=130), c=-63470)
a, b = distinct(16, 4, modulus=251, dtype=int), distinct(4, 8, modulus=255, dtype=int) + 127
k.holds("bytes", dict(M=16, K=4, N=8), dict(a=a, b=b), c=a @ b)
x = np.arange(33)
k.holds("under", dict(N=33), dict(x=x, y=x + 2), z=254)
k.holds("over", dict(N=17), dict(x=np.full(17, 2**31 - 1)), y=-2**31)
a = np.full((3, 5), 2**30)
b = np.arange(5 * 7).reshape(5, 7)
k.holds("large", dict(M=3, K=5, N=7), dict(a=a, b=b), c=((a @ b + 2**31) % 2**32 - 2**31))
