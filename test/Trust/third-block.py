# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""third-block, buffer-reuse: one, two, three and four blocks on every axis; a copy, too.
On the engine with rings of one, two and three slots, so that each slot is filled again
while its old contents may still be read."""

from roads import Kernels, distinct

PRODUCT = "kernel f(a: f32[M, K], b: f32[K, N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }\n"
COPY = "kernel copy(x: f32[M, N]) -> y: f32[M, N] { y[m, n] = x[m, n] }\n"
CPU = 'schedule f on "x86-64-v3" { c: tile(m = 2, n = 8), block(m = 4, n = 16, k = 8) }\n'

cpu = Kernels(PRODUCT + COPY, CPU)
for blocks in (1, 2, 3, 4):
    for m, depth, n in (4 * blocks, 8, 16), (4, 8 * blocks, 16), (4, 8, 16 * blocks), (4 * blocks, 8 * blocks, 16 * blocks):
        a, b = distinct(m, depth), distinct(depth, n)
        cpu.holds("f", dict(M=m, K=depth, N=n), dict(a=a, b=b), c=a @ b, engine=False)
    x = distinct(1, 128 * blocks)
    cpu.holds("copy", dict(M=1, N=128 * blocks), dict(x=x), y=x)

for slots, (m, depth, n) in ((1, (3, 1, 1)), (2, (2, 4, 1)), (3, (1, 3, 3)), (1, (2, 3, 2))):
    ring = f'schedule f on "trn2" {{ c: tile(m = 32, n = 32), block(m = 32, n = 32, k = 128), slots(a = {slots}, b = {slots}, sums = 1, results = {slots}) }}\n'
    engine = Kernels(PRODUCT, ring, cpu=False)
    a, b = distinct(32 * m, 128 * depth), distinct(128 * depth, 32 * n)
    engine.holds("f", dict(M=32 * m, K=128 * depth, N=32 * n), dict(a=a, b=b), c=a @ b)
