# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kernels of examples/reductions mean."""

import numpy as np

from ..bounded import dot, index, where
from ..registry import meaning


def all_tied(a):
    a["w"][...] = 1


@meaning("reductions", usual=dict(M=8, K=4, V=12), primes=dict(M=7, K=2, V=11), also=[all_tied])
def greedy(x):
    x.result("token", "m", dot("k", x.x("mk"), x.w("kv")).best("v"))


@meaning("reductions", usual=dict(M=8, D=4, N=12), primes=dict(M=7, D=3, N=11))
def nearest(x):
    e = dot("d", x.c("nd"), x.c("nd")) - 2 * dot("d", x.x("md"), x.c("nd"))
    x.result("id", "m", (-e).best("n"))
    x.result("dist", "m", e.min("n"))


def last_column_is_nan(size, a):
    a["x"][:, -1:] = np.nan


@meaning("reductions", usual=dict(M=4, N=12), primes=dict(M=3, N=11), excluded=last_column_is_nan)
def cumsum(x):
    j, n = index("j", x.size.N), index("n", x.size.N)
    x.result("y", "mn", x.x("mj").sum("j", where=j <= n))


def decays(rng, size, a):
    a["la"][...] = -np.abs(a["la"])


def last_row_is_nan(size, a):
    for name in ("b", "x"):
        a[name][-1:] = np.nan
    a["la"][-1:] = np.nan


@meaning("reductions", usual=dict(S=8, D=4, P=6), primes=dict(S=7, D=5, P=3),
         data=decays, excluded=last_row_is_nan)
def ssd_chunk(x):
    i, j = index("i", x.size.S), index("j", x.size.S)
    cum = x.la("j").sum("j", where=j <= i)
    later = index("j", x.size.S)
    cum_j = x.la("i").sum("i", where=index("i", x.size.S) <= later)
    decay = where(j <= i, (cum - cum_j).exp(), 0)
    g = (decay * dot("d", x.c("id"), x.b("jd"))).bf16()
    x.result("y", "ip", (g * x.x("jp")).sum("j", where=j <= i).bf16())
