# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""tail-dropped, odd-block, tiny-tail: sizes beside every step of blocks, vectors and
instructions, and blocks that are no powers of two: each element once, none twice."""

from roads import Kernels, distinct

TEXT = """
kernel f(a: f32[M, K], b: f32[K, N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
kernel h(a: bf16[M, K], b: bf16[K, N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
kernel q(a: u8[M, K], b: i8[K, N]) -> c: i32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
"""
BLOCKED = "".join(f"""
schedule {kernel} on "{target}" {{ c: tile(m = 3, n = {2 * lanes}), block(m = 33, n = {6 * lanes}, k = {depth}) }}"""
    for kernel in "f" for target, lanes in (("x86-64-v2", 4), ("x86-64-v3", 8), ("x86-64-v4", 16)) for depth in (24,))


def holds(k, name, m, depth, n):
    a, b = distinct(m, depth, modulus=5), distinct(depth, n)
    if name == "q":
        a = a + 2
    k.holds(name, dict(M=m, K=depth, N=n), dict(a=a, b=b), c=a @ b, engine=False)


plain, blocked = Kernels(TEXT), Kernels(TEXT, BLOCKED)
for name in "fhq":
    for depth in (1, 2, 3, 5, 7, 15, 17, 31, 33):  # the steps of dot products: 2, 4, 16, 32
        holds(plain, name, 5, depth, 9)
    for m, n in (1, 1), (2, 15), (3, 17), (4, 31), (7, 33), (13, 47), (25, 49):
        holds(plain, name, m, 11, n)
for m, depth, n in (33, 24, 96), (34, 25, 97), (65, 23, 95), (67, 73, 193), (32, 48, 12), (1, 241, 1):
    holds(blocked, "f", m, depth, n)
