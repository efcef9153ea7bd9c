# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kernels of examples/gemm mean."""

import numpy as np

from ..bounded import dot, index, where
from ..registry import meaning

MKN = dict(usual=dict(M=8, K=16, N=12), primes=dict(M=7, K=13, N=5))


def beta_is_zero(a):
    a["beta"] = np.float32(0)


@meaning("gemm", **MKN, optional=[("c", beta_is_zero)])
def gemm(x):
    c = x.alpha() * dot("k", x.a("mk"), x.b("kn"))
    if x.beta.values != 0:
        c = c + x.beta() * x.c("mn")
    x.result("c", "mn", c)


@meaning("gemm", **MKN)
def gemm_tt_out_t(x):
    x.result("c", "nm", dot("k", x.a("km"), x.b("nk")).bf16())


@meaning("gemm", usual=dict(P=3, M=8, K=16, N=12), primes=dict(P=2, M=7, K=13, N=5))
def bmm_shared(x):
    x.result("c", "pmn", dot("k", x.a("pmk"), x.b("kn")))


@meaning("gemm", **MKN)
def linear(x):
    x.result("y", "mn", (dot("k", x.x("mk"), x.w("kn")) + x.b("n")).gelu().bf16())


@meaning("gemm", usual=dict(B=4, I=8, O=6, J=4), primes=dict(B=3, I=7, O=5, J=2))
def bilinear(x):
    x.result("z", "bo", dot("ij", x.x("bi"), x.w("oij"), x.y("bj")))


def small_g(rng, size, a):
    a["g"] = np.float32(0.125)


@meaning("gemm", usual=dict(M=8, D=4, N=12), primes=dict(M=7, D=3, N=5), data=small_g)
def rbf(x):
    xx = dot("d", x.x("md"), x.x("md"))
    cc = dot("d", x.c("nd"), x.c("nd"))
    x.result("k", "mn", (-x.g() * (xx + cc - 2 * dot("d", x.x("md"), x.c("nd")))).exp())


def with_bc(rng, size, a):
    a["has_bc"] = np.bool_(True)


def without_bc(a):
    a["has_bc"] = np.bool_(False)


@meaning("gemm", **MKN, data=with_bc, optional=[("bc", without_bc)])
def bias_zoo(x):
    y = dot("k", x.x("mk"), x.w("kn")) + x.br("m")
    y = y + (x.bc("n") if x.has_bc.values else 0)
    x.result("y", "mn", ((y + x.bs()).relu() + x.res("mn")).bf16())


def upper_is_nan(size, a):
    a["c"][np.triu_indices(size.N, 1)] = np.nan


@meaning("gemm", usual=dict(N=12, K=8), primes=dict(N=7, K=5), excluded=upper_is_nan)
def syrk_lower(x):
    i, j = index("i", x.size.N), index("j", x.size.N)
    updated = x.alpha() * dot("k", x.a("ik"), x.a("jk")) + x.c("ij")
    x.result("c", "ij", where(j <= i, updated, x.c("ij")))


def strictly_upper_is_nan(size, a):
    a["l"][np.triu_indices(size.M, 1)] = np.nan


@meaning("gemm", usual=dict(M=12, N=8), primes=dict(M=7, N=5), excluded=strictly_upper_is_nan)
def trmm(x):
    k, m = index("k", x.size.M), index("m", x.size.M)
    x.result("c", "mn", (x.l("mk") * x.b("kn")).sum("k", where=k <= m))


@meaning("gemm", **MKN)
def mixed(x):
    x.result("y", "mn", dot("k", x.x("mk").bf16(), x.w("kn")))
    x.result("yt", "mn", dot("k", x.x("mk").tf32(), x.w("kn").tf32()))
    x.result("yd", "mn", dot("k", x.x("mk").f64(), x.w("kn").f64()))


@meaning("gemm", **MKN)
def zgemm_planar(x):
    x.result("cr", "mn", dot("k", x.ar("mk"), x.br("kn")) - dot("k", x.ai("mk"), x.bi("kn")))
    x.result("ci", "mn", dot("k", x.ar("mk"), x.bi("kn")) + dot("k", x.ai("mk"), x.br("kn")))


@meaning("gemm", **MKN)
def zgemm(x):
    re = dot("k", x.a("mk0"), x.b("kn0")) - dot("k", x.a("mk1"), x.b("kn1"))
    im = dot("k", x.a("mk0"), x.b("kn1")) + dot("k", x.a("mk1"), x.b("kn0"))
    x.result("c", "mne", where(index("e", 2) < 1, re, im))
