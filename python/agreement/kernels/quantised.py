# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kernels of examples/quantised mean."""

import numpy as np

from ..bounded import dot
from ..registry import meaning


def zero_points(rng, size, a):
    a["xz"], a["yz"] = np.int32(121), np.int32(-3)
    a["xs"], a["ys"] = np.float32(0.0004), np.float32(0.75)
    a["wz"][...] = rng.integers(-9, 10, a["wz"].shape)


def sums_that_wrap(a):
    # i32 wraps: x - xz, each product and the sum leave its range.
    a["xz"] = np.int32(2**31 - 7)
    a["wz"][...] = (-1) ** np.arange(a["wz"].size) * 2**30
    a["xs"] = np.float32(1e-8)


def saturated_results(a):
    a["ws"] *= np.float32(1000)


@meaning("quantised", usual=dict(M=8, K=16, N=12), primes=dict(M=7, K=13, N=5),
         data=zero_points, also=[sums_that_wrap, saturated_results])
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


def rows_of_zeros(a):
    a["x"][::2] = 0


@meaning("quantised", usual=dict(M=8, K=16, N=12), primes=dict(M=7, K=13, N=5), also=[rows_of_zeros])
def w8a8_dynamic(x):
    s = x.result("s", "m", abs(x.x("mk")).max("k").at_least(1e-12) / 127)
    q = x.result("q", "mk", (x.x("mk") / s).rint().sat(-128, 127))
    x.result("y", "mn", ((q * x.w("kn")).sum("k").real() * s * x.ws("n")).bf16())
