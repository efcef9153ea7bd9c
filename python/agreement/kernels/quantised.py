# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kernels of examples/quantised mean."""

import numpy as np

from ..bounded import dot
from ..registry import meaning


def zero_points(rng, size, a):
    a["xz"], a["yz"] = np.int32(121), np.int32(-3)
    a["xs"], a["ys"] = np.float32(0.02), np.float32(0.75)
    a["wz"][...] = rng.integers(-9, 10, a["wz"].shape)


@meaning("quantised", usual=dict(M=8, K=16, N=12), primes=dict(M=7, K=13, N=5), data=zero_points)
def qlinear(x):
    acc = ((x.x("mk") - x.xz()) * (x.w("kn") - x.wz("n"))).sum("k")
    scaled = acc.real() * (x.xs() * x.ws("n") / x.ys())
    x.result("y", "mn", scaled.rint().sat(0, 255, offset=int(x.yz.values)))


@meaning("quantised", usual=dict(M=4, Q=2, N=6), primes=dict(M=3, Q=1, N=2))
def w4a16(x):
    w = ((x.w("qrn") - x.z("qn")).real() * x.s("qn")).bf16()
    x.result("y", "mn", dot("qr", x.x("mqr"), w).bf16())


@meaning("quantised", usual=dict(M=3, Q=2, H=1), primes=dict(M=2, Q=1, H=2))
def fp8_block(x):
    blocks = dot("r", x.x("mqr"), x.w("qrhc"))
    x.result("y", "mhc", (x.xs("mq") * x.ws("qh") * blocks).sum("q").bf16())


@meaning("quantised", usual=dict(M=4, Q=2, N=6), primes=dict(M=3, Q=1, N=2))
def nf4(x):
    code = x.code.take(x.w("qrn"), "")
    x.result("y", "mn", (x.s("qn") * dot("r", x.x("mqr"), code)).sum("q").bf16())


@meaning("quantised", usual=dict(M=8, K=16, N=12), primes=dict(M=7, K=13, N=5))
def w8a8_dynamic(x):
    s = x.result("s", "m", abs(x.x("mk")).max("k").at_least(1e-12) / 127)
    q = x.result("q", "mk", (x.x("mk") / s).rint().sat(-128, 127))
    x.result("y", "mn", ((q * x.w("kn")).sum("k").real() * s * x.ws("n")).bf16())
