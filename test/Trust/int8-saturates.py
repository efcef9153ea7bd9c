# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""int8-saturates: sums of byte products at the ends of their range are exact in i32, at
every level, for one row and for many."""

import numpy as np
from roads import DOTS, Kernels

k = Kernels("""
kernel us(a: u8[M, K], b: i8[K, N]) -> c: i32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
kernel ss(a: i8[M, K], b: i8[K, N]) -> c: i32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
kernel uu(a: u8[M, K], b: u8[K, N]) -> c: i32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
""", levels=DOTS)
for name, x, y, want in ("us", 255, 127, 1036320), ("us", 255, -128, -1044480), ("ss", -128, -128, 524288), ("uu", 255, 255, 2080800):
    assert 32 * x * y == want
    for m in (32, 1, 5):
        k.holds(name, dict(M=m, K=32, N=32), dict(a=np.full((m, 32), x), b=np.full((32, 32), y)), c=want, engine=m == 5)
# The ends alternate, so that a saturated partial sum does not cancel.
a = np.where(np.arange(67) % 3 == 0, 255, 0) * np.ones((3, 1), int)
b = np.where(np.arange(67) % 2 == 0, 127, -128)[:, None] * np.ones((1, 9), int)
k.holds("us", dict(M=3, K=67, N=9), dict(a=a, b=b), c=a @ b)
