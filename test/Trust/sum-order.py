# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""sum-order: the sum is finished before the old value is added, in one block of K and in
several, and partial sums rest in the type of the sum."""

import numpy as np
from roads import Kernels

k = Kernels("""
kernel gemm(a: f32[M, K], b: f32[K, N], c: inout f32[M, N]) { c[m, n] = sum[k](a[m, k] * b[k, n]) + c[m, n] }
kernel half(a: bf16[M, K], b: bf16[K, N]) -> c: bf16[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
""", 'schedule gemm on "x86-64-v3" { c: block(m = 64, n = 72, k = 1) }\n')
for depth in (2,):
    one = np.ones((3, depth)), np.ones((depth, 17))
    k.holds("gemm", dict(M=3, K=depth, N=17), dict(a=one[0], b=one[1], c=np.full((3, 17), 2.0**24)), c=2.0**24 + 2)
# 256 + 1 is no bf16: the one is lost when a partial sum rests in bf16.
a = np.ones((2, 2048))
k.holds("half", dict(M=2, K=2048, N=5), dict(a=a, b=np.ones((2048, 5))), c=2048)
