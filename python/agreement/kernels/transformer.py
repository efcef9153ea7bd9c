# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kernels of examples/transformer mean."""

import numpy as np

from ..bounded import dot, index, where
from ..registry import meaning

MKN = dict(usual=dict(M=8, K=16, N=12), primes=dict(M=7, K=13, N=5))


@meaning("transformer", usual=dict(M=6, K=8, F=12, N=4), primes=dict(M=5, K=7, F=11, N=3))
def swiglu(x):
    gate, up = (dot("k", x.x("mk"), x.wgu("k%df" % half)) for half in (0, 1))
    h = (gate.silu() * up).bf16()
    x.result("y", "mn", dot("f", h, x.wd("fn")).bf16())


def rope(rng, size, a):
    a["eps"] = np.float32(1e-5)
    turn = rng.uniform(0, 6, a["cos"].shape)
    a["cos"][...], a["sin"][...] = np.cos(turn), np.sin(turn)


@meaning("transformer",
         usual=dict(B=2, S=3, K=8, H=2, E=2, G=1, D=4), primes=dict(B=2, S=3, K=7, H=5, E=3, G=2, D=6),
         fits=lambda size: size.D == 2 * size.E, breaks=[dict(D=5, E=2)], data=rope)
def rms_qkv_rope(x):
    xs = x.x("bsc")
    r = ((xs * xs).mean("c") + x.eps()).rsqrt()
    xn = (xs * r * x.g("c")).bf16()
    first = index("e", 2) < 1
    for out, w in (("q", x.wq), ("k", x.wk)):
        a = dot("c", xn, w("chet"))
        turned = where(first, -a.at("e", 1), a.at("e", 0))
        x.result(out, "bshet", (a * x.cos("st") + turned * x.sin("st")).bf16())
    x.result("v", "bshd", dot("c", xn, x.wv("chd")).bf16())


def rows_of_one_number(a):
    # The deviation is 0 but for the rounding of the mean; 1e-5 stands against it.
    a["x"][...] = a["x"][:, :1]


@meaning("transformer", usual=dict(M=8, N=16), primes=dict(M=5, N=13), also=[rows_of_one_number])
def layernorm(x):
    xs = x.x("mn")
    mu = x.result("mu", "m", xs.mean("n"))
    rstd = x.result("rstd", "m", (((xs - mu) * (xs - mu)).mean("n") + 1e-5).rsqrt())
    x.result("y", "mn", ((xs - mu) * rstd * x.g("n") + x.b("n")).bf16())


@meaning("transformer", usual=dict(M=8, K=16, N=12, R=4), primes=dict(M=7, K=13, N=5, R=3))
def lora(x):
    u = dot("k", x.x("mk"), x.a("kr")).bf16()
    y = dot("k", x.x("mk"), x.w("kn")) + x.scale() * dot("r", u, x.b("rn"))
    x.result("y", "mn", y.bf16())


def gathered(index_array, size_name):
    """Random rows; where there is none to choose from, nothing right exists."""
    def data(rng, size, a):
        n = getattr(size, size_name)
        a[index_array][...] = rng.integers(0, max(n, 1), a[index_array].shape)
    return data


def has_rows(index_size, *rows):
    """A gather over no element needs no row; any other needs one."""
    return lambda size: getattr(size, index_size) > 0 or 0 in [getattr(size, r) for r in rows]


@meaning("transformer",
         usual=dict(M=6, K=8, L=3, R=4, N=5), primes=dict(M=7, K=5, L=3, R=2, N=11),
         data=gathered("id", "L"), gathers={"id": "L"}, fits=has_rows("L", "M"))
def multi_lora(x):
    u = (x.x("mk") * x.a.take(x.id("m"), "kr")).sum("k").bf16()
    x.result("y", "mn", x.y("mn") + (u * x.b.take(x.id("m"), "rn")).sum("r"))


@meaning("transformer", usual=dict(T=6, K=8, E=4, F=5), primes=dict(T=7, K=5, E=3, F=11),
         data=gathered("id", "E"), gathers={"id": "E"}, fits=has_rows("E", "T"))
def moe_up(x):
    gate, up = ((x.x("tk") * x.w.take(x.id("t"), "k%df" % half)).sum("k") for half in (0, 1))
    x.result("h", "tf", (gate.silu() * up).bf16())


@meaning("transformer", usual=dict(R=9, N=8, T=6, A=2), primes=dict(R=7, N=5, T=11, A=3),
         data=gathered("slot", "R"), gathers={"slot": "R"}, fits=has_rows("R", "T", "A"))
def moe_combine(x):
    x.result("y", "tn", (x.weight("ta") * x.h.take(x.slot("ta"), "n")).sum("a").bf16())


@meaning("transformer", **MKN)
def linear_bwd(x):
    x.result("dx", "mk", dot("n", x.dy("mn"), x.w("kn")).bf16())
    x.result("dw", "kn", dot("m", x.x("mk"), x.dy("mn")))
    x.result("db", "n", x.dy("mn").sum("m"))


@meaning("transformer", **MKN)
def gelu_bwd(x):
    z = dot("k", x.x("mk"), x.w("kn"))
    normal = 0.5 * (1 + (z * 0.70710678118654752).erf())
    density = (-0.5 * z * z).exp() * 0.39894228040143268
    x.result("dz", "mn", (x.dy("mn") * (normal + z * density)).bf16())


@meaning("transformer", usual=dict(B=1, C=3, P=2, Q=2, O=4), primes=dict(B=2, C=3, P=2, Q=3, O=5))
def patch_embed(x):
    x.result("y", "npqo", dot("crs", x.x("ncprqs"), x.w("ocrs")) + x.b("o"))


def large_logits(a):
    a["w"] = (a["w"].astype(np.float32) * 64).astype(a["w"].dtype)


@meaning("transformer", usual=dict(M=8, K=16, V=12), primes=dict(M=7, K=5, V=11), also=[large_logits],
         data=gathered("label", "V"), gathers={"label": "V"}, fits=has_rows("V", "M"))
def cross_entropy(x):
    z = dot("k", x.x("mk"), x.w("kv"))
    mx = z.max("v")
    each = mx + (z - mx).exp().sum("v").log() - z.pick("v", x.label("m"))
    x.result("loss", "", each.mean("m"))
