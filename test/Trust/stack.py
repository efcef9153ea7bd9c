# RUN: env PYTHONPATH=%source/python:%S/Inputs %python %s %facet
"""stack: kernels run on a thread with a small stack, tiles live in registers or in the
workspace that the caller gives."""

import threading

import numpy as np
from roads import Kernels, distinct

k = Kernels("""
kernel f(a: f32[M, K], b: f32[K, N]) -> c: f32[M, N] { c[m, n] = sum[k](a[m, k] * b[k, n]) }
kernel q(a: u8[M, K], b: i8[K, N], s: f32[N]) -> c: i8[M, N] { c[m, n] = i8.sat(round(f32(sum[k](a[m, k] * b[k, n])) * s[n])) }
""", 'schedule f on "x86-64-v3" { c: tile(m = 4, n = 16), block(m = 512, n = 512, k = 512) }\n', engine=False, levels={3: "x86-64-v3"})
failed = []


def body():
    try:
        a, b = distinct(70, 600, modulus=3), distinct(600, 80, modulus=3)
        k.holds("f", dict(M=70, K=600, N=80), dict(a=a, b=b), c=a @ b)
        a = a + 1
        k.holds("q", dict(M=70, K=600, N=80), dict(a=a, b=b, s=np.full(80, 0.125)), c=np.clip(np.rint((a @ b) / 8), -128, 127))
    except BaseException as error:
        failed.append(error)


threading.stack_size(256 << 10)
thread = threading.Thread(target=body)
thread.start()
thread.join()
if failed:
    raise failed[0]
