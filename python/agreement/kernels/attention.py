# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kernels of examples/attention mean.

`p = bf16(softmax(…))` may round the exponential before it is divided by the
sum; that moves the result by at most one more half ulp (`free=0.5`)."""

import numpy as np

from ..bounded import Real, dot, index, where
from ..registry import meaning

SOFTMAX = dict(free=0.5)


def inverse_root(size):
    """rsqrt(f32(D))"""
    return Real(float(size.D)).rsqrt()


def large_logits(a):
    # Without the running maximum exp would overflow.
    a["q"] = (a["q"].astype(np.float32) * 16).astype(a["q"].dtype)
    a["k"] = (a["k"].astype(np.float32) * 16).astype(a["k"].dtype)


def last_key_is_nan(size, a):
    # Only the last query sees the last key: every other row must stay clean.
    if size.T > 1:
        a["k"][:, -1] = np.nan
        a["v"][:, -1] = np.nan


@meaning("attention",
         usual=dict(B=2, S=4, G=2, R=2, D=8, T=6), primes=dict(B=2, S=5, G=3, R=2, D=7, T=11),
         fits=lambda size: size.T >= size.S, breaks=[dict(T=3, S=4)],
         excluded=last_key_is_nan, also=[large_logits])
def attention(x):
    i, j = index("i", x.size.S), index("j", x.size.T)
    live = j <= i + x.size.T - x.size.S
    s = inverse_root(x.size) * dot("d", x.q("bigrd"), x.k("bjgd"))
    p = s.softmax("j", where=live).bf16(**SOFTMAX)
    x.result("o", "bigrd", (p * x.v("bjgd")).sum("j", where=live).bf16())
    mx = s.max("j", where=live)
    x.result("lse", "bgri", mx + (s - mx).exp().sum("j", where=live).log())


def windows(rng, size, a):
    # Lengths from nothing to the whole cache: rows without live keys occur.
    a["len"][...] = rng.integers(0, size.T + 1, size.B)
    a["len"][:1] = size.T
    a["win"] = np.int32(3)
    a["cap"] = np.float32(4)


def nothing_live(a):
    a["win"] = np.int32(0)


def beyond_length_is_nan(size, a):
    for b in range(size.B):
        a["k"][b, a["len"][b]:] = np.nan
        a["v"][b, a["len"][b]:] = np.nan


@meaning("attention",
         usual=dict(B=3, S=4, G=2, R=2, D=8, T=6), primes=dict(B=2, S=5, G=3, R=2, D=7, T=11),
         data=windows, excluded=beyond_length_is_nan, also=[large_logits, nothing_live])
def attention_gemma(x):
    i, j, n = index("i", x.size.S), index("j", x.size.T), x.len("b")
    reach = i + n - x.size.S
    live = (j < n) & (j <= reach) & (j > reach - x.win())
    t = inverse_root(x.size) * dot("d", x.q("bigrd"), x.k("bjgd"))
    s = x.cap() * (t / x.cap()).tanh() + x.slope("gr") * (j - i).real()
    p = s.softmax("j", where=live).bf16(**SOFTMAX)
    x.result("o", "bigrd", (p * x.v("bjgd")).sum("j", where=live).bf16())


def pages(rng, size, a):
    a["table"][...] = rng.integers(0, max(size.NP, 1), a["table"].shape)
    a["len"][...] = rng.integers(0, size.U * size.P + 1, size.B)
    a["len"][:1] = size.U * size.P
    if size.NP == 0:
        a["len"][...] = 0


def unused_pages_are_anything(size, a):
    # Beyond the length the table may hold any number, and every page that no
    # sequence reaches may hold NaN.
    used = np.zeros((size.NP, size.P), bool)
    a["len"][:1] = max(size.U * size.P - size.P - 1, 0)
    for b in range(size.B):
        for u in range(size.U):
            n = int(np.clip(a["len"][b] - u * size.P, 0, size.P))
            if n:
                used[a["table"][b, u], :n] = True
            else:
                a["table"][b, u] = -7 if b % 2 else 2**30
    a["kc"][~used] = np.nan
    a["vc"][~used] = np.nan


@meaning("attention",
         usual=dict(B=3, G=2, R=2, D=8, NP=9, P=4, U=3), primes=dict(B=2, G=3, R=2, D=7, NP=5, P=3, U=5),
         data=pages, gathers={"table": "NP"}, excluded=unused_pages_are_anything)
def paged_decode(x):
    u, t, table = index("u", x.size.U), index("t", x.size.P), x.table("bu")
    live = u * x.size.P + t < x.len("b")
    s = inverse_root(x.size) * (x.q("bgrd") * x.kc.take(table, "tgd")).sum("d")
    p = s.softmax("ut", where=live).bf16(**SOFTMAX)
    x.result("o", "bgrd", (p * x.vc.take(table, "tgd")).sum("ut", where=live).bf16())


def segments(rng, size, a):
    a["seg"][...] = np.sort(rng.integers(0, 3, size.S))


def last_token_is_nan(size, a):
    a["k"][-1:] = np.nan
    a["v"][-1:] = np.nan
    a["seg"][-1:] = 9  # a segment of its own


@meaning("attention", usual=dict(S=12, H=2, D=8), primes=dict(S=11, H=3, D=7),
         data=segments, excluded=last_token_is_nan, also=[large_logits])
def attention_packed(x):
    i, j = index("i", x.size.S), index("j", x.size.S)
    live = x.seg("i").same(x.seg("j")) & (j <= i)
    s = inverse_root(x.size) * dot("d", x.q("ihd"), x.k("jhd"))
    p = s.softmax("j", where=live).bf16(**SOFTMAX)
    x.result("o", "ihd", (p * x.v("jhd")).sum("j", where=live).bf16())


def plausible_lse(rng, size, a):
    a["scale"] = np.float32(0.25)
    a["lse"][...] = np.abs(a["lse"]) + 1


def later_is_nan(size, a):
    # Key T-1 counts for query S-1 alone.
    if size.S > 1:
        a["k"][-1:] = np.nan
        a["v"][-1:] = np.nan


@meaning("attention", usual=dict(S=8, D=4, T=8), primes=dict(S=7, D=5, T=7),
         fits=lambda size: size.T == size.S, breaks=[dict(S=4, T=5)],
         data=plausible_lse, excluded=later_is_nan)
def attention_bwd(x):
    i, j = index("i", x.size.S), index("j", x.size.T)
    past = j <= i
    p = where(past, (x.scale() * dot("d", x.q("id"), x.k("jd")) - x.lse("i")).exp(), 0)
    delta = dot("d", x.dy("id"), x.o("id"))
    ds = (p * (dot("d", x.dy("id"), x.v("jd")) - delta) * x.scale()).bf16()
    x.result("dv", "jd", (p.bf16() * x.dy("id")).sum("i", where=past).bf16())
    x.result("dq", "id", (ds * x.k("jd")).sum("j", where=past).bf16())
    x.result("dk", "jd", (ds * x.q("id")).sum("i", where=past).bf16())
